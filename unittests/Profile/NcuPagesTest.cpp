// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pages of other versions, options and locales of Nsight Compute than the recordings in
// examples/. docs/profile-format.md says where each layout is known from; rows are made up.

#include "Recorded.h"
#include "optimas/Profile/Readers.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

static const CounterValue *counter(const Profile &P, StringRef Name) {
  for (const CounterValue &C : P.Counters)
    if (C.Name == Name)
      return &C;
  return nullptr;
}

static void says(const Twine &Page, StringRef Part,
                 StringRef Remedy = "LC_ALL=C ncu --import run.ncu-rep --page raw --csv") {
  std::string Message = messageOf(parseProfile(Page.str(), "page.csv"));
  EXPECT_TRUE(StringRef(Message).contains(Part)) << Message;
  EXPECT_TRUE(StringRef(Message).contains(Remedy)) << Message;
}

/// Every cut that does not end with a row is an error with the file's name.
static void cutEverywhere(StringRef Text) {
  ASSERT_TRUE(bool(parseProfile(Text, "whole.csv")));
  for (size_t Size = 0; Size < Text.size(); ++Size) {
    Expected<Profile> P = parseProfile(Text.take_front(Size), "cut.csv");
    // What ends with a row is shorter, not cut.
    if (Size && (Text[Size] == '\n' || Text[Size - 1] == '\n')) {
      consumeError(P.takeError());
      continue;
    }
    ASSERT_FALSE(bool(P)) << "at " << Size << ": " << Text.take_front(Size).str();
    std::string Message = toString(P.takeError());
    ASSERT_TRUE(StringRef(Message).contains("cut.csv")) << Message;
  }
}

// Older: a column `Kernel Time`, no sizes, long names of units.
constexpr StringLiteral OlderRaw =
    "==PROF== Connected to process 7\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel "
    "Time\",\"Context\",\"Stream\",\"dram__bytes.sum.per_second\",\"dram__bytes_read."
    "sum\",\"dram__cycles_elapsed.avg.per_second\",\"gpu__time_duration.sum\",\"launch__"
    "block_dim_x\",\"launch__block_dim_y\",\"launch__block_dim_z\",\"launch__grid_dim_"
    "x\",\"launch__grid_dim_y\",\"launch__grid_dim_z\",\"launch__registers_per_"
    "thread\",\"launch__shared_mem_per_block_dynamic\",\"lts__t_sectors.sum.per_second\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Gbyte/second\",\"Mbyte\",\"cycle/"
    "nsecond\",\"usecond\",\"\",\"\",\"\",\"\",\"\",\"\",\"register/thread\",\"Kbyte/"
    "block\",\"sector/nsecond\"\n"
    "\"0\",\"7\",\"app\",\"127.0.0.1\",\"scan(int *)\",\"2022-Mar-01 "
    "12:00:00\",\"1\",\"7\",\"1,024.50\",\"2.50\",\"1.20\",\"12.25\",\"256\",\"1\",\"1\","
    "\"1,024\",\"2\",\"1\",\"32\",\"1.02\",\"3.50\"\n";

TEST(NcuPages, OlderRawPage) {
  Profile P = cantFail(parseProfile(OlderRaw, "raw.csv"));
  ASSERT_EQ(P.Kernels.size(), 1u);
  const KernelStats &K = P.Kernels[0];
  EXPECT_EQ(K.Symbol, "scan(int *)");
  EXPECT_EQ(K.MedianNs, 12250u);
  EXPECT_EQ(K.Registers, 32u);
  ASSERT_EQ(K.Shapes.size(), 1u);
  EXPECT_EQ(K.Shapes[0].Grid, Dim3({1024, 2, 1}));
  EXPECT_EQ(K.Shapes[0].Block, Dim3({256, 1, 1}));
  EXPECT_EQ(K.Shapes[0].DynamicShared, 1020u);
  EXPECT_EQ(K.Shapes[0].TotalNs, 12250u);
  auto Is = [&](StringRef Name, double Value, StringRef Unit) {
    const CounterValue *C = counter(P, Name);
    ASSERT_TRUE(C) << Name.str();
    EXPECT_DOUBLE_EQ(C->Median, Value) << Name.str();
    EXPECT_EQ(C->Unit, Unit) << Name.str();
  };
  Is("dram__bytes.sum.per_second", 1024.5e9, "byte/s");
  Is("dram__bytes_read.sum", 2.5e6, "byte");
  Is("dram__cycles_elapsed.avg.per_second", 1.2e9, "cycle/s");
  Is("lts__t_sectors.sum.per_second", 3.5e9, "sector/s");
  EXPECT_FALSE(counter(P, "Kernel Time"));
  EXPECT_FALSE(counter(P, "Context"));
  cutEverywhere(OlderRaw);
}

