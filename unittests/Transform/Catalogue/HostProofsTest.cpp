//===- HostProofsTest.cpp - What launches prove, and what they do not ---===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CatalogueTest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace optimas {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

static const char Vectorize[] = "optimas-vectorized-access";
static const char Restrict[] = "optimas-const-restrict";

static const std::string Kernel = R"cu(
__global__ void step(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
using Step = void (*)(const float *, float *, int);
void run(const float *in, float *out, int n) {
  step<<<(n + 255) / 256, 256>>>(in, out, n);
}
)cu";

TEST(HostProofsTest, LaunchesAloneAreKnown) {
  EXPECT_THAT(Snippet(Kernel).proposals("step", Vectorize), SizeIs(1u));
}

/// Code after the kernel that launches it, or lets others launch it.
class NamedElsewhere : public testing::TestWithParam<const char *> {};

TEST_P(NamedElsewhere, IsDeclined) {
  Snippet S(Kernel + GetParam());
  EXPECT_THAT(S.proposals("step", Vectorize), IsEmpty());
  EXPECT_THAT(S.declines("step", Vectorize),
              ElementsAre(StartsWith("cannot-prove-launch-sites@")));
}

INSTANTIATE_TEST_SUITE_P(
    All, NamedElsewhere,
    testing::Values(
        "Step table[] = {step};",
        "template <class T> struct Runner { void go(void **a) {\n"
        "  cudaLaunchKernel((const void *)step, dim3(1), dim3(1), a, 0, 0); } };\n"
        "void later(void **a) { Runner<int>().go(a); }",
        "template <class T> void never(T **a) {\n"
        "  cudaLaunchKernel((const void *)step, dim3(1), dim3(1), a, 0, 0); }",
        "struct Holder { Step k; Holder() : k(step) {} };",
        "int cuModuleGetFunction(void **, void *, const char *);\n"
        "void find(void **f) { cuModuleGetFunction(f, nullptr, \"_Z4stepPKfPfi\"); }",
        "struct Member { Step k = step; };",
        "void go(const float *in, float *out, Step k = step) { k<<<1, 1>>>(in, out, 1); }",
        "auto pick = [] { return &step; };",
        "template <Step K> void with(float *a) { K<<<1, 1>>>(a, a, 9); }\n"
        "void later(float *a) { with<step>(a); }",
        "template <Step K = step> struct Typed {};",
        "template <class T> struct Launcher { void go(float *a, T n) {\n"
        "  step<<<1, 1>>>(a, a, n); } };\n"
        "void later(float *a) { Launcher<int>().go(a, 9); }",
        "void generic(float *a) { [&](auto n) { step<<<1, 1>>>(a, a, n); }(9); }",
        "#ifdef __CUDA_ARCH__\n__device__ Step kept = step;\n#endif"));

