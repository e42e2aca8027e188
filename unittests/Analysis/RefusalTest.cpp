//===- RefusalTest.cpp - Profiles that cannot be used -----------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnalysisTest.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {
const char *Source = R"(#include "other.cuh"
__global__ void scale(const float *in, float *out) {
  float v = in[threadIdx.x];
  out[threadIdx.x] = v + v;
}
__global__ void second(float *out) {
  out[threadIdx.x] = 1;
}
void run(float *a, float *b) { scale<<<1, 32>>>(a, b); second<<<1, 32>>>(b); }
)";

const SourceModel &model() {
  return modelOf({{"k.cu", Source}, {"other.cuh", "#pragma once\nint unused();\n"}});
}

ProfileBuilder usable(const SourceModel *Fresh) {
  ProfileBuilder B(Fresh);
  B.function("_Z5scalePKfPf")
      .pc("LDG.E R3, desc[UR4][R2.64]", {"k.cu:3"})
      .pc("FADD R5, R3, R3", {"k.cu:4"}, {stall("long_scoreboard", 1000)});
  return B;
}

bool noted(const Diagnosis &D, llvm::StringRef Text) {
  return llvm::any_of(D.Notes,
                      [&](llvm::StringRef N) { return N.contains(Text); });
}

TEST(Refusal, UsableProfileIsUsed) {
  const SourceModel &M = model();
  Diagnosis D = diagnose(M, usable(&M).P);
  EXPECT_EQ(D.Items.size(), 1u);
  EXPECT_TRUE(D.Notes.empty()) << D.Notes.front();
}

TEST(Refusal, AnotherProgram) {
  const SourceModel &M = model();
  ProfileBuilder B;
  B.function("_Z6matmulPf").pc("EXIT", {"mm.cu:3"}, {stall("drain", 5)});
  B.kernel("_Z6reducePf", 1000);
  std::string Why = failure(M, B.P);
  EXPECT_NE(Why.find("another program"), std::string::npos) << Why;
  EXPECT_NE(Why.find("matmul, reduce"), std::string::npos) << Why;
  EXPECT_NE(Why.find("scale, second"), std::string::npos) << Why;
  EXPECT_NE(Why.find("optimas-profile -o"), std::string::npos) << Why;
}

TEST(Refusal, EmptyProfile) {
  const SourceModel &M = model();
  EXPECT_NE(failure(M, Profile()).find("no samples"), std::string::npos);
}

TEST(Refusal, SourceWithoutKernels) {
  const SourceModel &M = modelOf({{"k.cu", "int main() { return 0; }\n"}});
  EXPECT_NE(failure(M, usable(nullptr).P).find("defines no kernel"), std::string::npos);
}

TEST(Refusal, StaleByHash) {
  const SourceModel &M = model();
  ProfileBuilder B = usable(&M);
  for (SourceSnapshot &S : B.P.SourceFiles)
    if (llvm::StringRef(S.File).ends_with("k.cu"))
      S.Sha256 = std::string(64, '0');
  std::string Why = failure(M, B.P);
  EXPECT_NE(Why.find("another version of this file"), std::string::npos) << Why;
  EXPECT_NE(Why.find("k.cu"), std::string::npos) << Why;
  EXPECT_NE(Why.find("Profile the program again"), std::string::npos) << Why;
}

TEST(Refusal, StaleByTextNamesTheFirstLine) {
  const SourceModel &M = model();
  ProfileBuilder B = usable(nullptr);
  B.P.LineTexts[{"/src/k.cu", 3}] = "  float v = in[threadIdx.x];\r";
  B.P.LineTexts[{"/src/k.cu", 7}] = "  out[threadIdx.x] = 2;";
  B.P.LineTexts[{"/src/k.cu", 4}] = "  out[threadIdx.x] = v * v;";
  std::string Why = failure(M, B.P);
  EXPECT_NE(Why.find("k.cu:4"), std::string::npos) << Why;
  EXPECT_NE(Why.find("line 4 was `out[threadIdx.x] = v * v;` and is now "
                     "`out[threadIdx.x] = v + v;`"),
            std::string::npos)
      << Why;
}