static std::string unitPage(StringRef Unit, StringRef Value) {
  return ("\"ID\",\"Process ID\",\"Kernel Name\",\"some__metric.avg\"\n\"\",\"\",\"\",\"" +
          Unit + "\"\n\"0\",\"1\",\"k\",\"" + Value + "\"\n")
      .str();
}

TEST(NcuPages, UnitsOfAllVersionsAreOne) {
  const struct {
    const char *Unit;
    double Factor;
    const char *Base;
  } Cases[] = {
      {"byte", 1, "byte"},
      {"Kbyte", 1e3, "byte"},
      {"Gbyte", 1e9, "byte"},
      {"Tbyte", 1e12, "byte"},
      {"Pbyte", 1e15, "byte"},
      {"byte/second", 1, "byte/s"},
      {"byte/s", 1, "byte/s"},
      {"Tbyte/s", 1e12, "byte/s"},
      {"byte/nsecond", 1e9, "byte/s"},
      {"byte/cycle", 1, "byte/cycle"},
      {"Kbyte/cycle", 1e3, "byte/cycle"},
      {"byte/block", 1, "byte/block"},
      {"nsecond", 1, "ns"},
      {"usecond", 1e3, "ns"},
      {"msecond", 1e6, "ns"},
      {"second", 1e9, "ns"},
      {"s", 1e9, "ns"},
      {"ms", 1e6, "ns"},
      {"hz", 1, "cycle/s"},
      {"Khz", 1e3, "cycle/s"},
      {"Mhz", 1e6, "cycle/s"},
      {"Ghz", 1e9, "cycle/s"},
      {"cycle/second", 1, "cycle/s"},
      {"cycle/usecond", 1e6, "cycle/s"},
      {"cycle/nsecond", 1e9, "cycle/s"},
      {"inst/cycle", 1, "inst/cycle"},
      {"sector/ms", 1e3, "sector/s"},
      {"%", 1, "%"},
      {"SM", 1, "SM"},
      {"Kfurlong", 1, "Kfurlong"},
      {"%/Kbyte", 1, "%/Kbyte"},
      {"", 1, ""},
  };
  for (const auto &C : Cases) {
    Profile P = cantFail(parseProfile(unitPage(C.Unit, "2.5"), "raw.csv"));
    ASSERT_EQ(P.Counters.size(), 1u) << C.Unit;
    EXPECT_DOUBLE_EQ(P.Counters[0].Median, 2.5 * C.Factor) << C.Unit;
    EXPECT_EQ(P.Counters[0].Unit, C.Base) << C.Unit;
  }
}

TEST(NcuPages, AUnitThatIsNoTimeIsNotTakenForOne) {
  says("\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n"
       "\"\",\"\",\"\",\"cycle\"\n\"0\",\"1\",\"k\",\"2.5\"\n",
       "is in `cycle`, which is no unit of time");
  says("\"ID\",\"Process ID\",\"Kernel Name\",\"launch__shared_mem_per_block_static\"\n"
       "\"\",\"\",\"\",\"word\"\n\"0\",\"1\",\"k\",\"2.5\"\n",
       "is in `word`, which is no unit of memory");
  says("\"ID\",\"Kernel Name\",\"Grid Size\",\"some__metric.sum\"\n\"\",\"\",\"\",\"\"\n"
       "\"0\",\"k\",\"8192\",\"2.5\"\n",
       "`8192` (Grid Size) is not a size");
}

/// A row a metric: launches, each a list of section, metric, unit and value.
constexpr StringLiteral DetailsHead =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel "
    "Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid "
    "Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric "
    "Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\",\"Estimated Speedup "
    "Type\",\"Estimated Speedup\"\n";

static std::string row(unsigned Id, StringRef Metric, StringRef Unit, StringRef Value,
                       StringRef Section = "Command line profiler metrics") {
  return ("\"" + Twine(Id) +
          "\",\"7\",\"app\",\"127.0.0.1\",\"scan(int *)\",\"1\",\"7\",\"(256, 1, "
          "1)\",\"(1024, 2, 1)\",\"0\",\"9.0\",\"" +
          Section + "\",\"" + Metric + "\",\"" + Unit + "\",\"" + Value + "\",\n")
      .str();
}

