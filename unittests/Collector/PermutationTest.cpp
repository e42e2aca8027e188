//===- PermutationTest.cpp - Shuffled copies -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/Permutation.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

using namespace optimas::collector;

template <typename T> static std::vector<T> shuffled(const std::vector<T> &In, uint64_t Seed) {
  std::vector<T> Out(In.size());
  permuteElements(Out.data(), In.data(), In.size() * sizeof(T), sizeof(T), Seed);
  return Out;
}

template <typename T> static void check() {
  std::vector<T> In(1001);
  std::iota(In.begin(), In.end(), T(1));
  std::vector<T> Out = shuffled(In, 1);
  EXPECT_NE(Out, In);
  EXPECT_EQ(Out, shuffled(In, 1));
  EXPECT_NE(Out, shuffled(In, 2));
  std::sort(Out.begin(), Out.end());
  EXPECT_EQ(Out, In);
}

TEST(CollectorPermutation, IsASeededPermutation) {
  check<uint32_t>();
  check<uint64_t>();
}

TEST(CollectorPermutation, TailStaysAndPairsStayTogether) {
  std::vector<uint32_t> In(11);
  std::iota(In.begin(), In.end(), 0);
  std::vector<uint32_t> Out(11);
  permuteElements(Out.data(), In.data(), 11 * 4, 8, 3);
  EXPECT_EQ(Out[10], 10u);
  for (unsigned I = 0; I < 10; I += 2) {
    EXPECT_EQ(Out[I] % 2, 0u);
    EXPECT_EQ(Out[I + 1], Out[I] + 1);
  }
}

TEST(CollectorPermutation, OddBuffers) {
  permuteElements(nullptr, nullptr, 0, 8, 1);
  char From[4] = "abc", To[4] = "";
  permuteElements(To, From, 3, 8, 1);
  EXPECT_STREQ(To, "abc");
  // Unaligned on both sides.
  std::vector<char> A(8 * 9 + 1), B(8 * 9 + 1);
  for (size_t I = 0; I < A.size(); ++I)
    A[I] = char(I);
  permuteElements(B.data() + 1, A.data() + 1, 8 * 9, 8, 5);
  std::vector<char> X(A.begin() + 1, A.end()), Y(B.begin() + 1, B.end());
  EXPECT_TRUE(std::is_permutation(X.begin(), X.end(), Y.begin()));
}

// A fair shuffle puts every element everywhere about equally often.
TEST(CollectorPermutation, IsFair) {
  const unsigned N = 8, Rounds = 8000;
  unsigned Seen[N][N] = {};
  std::vector<uint32_t> In(N);
  std::iota(In.begin(), In.end(), 0);
  for (unsigned R = 0; R < Rounds; ++R) {
    std::vector<uint32_t> Out = shuffled(In, R * 7919);
    for (unsigned I = 0; I < N; ++I)
      ++Seen[I][Out[I]];
  }
  for (auto &Row : Seen)
    for (unsigned Count : Row) {
      EXPECT_GT(Count, Rounds / N * 8 / 10);
      EXPECT_LT(Count, Rounds / N * 12 / 10);
    }
}