TEST(HostProofsTest, ExternCInANamespaceIsTheSameKernel) {
  Snippet S(R"cu(
extern "C" __global__ void step(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
namespace other { extern "C" __global__ void step(const float *, float *, int); }
void run(const float *in, float *out, int n) {
  step<<<(n + 255) / 256, 256>>>(in, out, n);
}
void (*kept)(const float *, float *, int) = other::step;
)cu");
  EXPECT_THAT(S.proposals("step", Vectorize), IsEmpty());
}

/// The body of `void run(const float *in, float *out, int n, long big, int *sizes)`.
struct Launch {
  const char *Name, *Body;
  bool Covers;
};
class Covering : public testing::TestWithParam<Launch> {};

TEST_P(Covering, IsProvedOnlyOfValuesThatStay) {
  Snippet S(std::string(R"cu(
__global__ void step(const float *in, float *out, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i]; // hot
}
int width = 256, count = 1000;
const int Fixed = 256;
void grow(int *s);
int parse();
void run(const float *in, float *out, int n, long big, int *sizes) {
)cu") + GetParam().Body + "\n}\n");
  if (GetParam().Covers) {
    EXPECT_THAT(S.proposals("step", Vectorize), SizeIs(1u));
    return;
  }
  EXPECT_THAT(S.proposals("step", Vectorize), IsEmpty());
  EXPECT_THAT(S.declines("step", Vectorize),
              ElementsAre(StartsWith("cannot-prove-coverage@")));
}

INSTANTIATE_TEST_SUITE_P(
    All, Covering,
    testing::Values(
        Launch{"parameter", "step<<<(n + 255) / 256, 256>>>(in, out, n);", true},
        Launch{"wide", "step<<<(big + 255) / 256, 256>>>(in, out, big);", true},
        Launch{"constant", "step<<<(n + Fixed - 1) / Fixed, Fixed>>>(in, out, n);", true},
        Launch{"heldLocal", "const int m = sizes[0]; int g = (m + 255) / 256;\n"
                            "grow(sizes); step<<<g, 256>>>(in, out, m);", true},
        Launch{"memory", "int g = (sizes[0] + 255) / 256; grow(sizes);\n"
                         "step<<<g, 256>>>(in, out, sizes[0]);", false},
        Launch{"dereferenced", "int g = (*sizes + 255) / 256; grow(sizes);\n"
                               "step<<<g, 256>>>(in, out, *sizes);", false},
        Launch{"globalBlock", "step<<<(n + 255) / 256, width>>>(in, out, n);", false},
        Launch{"globalCount", "int g = (1000 + 255) / 256;\n"
                              "step<<<g, 256>>>(in, out, count);", false},
        Launch{"narrowed", "step<<<((int)big + 255) / 256, 256>>>(in, out, big);", false},
        Launch{"narrowedLocal", "int m = big;\n"
                                "step<<<(m + 255) / 256, 256>>>(in, out, big);", false},
        Launch{"narrowGrid", "step<<<(big + 7) / 8, 8>>>(in, out, big);", false},
        Launch{"inTry", "int m = 9; try { m = parse(); } catch (...) {}\n"
                        "step<<<1, 256>>>(in, out, m);", false},
        Launch{"inLambda", "int m = 9; auto f = [m]() mutable { m = parse();\n"
                           "  step<<<1, 256>>>(in, out, m); }; f();", false},
        Launch{"inConfiguration", "int m = 9; step<<<1, 256 + 0 * (m = 999)>>>"
                                  "(in, out, m);", false}),
    [](const auto &Info) { return std::string(Info.param.Name); });

TEST(HostProofsTest, AnAllocatorOfTheUsersMayReturnOneBufferTwice) {
  std::string Code = R"cu(
namespace pool {
float *store;
cudaError_t cudaMalloc(float **p, size_t) { *p = store; return cudaSuccess; }
}
__global__ void scale(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[0] * in[i]; // hot
}
void run(int n) {
  float *a, *b;
  ALLOCATE(&a, 4096), ALLOCATE(&b, 4096);
  scale<<<1, 32>>>(a, b, n);
}
)cu";
  EXPECT_THAT(Snippet("#define ALLOCATE cudaMalloc\n" + Code).proposals("scale", Restrict),
              SizeIs(1u));
  Snippet S("#define ALLOCATE pool::cudaMalloc\n" + Code);
  EXPECT_THAT(S.proposals("scale", Restrict), IsEmpty());
  EXPECT_THAT(S.declines("scale", Restrict),
              ElementsAre(StartsWith("cannot-prove-alias@")));
}

TEST(HostProofsTest, ADeviceVariableIsNotItsInitialiser) {
  std::string Code = R"cu(
QUALIFIER int Width = 32;
__global__ void pad(const float *in, float *out) {
  __shared__ float tile[32][32];
  unsigned tx = threadIdx.x % 32u, ty = threadIdx.y % 32u;
  if (tx == 0)
    for (int c = 0; c < Width; c++)
      tile[ty][c] = in[ty * 32 + c];
  __syncthreads();
  out[ty * 32 + tx] = tile[tx][ty]; // hot:short_scoreboard
}
void run(float *in, float *out) { pad<<<1, dim3(32, 32)>>>(in, out); }
)cu";
  static const char Padding[] = "optimas-shared-padding";
  EXPECT_THAT(Snippet("#define QUALIFIER constexpr\n" + Code).proposals("pad", Padding),
              SizeIs(1u));
  EXPECT_THAT(Snippet("#define QUALIFIER __device__\n" + Code).proposals("pad", Padding),
              IsEmpty());
}

} // namespace optimas
