//===- EffectsTest.cpp - What must not be taken for harmless --------------===//
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

static const Snippet &traps() {
  static const Snippet S(R"cu(
namespace own {
__device__ float log2(float x) { return x + threadIdx.x; }
__device__ float __ldg(const float *p) { return *p + threadIdx.x; }
__device__ void atomicMark(float *p) { *p = 1; }
}
__global__ void elvis(const int *__restrict__ a, int *out, int n, int k) {
  int s = 0;
  for (int i = threadIdx.x; i < n; ++i)
    s += k ?: a[i]; // hot
  *out = s;
}
__global__ void elvisLvalue(int *__restrict__ a, int *out, int n, int k) {
  int s = 0;
  for (int i = threadIdx.x; i < n; ++i)
    s += k ?: a[i]; // hot
  *out = s;
}
__global__ void ownMath(const float *a, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; ++i)
    s += own::log2(a[i]); // hot
  *out = s;
}
__global__ void ownLoad(const float *a, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; ++i)
    s += a[i] + own::__ldg(&a[i]); // hot
  *out = s;
}
__global__ void cudasMath(const float *a, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; ++i)
    s += log2f(a[i]) + fmaxf(a[i], s) + max(i, n); // hot
  *out = s;
}
__global__ void inLambda(const float *a, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; ++i)
    s += [=] { return a[i]; }() + a[i]; // hot
  *out = s;
}
struct Mixed { volatile float v; float w; };
__global__ void member(Mixed *m, const float *a, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; ++i)
    s += m[i].v + a[i]; // hot
  *out = s;
}
struct Pair { int x, y; };
__global__ void bindings(Pair p, const int *a, int *out, int n) {
  int s = 0;
  for (int i = threadIdx.x; i < n; ++i) {
    auto [x, y] = p;
    x = a[i]; // hot
    s += x + y;
  }
  *out = s;
}
__constant__ float slot;
#define INNER (slot * 2)
#define FACTOR INNER
#define PASTE(x, y) x##y
__constant__ int stride;
__global__ void captured(const float *a, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; ++i)
    s += a[i] * FACTOR * PASTE(str, ide); // hot
  *out = s;
}
extern __shared__ float head[];
extern __shared__ float tail[];
__global__ void dynamicArrays(float *out, int n) {
  const float *from = head;
  float *to = tail;
  for (int i = 1; i < n; ++i)
    to[i] = from[i - 1]; // hot
  *out = head[0];
}
__global__ void padAsm(float *out) {
  __shared__ float tile[32][32];
  asm volatile("" ::"l"(&tile[0][0]));
  tile[threadIdx.x][threadIdx.y] = 1; // hot:short_scoreboard
  out[threadIdx.x] = tile[0][0];
}
__global__ void padAsmOperand(float *out) {
  __shared__ float tile[32][32];
  asm volatile("" : "=f"(tile[0][0]));
  tile[threadIdx.x][threadIdx.y] = 1; // hot:short_scoreboard
  out[threadIdx.x] = tile[0][0];
}
__global__ void padLambda(float *out) {
  __shared__ float tile[32][32];
  auto flat = [&](int k) -> float & { return (&tile[0][0])[k]; };
  tile[threadIdx.x][threadIdx.y] = 1; // hot:short_scoreboard
  out[threadIdx.x] = tile[0][0] + flat(40);
}
__global__ void padStatement(float *out) {
  __shared__ float tile[32][32];
  float v = ({ float *p = (float *)tile; p[40]; });
  tile[threadIdx.x][threadIdx.y] = 1; // hot:short_scoreboard
  out[threadIdx.x] = tile[0][0] + v;
}
__global__ void oneLane(const float *in, float *out, int n) {
  __shared__ float sums[32];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  sums[w] = 0;
  __syncthreads();
  for (int i = lane * n; i < n; ++i)
    sums[w] += in[i]; // hot
  __syncthreads();
  *out = sums[w];
}
__global__ void sometimes(const float *in, float *out, int n) {
  __shared__ float sums[32];
  int w = threadIdx.x / 32;
  sums[w] = 0;
  for (int i = threadIdx.x; i < n; ++i)
    if (in[i] > 3)
      sums[w] += in[i]; // hot
  *out = sums[w];
}
__global__ void counted(const float *in, int *bins, float *out, int n) {
  for (int i = threadIdx.x; i < n; ++i) {
    atomicAdd(bins, 1);
    out[i] = in[i]; // hot
  }
}
__device__ float board[64];
__global__ void deviceVariable(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; ++i)
    out[i] = in[i] + board[0]; // hot
}
__global__ void marked(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; ++i) {
    own::atomicMark(out + 1);
    out[i] = in[i]; // hot
  }
}
void host(float *p, Mixed *m, int *q) {
  dim3 square(32, 32);
  padAsm<<<1, square>>>(p);
  padAsmOperand<<<1, square>>>(p);
  padLambda<<<1, square>>>(p);
  padStatement<<<1, square>>>(p);
  oneLane<<<1, 256>>>(p, p, 3);
  sometimes<<<1, 256>>>(p, p, 3);
  float *a = nullptr, *b = nullptr;
  cudaMalloc(&a, 64);
  cudaMalloc(&b, 64);
  counted<<<1, 64>>>(a, (int *)a, b, 3);
  deviceVariable<<<1, 64>>>(a, b, 3);
  marked<<<1, 64>>>(a, b, 3);
}
)cu");
  return S;
}