TEST(NcuPages, DetailsPageWithMetricsByName) {
  std::string Page =
      "==PROF== Connected to process 7\nhits 8, of 9\n" + DetailsHead.str() +
      row(0, "gpu__time_duration.sum", "us", "12.25") +
      row(0, "dram__bytes_read.sum", "Mbyte", "2.50") +
      row(0, "dram__throughput.avg.pct_of_peak_sustained_elapsed", "", "n/a") +
      row(1, "gpu__time_duration.sum", "ms", "1.50") +
      row(1, "dram__bytes_read.sum", "Kbyte", "1,500") +
      "\"1\",\"7\",\"app\",\"127.0.0.1\",\"scan(int *)\",\"1\",\"7\",\"(256, 1, "
      "1)\",\"(1024, 2, 1)\",\"0\",\"9.0\",\"SpeedOfLight\",\"\",\"\",\"\",\"SOLBottleneck\","
      "\"OPT\",\"Look, at the \"\"Memory\"\" section.\",\"local\",\"12,5\"\n"
      "==PROF== Disconnected from process 7\n";
  Profile P = cantFail(parseProfile(Page, "details.csv"));
  ASSERT_EQ(P.Kernels.size(), 1u);
  const KernelStats &K = P.Kernels[0];
  EXPECT_EQ(K.Launches, 2u);
  EXPECT_EQ(K.MinNs, 12250u);
  EXPECT_EQ(K.MaxNs, 1500000u);
  EXPECT_EQ(K.TotalNs, 1512250u);
  ASSERT_EQ(K.Shapes.size(), 1u);
  EXPECT_EQ(K.Shapes[0].Launches, 2u);
  EXPECT_EQ(K.Shapes[0].Grid, Dim3({1024, 2, 1}));
  const CounterValue *Bytes = counter(P, "dram__bytes_read.sum");
  ASSERT_TRUE(Bytes);
  EXPECT_EQ(Bytes->Min, 1.5e6);
  EXPECT_EQ(Bytes->Max, 2.5e6);
  EXPECT_EQ(Bytes->Unit, "byte");
  EXPECT_EQ(P.Counters.size(), 2u);
  EXPECT_EQ(P.Sources[0].Kind, "ncu-csv-details");
  EXPECT_TRUE(StringRef(P.Quality.Notes.at(0)).contains("two decimals"));
}

TEST(NcuPages, DetailsPageWithLabels) {
  // 2020: no sizes, `Kernel Time`, other names of sections.
  StringRef Page =
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel "
      "Time\",\"Context\",\"Stream\",\"Section Name\",\"Metric Name\",\"Metric "
      "Unit\",\"Metric Value\"\n"
      "\"0\",\"7\",\"app\",\"127.0.0.1\",\"scan(int *)\",\"2020-May-29 "
      "12:02:46\",\"1\",\"7\",\"GPU Speed Of Light\",\"Duration\",\"nsecond\",\"11,733\"\n"
      "\"0\",\"7\",\"app\",\"127.0.0.1\",\"scan(int *)\",\"2020-May-29 "
      "12:02:46\",\"1\",\"7\",\"GPU Speed Of Light\",\"SM [%]\",\"%\",\"22.48\"\n"
      "\"0\",\"7\",\"app\",\"127.0.0.1\",\"scan(int *)\",\"2020-May-29 "
      "12:02:46\",\"1\",\"7\",\"Launch Statistics\",\"Registers Per "
      "Thread\",\"register/thread\",\"20\"\n"
      "\"0\",\"7\",\"app\",\"127.0.0.1\",\"scan(int *)\",\"2020-May-29 "
      "12:02:46\",\"1\",\"7\",\"Launch Statistics\",\"Static Shared Memory Per "
      "Block\",\"Kbyte/block\",\"1.02\"\n";
  Profile P = cantFail(parseProfile(Page, "details.csv"));
  ASSERT_EQ(P.Kernels.size(), 1u);
  EXPECT_EQ(P.Kernels[0].MedianNs, 11733u);
  EXPECT_EQ(P.Kernels[0].Registers, 20u);
  EXPECT_EQ(P.Kernels[0].StaticShared, 1020u);
  EXPECT_TRUE(P.Kernels[0].Shapes.empty());
  ASSERT_EQ(P.Quality.Notes.size(), 2u);
  EXPECT_TRUE(StringRef(P.Quality.Notes[1]).contains("`SM [%]`")) << P.Quality.Notes[1];
  cutEverywhere(Page);
}

