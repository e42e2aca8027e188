//===- VectorizedAccessTest.cpp - One vector a thread ---------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CatalogueTest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace optimas {
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

static const char Vectorize[] = "optimas-vectorized-access";

static const Snippet &elements() {
  static const Snippet S(R"cu(
#include <cstddef>
#define GID (blockIdx.x * blockDim.x + threadIdx.x)
constexpr int kBlock = 128;
__device__ float helper(float x) { return x + clock(); }

template <typename T> __global__ void scale(const T *in, T *out, T s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = s * in[i]; // hot
}
__global__ void early(const float *in, float *out, int n) {
  const int t = threadIdx.x;
  int i = t + blockDim.x * blockIdx.x;
  if (i >= n)
    return;
  float x = in[i];
  // In place.
  out[i] += sqrtf(x) * x; // hot
}
__global__ void large(const double *in, double *out, size_t count) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (count > i) {
    out[i] = in[i]; // hot
  }
}
__global__ void bytes(const unsigned char *in, unsigned char *out, int n) {
  int i = GID;
  if (i < n)
    out[i] = in[i] + 1; // hot
}
__global__ void noGuard(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i]; // hot
}
__global__ void elseBranch(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
  else
    out[0] = 1;
}
__global__ void strided(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[2 * i]; // hot
}
__global__ void stencil(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + in[i + 1]; // hot
}
__global__ void value(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * i; // hot
}
__global__ void usesLane(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * (threadIdx.x & 31); // hot
}
__global__ void twoStores(const float *in, float *out, float *more, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i]; // hot
    more[i] = out[i];
  }
}
__global__ void sideWork(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
  if (i == 0)
    out[n] = 0;
}
__global__ void mixedTypes(const float *in, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
__global__ void vectors(const float4 *in, float4 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i].x = in[i].x; // hot
}
__global__ void isVolatile(const volatile float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
__global__ void conditional(const float *in, const float *other, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] > 0 ? in[i] : other[i]; // hot
}
__global__ void calls(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = helper(in[i]); // hot
}
__global__ void atomically(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = atomicAdd(out, in[i]); // hot
}
__global__ void signs(const float *in, float *out, unsigned n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
__global__ void otherIndex(const float *in, float *out, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
// Launches that prove nothing.
__global__ void fixedGrid(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
__global__ void otherCount(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
__global__ void otherBlock(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
__global__ void movedCount(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
__global__ void roundedDown(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
__global__ void twoDimensional(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
__global__ void heldInDim3(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
__global__ void byPointer(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
__global__ void neverLaunched(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
__global__ void fromMacro(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
#define LAUNCH(kernel) kernel<<<(n + 127) / 128, 128>>>(in, out, n)

template <typename U> void run(U *a, U *b, int count) {
  const int blocks = (count + (kBlock - 1)) / kBlock;
  scale<<<blocks, kBlock>>>(a, b, U(2), count);
  int threads = 64;
  scale<U><<<(count - 1) / threads + 1, threads, 0, 0>>>(b, a, U(3), count);
}
void host(const float *in, float *out, double *d, unsigned char *b, int n, float4 *f) {
  run((float *)d, out, n);
  run(d, d, n);
  size_t m = n;
  early<<<(n + 255) / 256, 256>>>(in, out, n);
  large<<<(m + kBlock - 1) / kBlock, kBlock>>>(d, d, m);
  bytes<<<n / 32 + 1, 32>>>(b, b, n);
  int grid = (n + 127) / 128;
  noGuard<<<grid, 128>>>(in, out, n);
  elseBranch<<<grid, 128>>>(in, out, n);
  strided<<<grid, 128>>>(in, out, n);
  stencil<<<grid, 128>>>(in, out, n);
  value<<<grid, 128>>>(in, out, n);
  usesLane<<<grid, 128>>>(in, out, n);
  twoStores<<<grid, 128>>>(in, out, out, n);
  sideWork<<<grid, 128>>>(in, out, n);
  mixedTypes<<<grid, 128>>>(in, d, n);
  vectors<<<grid, 128>>>(f, f, n);
  isVolatile<<<grid, 128>>>(in, out, n);
  conditional<<<grid, 128>>>(in, out, out, n);
  calls<<<grid, 128>>>(in, out, n);
  atomically<<<grid, 128>>>((int *)b, (int *)b, n);
  signs<<<grid, 128>>>(in, out, n);
  otherIndex<<<grid, 128>>>(in, out, n);
  fixedGrid<<<1000, 128>>>(in, out, n);
  otherCount<<<grid, 128>>>(in, out, n - 1);
  otherBlock<<<grid, 64>>>(in, out, n);
  {
    int k = n;
    int blocks = (k + 127) / 128;
    k += 1;
    movedCount<<<blocks, 128>>>(in, out, k);
  }
  roundedDown<<<n / 128, 128>>>(in, out, n);
  twoDimensional<<<dim3(grid, 2), 128>>>(in, out, n);
  dim3 blocks(grid);
  heldInDim3<<<blocks, 128>>>(in, out, n);
  byPointer<<<grid, 128>>>(in, out, n);
  auto other = byPointer;
  other<<<grid, 128>>>(in, out, n);
  LAUNCH(fromMacro);
}
)cu");
  return S;
}

TEST(VectorizedAccessTest, OneEditForEveryElementSize) {
  auto Ps = elements().proposals("scale", Vectorize);
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_EQ(elements().text(Ps[0]),
            R"({ // optimas-vectorized-access: each thread does the elements of 16 bytes.
      constexpr size_t width = 16 / sizeof(T);
      union Vector {
        uint4 bits;
        T at[width];
      };
      const size_t first = static_cast<size_t>(i) * width;
      const bool aligned = (reinterpret_cast<size_t>(out) | reinterpret_cast<size_t>(in)) % 16 == 0;
      if (aligned && first + width <= n) {
        Vector outVector;
        Vector inVector;
        inVector.bits = *reinterpret_cast<const uint4 *>(in + first);
        #pragma unroll
        for (size_t e = 0; e < width; ++e)
          outVector.at[e] = s * inVector.at[e];
        *reinterpret_cast<uint4 *>(out + first) = outVector.bits;
      } else { // a misaligned array, or the last elements
        for (size_t e = first; e < first + width && e < n; ++e)
          out[e] = s * in[e];
      }
    })");
  std::string Code = elements().apply(Ps[0]);
  EXPECT_THAT(Code,
              HasSubstr("scale<<<(blocks + 16 / sizeof(U) - 1) / (16 / sizeof(U)), "
                        "kBlock>>>(a, b, U(2), count);"));
  EXPECT_THAT(Code, HasSubstr("scale<U><<<(((count - 1) / threads + 1) + 16 / sizeof(U) - 1) "
                              "/ (16 / sizeof(U)), threads, 0, 0>>>"));
  EXPECT_EQ(compileWithNvcc(Code), "");
  EXPECT_EQ(Ps[0].Edits.size(), 3u);
  for (const Edit &E : Ps[0].Edits)
    EXPECT_EQ(E.Evidence, Ps[0].Edits[0].Evidence);
}

TEST(VectorizedAccessTest, EarlyReturnAndInPlace) {
  auto Ps = elements().proposals("early", Vectorize);
  ASSERT_EQ(Ps.size(), 1u);
  std::string Text = elements().text(Ps[0]);
  EXPECT_THAT(Text, HasSubstr("outVector.bits = *reinterpret_cast<const uint4 *>(out + "
                              "first);"));
  EXPECT_THAT(Text, HasSubstr(R"(
      for (size_t e = 0; e < width; ++e) {
        float x = inVector.at[e];
        // In place.
        outVector.at[e] += sqrtf(x) * x;
      }
)"));
  std::string Code = elements().apply(Ps[0]);
  EXPECT_THAT(Code, HasSubstr("early<<<(((n + 255) / 256) + 3) / 4, 256>>>"));
  EXPECT_EQ(compileWithNvcc(Code), "");
}

TEST(VectorizedAccessTest, OtherWidths) {
  auto Ps = elements().proposals("large", Vectorize);
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_THAT(elements().apply(Ps[0]), HasSubstr("(((m + kBlock - 1) / kBlock) + 1) / 2"));
  EXPECT_EQ(compileWithNvcc(elements().apply(Ps[0])), "");
  Ps = elements().proposals("bytes", Vectorize);
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_THAT(elements().apply(Ps[0]), HasSubstr("((n / 32 + 1) + 15) / 16"));
  EXPECT_EQ(compileWithNvcc(elements().apply(Ps[0])), "");
}

TEST(VectorizedAccessTest, ComposesWithStreamingHints) {
  auto Ps = elements().proposals("early", "*");
  ASSERT_GE(Ps.size(), 2u);
  EXPECT_EQ(Ps[0].Title, "vectorized access");
  EXPECT_EQ(Ps[1].Title, "vectorized access + streaming hints");
  std::string Text = elements().text(Ps[1]);
  EXPECT_THAT(Text, HasSubstr("inVector.bits = __ldcs(reinterpret_cast<const uint4 *>(in + "
                              "first));"));
  EXPECT_THAT(Text, HasSubstr("__stcs(reinterpret_cast<uint4 *>(out + first), "
                              "outVector.bits);"));
  EXPECT_EQ(compileWithNvcc(elements().apply(Ps[1])), "");
}

struct VectorRefused {
  const char *Kernel, *Rule;
};
class VectorDeclines : public testing::TestWithParam<VectorRefused> {};

TEST_P(VectorDeclines, WithItsRule) {
  EXPECT_THAT(elements().proposals(GetParam().Kernel, Vectorize), IsEmpty());
  auto Rules = elements().declines(GetParam().Kernel, Vectorize);
  ASSERT_EQ(Rules.size(), 1u);
  EXPECT_THAT(Rules[0], testing::StartsWith(std::string(GetParam().Rule) + "@"));
}

INSTANTIATE_TEST_SUITE_P(
    All, VectorDeclines,
    testing::Values(
        VectorRefused{"noGuard", "kernel-shape"}, VectorRefused{"elseBranch", "guard-has-else"},
        VectorRefused{"strided", "not-stride-1"}, VectorRefused{"stencil", "not-stride-1"},
        VectorRefused{"value", "index-used-as-value"},
        VectorRefused{"usesLane", "uses-thread-index"},
        VectorRefused{"twoStores", "kernel-shape"}, VectorRefused{"sideWork", "kernel-shape"},
        VectorRefused{"mixedTypes", "mixed-element-types"},
        VectorRefused{"vectors", "unsupported-element-type"}, VectorRefused{"isVolatile", "volatile"},
        VectorRefused{"conditional", "conditional-access"},
        VectorRefused{"calls", "unknown-call"}, VectorRefused{"atomically", "atomic"},
        VectorRefused{"signs", "mixed-signedness"},
        VectorRefused{"otherIndex", "not-thread-index"},
        VectorRefused{"fixedGrid", "cannot-prove-coverage"},
        VectorRefused{"otherCount", "cannot-prove-coverage"},
        VectorRefused{"otherBlock", "cannot-prove-coverage"},
        VectorRefused{"movedCount", "cannot-prove-coverage"},
        VectorRefused{"roundedDown", "cannot-prove-coverage"},
        VectorRefused{"twoDimensional", "launch-shape-unknown"},
        VectorRefused{"heldInDim3", "launch-shape-unknown"},
        VectorRefused{"byPointer", "cannot-prove-launch-sites"},
        VectorRefused{"neverLaunched", "cannot-prove-launch-sites"},
        VectorRefused{"fromMacro", "in-macro"}),
    [](const auto &Info) { return std::string(Info.param.Kernel); });

TEST(VectorizedAccessTest, NothingIsProvedOfWhatClangRefuses) {
  Snippet S(R"cu(
__global__ void copy(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
int later(int a);
__global__ void calls(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + later(1); // hot
}
__device__ int later(int a) { return a; }
void run(const float *in, float *out, int n) {
  copy<<<(n + 127) / 128, 128>>>(in, out, n);
  calls<<<(n + 127) / 128, 128>>>(in, out, n);
  copy<<<(n + 127) / 128, {128}>>>(in, out + 1, n);
}
)cu");
  EXPECT_THAT(S.declines("copy", Vectorize),
              testing::ElementsAre(testing::StartsWith("cannot-prove-launch-sites@")));
  EXPECT_THAT(S.proposals("calls", Vectorize), IsEmpty());
}

} // namespace optimas
