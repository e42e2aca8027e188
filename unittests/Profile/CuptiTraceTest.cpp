// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The files that these tests read were written, and are read for comparison, by
// libpcsamplingutil itself.

#include "NaiveTrace.h"
#include "Recorded.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/Endian.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

/// cuptiGetCubinCrc() of the recorded topk.cubin.
constexpr uint64_t TopkCrc = 0x7e50b354;

static Profile own(StringRef Program) {
  std::string File = (Program + ".optimas.json").str();
  return cantFail(parseProfile(recorded(Program, File), File));
}

static std::string textOf(std::vector<FunctionSamples> Functions) {
  Profile P;
  P.Functions = std::move(Functions);
  return toJson(P);
}

namespace {
class CuptiTrace : public testing::Test {
protected:
  ScratchDir Dir = cantFail(ScratchDir::create("cupti-trace"));
  std::string Path = Dir.file("trace.dat");

  void add(const Profile &P, uint32_t Launch = 0, uint64_t Crc = TopkCrc,
           bool Names = true) {
    ASSERT_TRUE(naive::append(Path, P, Launch, Crc, Names));
  }
  std::string bytes() { return cantFail(readFile(Path, ExitCode::Internal)); }
};
} // namespace

TEST_F(CuptiTrace, OneBufferIsWhatTheCollectorWouldHaveWritten) {
  Profile Topk = own("topk");
  Topk.Quality.SamplingIntervalLog2 = 12;
  add(Topk);
  Profile P = cantFail(readProfile(Path));
  ASSERT_EQ(P.Functions.size(), 1u);
  EXPECT_EQ(P.Functions[0].ModuleId, "cupti-crc:7e50b354");
  P.Functions[0].ModuleId = Topk.Functions[0].ModuleId;
  EXPECT_EQ(textOf(P.Functions), textOf(Topk.Functions));
  EXPECT_EQ(P.Quality.TotalSamples, 373354u);
  EXPECT_EQ(P.Quality.SamplingIntervalLog2, 12u);
  EXPECT_TRUE(P.Quality.Notes.empty());
  ASSERT_EQ(P.Sources.size(), 1u);
  EXPECT_EQ(P.Sources[0].Kind, "cupti-pcsampling-util");
  EXPECT_EQ(P.Sources[0].Tool,
            "CUPTI PC sampling utility, 1 buffers, 117 records");
}

TEST_F(CuptiTrace, TheRecordedFileIsTheSame) {
  std::string File = OPTIMAS_PROFILE_INPUTS "/topk.pcsampling";
  Profile P = cantFail(readProfile(File));
  P.Functions[0].ModuleId = own("topk").Functions[0].ModuleId;
  EXPECT_EQ(textOf(P.Functions), textOf(own("topk").Functions));
}

TEST_F(CuptiTrace, SerializedRunsOfAnH200) {
  const std::pair<const char *, uint64_t> Runs[] = {
      {"topk", 109556}, {"stream", 94922}, {"transpose", 553650}};
  for (auto [Program, Samples] : Runs) {
    std::string File =
        std::string(OPTIMAS_EXAMPLES "/") + Program + "/recorded/serialized.pcsampling";
    Profile P = cantFail(readProfile(File));
    EXPECT_EQ(textOf(P.Functions), textOf(naive::read(File))) << Program;
    EXPECT_EQ(P.Quality.TotalSamples, Samples) << Program;
    EXPECT_EQ(P.Quality.SamplingIntervalLog2, 12u) << Program;
    StringRef Tool = P.Sources[0].Tool;
    EXPECT_TRUE(Tool.contains(", 12 buffers, ")) << P.Sources[0].Tool;
    EXPECT_TRUE(Tool.ends_with(", 12 launches")) << P.Sources[0].Tool;
  }
}

TEST_F(CuptiTrace, BuffersAddUpAsInANaiveReader) {
  for (uint32_t Launch = 1; Launch <= 5; ++Launch) {
    Profile P = own(Launch % 2 ? "stream" : "topk");
    P.Quality.DroppedSamples = Launch;
    P.Quality.NonUserSamples = 10;
    // Not every buffer has every instruction, nor in one order.
    for (FunctionSamples &F : P.Functions) {
      F.Pcs.erase(F.Pcs.begin() + Launch, F.Pcs.begin() + 3 * Launch);
      std::reverse(F.Pcs.begin(), F.Pcs.begin() + ptrdiff_t(F.Pcs.size() / 2));
    }
    add(P, Launch, Launch % 2 ? 0x46f07514 : TopkCrc);
  }
  Profile P = cantFail(readProfile(Path));
  EXPECT_EQ(P.Functions.size(), 11u);
  EXPECT_EQ(textOf(P.Functions), textOf(naive::read(Path)));
  EXPECT_EQ(P.Quality.DroppedSamples, 15u);
  EXPECT_EQ(P.Quality.NonUserSamples, 50u);
  EXPECT_TRUE(StringRef(P.Sources[0].Tool).ends_with(", 5 launches"))
      << P.Sources[0].Tool;
}