TEST(NcuPages, WhatADetailsPageCannotGiveIsNamed) {
  std::string Head = DetailsHead.str();
  says(Head, "no launches");
  says(Head + row(0, "DRAM Frequency", "Ghz", "2.6", "GPU Speed Of Light Throughput"),
       "neither the kernels' time nor a metric");
  says(Head + "\"0\",\"7\",\"app\"\n", "a row of 3 cells");
  says(Head + row(0, "a__b.sum", "byte", "2.5") + row(1, "a__b.sum", "inst", "2.5"),
       "`a__b.sum` is in `inst` here and in `byte` before");
  says(Head + row(0, "gpu__time_duration.sum", "", "2.5"), "no unit of time");
  says("\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n\"0\",\"k\",\"a__b\",\"1\"\n",
       "one is missing");
  says("\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block "
       "Size\",\"Grid Size\",\"Device\",\"CC\",\"Invocations\",\"Section Name\",\"Metric "
       "Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n",
       "a summary of several launches");
}

static Profile german() {
  // Half a launch with a decimal comma, thousands with a point, a no-break space or none.
  return cantFail(parseProfile(
      DetailsHead.str() + row(0, "gpu__time_duration.sum", "us", "12,25") +
          row(0, "smsp__inst_executed.sum", "inst", "1.234") +
          row(0, "dram__bytes_read.sum", "Kbyte", "36.483,30") +
          row(0, "dram__bytes_write.sum", "Kbyte", "36\xc2\xa0" "483,300") +
          row(0, "lts__t_sectors.sum", "sector", "12.345.678"),
      "details.csv"));
}

TEST(NcuPages, ADecimalCommaIsOneForTheFile) {
  Profile P = german();
  EXPECT_EQ(P.Kernels[0].MedianNs, 12250u);
  EXPECT_EQ(counter(P, "smsp__inst_executed.sum")->Median, 1234.0);
  EXPECT_DOUBLE_EQ(counter(P, "dram__bytes_read.sum")->Median, 36483300.0);
  EXPECT_DOUBLE_EQ(counter(P, "dram__bytes_write.sum")->Median, 36483300.0);
  EXPECT_EQ(counter(P, "lts__t_sectors.sum")->Median, 12345678.0);
}

TEST(NcuPages, SemicolonsSeparateWhereTheCommaIsDecimal) {
  // As a spreadsheet saves them: no quotes where none are needed.
  Profile P = cantFail(parseProfile("ID;Process ID;Kernel Name;Block Size;Grid Size;"
                                    "gpu__time_duration.sum;smsp__inst_executed.sum\r\n"
                                    ";;;;;us;inst\r\n"
                                    "0;7;scan(int *, int);(256, 1, 1);(8, 1, 1);12,25;1.234\r\n",
                                    "raw.csv"));
  EXPECT_EQ(P.Kernels[0].Symbol, "scan(int *, int)");
  EXPECT_EQ(P.Kernels[0].MedianNs, 12250u);
  EXPECT_EQ(P.Kernels[0].Shapes[0].Block, Dim3({256, 1, 1}));
  EXPECT_EQ(counter(P, "smsp__inst_executed.sum")->Median, 1234.0);
  // Commas between and within numbers do not fit the head.
  says("ID,Process ID,Kernel Name,gpu__time_duration.sum\n,,,us\n0,7,scan,12,25\n",
       "a row of 5 cells under 4 names");
}

TEST(NcuPages, ANumberThatMayBeTwoIsAnError) {
  std::string Head = DetailsHead.str();
  says(Head + row(0, "smsp__inst_executed.sum", "inst", "1,234"),
       "`1,234` may be 1234 or 1.234");
  says(Head + row(0, "smsp__inst_executed.sum", "inst", "1.234") +
           row(0, "dram__bytes_read.sum", "byte", "42"),
       "`1.234` may be 1234 or 1.234");
  says(Head + row(0, "smsp__inst_executed.sum", "inst", "1.234,5") +
           row(0, "dram__bytes_read.sum", "byte", "1,234.5"),
       "`1,234.5` has a decimal point and `1.234,5` a decimal comma");
  says(Head + row(0, "smsp__inst_executed.sum", "inst", "1,23,456"),
       "is not a number of any locale");
  // The same in a raw page.
  says(unitPage("byte", "1,234"), "`1,234` may be 1234 or 1.234");
}

