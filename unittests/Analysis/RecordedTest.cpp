//===- RecordedTest.cpp - Evidence of the recorded examples -----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnalysisTest.h"
#include "optimas/Analysis/Blame.h"
#include "optimas/Analysis/Json.h"
#include "optimas/Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {
using Lines = std::vector<unsigned>;

BlameGraph graphOf(const std::string &Example, llvm::StringRef Symbol) {
  Cubin C = llvm::cantFail(Cubin::parse(recordedFile(Example, Example + ".cubin"), "c"));
  const CubinFunction *F = C.function(Symbol);
  EXPECT_NE(F, nullptr);
  return BlameGraph(C.instructions(*F));
}

std::vector<uint64_t> producerOffsets(const BlameGraph &G, uint64_t Offset,
                                      llvm::StringRef Reason) {
  std::vector<uint64_t> Offsets;
  for (const BlamedInstruction &P : G.blame(*G.indexOf(Offset), Reason).Producers)
    Offsets.push_back(G.instructions()[P.Index].Offset);
  llvm::sort(Offsets);
  return Offsets;
}

TEST(RecordedBlame, TopkComparisonWaitsForBothLoads) {
  BlameGraph G = graphOf("topk", "_Z8topkHitsiiiPKfPKiPi");
  EXPECT_EQ(producerOffsets(G, 0x260, "long_scoreboard"),
            (std::vector<uint64_t>{0x1d0, 0x230}));
  EXPECT_EQ(producerOffsets(G, 0x190, "long_scoreboard"), std::vector<uint64_t>{0x140});
  EXPECT_EQ(producerOffsets(G, 0x330, "barrier"), std::vector<uint64_t>{0x300});
  // Only the second of two shared loads carries the barrier.
  EXPECT_EQ(producerOffsets(G, 0x3e0, "short_scoreboard"),
            (std::vector<uint64_t>{0x3c0, 0x3d0}));
  EXPECT_TRUE(G.inSameLoop(*G.indexOf(0x230), *G.indexOf(0x260)));
}

TEST(RecordedBlame, AddAndDotHaveTwoLoadsOnOneBarrier) {
  BlameGraph Add = graphOf("stream", "_Z3addIfEvPKT_S2_PS0_i");
  EXPECT_EQ(producerOffsets(Add, 0x110, "long_scoreboard"),
            (std::vector<uint64_t>{0xd0, 0xf0}));
  BlameGraph Dot = graphOf("stream", "_Z3dotIfEvPKT_S2_PS0_i");
  bool Seen = false;
  for (size_t I = 0; I != Dot.instructions().size(); ++I)
    Seen |= producerOffsets(Dot, Dot.instructions()[I].Offset, "long_scoreboard") ==
            std::vector<uint64_t>{0x180, 0x190};
  EXPECT_TRUE(Seen);
}

TEST(RecordedBlame, DrainOfTransposeIsItsStore) {
  BlameGraph G = graphOf("transpose", "_Z14transposeNaivePKfPfii");
  EXPECT_EQ(producerOffsets(G, 0x150, "drain"), std::vector<uint64_t>{0x130});
  EXPECT_EQ(producerOffsets(G, 0x130, "long_scoreboard"), std::vector<uint64_t>{0x100});
}

TEST(Recorded, TopkNamesTheLoadNotTheComparison) {
  const SourceModel &M = exampleModel("topk");
  Diagnosis D = diagnose(M, exampleProfile("topk"));
  const Evidence &E = topOf(D, "topkHits");
  EXPECT_EQ(E.Id, 1u);
  EXPECT_EQ(E.where().Line, 40u);
  EXPECT_EQ(E.Consumer.Line, 41u);
  EXPECT_EQ(E.Reason, "long_scoreboard");
  EXPECT_EQ(producerLines(E), (Lines{40, 37}));
  EXPECT_EQ(E.Producers.front().Opcode, "LDG");
  EXPECT_EQ(E.Producers.front().AccessBytes, 4u);
  EXPECT_GT(E.Producers.front().Share, 0.95);
  EXPECT_EQ(E.Metric, "latency_samples:long_scoreboard@line40");
  EXPECT_EQ(E.Sentence, "line 41 waits for the load of line 40: 85.7 % of latency "
                        "samples (long_scoreboard)");
  EXPECT_EQ(E.Samples, 231026u);
  std::vector<std::string> Texts = regionTexts(D, M, E);
  EXPECT_TRUE(llvm::any_of(Texts, [](llvm::StringRef T) {
    return T.starts_with("for (int col = threadIdx.x");
  }));
  EXPECT_TRUE(llvm::is_contained(Texts, "const int label = labels[row];"));
  EXPECT_TRUE(llvm::any_of(Texts, [](llvm::StringRef T) {
    return T.starts_with("__global__ void topkHits(");
  }));
  // The loop over rows is not implicated as a whole, nor is main.
  EXPECT_FALSE(llvm::any_of(Texts, [](llvm::StringRef T) {
    return T.starts_with("for (int row") || T.contains("cudaMalloc");
  }));
}

