// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Recorded.h"
#include "optimas/Profile/Readers.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

static bool has(const std::string &Text, StringRef Part) {
  return StringRef(Text).contains(Part);
}

static const StallCount *stall(const PcSample &Pc, StringRef Reason) {
  for (const StallCount &S : Pc.Stalls)
    if (S.Reason == Reason)
      return &S;
  return nullptr;
}

static const CounterValue *counter(const Profile &P, StringRef Symbol,
                                   StringRef Name) {
  for (const CounterValue &C : P.Counters)
    if (C.Name == Name && C.Symbol == Symbol)
      return &C;
  return nullptr;
}

static const char *const TopkHits =
    "topkHits(int, int, int, const float *, const int *, int *)";

TEST(NcuSource, TenLaunchesBecomeOneFunction) {
  Profile P =
      cantFail(parseNcuSourceCsv(recorded("topk", "source.csv"), "source.csv"));
  ASSERT_EQ(P.Functions.size(), 1u);
  const FunctionSamples &F = P.Functions[0];
  EXPECT_EQ(F.Symbol, TopkHits);
  ASSERT_EQ(F.Pcs.size(), 128u);
  EXPECT_EQ(F.Pcs.front().Offset, 0u);
  EXPECT_EQ(F.Pcs.back().Offset, 0x7f0u);
  const PcSample &Compare = F.Pcs[0x260 / 16];
  EXPECT_EQ(Compare.Sass, "FSETP.GT.AND P2, PT, R6, R9, PT");
  ASSERT_EQ(Compare.Frames.size(), 1u);
  EXPECT_EQ(Compare.Frames[0].File, "/src/topk.cu");
  EXPECT_EQ(Compare.Frames[0].Line, 41u);
  EXPECT_EQ(Compare.Executed, 10u * 2564096u);
  ASSERT_TRUE(stall(Compare, "long_scoreboard"));
  EXPECT_GT(stall(Compare, "long_scoreboard")->LatencySamples, 0u);
  EXPECT_GE(stall(Compare, "long_scoreboard")->Samples,
            stall(Compare, "long_scoreboard")->LatencySamples);
  EXPECT_EQ((P.LineTexts[{"/src/topk.cu", 36}]),
            "const int label = labels[row];");
}

TEST(NcuSource, AnInstructionUnderTwoLinesCountsOnce) {
  // stream's templates stand twice under each line.
  Profile P = cantFail(
      parseNcuSourceCsv(recorded("stream", "source.csv"), "source.csv"));
  ASSERT_EQ(P.Functions.size(), 5u);
  const FunctionSamples &Add = P.Functions[0];
  ASSERT_EQ(Add.Symbol, "void add<float>(const T1 *, const T1 *, T1 *, int)");
  uint64_t Samples = 0;
  for (const PcSample &Pc : Add.Pcs) {
    EXPECT_EQ(Pc.Frames.size(), 1u);
    for (const StallCount &S : Pc.Stalls)
      Samples += S.Samples;
  }
  // The raw page counts the samples of the same launches, which are two.
  Profile Raw =
      cantFail(parseNcuRawCsv(recorded("stream", "raw.csv"), "raw.csv"));
  const CounterValue *C = counter(Raw, Add.Symbol, "smsp__pcsamp_sample_count");
  ASSERT_TRUE(C);
  EXPECT_EQ(C->Launches, 2u);
  EXPECT_EQ(double(Samples), C->Min + C->Max);
}

TEST(NcuSource, AnInlinedInstructionHasItsLines) {
  Profile P =
      cantFail(parseNcuSourceCsv(recorded("topk", "source.csv"), "source.csv"));
  const PcSample &Pc = P.Functions[0].Pcs[0x720 / 16]; // RED of atomicAdd
  ASSERT_EQ(Pc.Frames.size(), 2u);
  EXPECT_TRUE(
      StringRef(Pc.Frames[0].File).ends_with("device_atomic_functions.hpp"));
  EXPECT_EQ(Pc.Frames[0].Line, 107u);
  EXPECT_EQ(Pc.Frames[1].Line, 49u);
}