struct Trap {
  const char *Kernel, *Check, *Rule;
};
class Traps : public testing::TestWithParam<Trap> {};

TEST_P(Traps, AreDeclined) {
  EXPECT_THAT(traps().proposals(GetParam().Kernel, GetParam().Check), IsEmpty());
  auto Rules = traps().declines(GetParam().Kernel, GetParam().Check);
  ASSERT_EQ(Rules.size(), 1u);
  EXPECT_THAT(Rules[0], testing::StartsWith(std::string(GetParam().Rule) + "@"));
}

INSTANTIATE_TEST_SUITE_P(
    All, Traps,
    testing::Values(
        Trap{"elvis", "optimas-load-batching", "no-load-to-batch"},
        Trap{"elvisLvalue", "optimas-load-batching", "no-load-to-batch"},
        Trap{"ownMath", "optimas-load-batching", "unknown-call"},
        Trap{"ownLoad", "optimas-load-batching", "unknown-call"},
        Trap{"inLambda", "optimas-load-batching", "unknown-call"},
        Trap{"member", "optimas-load-batching", "volatile"},
        Trap{"bindings", "optimas-load-batching", "unsupported-construct"},
        Trap{"dynamicArrays", "optimas-load-batching", "cannot-prove-alias"},
        Trap{"padAsm", "optimas-shared-padding", "pointer-escapes"},
        Trap{"padAsmOperand", "optimas-shared-padding", "pointer-escapes"},
        Trap{"padLambda", "optimas-shared-padding", "pointer-escapes"},
        Trap{"padStatement", "optimas-shared-padding", "pointer-escapes"},
        Trap{"sometimes", "optimas-register-accumulator", "element-not-own"},
        Trap{"counted", "optimas-const-restrict", "cannot-prove-alias"},
        Trap{"deviceVariable", "optimas-const-restrict", "cannot-prove-alias"},
        Trap{"marked", "optimas-const-restrict", "unknown-call"}),
    [](const auto &Info) { return std::string(Info.param.Kernel); });

TEST(EffectsTest, KnowsCudasOwnMath) {
  EXPECT_EQ(traps().proposals("cudasMath", "optimas-load-batching").size(), 3u);
}

TEST(EffectsTest, NamesThatMacrosUseAreNotFree) {
  auto Ps = traps().proposals("captured", "optimas-load-batching");
  ASSERT_FALSE(Ps.empty());
  EXPECT_THAT(traps().text(Ps[0]), HasSubstr("const int stride2 = 1;"));
  EXPECT_THAT(traps().text(Ps[0]), HasSubstr("for (int slot2 = 0;"));
  EXPECT_EQ(compileWithNvcc(traps().apply(Ps[0])), "");
}

TEST(EffectsTest, OnlyThreadsWithAnIterationTouchASharedElement) {
  auto Ps = traps().proposals("oneLane", "optimas-register-accumulator");
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_EQ(traps().text(Ps[0]),
            R"({ // optimas-register-accumulator: `sums[w]` is read and written once.
    int i = lane * n;
    if (i < n) {
      float sumsAcc = sums[w];
      for (; i < n; ++i)
        sumsAcc += in[i];
      sums[w] = sumsAcc;
    }
  })");
  EXPECT_EQ(compileWithNvcc(traps().apply(Ps[0])), "");
}

} // namespace optimas
