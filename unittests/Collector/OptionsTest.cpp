//===- OptionsTest.cpp - The collector's environment variables -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/Options.h"
#include <gtest/gtest.h>
#include <map>

using namespace optimas::collector;

static bool parse(std::map<std::string, std::string> Variables, Options &O,
                  std::string &Error) {
  return parseOptions(
      [&](const char *Name) -> const char * {
        auto At = Variables.find(Name);
        return At == Variables.end() ? nullptr : At->second.c_str();
      },
      O, Error);
}

TEST(CollectorOptions, NothingSetIsOff) {
  Options O;
  std::string Error;
  EXPECT_TRUE(parse({}, O, Error));
  EXPECT_EQ(O.RunMode, Mode::Off);
  EXPECT_EQ(O.poison(), 0xA5);
  EXPECT_FALSE(O.Poison);
}

TEST(CollectorOptions, ReadsCounters) {
  Options O;
  std::string Error;
  ASSERT_TRUE(parse({{"OPTIMAS_COLLECT", "counters"},
                     {"OPTIMAS_COLLECT_OUTPUT", "x"},
                     {"OPTIMAS_COLLECT_METRICS", "dram__bytes.sum byte\na.ratio\n"},
                     {"OPTIMAS_COLLECT_LAUNCHES", "3"}},
                    O, Error))
      << Error;
  EXPECT_EQ(O.RunMode, Mode::Counters);
  ASSERT_EQ(O.Metrics.size(), 2u);
  EXPECT_EQ(O.Metrics[0].Name, "dram__bytes.sum");
  EXPECT_EQ(O.Metrics[0].Unit, "byte");
  EXPECT_EQ(O.Metrics[1].Unit, "");
  EXPECT_EQ(O.Launches, 3u);
  EXPECT_FALSE(parse({{"OPTIMAS_COLLECT", "counters"}, {"OPTIMAS_COLLECT_OUTPUT", "x"}}, O,
                     Error));
  EXPECT_NE(Error.find("OPTIMAS_COLLECT_METRICS"), std::string::npos);
  EXPECT_EQ(O.ReplayMode, Replay::Kernel);
  ASSERT_TRUE(parse({{"OPTIMAS_COLLECT_REPLAY", "application"}}, O, Error)) << Error;
  EXPECT_EQ(O.ReplayMode, Replay::Application);
  ASSERT_TRUE(parse({{"OPTIMAS_COLLECT_REPLAY", "kernel"}}, O, Error)) << Error;
  EXPECT_EQ(O.ReplayMode, Replay::Kernel);
  EXPECT_FALSE(parse({{"OPTIMAS_COLLECT_REPLAY", "range"}}, O, Error));
  EXPECT_NE(Error.find("kernel or application"), std::string::npos);
  EXPECT_FALSE(parse({{"OPTIMAS_COLLECT_LAUNCHES", "0"}}, O, Error));
  EXPECT_FALSE(parse({{"OPTIMAS_COLLECT_METRICS", "a b c"}}, O, Error));
}

TEST(CollectorOptions, ReadsEverything) {
  Options O;
  std::string Error;
  ASSERT_TRUE(parse({{"OPTIMAS_COLLECT", "memory"},
                     {"OPTIMAS_COLLECT_OUTPUT", "/tmp/x.%p"},
                     {"OPTIMAS_COLLECT_PASS", "sampling"},
                     {"OPTIMAS_COLLECT_INTERVAL", "14"},
                     {"OPTIMAS_COLLECT_SERIALIZED", "1"},
                     {"OPTIMAS_COLLECT_CONCURRENT", "1"},
                     {"OPTIMAS_COLLECT_KERNELS", "copy\nns::mul\n"},
                     {"OPTIMAS_COLLECT_POISON", "0x5A"},
                     {"OPTIMAS_COLLECT_PERMUTE", "7:4"},
                     {"OPTIMAS_COLLECT_PERMUTE_SKIP", "1,3"},
                     {"OPTIMAS_COLLECT_DUMP", "2:3:/tmp/a:b\n4:var:/tmp/c"},
                     {"OPTIMAS_COLLECT_GLOBALS", "0"}},
                    O, Error))
      << Error;
  EXPECT_EQ(O.RunMode, Mode::Memory);
  EXPECT_EQ(O.RunPass, Pass::Sampling);
  EXPECT_EQ(O.IntervalLog2, 14u);
  EXPECT_TRUE(O.Serialized);
  EXPECT_TRUE(O.Concurrent);
  EXPECT_EQ(O.Kernels, (std::vector<std::string>{"copy", "ns::mul"}));
  EXPECT_EQ(O.poison(), 0x5A);
  EXPECT_EQ(*O.PermuteSeed, 7u);
  EXPECT_EQ(O.PermuteElement, 4u);
  EXPECT_EQ(O.PermuteSkip, (std::vector<uint64_t>{1, 3}));
  ASSERT_EQ(O.Dumps.size(), 2u);
  EXPECT_EQ(O.Dumps[0].Launch, 2u);
  EXPECT_EQ(O.Dumps[0].Index, 3u);
  EXPECT_EQ(O.Dumps[0].Path, "/tmp/a:b");
  EXPECT_EQ(O.Dumps[1].Symbol, "var");
  EXPECT_FALSE(O.Globals);
}