/// Acceptance: for every PC that Nsight Compute lists, the decoder's innermost
/// line is among the lines under which it stands.
TEST(NcuSource, TheDecodersLineIsAmongEveryPcsLines) {
  unsigned Compared = 0;
  for (StringRef Program : {"topk", "stream", "transpose"}) {
    Cubin C = recordedCubin(Program);
    Profile P =
        cantFail(parseNcuSourceCsv(recorded(Program, "source.csv"), Program));
    for (const FunctionSamples &F : P.Functions) {
      const CubinFunction *Code = nullptr;
      for (const CubinFunction &G : C.functions())
        if (symbolsMatch(G.Symbol, F.Symbol))
          Code = &G;
      ASSERT_TRUE(Code) << F.Symbol;
      EXPECT_EQ(F.Pcs.size(), Code->Code.size() / 16);
      for (const PcSample &Pc : F.Pcs) {
        std::vector<SourceFrame> Chain = C.frames(*Code, Pc.Offset);
        ASSERT_FALSE(Chain.empty());
        bool Found = any_of(Pc.Frames, [&](const SourceFrame &Frame) {
          return Frame.Line == Chain[0].Line &&
                 sys::path::filename(Frame.File) ==
                     sys::path::filename(Chain[0].File);
        });
        EXPECT_TRUE(Found) << F.Symbol << " at " << Pc.Offset << ": line "
                           << Chain[0].Line;
        ++Compared;
      }
    }
  }
  EXPECT_EQ(Compared, 128u + 200u + 80u);
}

/// A block as ncu prints it for a launch too short to be sampled.
static const char *const Unsampled =
    "\"File Path\",\"/src/a.cu\"\n\"Function Name\",\"stat(float *)\"\n"
    "\"Line No\",\"Source\",\"Address\",\"Source\",\"# "
    "Samples\",\"Instructions Executed\"\n"
    "\"3\",\"int i = 0;\",\"-\",\"-\",\"0\",\"32\"\n"
    "\"\",\"\",\"0x7f00fb7a0000\",\"      EXIT\",\"0\",\"32\"\n";

TEST(NcuSource, ALaunchWithoutSamplesHasNoStallColumns) {
  Profile P = cantFail(parseNcuSourceCsv(
      Unsampled + recorded("transpose", "source.csv"), "source.csv"));
  ASSERT_EQ(P.Functions.size(), 3u);
  EXPECT_TRUE(P.Functions[0].Pcs[0].Stalls.empty());
  EXPECT_EQ(P.Functions[0].Pcs[0].Executed, 32u);
  std::string Message = messageOf(parseNcuSourceCsv(Unsampled, "source.csv"));
  EXPECT_TRUE(has(Message, "no stall columns")) << Message;
  EXPECT_TRUE(has(Message, "--set full --import-source yes")) << Message;
}

TEST(NcuRaw, UnitsAreBaseUnits) {
  Profile P = cantFail(parseNcuRawCsv(recorded("topk", "raw.csv"), "raw.csv"));
  ASSERT_EQ(P.Kernels.size(), 1u);
  const KernelStats &K = P.Kernels[0];
  EXPECT_EQ(K.Symbol, TopkHits);
  EXPECT_EQ(K.Launches, 10u);
  EXPECT_EQ(K.Registers, 17u);
  EXPECT_EQ(K.StaticShared, 1024u);
  EXPECT_GT(K.MedianNs, 150000u);
  EXPECT_LT(K.MedianNs, 153000u);
  EXPECT_LE(K.MinNs, K.MedianNs);
  EXPECT_LE(K.MedianNs, K.MaxNs);
  ASSERT_EQ(K.Shapes.size(), 1u);
  EXPECT_EQ(K.Shapes[0].Grid, Dim3({8192, 1, 1}));
  EXPECT_EQ(K.Shapes[0].Block, Dim3({256, 1, 1}));
  EXPECT_EQ(K.Shapes[0].TotalNs, K.TotalNs);
  const CounterValue *Time = counter(P, TopkHits, "gpu__time_duration.sum");
  ASSERT_TRUE(Time);
  EXPECT_EQ(Time->Unit, "ns");
  EXPECT_EQ(Time->Launches, 10u);
  const CounterValue *Bytes = counter(P, TopkHits, "dram__bytes_read.sum");
  ASSERT_TRUE(Bytes);
  EXPECT_EQ(Bytes->Unit, "byte");
  EXPECT_GT(Bytes->Median, 3.2e8); // 8192 rows of 10,000 floats
  EXPECT_LT(Bytes->Median, 3.4e8);
  // `36,483.30`: thousands separators
  const CounterValue *Waves = counter(
      P, TopkHits, "SM_A.TriageCompute.l1tex__data_pipe_lsu_wavefronts.avg");
  ASSERT_TRUE(Waves);
  EXPECT_GT(Waves->Max, 36000.0);
  EXPECT_EQ(P.Device.Name, "NVIDIA H200");
  EXPECT_EQ(P.Device.Sms, 132u);
  EXPECT_EQ(P.Device.CcMajor, 9u);
  EXPECT_EQ(P.Device.MemoryBytes, 150109880320u);
  EXPECT_EQ(P.Device.SmClockKHz, 1980000u);
  EXPECT_EQ(P.Quality.SamplingIntervalLog2, 11u);
}