TEST(Recorded, InlinedHelperIsAttributedToBothLines) {
  Diagnosis D = diagnose(exampleModel("topk"), exampleProfile("topk"));
  const Evidence *Barrier = nullptr;
  for (const Evidence &E : D.Items)
    if (E.Reason == "barrier")
      Barrier = &E;
  ASSERT_NE(Barrier, nullptr);
  EXPECT_EQ(Barrier->Consumer.Function, "blockSum");
  EXPECT_EQ(Barrier->KernelName, "topkHits");
  EXPECT_EQ(producerLines(*Barrier), Lines{21});
  EXPECT_TRUE(implicates(*Barrier, 24)); // the helper's line
  EXPECT_TRUE(implicates(*Barrier, 44)); // the call in the kernel
  EXPECT_TRUE(implicates(*Barrier, 41)); // the work before the barrier
  EXPECT_NE(Barrier->Sentence.find("`blockSum` is called at line 44"), std::string::npos);
}

TEST(Recorded, StreamKernelsNameTheirLoads) {
  const SourceModel &M = exampleModel("stream");
  Diagnosis D = diagnose(M, exampleProfile("stream"));
  ASSERT_EQ(D.Kernels.size(), 5u); // float and double count together
  EXPECT_EQ(D.Kernels.front().Name, "dot");
  EXPECT_EQ(D.Kernels.front().Symbols.size(), 2u);
  EXPECT_TRUE(D.Kernels.front().TimeFromSamples);
  const Evidence &Add = topOf(D, "add");
  EXPECT_EQ(producerLines(Add), Lines{36});
  std::set<uint64_t> Pcs;
  for (const ProducerRef &P : Add.Producers)
    Pcs.insert(P.Offset);
  EXPECT_EQ(Pcs, (std::set<uint64_t>{0xd0, 0xf0}));
  EXPECT_NE(Add.Sentence.find("both loads of line 36"), std::string::npos);
  EXPECT_EQ(producerLines(topOf(D, "copy")), Lines{24});
  EXPECT_EQ(producerLines(topOf(D, "mul")), Lines{30});
  EXPECT_EQ(producerLines(topOf(D, "triad")), Lines{43});
  const Evidence &Dot = topOf(D, "dot");
  EXPECT_EQ(producerLines(Dot), Lines{52});
  std::vector<std::string> Texts = regionTexts(D, M, Dot);
  EXPECT_TRUE(llvm::is_contained(Texts, "__shared__ T sums[kBlock];"));
  EXPECT_TRUE(llvm::any_of(Texts, [](llvm::StringRef T) {
    return T.starts_with("for (int i = blockIdx.x");
  }));
  // One element a thread: another launch shape meets it.
  EXPECT_TRUE(llvm::is_contained(regionTexts(D, M, Add), "grid, kBlock"));
  EXPECT_FALSE(llvm::is_contained(Texts, "kDotBlocks, kBlock"));
}

TEST(Recorded, TransposeNamesTheStoreNotTheBrace) {
  const SourceModel &M = exampleModel("transpose");
  Diagnosis D = diagnose(M, exampleProfile("transpose"));
  const Evidence &E = topOf(D, "transposeNaive");
  EXPECT_EQ(E.Reason, "drain");
  EXPECT_EQ(E.where().Line, 23u);
  EXPECT_EQ(E.Producers.front().Opcode, "STG");
  EXPECT_EQ(E.Consumer.Line, 24u);
  EXPECT_EQ(E.Sentence, "line 24 waits after the exit until the store of line 23 reached "
                        "memory: 76.5 % of latency samples (drain)");
  // The padding of the tile must be possible.
  const Evidence *Shared = nullptr;
  for (const Evidence *I : itemsOf(D, "transposeTiled"))
    if (I->Reason == "short_scoreboard")
      Shared = I;
  ASSERT_NE(Shared, nullptr);
  EXPECT_EQ(Shared->Producers.front().Opcode, "LDS");
  EXPECT_TRUE(llvm::any_of(regionTexts(D, M, *Shared), [](llvm::StringRef T) {
    return T.contains("__shared__ float tile[kTile][kTile];");
  }));
}

