//===- StreamingHintsTest.cpp - Accesses marked as streaming ---===//
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
using testing::StartsWith;

static const char Streaming[] = "optimas-streaming-hints";

static const Snippet &streams() {
  static const Snippet S(R"cu(
template <typename T> __global__ void add(const T *a, const T *b, T *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    T x = a[i];
    c[i] = x + b[i]; // hot:roofline:dram
  }
}
template __global__ void add<float>(const float *, const float *, float *, int);
template __global__ void add<long>(const long *, const long *, long *, int);
__global__ void compound(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] += a[i]; // hot:roofline:dram
}
__global__ void chained(const float *a, float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = b[i] = a[i]; // hot:roofline:dram
}
__global__ void bracketed(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    (c[i]) = (i[a]) + c[i]; // hot:roofline:dram
}
__global__ void flags(const bool *a, bool *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = !a[i]; // hot:roofline:dram
}
__global__ void reused(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i / 2]; // hot:roofline:dram
}
__global__ void computes(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i]; // hot:roofline:fp32
}
)cu");
  return S;
}

TEST(StreamingHintsTest, MarksEveryAccess) {
  auto Ps = streams().proposals("add", Streaming);
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_EQ(streams().text(Ps[0]),
            "T x = __ldcs(&a[i]);\n    __stcs(&c[i], x + __ldcs(&b[i]));");
  EXPECT_EQ(compileWithNvcc(streams().apply(Ps[0])), "");
}

TEST(StreamingHintsTest, OddlySpelledAccesses) {
  auto Ps = streams().proposals("bracketed", Streaming);
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_EQ(streams().text(Ps[0]),
            "__stcs(&(c[i]), (__ldcs(&i[a])) + __ldcs(&c[i]));");
  EXPECT_EQ(compileWithNvcc(streams().apply(Ps[0])), "");
}

TEST(StreamingHintsTest, DeclinesWithItsRule) {
  EXPECT_THAT(streams().declines("compound", Streaming),
              ElementsAre(StartsWith("compound-assignment@")));
  EXPECT_THAT(streams().declines("chained", Streaming),
              ElementsAre(StartsWith("unsupported-construct@")));
  EXPECT_THAT(streams().declines("flags", Streaming),
              ElementsAre(StartsWith("unsupported-element-type@")));
  EXPECT_THAT(streams().declines("reused", Streaming),
              ElementsAre(StartsWith("not-stride-1@")));
  EXPECT_THAT(streams().declines("computes", Streaming), IsEmpty());
  for (const char *Kernel : {"compound", "chained", "flags", "reused", "computes"})
    EXPECT_THAT(streams().proposals(Kernel, Streaming), IsEmpty());
}

/// A call that the edit writes must be CUDA's, whatever else has its name.
TEST(StreamingHintsTest, NamesThatTheProgramTook) {
  const std::string Kernel = R"cu(
__global__ void copy(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i]; // hot:roofline:dram
}
)cu";
  for (const char *Before :
       {"struct Mine {};\n__device__ float __ldcs(const Mine *m);",
        "namespace mine { __device__ float __ldcs(const float *p) { return *p + 1; } }\n"
        "using namespace mine;",
        "#define __stcs(p, v) (*(p) = (v) + 1)"}) {
    Snippet S(Before + Kernel);
    EXPECT_THAT(S.declines("copy", Streaming), ElementsAre(StartsWith("name-taken@")))
        << Before;
    EXPECT_THAT(S.proposals("copy", Streaming), IsEmpty()) << Before;
  }
  // A call of it is no declaration.
  Snippet Calls("__device__ float mine(const float *p) { return __ldcs(p); }" + Kernel);
  EXPECT_EQ(Calls.proposals("copy", Streaming).size(), 1u);
}

} // namespace optimas
