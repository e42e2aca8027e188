// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Recorded.h"
#include "optimas/Profile/Readers.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <sys/stat.h>

using namespace llvm;
using namespace optimas;

static Profile sample() {
  Profile P;
  P.Sources.push_back({"optimas-profile",
                       "optimas-profile 0.1",
                       "a.json",
                       {"./app", "3"},
                       "/src",
                       "2026-01-02T03:04:05Z",
                       3,
                       77});
  P.Device.Name = "NVIDIA H200";
  P.Device.Sms = 132;
  P.Device.Ceilings["dram_copy"] = 4.3e12;
  P.Device.States = {{"start", 345, 3201, 34, 70000, {"gpu_idle"}}, {"end", 1980, 3201, 45, 0, {}}};
  P.Device.ThrottledNs["power"] = 1.5e9;
  P.Quality.TotalSamples = 9;
  P.Quality.HardwareBufferFull = true;
  P.Quality.Notes = {"a \"note\""};
  P.Modules.push_back({sha256("cubin"), "cubin", 90, 0x7e50b354});
  FunctionSamples F;
  F.Symbol = "_Z1fv";
  F.ModuleId = P.Modules[0].Id;
  PcSample Pc;
  Pc.Offset = 16;
  Pc.Stalls = {{"selected", 3, 0}, {"wait", 6, 5}};
  Pc.Sass = "EXIT";
  Pc.Executed = uint64_t(1) << 63;
  Pc.Frames = {{"a.cu", 7, "_Z1fv"}};
  F.Pcs.push_back(Pc);
  P.Functions.push_back(F);
  KernelStats K;
  K.Symbol = "_Z1fv";
  K.Launches = 2;
  K.TotalNs = 30;
  K.Shapes.push_back({{8, 1, 1}, {256, 1, 1}, 64, 2, 30});
  P.Kernels.push_back(K);
  P.Counters.push_back({"_Z1fv", "dram__bytes.sum", "byte", 1, 2.5, 4, 2});
  for (const char *N : {"1", "2,3"}) {
    SweepConfiguration C;
    C.Parameters = {{"N", N}, {"B", "128"}};
    C.Kernels = P.Kernels;
    C.Counters = P.Counters;
    P.Configurations.push_back(C);
  }
  P.SourceFiles.push_back({"a.cu", sha256("")});
  P.LineTexts[{"a.cu", 7}] = "}";
  return P;
}

TEST(ProfileJson, WhatIsWrittenIsRead) {
  std::string Text = toJson(sample());
  Expected<Profile> P = parseProfileJson(Text, "a.json");
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(toJson(*P), Text);
  EXPECT_EQ(P->Sources[0].Command, std::vector<std::string>({"./app", "3"}));
  EXPECT_EQ(P->Functions[0].Pcs[0].latencySamples(), 5u);
  EXPECT_EQ(P->Functions[0].Pcs[0].Executed, uint64_t(1) << 63);
  EXPECT_EQ(P->Kernels[0].Shapes[0].Block, Dim3({256, 1, 1}));
  ASSERT_EQ(P->Device.States.size(), 2u);
  EXPECT_EQ(P->Device.States[0].ClockReasons, std::vector<std::string>{"gpu_idle"});
  EXPECT_EQ(P->Device.States[1].SmMhz, 1980u);
  EXPECT_EQ(P->Device.ThrottledNs["power"], 1.5e9);
  EXPECT_EQ(P->Modules[0].Cubin, "cubin");
  EXPECT_EQ((P->LineTexts[{"a.cu", 7}]), "}");
}

TEST(ProfileJson, TheRecordingsAreRead) {
  for (StringRef Program : {"topk", "stream", "transpose"}) {
    std::string Name = (Program + ".optimas.json").str();
    Profile P = cantFail(parseProfileJson(recorded(Program, Name), Name));
    uint64_t Total = 0;
    for (const FunctionSamples &F : P.Functions)
      for (const PcSample &Pc : F.Pcs)
        for (const StallCount &S : Pc.Stalls)
          Total += S.Samples;
    EXPECT_EQ(Total, P.Quality.TotalSamples) << Name;
    ASSERT_EQ(P.Modules.size(), 1u);
    EXPECT_EQ(P.Modules[0].Cubin,
              recorded(Program, (Program + ".cubin").str()));
    std::vector<std::string> Notes;
    resolveFrames(P, Notes);
    EXPECT_TRUE(Notes.empty()) << Notes.front();
    for (const FunctionSamples &F : P.Functions)
      for (const PcSample &Pc : F.Pcs)
        EXPECT_FALSE(Pc.Frames.empty()) << F.Symbol << " at " << Pc.Offset;
  }
}

