//===- CounterConfigTest.cpp - Counters planned by CUPTI, no GPU -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CounterConfig.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace optimas::collector;

namespace {
std::vector<MetricRequest> everything() {
  static const struct {
    const char *Set, *Name, *Unit;
  } All[] = {
#define OPTIMAS_METRIC(Set, Name, Unit) {Set, Name, Unit},
#include "optimas/Collector/Metrics.def"
  };
  std::vector<MetricRequest> List;
  for (const auto &M : All)
    List.push_back({M.Name, M.Unit});
  return List;
}

/// The host's half of CUPTI works without a device.
class CollectorCounters : public testing::Test {
protected:
  void SetUp() override {
    std::string Error;
    ASSERT_TRUE(loadCupti("", 0, Error)) << Error;
    ASSERT_TRUE(Cupti.HasCounters);
  }
};
} // namespace

TEST(CounterConfig, KnowsSumsFromRatios) {
  EXPECT_TRUE(isSum("smsp__inst_executed.sum"));
  EXPECT_FALSE(isSum("dram__bytes.sum.peak_sustained"));
  EXPECT_FALSE(isSum("smsp__thread_inst_executed_per_inst_executed.ratio"));
  EXPECT_FALSE(isSum(".sum"));
}

TEST_F(CollectorCounters, HopperHasAllInFewPasses) {
  CounterConfig C;
  std::string Error;
  ASSERT_TRUE(C.prepare("GH100", {}, everything(), Error)) << Error;
  EXPECT_TRUE(C.missing().empty());
  EXPECT_EQ(C.metrics().size(), everything().size());
  EXPECT_EQ(C.names().size(), C.metrics().size());
  EXPECT_FALSE(C.image().empty());
  EXPECT_GT(C.passes(), 1u);
  EXPECT_LT(C.passes(), 40u);
}

TEST_F(CollectorCounters, OnePassAtATimeReadsAll) {
  std::vector<MetricRequest> Wanted = everything();
  std::vector<std::string> Counted;
  size_t Runs = 0;
  for (; !Wanted.empty() && Runs < 60; ++Runs) {
    CounterConfig C;
    std::string Error;
    ASSERT_TRUE(C.prepare("GH100", {}, Wanted, Error)) << Error;
    if (!C.keepOnePass(Error))
      break;
    EXPECT_EQ(C.passes(), 1u);
    EXPECT_EQ(C.names().size(), C.metrics().size());
    EXPECT_EQ(C.metrics().size() + C.left().size(), Wanted.size());
    EXPECT_EQ(C.metrics().front().Name, Runs ? C.metrics().front().Name : Wanted.front().Name);
    for (const MetricRequest &M : C.metrics())
      Counted.push_back(M.Name);
    std::vector<MetricRequest> Left;
    for (const MetricRequest &M : Wanted)
      if (std::count(C.left().begin(), C.left().end(), M.Name))
        Left.push_back(M);
    Wanted = std::move(Left);
  }
  RecordProperty("runs", int(Runs));
  // What is left needs several passes each: Nsight Compute's throughputs, which are the
  // largest of many parts, and a rate of two counts.
  for (const MetricRequest &M : Wanted)
    EXPECT_TRUE(M.Name.find("throughput") != std::string::npos ||
                M.Name == "lts__t_sector_hit_rate.pct")
        << M.Name;
  EXPECT_EQ(Counted.size() + Wanted.size(), everything().size());
  EXPECT_LT(Runs, 40u);
}

TEST_F(CollectorCounters, TimeAndDramTrafficFitIntoOnePass) {
  CounterConfig C;
  std::string Error;
  ASSERT_TRUE(C.prepare("GH100", {},
                        {{"gpu__time_duration.sum", "ns"},
                         {"dram__bytes_read.sum", "byte"},
                         {"dram__bytes_write.sum", "byte"},
                         {"dram__bytes.sum", "byte"}},
                        Error))
      << Error;
  ASSERT_TRUE(C.keepOnePass(Error)) << Error;
  EXPECT_TRUE(C.left().empty());
}

TEST_F(CollectorCounters, NamesWhatTheChipLacks) {
  CounterConfig C;
  std::string Error;
  auto Wanted = everything();
  Wanted.push_back({"no__such_metric.sum", ""});
  ASSERT_TRUE(C.prepare("GB202", {}, Wanted, Error)) << Error;
  const auto &Missing = C.missing();
  for (const char *Name : {"dram__bytes_read.sum", "no__such_metric.sum"})
    EXPECT_EQ(std::count(Missing.begin(), Missing.end(), Name), 1) << Name;
  EXPECT_EQ(C.metrics().size() + Missing.size(), Wanted.size());
}

TEST_F(CollectorCounters, RefusesWhatCannotBe) {
  CounterConfig Chip, None;
  std::string Error;
  EXPECT_FALSE(Chip.prepare("NOCHIP", {}, everything(), Error));
  EXPECT_NE(Error.find("NOCHIP"), std::string::npos);
  EXPECT_FALSE(None.prepare("GH100", {}, {{"no__such_metric.sum", ""}}, Error));
  EXPECT_NE(Error.find("none of the counters"), std::string::npos);
}
