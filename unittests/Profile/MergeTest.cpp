// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Recorded.h"
#include "optimas/Profile/Readers.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

static Profile read(StringRef Program, StringRef File) {
  return cantFail(parseProfile(recorded(Program, File), File));
}

static bool has(const std::vector<std::string> &List, StringRef Part) {
  return any_of(List, [&](StringRef Text) { return Text.contains(Part); });
}

TEST(Merge, SamplesAndCountersOfOneProgramJoin) {
  std::vector<std::string> Conflicts;
  // The printed names come first: the mangled ones are kept all the same.
  Profile P =
      mergeProfiles({read("stream", "source.csv"), read("stream", "raw.csv"),
                     read("stream", "stream.optimas.json")},
                    Conflicts);
  EXPECT_TRUE(Conflicts.empty()) << Conflicts.front();
  EXPECT_EQ(P.Sources.size(), 3u);
  EXPECT_EQ(P.Functions.size(), 10u);
  EXPECT_EQ(P.Kernels.size(), 5u);
  for (const FunctionSamples &F : P.Functions) {
    EXPECT_TRUE(StringRef(F.Symbol).starts_with("_Z")) << F.Symbol;
    EXPECT_EQ(F.ModuleId, P.Modules[0].Id) << F.Symbol;
  }
  for (const KernelStats &K : P.Kernels)
    EXPECT_TRUE(StringRef(K.Symbol).starts_with("_Z")) << K.Symbol;
  for (const CounterValue &C : P.Counters)
    EXPECT_TRUE(StringRef(C.Symbol).starts_with("_Z")) << C.Symbol;
}

TEST(Merge, TheFirstProfilesSamplesStay) {
  std::vector<std::string> Conflicts;
  Profile Own = read("topk", "topk.optimas.json");
  Profile P = mergeProfiles({Own, read("topk", "source.csv")}, Conflicts);
  ASSERT_EQ(P.Functions.size(), 1u);
  EXPECT_EQ(P.Quality.TotalSamples, 373354u);
  const PcSample &Mine = Own.Functions[0].Pcs[10],
                 &Joined = P.Functions[0].Pcs[10];
  ASSERT_EQ(Mine.Offset, Joined.Offset);
  EXPECT_EQ(Mine.latencySamples(), Joined.latencySamples());
  EXPECT_FALSE(Joined.Sass.empty());
  EXPECT_GT(Joined.Executed, 0u);
  EXPECT_EQ((P.LineTexts[{"/src/topk.cu", 36}]),
            "const int label = labels[row];");
}

TEST(Merge, ACubinGivesPrintedSamplesTheirChains) {
  std::vector<std::string> Conflicts, Notes;
  Profile P = mergeProfiles(
      {read("topk", "source.csv"), read("topk", "topk.cubin")}, Conflicts);
  EXPECT_TRUE(Conflicts.empty()) << Conflicts.front();
  resolveFrames(P, Notes);
  EXPECT_TRUE(Notes.empty());
  const PcSample &Pc = P.Functions[0].Pcs[0x350 / 16];
  ASSERT_EQ(Pc.Frames.size(), 2u);
  EXPECT_EQ(Pc.Frames[0].Function, "_Z8blockSumi");
  EXPECT_EQ(Pc.Frames[1].Line, 44u);
}

TEST(Merge, OtherCodeUnderTheSameNameIsNotUsed) {
  std::vector<std::string> Conflicts;
  Profile Samples = read("topk", "source.csv");
  Samples.Functions[0].Pcs[5].Sass = "@P0   EXIT";
  Profile P = mergeProfiles({Samples, read("topk", "topk.cubin")}, Conflicts);
  EXPECT_TRUE(has(Conflicts, "is not the code that was profiled"));
  EXPECT_TRUE(P.Functions[0].ModuleId.empty());
  EXPECT_FALSE(P.Functions[0].Pcs[0].Frames.empty());
}

TEST(Merge, DisagreementsAreNamedOnce) {
  Profile A = read("topk", "topk.optimas.json"), B = A;
  B.Device.Name = "NVIDIA A100";
  B.Kernels[0].MedianNs *= 2;
  B.SourceFiles[0].Sha256[0] = 'z';
  std::vector<std::string> Conflicts;
  Profile P = mergeProfiles({A, B, B}, Conflicts);
  ASSERT_EQ(Conflicts.size(), 3u);
  EXPECT_TRUE(has(Conflicts, "two devices"));
  EXPECT_TRUE(has(Conflicts, "median of 10 launches"));
  EXPECT_TRUE(has(Conflicts, "two versions of /src/topk.cu"));
  EXPECT_EQ(P.Device.Name, "NVIDIA H200");
  EXPECT_EQ(P.Kernels[0].MedianNs, A.Kernels[0].MedianNs);
}

TEST(Merge, StatesOfOneDeviceFollowOneAnother) {
  Profile A = read("topk", "topk.optimas.json");
  A.Device.States = {{"start", 345, 0, 0, 0, {}}, {"end", 1980, 0, 0, 0, {}}};
  A.Device.ThrottledNs["power"] = 2;
  Profile B = A, Other = A;
  Other.Device.Uuid = "GPU-other";
  std::vector<std::string> Conflicts;
  Profile P = mergeProfiles({A, B, Other}, Conflicts);
  ASSERT_EQ(P.Device.States.size(), 4u);
  EXPECT_EQ(P.Device.States[2].When, "start");
  EXPECT_EQ(P.Device.ThrottledNs["power"], 4);
}

TEST(Merge, KernelsOfTwoAnonymousNamespacesStayTwo) {
  Profile P;
  for (const char *Symbol : {"_ZN32_GLOBAL__N__a1b2c3d4_7_main_cu_x4kernEPf",
                             "_ZN32_GLOBAL__N__99999999_7_util_cu_x4kernEPf"}) {
    KernelStats K;
    K.Symbol = Symbol;
    K.Launches = 1;
    P.Kernels.push_back(K);
  }
  std::vector<std::string> Conflicts;
  EXPECT_EQ(mergeProfiles({P}, Conflicts).Kernels.size(), 2u);
  EXPECT_TRUE(Conflicts.empty());
  // A printed name cannot tell them apart.
  Profile Printed;
  KernelStats K;
  K.Symbol = "<unnamed>::kern(float *)";
  Printed.Kernels.push_back(K);
  EXPECT_EQ(mergeProfiles({P, Printed}, Conflicts).Kernels.size(), 3u);
  EXPECT_TRUE(has(Conflicts, "--print-kernel-base mangled"));
}

TEST(Merge, WithoutLineInformationThereIsANote) {
  Profile P = read("topk", "topk.optimas.json");
  P.Functions[0].Symbol = "_Z5otherv";
  FunctionSamples Elsewhere = P.Functions[0];
  Elsewhere.ModuleId = "0000";
  P.Functions.push_back(Elsewhere);
  std::vector<std::string> Notes;
  resolveFrames(P, Notes);
  EXPECT_TRUE(has(Notes, "no function _Z5otherv"));
  EXPECT_TRUE(has(Notes, "is not in the profile"));
}