TEST(ProfileJson, InlinedSamplesHaveBothFrames) {
  Profile P =
      cantFail(parseProfileJson(recorded("topk", "topk.optimas.json"), "topk"));
  std::vector<std::string> Notes;
  resolveFrames(P, Notes);
  unsigned Inlined = 0;
  for (const PcSample &Pc : P.Functions[0].Pcs) {
    if (Pc.Frames[0].Function != "_Z8blockSumi")
      continue;
    ++Inlined;
    ASSERT_EQ(Pc.Frames.size(), 2u);
    EXPECT_EQ(Pc.Frames[1].Line, 44u);
    EXPECT_EQ(Pc.Frames[1].Function, "_Z8topkHitsiiiPKfPKiPi");
  }
  EXPECT_EQ(Inlined, 55u);
}

TEST(ProfileJson, EveryCutIsAnError) {
  std::string Text = toJson(sample());
  for (size_t Size = 0; Size < Text.size(); ++Size) {
    Expected<Profile> P =
        parseProfileJson(StringRef(Text).take_front(Size), "cut.json");
    ASSERT_FALSE(bool(P)) << "at " << Size;
    ASSERT_EQ(exitCodeOf(P.takeError()), ExitCode::EvidenceUnusable);
  }
}

TEST(ProfileJson, EveryCutOfACompressedFileIsAnError) {
  ScratchDir Dir = cantFail(ScratchDir::create("profile-json"));
  std::string Path = Dir.file("a.optimas.json.zst");
  cantFail(writeProfileFile(Path, sample()));
  std::string Whole = cantFail(readFile(Path, ExitCode::Internal));
  EXPECT_EQ(toJson(cantFail(readProfile(Path))), toJson(sample()));
  for (size_t Size = 0; Size < Whole.size(); ++Size)
    EXPECT_FALSE(
        messageOf(parseProfile(StringRef(Whole).take_front(Size), "cut")).empty())
        << Size;
  for (size_t At = 4; At < Whole.size(); ++At)
    for (char With : {'\0', '\x7f', '\xff'}) {
      std::string Damaged = Whole;
      Damaged[At] = With;
      messageOf(parseProfile(Damaged, "damaged"));
    }
}

TEST(ProfileJson, FilesAreReadInChunksPlainOrCompressed) {
  // More than the readers' chunks, with values across their borders.
  Profile P = sample();
  P.Modules[0].Cubin.assign(1 << 20, 'c');
  P.Modules[0].Id = P.Functions[0].ModuleId = sha256(P.Modules[0].Cubin);
  P.Functions[0].Pcs.resize(1);
  for (unsigned I = 2; I < 20000; ++I) {
    PcSample Pc = P.Functions[0].Pcs[0];
    Pc.Offset = 16 * I;
    Pc.Sass = std::string(I % 97, '"');
    P.Functions[0].Pcs.push_back(Pc);
  }
  ScratchDir Dir = cantFail(ScratchDir::create("profile-json"));
  std::string Text = toJson(P);
  for (const char *Name : {"a.optimas.json", "a.optimas.json.zst"}) {
    std::string Path = Dir.file(Name);
    cantFail(writeProfileFile(Path, P));
    EXPECT_EQ(toJson(cantFail(readProfile(Path))), Text) << Name;
  }
  uint64_t Size = 0;
  sys::fs::file_size(Dir.file("a.optimas.json.zst"), Size);
  EXPECT_LT(Size, Text.size() / 10);
  // Frames one after the other are one file; a frame's checksum counts.
  std::string Frames = cantFail(
      readFile(Dir.file("a.optimas.json.zst"), ExitCode::Internal));
  EXPECT_FALSE(messageOf(parseProfile(Frames + Frames, "twice")).empty());
  Frames.back() ^= 1;
  EXPECT_TRUE(StringRef(messageOf(parseProfile(Frames, "checksum")))
                  .contains("checksum"));
}

TEST(ProfileJson, LargeIsJudgedByTheText) {
  Profile P = sample();
  EXPECT_FALSE(isLarge(P));
  P.Modules[0].Cubin.assign(LargeProfileBytes, 'c');
  EXPECT_TRUE(isLarge(P));
}

TEST(ProfileJson, AFileThatCannotBeWrittenIsNamed) {
  Error E = writeProfileFile("/no/such/folder/a.json", sample());
  std::string Message = toString(std::move(E));
  EXPECT_TRUE(StringRef(Message).contains("/no/such/folder/a.json")) << Message;
}

TEST(ProfileJson, EveryFlippedByteIsNoCrash) {
  std::string Text = toJson(sample());
  for (size_t At = 0; At < Text.size(); ++At)
    for (char With : {'\0', '"', '{', ']', '9', '\xff'}) {
      std::string Damaged = Text;
      Damaged[At] = With;
      messageOf(parseProfileJson(Damaged, "damaged.json"));
    }
}

static std::string refusal(StringRef Text) {
  return messageOf(parseProfileJson(Text, "a.json"));
}

static bool has(const std::string &Text, StringRef Part) {
  return StringRef(Text).contains(Part);
}

TEST(ProfileJson, AbsentKeysAreDefaultsAndUnknownOnesIgnored) {
  Expected<Profile> P =
      parseProfileJson(R"({"optimas_profile":1,"later":[{"x":1}]})", "a.json");
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Device.WarpSize, 32u);
}

