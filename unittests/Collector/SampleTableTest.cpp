//===- SampleTableTest.cpp - Aggregating PC samples -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/SampleTable.h"
#include <gtest/gtest.h>

using namespace optimas::collector;

TEST(CollectorSamples, ReasonNames) {
  StallReason R = classifyReason("smsp__pcsamp_warps_issue_stalled_long_scoreboard");
  EXPECT_EQ(R.What, StallReason::Kind::Stall);
  EXPECT_EQ(R.Name, "long_scoreboard");
  EXPECT_FALSE(R.Latency);
  R = classifyReason("smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued");
  EXPECT_EQ(R.Name, "long_scoreboard");
  EXPECT_TRUE(R.Latency);
  EXPECT_EQ(classifyReason("smsp__pcsamp_sample_count").What,
            StallReason::Kind::SampleCount);
  EXPECT_EQ(classifyReason("smsp__pcsamp_samples_data_dropped").What,
            StallReason::Kind::DataDropped);
  EXPECT_EQ(classifyReason("smsp__something_new").What, StallReason::Kind::Unknown);
}

TEST(CollectorSamples, SumsOverReadings) {
  SampleTable T;
  T.nameReason(14, "smsp__pcsamp_warps_issue_stalled_long_scoreboard");
  T.nameReason(15, "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued");
  T.nameReason(0, "smsp__pcsamp_sample_count");
  for (int Reading = 0; Reading < 3; ++Reading) {
    T.add(1, "f", 0x10, 14, 10);
    T.add(1, "f", 0x10, 15, 4);
    T.add(1, "f", 0x10, 0, 1000); // a pseudo reason
    T.add(1, "f", 0x10, 99, 7);   // not announced
    T.add(1, "f", 0x20, 14, 0);   // nothing
    T.add(2, "f", 0x10, 14, 1);   // another cubin
  }
  ASSERT_EQ(T.functions().size(), 2u);
  const auto &Pcs = T.functions().at({1, "f"});
  ASSERT_EQ(Pcs.size(), 1u);
  EXPECT_EQ(Pcs.at(0x10).at("long_scoreboard").Samples, 30u);
  EXPECT_EQ(Pcs.at(0x10).at("long_scoreboard").Latency, 12u);
  EXPECT_EQ(T.attributed(), 33u);
}

TEST(CollectorSamples, TotalsAndDrops) {
  SampleTable T;
  T.nameReason(1, "smsp__pcsamp_samples_data_dropped");
  T.addTotals({100, 2, 3, false});
  T.addTotals({50, 1, 0, true});
  EXPECT_EQ(T.totals().Total, 150u);
  EXPECT_EQ(T.totals().Dropped, 3u);
  EXPECT_EQ(T.totals().NonUser, 3u);
  EXPECT_TRUE(T.totals().BufferFull);
  // Dropped data that only the pseudo reason reports still counts.
  T.add(1, "f", 0, 1, 40);
  T.addTotals({});
  EXPECT_EQ(T.totals().Dropped, 40u);
}