TEST(CollectorOptions, NonsenseIsNamed) {
  const std::pair<const char *, const char *> Bad[] = {
      {"OPTIMAS_COLLECT", "everything"},   {"OPTIMAS_COLLECT_PASS", "2"},
      {"OPTIMAS_COLLECT_INTERVAL", "4"},   {"OPTIMAS_COLLECT_INTERVAL", "32"},
      {"OPTIMAS_COLLECT_INTERVAL", "-1"},  {"OPTIMAS_COLLECT_SERIALIZED", "yes"},
      {"OPTIMAS_COLLECT_CONCURRENT", "2"},
      {"OPTIMAS_COLLECT_POISON", "256"},
      {"OPTIMAS_COLLECT_POISON", "0xZZ"},  {"OPTIMAS_COLLECT_PERMUTE", "1:2"},
      {"OPTIMAS_COLLECT_PERMUTE", "x"},    {"OPTIMAS_COLLECT_DUMP", "1:2"},
      {"OPTIMAS_COLLECT_DUMP", "0:1:/x"},  {"OPTIMAS_COLLECT_DUMP", "1:0:/x"},
      {"OPTIMAS_COLLECT_DUMP", "1:2:"},    {"OPTIMAS_COLLECT_GLOBALS", "no"},
      {"OPTIMAS_COLLECT_PERMUTE_SKIP", "1,a"}};
  for (auto [Name, Value] : Bad) {
    Options O;
    std::string Error;
    EXPECT_FALSE(parse({{Name, Value}}, O, Error)) << Name << "=" << Value;
    EXPECT_NE(Error.find(Name), std::string::npos) << Error;
  }
}

TEST(CollectorOptions, OutputIsNeeded) {
  Options O;
  std::string Error;
  EXPECT_FALSE(parse({{"OPTIMAS_COLLECT", "time"}}, O, Error));
  EXPECT_NE(Error.find("OPTIMAS_COLLECT_OUTPUT"), std::string::npos);
}

TEST(CollectorOptions, PidInPath) {
  auto Get = [](const char *Name) {
    return std::string(Name) == "RANK" ? "7" : nullptr;
  };
  EXPECT_EQ(expandPath("/a/%p.x%p%q%", 42, Get), "/a/42.x42%q%");
  EXPECT_EQ(expandPath("r%q{RANK}.%q{NONE}.%%p", 42, Get), "r7..%p");
  EXPECT_EQ(expandPath("%q{RANK", 42, Get), "%q{RANK");
}

TEST(CollectorOptions, IntervalGrowsWithTheRun) {
  // 132 SMs at 1.98 GHz for a second: 2.6e11 SM cycles; 2e6 samples of them are
  // 130,680 cycles apart.
  EXPECT_EQ(chooseInterval(132, 1980000, 1.0), 16u);
  EXPECT_EQ(chooseInterval(132, 1980000, 2.0), 17u);
  EXPECT_EQ(chooseInterval(132, 1980000, 1e-6), 9u);
  EXPECT_EQ(chooseInterval(132, 1980000, 1e6), 20u);
  EXPECT_EQ(chooseInterval(0, 0, 0), 9u);
}