TEST(ProfileJson, ANewerVersionIsRefusedBeforeItsContent) {
  std::string Message =
      refusal(R"({"optimas_profile":2,"functions":"otherwise"})");
  EXPECT_TRUE(has(Message, "version 2")) << Message;
  EXPECT_TRUE(has(Message, "newer optimas-rewrite")) << Message;
}

TEST(ProfileJson, OtherJsonIsNoProfile) {
  EXPECT_TRUE(has(refusal("{}"), "not a profile"));
  EXPECT_TRUE(has(refusal("[1]"), "an object is expected"));
}

TEST(ProfileJson, ContradictionsAreRefused) {
  auto With = [](StringRef Rest) {
    return refusal(("{\"optimas_profile\":1," + Rest + "}").str());
  };
  EXPECT_TRUE(has(With(R"("modules":[{"id":"0","cubin":"AAAA"}])"), "SHA-256"));
  EXPECT_TRUE(
      has(With(R"("modules":[{"id":"0","cubin":"A"}])"), "modules[0].cubin"));
  EXPECT_TRUE(has(
      With(R"("functions":[{"symbol":"f","pcs":[{"offset":0},{"offset":0}]}])"),
      "stands twice"));
  EXPECT_TRUE(has(With(R"("functions":[{"symbol":"f"},{"symbol":"f"}])"),
                  "stands twice"));
  EXPECT_TRUE(has(
      With(R"("functions":[{"pcs":[{"offset":0,"stalls":{"wait":[1,2]}}]}])"),
      "more latency samples"));
  EXPECT_TRUE(
      has(With(R"("kernels":[{"symbol":"f","launches":-1}])"), "non-negative"));
  EXPECT_TRUE(has(With(R"("kernels":[{"registers":4294967296}])"), "in range"));
  EXPECT_TRUE(has(With(R"("kernels":[{"shapes":[{"grid":[1,2]}]}])"),
                  "three integers"));
  EXPECT_TRUE(has(With(R"("functions":{})"), "an array is expected"));
  EXPECT_TRUE(
      has(With(R"("kernels":[],"kernels":[])"), "`kernels` stands twice"));
}

TEST(ProfileJson, CountsWhoseSumsOverflowAreRefused) {
  auto Read = [](StringRef Count) {
    return parseProfile(("{\"optimas_profile\":1,\"functions\":[{\"symbol\":\"a\",\"pcs\":[{"
                         "\"offset\":0,\"stalls\":{\"wait\":[" + Count + ",0]}}]}]}").str(), "a");
  };
  EXPECT_TRUE(bool(Read("1099511627776")));
  Expected<Profile> P = Read("9223372036854775808");
  ASSERT_FALSE(P);
  EXPECT_NE(toString(P.takeError()).find("more samples than any run takes"), std::string::npos);
}

/// A few kilobytes that unpack to millions of elements must not fill the memory.
TEST(ProfileJson, ACompressedFileThatExpandsTooFarIsRefused) {
  Profile Same;
  Same.Sources.resize(200000);
  ScratchDir Dir = cantFail(ScratchDir::create("profile-json"));
  std::string Path = Dir.file("bomb.optimas.json.zst");
  cantFail(writeProfileFile(Path, Same));
  Expected<Profile> P = readProfile(Path);
  ASSERT_FALSE(P);
  EXPECT_NE(toString(P.takeError()).find("more than 100 times its size"), std::string::npos);
}

/// Opening it would wait for a writer.
TEST(ProfileJson, APipeThatNobodyWritesIsRefused) {
  ScratchDir Dir = cantFail(ScratchDir::create("profile-json"));
  std::string Pipe = Dir.file("pipe");
  ASSERT_EQ(::mkfifo(Pipe.c_str(), 0600), 0);
  Expected<Profile> P = readProfile(Pipe);
  ASSERT_FALSE(P);
  EXPECT_NE(toString(P.takeError()).find("no regular file"), std::string::npos);
}

TEST(ProfileJson, DeepNestingIsRefused) {
  std::string Text =
      "{\"optimas_profile\":1,\"x\":" + std::string(1000000, '[');
  EXPECT_TRUE(has(refusal(Text), "nest deeper"));
}

TEST(ProfileJson, SizeCostsLinearTime) {
  // 60,000 PCs; a quadratic reader would take minutes.
  Profile P = sample();
  PcSample Pc = P.Functions[0].Pcs[0];
  for (unsigned I = 2; I < 60000; ++I) {
    Pc.Offset = 16 * I;
    P.Functions[0].Pcs.push_back(Pc);
  }
  std::string Text = toJson(P);
  Expected<Profile> Read = parseProfileJson(Text, "large.json");
  ASSERT_TRUE(bool(Read)) << toString(Read.takeError());
  EXPECT_EQ(Read->Functions[0].Pcs.size(), 59999u);
}
