//===- EarTest.cpp - Evidence-aligned reasoning on hand-made cases -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Combine.h"
#include "optimas/Evaluate/Ear.h"
#include "optimas/Profile/Readers.h"
#include "gtest/gtest.h"

using namespace optimas;

using Lines = std::vector<unsigned>;

TEST(ChangedLines, ReplacedDeletedInserted) {
  llvm::StringRef Old = "a\nb\nc\nd\n";
  EXPECT_EQ(changedLines(Old, "a\nB\nc\nd\n"), Lines{2});
  EXPECT_EQ(changedLines(Old, "a\nd\n"), (Lines{2, 3}));
  // An insertion changes the line that it stands before.
  EXPECT_EQ(changedLines(Old, "a\nb\nx\nc\nd\n"), Lines{3});
  EXPECT_EQ(changedLines(Old, "a\nb\nc\nd\nx\n"), Lines{4});
  EXPECT_EQ(changedLines(Old, Old), Lines{});
}

TEST(ChangedLines, CommentsAndBlanksDoNotCount) {
  llvm::StringRef Old = "// note\n\nint a;\n/* two\n lines */\nint b; // tail\n";
  EXPECT_EQ(changedLines(Old, "int a;\nint b; // tail\n"), Lines{});
  EXPECT_EQ(changedLines(Old, "// other\n\nint c;\n/* x\n y */\nint b; // else\n"),
            (Lines{3, 6}));
  // A comment mark inside a literal is code.
  EXPECT_EQ(changedLines("s = \"/*\";\nb;\n", "s = \"/*\";\nc;\n"), Lines{2});
}

static Evidence item(unsigned Id, FunctionId Kernel, double Weight, unsigned Consumer,
                     std::vector<unsigned> Producers, std::vector<unsigned> Needed = {}) {
  Evidence E;
  E.Id = Id;
  E.Kernel = Kernel;
  E.Weight = Weight;
  E.Consumer.Path = "/p/k.cu";
  E.Consumer.Line = Consumer;
  for (unsigned L : Producers) {
    ProducerRef P;
    P.Where.Path = "/p/k.cu";
    P.Where.Line = L;
    E.Producers.push_back(P);
  }
  for (unsigned L : Needed) {
    LineRef R;
    R.Path = "/p/k.cu";
    R.Line = L;
    E.Needed.push_back(R);
  }
  return E;
}

static Edit citing(std::vector<unsigned> Ids) {
  Edit E;
  E.Evidence = std::move(Ids);
  return E;
}

TEST(Ear, CoverageAndLocalization) {
  std::vector<Evidence> Items = {item(1, 0, 0.7, 41, {40}, {38}), item(2, 0, 0.3, 30, {29})};
  EarScore S = scoreEdits(Items, {citing({1})},
                          {{"/p/k.cu", 38}, {"/p/k.cu", 40}, {"/p/k.cu", 41}, {"/p/k.cu", 29}});
  EXPECT_DOUBLE_EQ(S.EvidenceCoverage, 0.7);
  // Line 29 belongs to evidence that no edit cites.
  EXPECT_DOUBLE_EQ(S.EditLocalization, 0.75);
  EXPECT_EQ(S.LinesOffEvidence, std::vector<std::string>{"/p/k.cu:29"});
  EXPECT_EQ(S.CitedEvidence, std::vector<unsigned>{1});
  EXPECT_EQ(S.UncitedEvidence, std::vector<unsigned>{2});
  EXPECT_FALSE(S.ResultAgreement.has_value());
  EXPECT_FALSE(S.ResultAgreementWhyNot.empty());
}

TEST(Ear, CoverageIsTheMeanOverEditedKernels) {
  std::vector<Evidence> Items = {item(1, 0, 1.0, 1, {}), item(2, 1, 0.4, 5, {}),
                                 item(3, 1, 0.6, 6, {}), item(4, 2, 1.0, 9, {})};
  EarScore S = scoreEdits(Items, {citing({1}), citing({2, 2})}, {{"/p/k.cu", 1}});
  EXPECT_DOUBLE_EQ(S.EvidenceCoverage, 0.7);
  // Kernel 2 is not edited: its evidence is not "uncited".
  EXPECT_EQ(S.UncitedEvidence, std::vector<unsigned>{3});
}

TEST(Ear, NothingChanged) {
  EarScore S = scoreEdits({item(1, 0, 1, 1, {})}, {}, {});
  EXPECT_EQ(S.EvidenceCoverage, 0);
  EXPECT_EQ(S.EditLocalization, 0);
}

TEST(Ear, ResultAgreement) {
  using D = Direction;
  // Down by far; down within the baselines' own difference; up as expected.
  EXPECT_DOUBLE_EQ(*resultAgreement({{0.5, D::Down, 100, 102, 60},
                                     {0.3, D::Down, 100, 110, 95},
                                     {0.2, D::Up, 40, 41, 55}}), 0.7);
  EXPECT_FALSE(resultAgreement({}).has_value());
}

/// \p P with every stall's latency samples scaled.
static Profile scaled(Profile P, double By) {
  for (FunctionSamples &F : P.Functions)
    for (PcSample &Pc : F.Pcs)
      for (StallCount &S : Pc.Stalls)
        S.LatencySamples = uint64_t(double(S.LatencySamples) * By);
  return P;
}