/// The source page as Nsight Compute 2022 and 2023 print it without --print-source.
constexpr StringLiteral SassOnly =
    "\"Kernel Name\",\"scan(int *, int)\",\n"
    "\"Address\",\"Source\",\"Warp Stall Sampling (All Cycles)\",\"Warp Stall Sampling "
    "(Not-issued Cycles)\",\"Instructions Executed\",\"Avg. Threads "
    "Executed\",\"stall_long_sb\",\"stall_wait\",\"stall_long_sb (Not "
    "Issued)\",\"stall_wait (Not Issued)\"\n"
    "\"0x7fc48541d900\",\"      IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] "
    "\",\"42\",\"40\",\"3632\",\"31.5\",\"32\",\"10\",\"30\",\"10\"\n"
    "\"0x7fc48541d910\",\"      EXIT \",\"0\",\"0\",\"3632\",\"32\",\"0\",\"0\",\"0\",\"0\"\n";

TEST(NcuPages, SourcePageWithoutLines) {
  // Two launches of one kernel.
  Profile P = cantFail(parseProfile((SassOnly + SassOnly).str(), "source.csv"));
  ASSERT_EQ(P.Functions.size(), 1u);
  const FunctionSamples &F = P.Functions[0];
  EXPECT_EQ(F.Symbol, "scan(int *, int)");
  ASSERT_EQ(F.Pcs.size(), 2u);
  EXPECT_EQ(F.Pcs[0].Offset, 0u);
  EXPECT_EQ(F.Pcs[1].Offset, 16u);
  EXPECT_EQ(F.Pcs[0].Sass, "IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]");
  EXPECT_EQ(F.Pcs[0].Executed, 2u * 3632u);
  ASSERT_EQ(F.Pcs[0].Stalls.size(), 2u);
  EXPECT_EQ(F.Pcs[0].Stalls[0].Reason, "long_scoreboard");
  EXPECT_EQ(F.Pcs[0].Stalls[0].Samples, 64u);
  EXPECT_EQ(F.Pcs[0].Stalls[0].LatencySamples, 60u);
  EXPECT_TRUE(F.Pcs[0].Frames.empty());
  EXPECT_TRUE(StringRef(P.Quality.Notes.at(0)).contains("give the cubin"));
  cutEverywhere(SassOnly);
}

TEST(NcuPages, ACubinGivesASourcePageItsLines) {
  // topk's page as it would be without the lines.
  Profile Lines =
      cantFail(parseProfile(recorded("topk", "source.csv"), "source.csv"));
  std::string Page = "\"Kernel Name\",\"" + Lines.Functions[0].Symbol +
                     "\",\n\"Address\",\"Source\",\"stall_long_sb\"\n";
  for (const PcSample &Pc : Lines.Functions[0].Pcs)
    Page += "\"0x7f00000" + utohexstr(0x1000 + Pc.Offset, true, 4) + "\",\"" + Pc.Sass +
            "\",\"1\"\n";
  std::vector<std::string> Notes;
  Profile P = mergeProfiles({cantFail(parseProfile(Page, "sass.csv")),
                             cantFail(parseProfile(recorded("topk", "topk.cubin"), "cubin"))},
                            Notes);
  EXPECT_TRUE(Notes.empty()) << Notes[0];
  resolveFrames(P, Notes);
  EXPECT_TRUE(Notes.empty()) << Notes[0];
  EXPECT_EQ(P.Functions[0].Pcs[0x260 / 16].Frames.at(0).Line, 41u);
}

TEST(NcuPages, CountsOfASourcePageAreWhole) {
  std::string Page = StringRef(SassOnly).str();
  Page.replace(Page.find("\"3632\""), 6, "\"36.5\"");
  says(Page, "`36.5` is not a count", "--page source --csv --print-source cuda,sass");
  says("\"Kernel Name\",\"k\",\n\"#\",\"Source\",\"x\"\n", "page without SASS",
       "--print-source cuda,sass");
  // In another locale.
  Page = StringRef(SassOnly).str();
  Page.replace(Page.find("\"31.5\""), 6, "\"31,5\"");
  Page.replace(Page.find("\"3632\""), 6, "\"3.632\"");
  Profile P = cantFail(parseProfile(Page, "source.csv"));
  EXPECT_EQ(P.Functions[0].Pcs[0].Executed, 3632u);
}
