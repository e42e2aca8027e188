//===- ExplainTest.cpp - The source with its stalls, the roofline's picture ===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Explain.h"
#include "AnalysisTest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {

/// The first line of \p Text that holds \p Part.
std::string lineWith(llvm::StringRef Text, llvm::StringRef Part) {
  llvm::SmallVector<llvm::StringRef, 64> Lines;
  Text.split(Lines, '\n');
  for (llvm::StringRef L : Lines)
    if (L.contains(Part))
      return L.str();
  ADD_FAILURE() << Part.str() << " is not in\n" << Text.str();
  return "";
}

TEST(Explain, LeadsFromTheLineThatWaitsToTheCause) {
  const SourceModel &M = modelOf({{"k.cu", "__global__ void k(const float *p, float *q) {\n"
                                           "  float v = p[threadIdx.x];\n"
                                           "  int a = 1;\n"
                                           "  int b = a + 2;\n"
                                           "  int c = b + 3;\n"
                                           "  q[threadIdx.x] = v + c;\n"
                                           "}\n"}});
  ProfileBuilder B(&M);
  const std::string File = std::string(SourceFolder) + "/k.cu:";
  B.function("_Z1kPKfPf")
      .pc("LDG.E R4, [R2.64]", {File + "2"})
      .pc("FADD R5, R4, R6", {File + "6"}, {stall("long_scoreboard", 750)})
      .pc("STG.E [R8.64], R5", {File + "6"}, {stall("wait", 250)})
      .pc("EXIT", {File + "7"});
  std::string Text = explainEvidence(diagnose(M, B.P), M, SourceFolder, 60);
  EXPECT_EQ(Text.find("k: 100.0 % of the GPU time, 1,000 latency samples"), 0u) << Text;
  EXPECT_NE(Text.find("\n  k.cu\n"), std::string::npos) << Text;
  EXPECT_EQ(lineWith(Text, "columns"), "  columns from the left: E1; + waits for >");
  EXPECT_EQ(lineWith(Text, "float v"),
            "  >-    2                    |   float v = p[threadIdx.x];");
  EXPECT_EQ(lineWith(Text, "v + c"),
            "  +-    6 100.0 % ########## |   q[threadIdx.x] = v + c;");
  // Between them the arrow, and dots for what says nothing.
  EXPECT_EQ(lineWith(Text, "int a")[2], '|');
  EXPECT_NE(lineWith(Text, "  E1 ").find("line 6 waits for the load of line 2: 75.0 %"),
            std::string::npos);
  EXPECT_NE(Text.find("may change: statement "), std::string::npos) << Text;
  // Cut at the width.
  llvm::SmallVector<llvm::StringRef, 64> Lines;
  const std::string Narrow = explainEvidence(diagnose(M, B.P), M, SourceFolder, 45);
  llvm::StringRef(Narrow).split(Lines, '\n');
  for (llvm::StringRef L : Lines)
    if (L.contains(" | "))
      EXPECT_LE(L.size(), 45u) << L.str();
}

TEST(RooflineSvg, ShowsEveryHotKernelAtEveryLevel) {
  Diagnosis D;
  D.Device.Name = "a <card> & more";
  D.Device.MemoryClockKHz = 1000000;
  D.Device.MemoryBusBits = 4096;
  for (const char *Name : {"first", "ns::second<int>", "integer"}) {
    KernelDiagnosis K;
    K.Name = Name;
    K.Hot = true;
    K.Roof.Available = true;
    K.Roof.Precision = D.Kernels.size() == 2 ? "int" : "fp32";
    K.Roof.Bound = "memory (dram)";
    K.Roof.FlopPerSecond = 2e11;
    K.Roof.PeakFlopPerSecond = 6e13;
    K.Roof.PercentOfRoof = 70;
    K.Roof.Headroom = 1.4;
    K.Roof.Levels = {{"dram", 1e9, 0.25, 8e11, 1e12}, {"l2", 2e9, 0.125, 1.6e12, 5e12},
                     {"l1", 4e9, 0.06, 3e12, 2e13}};
    D.Kernels.push_back(K);
  }
  const std::string Kept = llvm::cantFail(rooflineSvg(D));
  llvm::StringRef Svg = Kept;
  EXPECT_TRUE(Svg.starts_with("<?xml"));
  EXPECT_TRUE(Svg.contains("a &lt;card&gt; &amp; more"));
  EXPECT_TRUE(Svg.contains("ns::second&lt;int&gt;"));
  EXPECT_TRUE(Svg.contains("FLOP per byte"));
  EXPECT_TRUE(Svg.contains("warp instructions per 32-byte transaction"));
  EXPECT_TRUE(Svg.contains("DRAM data sheet 1.02 TB/s"));
  // A point at each of three levels of three kernels, and one of each in both legends.
  EXPECT_EQ(Svg.count("<circle"), 3u + 2);
  EXPECT_EQ(Svg.count("<polygon"), 3u + 2);
  EXPECT_EQ(Svg.count("<g"), Svg.count("</g>"));
  EXPECT_FALSE(Svg.contains("nan"));
  EXPECT_FALSE(Svg.contains("inf\""));
}

TEST(RooflineSvg, SaysWhyThereIsNone) {
  Diagnosis D;
  D.Kernels.emplace_back();
  D.Kernels[0].Hot = true;
  D.Kernels[0].Roof.Why = "no counters at all";
  llvm::Expected<std::string> Svg = rooflineSvg(D);
  ASSERT_FALSE(bool(Svg));
  EXPECT_NE(llvm::toString(Svg.takeError()).find("no counters at all"), std::string::npos);
}

} // namespace
