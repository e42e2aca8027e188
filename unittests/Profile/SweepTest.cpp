// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Profile/Sweep.h"
#include "Recorded.h"
#include "optimas/Profile/Readers.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

static std::vector<SweepRun> plan(StringRef Text, std::vector<std::string> Command) {
  return cantFail(planSweep(cantFail(parseSweep(Text)), Command));
}

TEST(Sweep, EveryCombinationOnceTheLastFastest) {
  std::vector<SweepRun> Runs =
      plan("N=1,2,4;B=128,256", {"./app_{B}", "{N}", "--block={B}x{N}", "{\"json\": {}}"});
  ASSERT_EQ(Runs.size(), 6u);
  EXPECT_EQ(Runs[0].Parameters,
            (std::map<std::string, std::string>{{"N", "1"}, {"B", "128"}}));
  EXPECT_EQ(Runs[0].Command, (std::vector<std::string>{"./app_128", "1", "--block=128x1",
                                                       "{\"json\": {}}"}));
  EXPECT_EQ(Runs[1].Command[0], "./app_256");
  EXPECT_EQ(Runs[1].Command[1], "1");
  EXPECT_EQ(Runs[5].Command[2], "--block=256x4");
}

TEST(Sweep, QuotesAndBraces) {
  std::vector<SweepRun> Runs =
      plan(R"(_f1="a,b;c",plain text,"","q\"\\")", {"app", "{{_f1}}", "{_f1}{", "{ _f1}", "{1}"});
  ASSERT_EQ(Runs.size(), 4u);
  EXPECT_EQ(Runs[0].Command,
            (std::vector<std::string>{"app", "{_f1}", "a,b;c{", "{ _f1}", "{1}"}));
  EXPECT_EQ(Runs[1].Command[2], "plain text{");
  EXPECT_EQ(Runs[2].Command[2], "{");
  EXPECT_EQ(Runs[3].Command[2], "q\"\\{");
  // A value is not looked at for placeholders.
  EXPECT_EQ(plan("A={B};B=2", {"{A}", "{B}"})[0].Command[0], "{B}");
}

TEST(Sweep, WhatIsNoSweepIsNamed) {
  const std::pair<const char *, const char *> Cases[] = {
      {"", "a parameter is missing"},
      {"N=1;", "a parameter is missing"},
      {"1=2", "`1=2` does not start with a name"},
      {" N=1", "does not start with a name"},
      {"N", "`N` has no values"},
      {"N:1", "`N` has no values"},
      {"N=", "`N` has an empty value"},
      {"N=1,,2", "`N` has an empty value"},
      {"N=1,", "`N` has an empty value"},
      {"N=1,1", "the value `1` twice"},
      {"N=1;N=2", "`N` stands twice"},
      {"N=\"1", "a quote is not closed"},
      {"N=\"1\\", "a backslash in quotes"},
      {"N=\"1\\n\"", "a backslash in quotes"},
      {"N=\"1\"2", "has a quote within"},
      {"N=1\"2\"", "has a quote within"},
  };
  for (auto [Text, Says] : Cases) {
    Expected<std::vector<SweepParameter>> P = parseSweep(Text);
    ASSERT_FALSE(bool(P)) << Text;
    Error E = P.takeError();
    std::string Message = toString(std::move(E));
    EXPECT_TRUE(StringRef(Message).contains(Says)) << Text << ": " << Message;
    EXPECT_TRUE(StringRef(Message).contains("--sweep")) << Message;
  }
  EXPECT_FALSE(messageOf(parseSweep(StringRef("N=a\0b", 5))).empty());
}

TEST(Sweep, PlaceholdersAndParametersBelongTogether) {
  auto Says = [](StringRef Sweep, std::vector<std::string> Command) {
    return messageOf(planSweep(cantFail(parseSweep(Sweep)), Command));
  };
  EXPECT_TRUE(StringRef(Says("N=1;B=2", {"app", "{N}"}))
                  .contains("no argument of the program has {B}"));
  EXPECT_TRUE(StringRef(Says("N=1", {"app", "{N}", "{M}"})).contains("{M} in the program's"));
  EXPECT_TRUE(StringRef(Says("N=1", {"app", "{{N}}"})).contains("has {N}"));
  std::string Values = "0";
  for (unsigned I = 1; I < 40; ++I)
    Values += "," + std::to_string(I);
  EXPECT_TRUE(StringRef(Says("A=" + Values + ";B=" + Values, {"{A}", "{B}"}))
                  .contains("more than 1000 combinations"));
}

static SweepConfiguration configuration(StringRef N, uint64_t Ns) {
  SweepConfiguration C;
  C.Parameters = {{"N", N.str()}, {"B", "128"}};
  KernelStats K;
  K.Symbol = "_Z4scanPi";
  K.Launches = 3;
  K.MedianNs = Ns;
  C.Kernels.push_back(K);
  C.Counters.push_back({"_Z4scanPi", "dram__bytes_read.sum", "byte", 1, 2, 3, 3});
  return C;
}

TEST(Sweep, ConfigurationsAreWrittenAndRead) {
  Profile P;
  P.Configurations = {configuration("1", 100), configuration("2", 200)};
  std::string Text = toJson(P);
  Profile Again = cantFail(parseProfileJson(Text, "sweep.json"));
  EXPECT_EQ(toJson(Again), Text);
  ASSERT_EQ(Again.Configurations.size(), 2u);
  EXPECT_EQ(describe(Again.Configurations[1]), "B=128 N=2");
  EXPECT_EQ(Again.Configurations[1].Kernels[0].MedianNs, 200u);
  EXPECT_EQ(Again.Configurations[1].Counters[0].Max, 3.0);
  // A profile without a sweep has no such member.
  EXPECT_EQ(toJson(Profile()).find("configurations"), std::string::npos);
  P.Configurations.push_back(configuration("1", 100));
  std::string Twice = messageOf(parseProfileJson(toJson(P), "sweep.json"));
  EXPECT_TRUE(StringRef(Twice).contains("configuration B=128 N=1 stands twice")) << Twice;
  std::string Bad = messageOf(parseProfileJson(
      R"({"optimas_profile":1,"configurations":[{"parameters":{"N":1}}]})", "sweep.json"));
  EXPECT_TRUE(StringRef(Bad).contains("expected string")) << Bad;
}

TEST(Sweep, SweepsOfOneProgramStandTogether) {
  Profile A, B;
  A.Configurations = {configuration("1", 100), configuration("2", 200)};
  B.Configurations = {configuration("2", 900), configuration("4", 400)};
  B.Configurations[1].Kernels[0].Symbol = "scan(int*)"; // as another tool prints it
  KernelStats Mangled;
  Mangled.Symbol = "_Z4scanPi";
  A.Kernels.push_back(Mangled);
  std::vector<std::string> Conflicts;
  Profile P = mergeProfiles({A, B}, Conflicts);
  ASSERT_EQ(P.Configurations.size(), 3u);
  EXPECT_EQ(P.Configurations[1].Kernels[0].MedianNs, 200u);
  EXPECT_EQ(describe(P.Configurations[2]), "B=128 N=4");
  EXPECT_EQ(P.Configurations[2].Kernels[0].Symbol, "_Z4scanPi");
  ASSERT_EQ(Conflicts.size(), 1u);
  EXPECT_TRUE(StringRef(Conflicts[0]).contains("configuration B=128 N=2 is in two profiles"))
      << Conflicts[0];
}