TEST(NcuRaw, ProgressBeforeThePageIsSkipped) {
  std::string Text = "==PROF== Connected to process 1183\nhits 8\n\n" +
                     recorded("topk", "raw.csv") + "==PROF== Disconnected\n";
  Expected<Profile> P = parseProfile(Text, "raw.csv");
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Kernels[0].Launches, 10u);
}

TEST(NcuRaw, QuotesInNamesAreCells) {
  // Doubled quotes: the names must outlive the units row.
  Profile P = cantFail(
      parseNcuRawCsv("\"ID\",\"Process ID\",\"Kernel Name\",\"a \"\"long\"\" "
                     "column name of a section\"\n"
                     "\"\",\"\",\"\",\"us\"\n"
                     "\"0\",\"1\",\"f(int)\",\"1,234.5\"\n",
                     "raw.csv"));
  ASSERT_EQ(P.Counters.size(), 1u);
  EXPECT_EQ(P.Counters[0].Name, "a \"long\" column name of a section");
  EXPECT_EQ(P.Counters[0].Unit, "ns");
  EXPECT_EQ(P.Counters[0].Median, 1234500.0);
}

TEST(NcuCsv, WindowsLineEndsAndMarks) {
  std::string Text = "\xef\xbb\xbf";
  for (char C : recorded("transpose", "source.csv"))
    Text += C == '\n' ? std::string("\r\n") : std::string(1, C);
  Expected<Profile> P = parseProfile(Text, "source.csv");
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Functions.size(), 2u);
}

/// The first \p Count lines of a recording.
static std::string head(StringRef Program, StringRef File, unsigned Count) {
  std::string Text = recorded(Program, File);
  size_t At = 0;
  for (unsigned I = 0; I < Count; ++I)
    At = Text.find('\n', At) + 1;
  return Text.substr(0, At);
}

static void cutEverywhere(const std::string &Text) {
  for (size_t Size = 0; Size < Text.size(); ++Size) {
    // A file that ends with a row is shorter, not cut.
    if (Size && (Text[Size] == '\n' || Text[Size - 1] == '\n'))
      continue;
    Expected<Profile> P =
        parseProfile(StringRef(Text).take_front(Size), "cut.csv");
    ASSERT_FALSE(bool(P)) << "at " << Size;
    std::string Message = toString(P.takeError());
    ASSERT_TRUE(has(Message, "cut.csv")) << Message;
  }
}

TEST(NcuCsv, EveryCutIsAnError) {
  cutEverywhere(head("transpose", "source.csv", 8));
  std::string Raw = head("topk", "raw.csv", 3);
  // A raw row has 2,238 cells: cut it where that is not all the same.
  for (size_t Size = 0; Size < Raw.size() - 1; Size += 97)
    messageOf(parseProfile(StringRef(Raw).take_front(Size), "cut.csv"));
  Expected<Profile> Half =
      parseProfile(StringRef(Raw).take_front(Raw.size() - 100), "cut.csv");
  ASSERT_FALSE(bool(Half));
  EXPECT_TRUE(has(toString(Half.takeError()), "cut short"));
}

TEST(Reader, OtherFilesAreRefusedWithARemedy) {
  for (StringRef Text : {"hello\n", "PK\x03\x04", "a,b,c\n1,2,3\n", "<html>"}) {
    std::string Message = messageOf(parseProfile(Text, "x"));
    EXPECT_TRUE(has(Message, "not a profile")) << Message;
    EXPECT_TRUE(has(Message, "optimas-profile -o")) << Message;
  }
  EXPECT_TRUE(has(messageOf(parseProfile("", "x")), "empty"));
  EXPECT_TRUE(has(messageOf(parseProfile(StringRef("NVR\0\2", 5), "a.ncu-rep")),
                  "ncu --import a.ncu-rep"));
  Expected<Profile> Missing = readProfile("/nonexistent/profile.json");
  ASSERT_FALSE(bool(Missing));
  EXPECT_EQ(exitCodeOf(Missing.takeError()), ExitCode::EvidenceUnusable);
}

TEST(Reader, ACubinIsAProfileWithOneModule) {
  std::string Bytes = recorded("topk", "topk.cubin");
  Profile P = cantFail(parseProfile(Bytes, "topk.cubin"));
  ASSERT_EQ(P.Modules.size(), 1u);
  EXPECT_EQ(P.Modules[0].Id, sha256(Bytes));
  EXPECT_EQ(P.Modules[0].Sm, 90u);
}