TEST(Refusal, BlanksDoNotMakeItStale) {
  const SourceModel &M = model();
  ProfileBuilder B = usable(nullptr);
  B.P.LineTexts[{"/src/k.cu", 4}] = "\tout[threadIdx.x]  = v + v; ";
  Diagnosis D = diagnose(M, B.P);
  EXPECT_EQ(D.Items.size(), 1u);
}

TEST(Refusal, AnotherHeaderThatChangedIsANote) {
  const SourceModel &M = model();
  ProfileBuilder B = usable(&M);
  for (SourceSnapshot &S : B.P.SourceFiles)
    if (llvm::StringRef(S.File).ends_with("other.cuh"))
      S.Sha256 = std::string(64, '0');
  Diagnosis D = diagnose(M, B.P);
  EXPECT_TRUE(noted(D, "other.cuh has changed"));
}

TEST(Refusal, UncheckableAgeIsANote) {
  const SourceModel &M = model();
  EXPECT_TRUE(noted(diagnose(M, usable(nullptr).P), "could not be checked"));
}

TEST(Refusal, NoLineInformation) {
  const SourceModel &M = model();
  ProfileBuilder B(&M);
  B.function("_Z5scalePKfPf").pc("FADD R5, R3, R3", {}, {stall("long_scoreboard", 10)});
  std::string Why = failure(M, B.P);
  EXPECT_NE(Why.find("no line information"), std::string::npos) << Why;
  EXPECT_NE(Why.find("-lineinfo"), std::string::npos) << Why;
}

TEST(Refusal, OneKernelWithoutLinesIsANote) {
  const SourceModel &M = model();
  ProfileBuilder B = usable(&M);
  B.function("_Z6secondPf").pc("EXIT", {}, {stall("drain", 500)});
  EXPECT_TRUE(noted(diagnose(M, B.P), "`second` has no line information"));
}

TEST(Refusal, TimesWithoutSamples) {
  const SourceModel &M = model();
  ProfileBuilder B(&M);
  B.kernel("_Z5scalePKfPf", 1000, {1056, 1, 1});
  std::string Why = failure(M, B.P);
  EXPECT_NE(Why.find("no samples of the hot kernels"), std::string::npos) << Why;
}

TEST(Refusal, NoHotKernelIsDefinedHere) {
  const SourceModel &M = model();
  ProfileBuilder B = usable(&M);
  B.kernel("_Z5scalePKfPf", 1000).kernel("_Z5otherPf", 99000);
  AnalysisOptions Options;
  Options.HotPercent = 80;
  std::string Why = failure(M, B.P, Options);
  EXPECT_NE(Why.find("no hot kernel is defined in this source"), std::string::npos) << Why;
  EXPECT_NE(Why.find("`other` (99.0 %)"), std::string::npos) << Why;
  EXPECT_NE(Why.find("raise --hot to 100"), std::string::npos) << Why;
  Options.HotPercent = 100;
  Diagnosis D = diagnose(M, B.P, Options);
  EXPECT_TRUE(noted(D, "hot kernels that this source does not define: `other`"));
  EXPECT_EQ(D.Kernels[0].Function, NoId);
  EXPECT_NEAR(D.Kernels[1].TimeShare, 0.01, 1e-12);
}

TEST(Refusal, DroppedSamplesAndFullBuffersAreNotes) {
  const SourceModel &M = model();
  ProfileBuilder B = usable(&M);
  B.P.Quality.TotalSamples = 1000;
  B.P.Quality.DroppedSamples = 250;
  B.P.Quality.HardwareBufferFull = true;
  Diagnosis D = diagnose(M, B.P);
  EXPECT_TRUE(noted(D, "250 samples were dropped (20.0 %)"));
  EXPECT_TRUE(noted(D, "buffer of the device overflowed"));
}

TEST(Refusal, NonsenseCountsDoNotCrash) {
  const SourceModel &M = model();
  ProfileBuilder B = usable(&M);
  B.P.Functions[0].Pcs[1].Offset = ~0ull;
  B.P.Functions[0].Pcs[1].Frames[0].Line = ~0u;
  B.P.Functions[0].ModuleId = "no such module";
  B.P.Modules.push_back({"junk", "not an ELF image", 90});
  B.kernel("_Z5scalePKfPf", ~0ull, {~0u, ~0u, ~0u}, {0, 0, 0});
  llvm::Expected<Diagnosis> D = analyse(M, B.P, {100});
  if (!D)
    llvm::consumeError(D.takeError());
}

} // namespace
