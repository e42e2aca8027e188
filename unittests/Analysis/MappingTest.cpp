//===- MappingTest.cpp - Which samples lie in the AST -----------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnalysisTest.h"
#include "optimas/Analysis/Explain.h"
#include "optimas/Analysis/Json.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {

const char *Source = "__global__ void k(const float *p,\n" // 1
                     "                  float *q) {\n"     // 2
                     "  float v = p[threadIdx.x];\n"       // 3
                     "\n"                                  // 4
                     "  for (int i = 0; i < 8;\n"          // 5
                     "       ++i)\n"                       // 6
                     "    v = v * v;\n"                    // 7
                     "  q[threadIdx.x] = v;\n"             // 8
                     "}\n";                                // 9
const std::string File = std::string(SourceFolder) + "/k.cu:";

/// One instruction after the other, each with samples on one line.
SampleMapping mappingOf(const std::vector<std::pair<std::string, unsigned>> &Lines) {
  const SourceModel &M = modelOf({{"k.cu", Source}});
  ProfileBuilder B(&M);
  B.function("_Z1kPKfPf");
  for (auto &[Line, Samples] : Lines)
    B.pc("FADD R5, R4, R6",
         Line.empty() ? std::vector<std::string>() : std::vector<std::string>{Line},
         {stall("wait", Samples)});
  return diagnose(M, B.P).Kernels.front().Mapping;
}

TEST(Mapping, EveryLineOfAStatementCounts) {
  SampleMapping M =
      mappingOf({{File + "3", 10}, {File + "5", 20}, {File + "6", 30}, {File + "7", 40}});
  EXPECT_EQ(M.Total, 100u);
  EXPECT_EQ(M.InStatement, 100u);
  EXPECT_EQ(M.OnBraces, 0u);
  EXPECT_TRUE(M.Gaps.empty());
}

TEST(Mapping, TheBodysBracesAreCountedApart) {
  SampleMapping M = mappingOf({{File + "2", 1}, {File + "8", 90}, {File + "9", 9}});
  EXPECT_EQ(M.InStatement, 100u);
  EXPECT_EQ(M.OnBraces, 10u);
}

TEST(Mapping, WhatIsInNoStatementHasAReason) {
  SampleMapping M = mappingOf({{File + "1", 10},
                               {File + "4", 20},
                               {File + "8", 900},
                               {"/usr/include/other.h:7", 30},
                               {"", 40}});
  EXPECT_EQ(M.Total, 1000u);
  EXPECT_EQ(M.InStatement, 900u);
  EXPECT_DOUBLE_EQ(M.share(), 0.9);
  EXPECT_EQ(M.withoutLine(), 40u);
  // Most samples first.
  ASSERT_EQ(M.Gaps.size(), 4u);
  EXPECT_EQ(M.Gaps[0].Why, "no line information");
  EXPECT_EQ(M.Gaps[1].Why, "code of a file that is not in the model");
  EXPECT_EQ(M.Gaps[1].Where.Line, 7u);
  EXPECT_EQ(M.Gaps[2].Why, "between statements");
  EXPECT_EQ(M.Gaps[3].Why, "the signature: what the compiler does before the first statement");
}

TEST(Mapping, LibraryCodeCountsForTheCallInTheKernel) {
  const SourceModel &M = modelOf({{"k.cu", Source}});
  ProfileBuilder B(&M);
  B.function("_Z1kPKfPf")
      .pc("FADD R5, R4, R6", {"/usr/include/other.h:7", File + "8"}, {stall("wait", 5)});
  SampleMapping Mapping = diagnose(M, B.P).Kernels.front().Mapping;
  EXPECT_EQ(Mapping.InStatement, 5u);
  EXPECT_TRUE(Mapping.Gaps.empty());
}

TEST(Mapping, IsShownAndInTheJson) {
  const SourceModel &M = modelOf({{"k.cu", Source}});
  ProfileBuilder B(&M);
  B.function("_Z1kPKfPf")
      .pc("FADD R5, R4, R6", {File + "8"}, {stall("wait", 950)})
      .pc("FADD R5, R4, R6", {File + "4"}, {stall("wait", 30)})
      .pc("EXIT", {File + "9"}, {stall("drain", 20)});
  Diagnosis D = diagnose(M, B.P);
  std::string Text = explainEvidence(D, M, SourceFolder);
  EXPECT_NE(Text.find("\n  in statements: 97.0 %, of it 2.0 % on the braces of a function\n"
                      "  in none: 3.0 %, k.cu:4, between statements\n"),
            std::string::npos)
      << Text;
  llvm::json::Value Json = toJson(D.Kernels.front());
  const llvm::json::Object *Mapping = Json.getAsObject()->getObject("mapping");
  ASSERT_TRUE(Mapping);
  EXPECT_EQ(Mapping->getInteger("samples"), 1000);
  EXPECT_EQ(Mapping->getInteger("in_statement"), 970);
  EXPECT_EQ(Mapping->getInteger("on_braces"), 20);
  EXPECT_EQ(Mapping->getArray("gaps")->size(), 1u);
}

} // namespace
