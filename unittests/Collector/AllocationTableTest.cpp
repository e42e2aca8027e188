//===- AllocationTableTest.cpp - Live device memory -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/AllocationTable.h"
#include <gtest/gtest.h>

using namespace optimas::collector;

TEST(CollectorAllocations, ReusedAddressGetsANewIndex) {
  AllocationTable T;
  int A = 0, B = 0;
  EXPECT_EQ(T.add(0x1000, 10, &A).Index, 1u);
  EXPECT_EQ(T.add(0x2000, 20, &B).Index, 2u);
  ASSERT_TRUE(T.remove(0x1000));
  EXPECT_FALSE(T.remove(0x1000));
  EXPECT_FALSE(T.remove(0x2004)); // not the start of an allocation
  EXPECT_EQ(T.add(0x1000, 30, &A).Index, 3u);
  ASSERT_EQ(T.ofContext(&A).size(), 1u);
  EXPECT_EQ(T.ofContext(&A)[0].Bytes, 30u);
  EXPECT_EQ(T.made(), 3u);
}

TEST(CollectorAllocations, InOrderOfIndexNotOfAddress) {
  AllocationTable T;
  int C = 0;
  T.add(0x9000, 1, &C);
  T.add(0x1000, 2, &C);
  T.add(0x5000, 3, &C);
  std::vector<uint64_t> Bytes;
  for (const Allocation &A : T.ofContext(&C))
    Bytes.push_back(A.Bytes);
  EXPECT_EQ(Bytes, (std::vector<uint64_t>{1, 2, 3}));
}

TEST(CollectorAllocations, ContextsGoAway) {
  AllocationTable T;
  int A = 0, B = 0;
  T.add(0x1000, 1, &A);
  T.add(0x2000, 2, &B);
  T.add(0x3000, 3, &A);
  EXPECT_EQ(T.contexts().size(), 2u);
  EXPECT_EQ(T.removeContext(&A).size(), 2u);
  EXPECT_EQ(T.contexts(), (std::vector<const void *>{&B}));
  EXPECT_EQ(T.live(), 1u);
}
