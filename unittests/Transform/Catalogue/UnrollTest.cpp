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
  std::string Code = counted().apply(Ps[0]);
  EXPECT_THAT(Code, HasSubstr("float x = 0;\n  #pragma unroll 4\n  for (int i"));
  EXPECT_EQ(compileWithNvcc(Code), "");
  Ps = counted().proposals("fetching", Unrolling);
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_EQ(Ps[0].Edits[0].Text, "#pragma unroll 1");
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

} // namespace optimas