TEST(Ear, AgreementOfRecordedProfiles) {
  CompileCommand C;
  C.Directory = OPTIMAS_EXAMPLES "/topk";
  C.File = OPTIMAS_EXAMPLES "/topk/topk.cu";
  C.Args = {OPTIMAS_TEST_NVCC, "-O3", "-arch=sm_90", "-lineinfo", "-c", C.File};
  SourceModel Model = llvm::cantFail(buildSourceModel(C, {}));
  Profile P = llvm::cantFail(readProfile(C.Directory + "/recorded/topk.optimas.json"));
  Profile Raw = llvm::cantFail(readProfile(C.Directory + "/recorded/raw.csv"));
  std::vector<std::string> Notes;
  Profile Both = mergeProfiles({P, Raw}, Notes);
  resolveFrames(Both, Notes);
  Diagnosis D = llvm::cantFail(analyse(Model, Both, {}));
  auto Other = llvm::find_if(
      D.Items, [](const Evidence &E) { return E.Kind == EvidenceKind::Roofline; });
  ASSERT_NE(Other, D.Items.end());
  EditSet Set;
  Set.Accepted = {citing({D.Items[0].Id, Other->Id})};

  Agreement A = agreementOf(Model, D, Set, {P, scaled(P, 1.01), scaled(P, 0.5)});
  EXPECT_EQ(A.Value, 1.0);
  ASSERT_EQ(A.Metrics.size(), 2u);
  EXPECT_EQ(A.Metrics[0].Evidence, D.Items[0].Id);
  EXPECT_EQ(A.Metrics[0].Kernel, "topkHits");
  EXPECT_EQ(A.Metrics[0].Agreed, true);
  EXPECT_NEAR(A.Metrics[0].Change.After / A.Metrics[0].Change.Before, 0.5, 0.01);
  // The collector counts no traffic: that item neither agrees nor disagrees.
  EXPECT_FALSE(A.Metrics[1].Agreed.has_value());

  // Within the difference of the two baselines, and the wrong way.
  for (double By : {0.985, 1.5}) {
    A = agreementOf(Model, D, Set, {P, scaled(P, 1.02), scaled(P, By)});
    EXPECT_EQ(A.Value, 0.0) << By;
    EXPECT_EQ(A.Metrics[0].Agreed, false) << By;
  }
  // Twice the launches and twice the samples: nothing has changed.
  Profile Twice = scaled(P, 2);
  for (KernelStats &K : Twice.Kernels)
    K.Launches *= 2;
  EXPECT_EQ(agreementOf(Model, D, Set, {P, P, Twice}).Value, 0.0);

  A = agreementOf(Model, D, Set, {P, P, Profile()});
  EXPECT_FALSE(A.Value.has_value());
  EXPECT_NE(A.WhyNot.find("does not hold the kernel"), std::string::npos) << A.WhyNot;
}

TEST(Ear, AStallThatOnlyMovesToAnotherLineIsNoFix) {
  std::map<std::string, double> Before = {{"latency_samples:long_scoreboard@line40", 900},
                                          {"latency_samples:long_scoreboard@line41", 100},
                                          {"launches", 10}, {"dram_pct", 53}};
  std::map<std::string, double> After = {{"latency_samples:long_scoreboard@line44", 1000},
                                         {"launches", 10}};
  const char *Metric = "latency_samples:long_scoreboard@line40";
  EXPECT_EQ(metricPerLaunch(Before, Metric), 100);
  EXPECT_EQ(metricPerLaunch(After, Metric), 100);
  EXPECT_EQ(metricPerLaunch(Before, "dram_pct"), 53);
  EXPECT_EQ(metricPerLaunch(After, "dram_pct"), 0);
}

static EditSet set(std::vector<FileEdit> Edits) {
  EditSet S;
  for (FileEdit &E : Edits) {
    Edit D;
    D.Id = E.Edit;
    S.Accepted.push_back(D);
  }
  S.FileEdits = std::move(Edits);
  return S;
}

TEST(Unite, DisjointEqualAndConflictingEdits) {
  SourceTexts Texts = {{"f", "0123456789"}};
  EditSet A = set({{"f", 0, 0, 2, "AA", 1}}), B = set({{"f", 0, 5, 1, "B", 2}});
  EditSet Same = set({{"f", 0, 0, 2, "AA", 3}}), Over = set({{"f", 0, 1, 3, "x", 4}});
  EditSet Insert = set({{"f", 0, 7, 0, "i", 5}}), Insert2 = set({{"f", 0, 7, 0, "j", 6}});
  std::optional<EditSet> U = unite({&B, &A, &Same}, Texts);
  ASSERT_TRUE(U.has_value());
  EXPECT_EQ(U->NewContents["f"], "AA234B6789");
  EXPECT_EQ(U->FileEdits.size(), 2u);
  EXPECT_EQ(U->FileEdits[0].Offset, 0u);
  EXPECT_FALSE(unite({&A, &Over}, Texts).has_value());
  EXPECT_FALSE(unite({&Insert, &Insert2}, Texts).has_value());
  std::optional<EditSet> Rest = without(*U, 2, Texts);
  ASSERT_TRUE(Rest.has_value());
  EXPECT_EQ(Rest->NewContents["f"], "AA23456789");
  EXPECT_FALSE(without(A, 1, Texts).has_value());
}
