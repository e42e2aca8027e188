//===- UnrollTest.cpp - Pragmas before loops ---===//
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

static const char Unrolling[] = "optimas-unroll";

static const Snippet &counted() {
  static const Snippet S(R"cu(
__global__ void counting(float *out, int n) {
  float x = 0;
  for (int i = 0; i < n; ++i)
    x = x * 0.5f + i; // hot:wait
  *out = x;
}
__global__ void fetching(float *out, int n) {
  float x = 0;
  for (int i = 0; i < n; ++i)
    x = x * 0.5f + i; // hot:no_instructions
  *out = x;
}
__global__ void marked(float *out, int n) {
  float x = 0;
  #pragma unroll 2

  for (int i = 0; i < n; ++i)
    x = x * 0.5f + i; // hot:wait
  *out = x;
}
__global__ void alone(float *out, int n) {
  float x = 0;
  if (n > 3)
    for (int i = 0; i < n; ++i)
      x = x * 0.5f + i; // hot:wait
  *out = x;
}
__global__ void behind(float *out, int n) {
  float x = 0; for (int i = 0; i < n; ++i)
    x = x * 0.5f + i; // hot:wait
  *out = x;
}
__global__ void whileLoop(float *out, int n) {
  float x = 0;
  while (x < n)
    x = x * 0.5f + 1; // hot:branch_resolving
  *out = x;
}
__global__ void smooths(const float *__restrict__ in, float *out, int n, float d) {
  float x = 0;
  for (int i = 0; i < n; ++i)
    x = (x + in[i]) * d; // hot:wait
  *out = x;
}
__global__ void handsOn(const float *__restrict__ in, float *out, int n, float d) {
  float x = 0, p = 0, q = 0;
  for (int i = 0; i < n; ++i) {
    x += q; // hot:wait
    q = p;
    float y = -(in[i] * d);
    p = i > 3 ? y : 0.0f;
  }
  *out = x;
}
__global__ void throughMemory(float *out, float *sum, int n) {
  for (int i = 0; i < n; ++i) {
    sum[0] = (sum[0] + i) * 0.3f; // hot:wait
  }
}
__global__ void byReference(float *out, int n) {
  float x = 0;
  for (int i = 0; i < n; ++i) {
    float &y = x;
    y = (y + 1.5f) * 0.7f; // hot:wait
  }
  *out = x;
}
__global__ void whoIsHere(unsigned *out, int n) {
  unsigned x = 0;
  for (int i = threadIdx.x; i < n; i += 7)
    x += __popc(__activemask()); // hot:wait
  *out = x;
}
__global__ void namedOnes(unsigned *out, int n) {
  unsigned x = 0;
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    x += __ballot_sync(0xffffffff, i & 1); // hot:wait
  }
  *out = x;
}
__global__ void integers(int *out, int n) {
  int x = 0;
  for (int i = 0; i < n; ++i)
    x = (x + i) * 3; // hot:wait
  *out = x;
}
__global__ void largest(const float *__restrict__ in, float *out, int n) {
  float x = 0, y = 0;
  for (int i = 0; i < n; ++i) {
    x = fmaxf(x, in[i] * 0.5f); // hot:wait
    y += in[i] * in[i];
  }
  *out = x + y;
}
__global__ void waitsForMemory(const float *in, float *out, int n) {
  float x = 0;
  for (int i = 0; i < n; ++i)
    x += in[i]; // hot
  *out = x;
}
)cu");
  return S;
}

TEST(UnrollTest, PutsAPragmaBeforeTheLoop) {
  auto Ps = counted().proposals("counting", Unrolling);
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_EQ(Ps[0].Edits[0].Kind, EditKind::InsertBefore);
  EXPECT_EQ(Ps[0].Edits[0].Factor, 4u);
  std::string Code = counted().apply(Ps[0]);
  EXPECT_THAT(Code, HasSubstr("float x = 0;\n  #pragma unroll 4\n  for (int i"));
  EXPECT_EQ(compileWithNvcc(Code), "");
  Ps = counted().proposals("fetching", Unrolling);
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_EQ(Ps[0].Edits[0].Text, "#pragma unroll 1");
}

TEST(UnrollTest, WhatACalledFunctionWaitsForIsNotTheLoops) {
  Diagnosis D = counted().diagnosis();
  for (Evidence &E : D.Items)
    if (E.KernelName == "counting") {
      // The call's line stays among E.Lines.
      E.Consumer.Line = 1;
      E.Producers.front().Where = E.Consumer;
    }
  for (const Proposal &P : proposeFromCatalogue({counted().model(), D}, Unrolling).Proposals)
    EXPECT_NE(P.Group, "counting");
}

TEST(UnrollTest, DeclinesWithItsRule) {
  EXPECT_THAT(counted().declines("marked", Unrolling),
              ElementsAre(StartsWith("holds-directive@")));
  EXPECT_THAT(counted().declines("alone", Unrolling),
              ElementsAre(StartsWith("not-in-block@")));
  EXPECT_THAT(counted().declines("behind", Unrolling),
              ElementsAre(StartsWith("not-own-line@")));
  EXPECT_THAT(counted().declines("whileLoop", Unrolling),
              ElementsAre(StartsWith("loop-shape@")));
  for (const char *Kernel : {"marked", "alone", "behind", "whileLoop", "waitsForMemory"})
    EXPECT_THAT(counted().proposals(Kernel, Unrolling), IsEmpty());
  EXPECT_THAT(counted().declines("waitsForMemory", Unrolling), IsEmpty());
}

/// Side by side, iterations let nvcc fuse one's product with the next one's addition.
TEST(UnrollTest, ProductsThatTheNextIterationAdds) {
  for (const char *Kernel : {"smooths", "handsOn", "throughMemory", "byReference"}) {
    EXPECT_THAT(counted().declines(Kernel, Unrolling),
                ElementsAre(StartsWith("may-round-otherwise@")))
        << Kernel;
    EXPECT_THAT(counted().proposals(Kernel, Unrolling), IsEmpty()) << Kernel;
  }
  EXPECT_THAT(counted().declines("whoIsHere", Unrolling),
              ElementsAre(StartsWith("barrier@")));
  for (const char *Kernel : {"integers", "largest", "namedOnes"})
    EXPECT_EQ(counted().proposals(Kernel, Unrolling).size(), 1u) << Kernel;
}

} // namespace optimas
