//===- CeilingBoundsTest.cpp ----------------------------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Profile/CeilingBounds.h"
#include "gtest/gtest.h"

using namespace optimas;

static DeviceInfo h200() {
  DeviceInfo D;
  D.CcMajor = 9;
  D.Sms = 132;
  D.SmClockKHz = 1980000;
  D.MemoryClockKHz = 3201000;
  D.MemoryBusBits = 6016;
  return D;
}

TEST(CeilingBounds, AreThoseOfTheDataSheet) {
  // H200's: 4.8 TB/s, and 67, 134 and 34 (at 1.98 GHz) 10^12 operations/s.
  EXPECT_NEAR(*ceilingBound("dram_copy", h200()), 4.81e12, 0.01e12);
  EXPECT_NEAR(*ceilingBound("fp32", h200()), 66.9e12, 0.1e12);
  EXPECT_NEAR(*ceilingBound("fp16", h200()), 133.8e12, 0.1e12);
  EXPECT_NEAR(*ceilingBound("fp64", h200()), 33.5e12, 0.1e12);
  EXPECT_NEAR(*ceilingBound("tensor_fp64", h200()), 66.9e12, 0.1e12);
  EXPECT_NEAR(*ceilingBound("shared_read", h200()), 33.5e12, 0.1e12);
}

TEST(CeilingBounds, FiguresOfLoopsThatWereLeftOutAreDropped) {
  DeviceInfo D = h200();
  // As an H200 gave them, from good kernels and from bad ones.
  D.Ceilings = {{"dram_read", 4.624e12},  {"fp32", 6.467e13},        {"tensor_fp16", 9.738e14},
                {"shared_read", 4.882e14}, {"int32", 3.276e15},       {"tensor_int8", 2.084e17},
                {"l2_read", 1.218e13}};
  std::vector<std::string> Said = dropImpossibleCeilings(D);
  ASSERT_EQ(Said.size(), 4u);
  EXPECT_EQ(Said[0], "the ceiling int32 was measured as 3.276e+15/s, which 132 SMs at 1.98 GHz "
                     "cannot reach (at most 3.345e+13/s): discarded, a mistake of the "
                     "measurement");
  EXPECT_EQ(D.Ceilings.size(), 3u);
  EXPECT_EQ(D.Ceilings.count("fp32"), 1u);
}

TEST(CeilingBounds, UpToFivePercentMoreIsKept) {
  DeviceInfo D = h200();
  double Bound = *ceilingBound("fp32", D);
  D.Ceilings = {{"fp32", Bound * 1.049}};
  EXPECT_TRUE(dropImpossibleCeilings(D).empty());
  D.Ceilings = {{"fp32", Bound * 1.051}};
  EXPECT_EQ(dropImpossibleCeilings(D).size(), 1u);
}

TEST(CeilingBounds, WhatIsNotKnownBoundsNothing) {
  DeviceInfo D = h200();
  EXPECT_FALSE(ceilingBound("something_new", D));
  D.CcMajor = 30;
  EXPECT_FALSE(ceilingBound("tensor_fp16", D));
  D.SmClockKHz = 0;
  D.Ceilings = {{"shared_read", 1e30}};
  EXPECT_TRUE(dropImpossibleCeilings(D).empty());
}