TEST(Recorded, WeightsIdsAndRegionsAreConsistent) {
  for (const char *Name : {"topk", "stream", "transpose"}) {
    const SourceModel &M = exampleModel(Name);
    Diagnosis D = diagnose(M, exampleProfile(Name));
    std::map<std::string, double> Sums;
    for (size_t I = 0; I != D.Items.size(); ++I) {
      const Evidence &E = D.Items[I];
      EXPECT_EQ(E.Id, I + 1);
      EXPECT_EQ(D.evidence(E.Id), &E);
      Sums[E.KernelName] += E.Weight;
      EXPECT_FALSE(E.Lines.empty());
      EXPECT_FALSE(E.Sentence.empty());
      EXPECT_FALSE(E.Metric.empty());
      if (I && D.Items[I - 1].KernelName == E.KernelName) {
        EXPECT_GE(D.Items[I - 1].Weight, E.Weight);
      }
      EXPECT_FALSE(regionTexts(D, M, E).empty()) << E.Sentence;
    }
    for (auto &[Kernel, Sum] : Sums)
      EXPECT_NEAR(Sum, 1, 1e-9) << Kernel;
    for (size_t I = 0; I != D.Regions.size(); ++I) {
      const Region &R = D.Regions[I];
      EXPECT_EQ(R.Id, I + 1);
      EXPECT_EQ(R.Sha256, sha256(M.text(R.Range)));
      EXPECT_TRUE(M.file(R.Range.File).Editable);
      for (StatementId S : R.Statements)
        EXPECT_TRUE(R.Range.contains(M.statement(S)->Range));
      EXPECT_EQ(R.Kind == RegionKind::LaunchSite, R.LaunchSiteId != NoId);
    }
  }
}

TEST(Recorded, TheSameInputGivesTheSameDiagnosis) {
  const SourceModel &M = exampleModel("stream");
  auto Print = [&] {
    Diagnosis D = diagnose(M, exampleProfile("stream"));
    llvm::json::Array A;
    for (const Evidence &E : D.Items)
      A.push_back(toJson(E));
    for (const Region &R : D.Regions)
      A.push_back(toJson(R, M));
    for (const KernelDiagnosis &K : D.Kernels)
      A.push_back(toJson(K));
    return llvm::formatv("{0}", llvm::json::Value(std::move(A))).str();
  };
  EXPECT_EQ(Print(), Print());
}

TEST(Recorded, HotPercentDecides) {
  const SourceModel &M = exampleModel("transpose");
  AnalysisOptions Options;
  Options.HotPercent = 60;
  Diagnosis D = diagnose(M, exampleProfile("transpose"), Options);
  EXPECT_TRUE(D.Kernels[0].Hot);
  EXPECT_FALSE(D.Kernels[1].Hot);
  EXPECT_TRUE(itemsOf(D, "transposeTiled").empty());
  Options.HotPercent = 65;
  D = diagnose(M, exampleProfile("transpose"), Options);
  EXPECT_TRUE(D.Kernels[1].Hot);
}

TEST(Recorded, MetricsAnswerByTheEvidencesNames) {
  const SourceModel &M = exampleModel("topk");
  Profile P = exampleProfile("topk");
  Diagnosis D = diagnose(M, P);
  auto Metrics = llvm::cantFail(measureMetrics(M, P, D.Kernels[0].Function));
  for (const Evidence &E : D.Items) {
    ASSERT_TRUE(Metrics.count(E.Metric)) << E.Metric;
    EXPECT_DOUBLE_EQ(Metrics[E.Metric], E.Value);
  }
  EXPECT_EQ(Metrics["launches"], 10);
  EXPECT_GT(Metrics.size(), D.Items.size()); // without the coverage cut
  llvm::Expected<std::map<std::string, double>> None = measureMetrics(M, P, NoId);
  ASSERT_FALSE(bool(None));
  llvm::consumeError(None.takeError());
}

} // namespace
