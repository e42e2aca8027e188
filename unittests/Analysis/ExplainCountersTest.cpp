//===- ExplainCountersTest.cpp - A counter study in words ------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/CounterStudy.h"
#include "optimas/Support/Error.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {

TEST(CounterSentence, CoversEveryMetricThatIsCollected) {
  size_t Count = 0;
#define OPTIMAS_METRIC(Set, Name, Unit)                                                   \
  ++Count;                                                                                \
  EXPECT_TRUE(counterSentence(Name)) << Name;
#include OPTIMAS_METRICS_DEF
  EXPECT_GT(Count, 80u);
  EXPECT_FALSE(counterSentence("sm__no_such_thing.sum"));
}

TEST(CounterSentence, SaysQuantityRollupAndRemedy) {
  EXPECT_EQ(*counterSentence("dram__bytes_read.sum"),
            "counts bytes read from device memory, over all units; high: device memory binds; move "
            "fewer bytes, or wider ones: vectorized access, streaming hints");
  EXPECT_EQ(counterSentence("lts__throughput.avg.pct_of_peak_sustained_elapsed")
                ->find("is how busy the busiest part of L2 is, on average over the units, in percent "
                       "of the most possible in the time;"),
            0u);
}

/// The time follows the bytes read, beside it instructions that do not matter and a copy
/// of the bytes in sectors.
Profile sweep(size_t Configurations) {
  Profile P;
  for (size_t I = 0; I != Configurations; ++I) {
    SweepConfiguration C;
    C.Parameters["N"] = std::to_string(I);
    KernelStats K;
    K.Symbol = "_Z5heavyPKfPfi";
    K.Launches = 10;
    double Bytes = 1e6 * double(1 + I * I % 11 + I);
    K.MedianNs = uint64_t(Bytes / 100);
    K.TotalNs = 10 * K.MedianNs;
    C.Kernels.push_back(K);
    auto Add = [&](const char *Name, double Value) {
      C.Counters.push_back({K.Symbol, Name, "", Value, Value, Value, 5});
    };
    Add("dram__bytes_read.sum", Bytes);
    Add("dram__sectors_read.sum", Bytes / 32);
    Add("smsp__inst_executed.sum", double(1000 + (I * 7919) % 13));
    Add("smsp__warps_launched.sum", double(100 + (I * 104729) % 17));
    Add("gpu__time_duration.sum", double(K.MedianNs));
    P.Configurations.push_back(std::move(C));
  }
  return P;
}

TEST(ExplainCounters, NamesTheCounterThatTheTimeFollows) {
  std::string Text = llvm::cantFail(explainCounters(sweep(12)));
  EXPECT_EQ(Text.find("heavy(float const*, float*, int): the counters that explain"), 0u) << Text;
  EXPECT_NE(Text.find("12 configurations, 10.0 us to"), std::string::npos) << Text;
  // The first in the list, with its sentence, and the sectors for which it stands.
  size_t First = Text.find(" % ");
  EXPECT_EQ(Text.substr(First + 3, 20), "dram__bytes_read.sum") << Text;
  EXPECT_NE(Text.find("stands for dram__sectors_read.sum"), std::string::npos) << Text;
  EXPECT_NE(Text.find("counts bytes read from device memory"), std::string::npos) << Text;
  EXPECT_NE(Text.find("by unit: dram "), std::string::npos) << Text;
  EXPECT_EQ(Text.find("gpu__time"), std::string::npos) << Text; // the time itself
}

std::string refusal(const Profile &P) {
  llvm::Expected<std::string> Text = explainCounters(P);
  EXPECT_FALSE(Text);
  return Text ? "" : llvm::toString(Text.takeError());
}

TEST(ExplainCounters, RefusesTooFew) {
  EXPECT_NE(refusal(sweep(7)).find("8 configurations"), std::string::npos) << refusal(sweep(7));
  EXPECT_NE(refusal({}).find("the profile is of one configuration"), std::string::npos);
  // A kernel that ran in too few does not keep another one from its answer.
  Profile P = sweep(12);
  KernelStats Rare = P.Configurations[0].Kernels[0];
  Rare.Symbol = "_Z4rarev";
  P.Configurations[0].Kernels.push_back(Rare);
  std::string Text = llvm::cantFail(explainCounters(P));
  EXPECT_NE(Text.find("rare(): not explained"), std::string::npos) << Text;
  EXPECT_NE(Text.find("dram__bytes_read.sum"), std::string::npos) << Text;
}

} // namespace