TEST_F(CuptiTrace, ReasonsMayBeNamedLaterThanUsed) {
  add(own("topk"), 1, TopkCrc, /*Names=*/false);
  EXPECT_TRUE(StringRef(messageOf(readProfile(Path)))
                  .contains("does not name stall reason"));
  add(own("topk"), 2, TopkCrc, /*Names=*/true);
  Profile P = cantFail(readProfile(Path));
  EXPECT_EQ(textOf(P.Functions), textOf(naive::read(Path)));
  // Two devices need not number their reasons alike: said, not guessed.
  add(own("topk"), 3);
  std::string Bytes = bytes();
  StringRef Name = "stalled_membar_not_issued";
  Bytes.replace(Bytes.rfind(Name.str()), Name.size(), "stalled_membaz_not_issued");
  P = cantFail(parseProfile(Bytes, "two devices"));
  ASSERT_EQ(P.Quality.Notes.size(), 1u);
  EXPECT_TRUE(StringRef(P.Quality.Notes[0]).contains("differently"));
}

TEST_F(CuptiTrace, TheModuleIsFoundByItsCrcOrElseByName) {
  add(own("topk"));
  Profile Trace = cantFail(readProfile(Path));
  Profile Cubin = cantFail(parseProfile(recorded("topk", "topk.cubin"), "c"));
  for (bool KnowsCrc : {true, false}) {
    Cubin.Modules[0].CuptiCrc = KnowsCrc ? TopkCrc : 0;
    std::vector<std::string> Messages;
    Profile P = mergeProfiles({Trace, Cubin}, Messages);
    resolveFrames(P, Messages);
    EXPECT_TRUE(Messages.empty()) << Messages.front();
    EXPECT_EQ(P.Functions[0].ModuleId, Cubin.Modules[0].Id);
    EXPECT_EQ(P.Functions[0].Pcs[0x350 / 16].Frames.size(), 2u);
  }
  // The same name in two modules: a name alone does not decide.
  add(own("topk"), 0, 0x1234);
  Trace = cantFail(readProfile(Path));
  std::vector<std::string> Messages;
  Profile P = mergeProfiles({Trace, Cubin}, Messages);
  EXPECT_EQ(P.Functions.size(), 2u);
  ASSERT_EQ(Messages.size(), 1u);
  EXPECT_TRUE(StringRef(Messages[0]).contains("in several modules"));
  Cubin.Modules[0].CuptiCrc = 0x1234;
  Messages.clear();
  P = mergeProfiles({Trace, Cubin}, Messages);
  EXPECT_EQ(count_if(P.Functions,
                     [&](auto &F) { return F.ModuleId == Cubin.Modules[0].Id; }),
            1);
}

TEST_F(CuptiTrace, CutAnywhereItIsAnError) {
  Profile Small = own("topk");
  Small.Functions[0].Pcs.resize(4);
  add(Small, 1);
  add(Small, 2);
  std::string Whole = bytes();
  cantFail(parseProfile(Whole, "whole"));
  for (size_t Size = 0; Size < Whole.size(); ++Size)
    EXPECT_FALSE(messageOf(parseProfile(StringRef(Whole).take_front(Size), "cut"))
                     .empty())
        << Size;
  EXPECT_TRUE(StringRef(messageOf(parseProfile(Whole + "x", "longer")))
                  .contains("1 bytes follow"));
}

TEST_F(CuptiTrace, ChangedBytesNeverCrash) {
  Profile Small = own("topk");
  Small.Functions[0].Pcs.resize(3);
  add(Small, 1);
  const std::string Whole = bytes();
  for (size_t At = 0; At < Whole.size(); ++At)
    for (unsigned char To : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::string Changed = Whole;
      Changed[At] = char(To);
      messageOf(parseCuptiTrace(Changed, "changed"));
    }
}

/// What is read can be written: names that only differ in bytes which are no UTF-8 would be
/// one name there.
TEST_F(CuptiTrace, NamesThatAreNoTextAreDamage) {
  Profile Small = own("topk");
  Small.Functions[0].Pcs.resize(1);
  add(Small);
  const std::string Whole = bytes();
  auto With = [&](StringRef Before) {
    std::string Changed = Whole;
    size_t At = Changed.find(Before.str());
    EXPECT_NE(At, std::string::npos) << Before.str();
    Changed[At + Before.size()] = char(0xef);
    return messageOf(parseCuptiTrace(Changed, "changed"));
  };
  std::string Function = Small.Functions[0].Symbol;
  std::string Message = With(StringRef(Function).drop_back());
  EXPECT_TRUE(StringRef(Message).contains("the name of a function is not text")) << Message;
  std::string Reason =
      "issue_stalled_" + StringRef(Small.Functions[0].Pcs[0].Stalls[0].Reason).drop_back().str();
  Message = With(Reason);
  EXPECT_TRUE(StringRef(Message).contains("of stall reason ")) << Message;
}

TEST_F(CuptiTrace, ImpossibleHeadsAreNamed) {
  Profile Small = own("topk");
  Small.Functions[0].Pcs.resize(1);
  add(Small);
  const std::string Whole = bytes();
  auto With = [&](size_t At, uint64_t Value) {
    std::string Changed = Whole;
    support::endian::write64le(Changed.data() + At, Value);
    return messageOf(parseProfile(Changed, "changed"));
  };
  auto Says = [](const std::string &Text, StringRef Part) {
    EXPECT_TRUE(StringRef(Text).contains(Part)) << Text;
  };
  Says(With(0, 2 | uint64_t(1) << 32), "version 2");
  Says(With(0, 1 | uint64_t(9) << 32), "it ends before buffer 2 of 9");
  Says(With(0, 1), "no buffers");
  Says(With(8, 7), "has 1 records, its head says 7");
  Says(With(32, uint64_t(1) << 60), "it ends in buffer 1 of 1");
}
