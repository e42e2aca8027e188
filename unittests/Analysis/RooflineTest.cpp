//===- RooflineTest.cpp - Roofline, occupancy, counters, launch -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnalysisTest.h"
#include "optimas/Profile/Readers.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {
using Lines = std::vector<unsigned>;

Profile merged(const std::string &Name, std::vector<std::string> Files) {
  std::vector<Profile> Parts;
  for (const std::string &File : Files)
    Parts.push_back(llvm::cantFail(parseProfile(recordedFile(Name, File), File)));
  std::vector<std::string> Conflicts;
  Profile P = mergeProfiles(Parts, Conflicts);
  EXPECT_TRUE(Conflicts.empty()) << Conflicts.front();
  return P;
}

const KernelDiagnosis &kernelNamed(const Diagnosis &D, llvm::StringRef Name) {
  static const KernelDiagnosis None;
  auto It = llvm::find_if(D.Kernels, [&](const auto &K) { return K.Name == Name; });
  if (It != D.Kernels.end())
    return *It;
  ADD_FAILURE() << Name.str();
  return None;
}

const Evidence *find(const Diagnosis &D, llvm::StringRef Kernel, EvidenceKind Kind,
                     llvm::StringRef Reason = "") {
  for (const Evidence *E : itemsOf(D, Kernel))
    if (E->Kind == Kind && (Reason.empty() || E->Reason == Reason))
      return E;
  return nullptr;
}

TEST(RecordedCsv, SourcePageAloneNamesTheSameProducers) {
  Diagnosis Topk = diagnose(exampleModel("topk"), merged("topk", {"source.csv"}));
  EXPECT_EQ(topOf(Topk, "topkHits").where().Line, 40u);
  EXPECT_EQ(topOf(Topk, "topkHits").Consumer.Line, 41u);
  EXPECT_LT(topOf(Topk, "topkHits").Confidence, 0.9);
  Diagnosis Stream = diagnose(exampleModel("stream"), merged("stream", {"source.csv"}));
  const Evidence &Add = topOf(Stream, "add");
  EXPECT_EQ(producerLines(Add), Lines{36});
  EXPECT_EQ(Add.Producers.size(), 2u);
  Diagnosis Transpose =
      diagnose(exampleModel("transpose"), merged("transpose", {"source.csv"}));
  EXPECT_EQ(topOf(Transpose, "transposeNaive").where().Line, 23u);
  EXPECT_EQ(topOf(Transpose, "transposeNaive").Reason, "drain");
}

TEST(RecordedCsv, ACubinBesideThePageGivesTheInlineChain) {
  Diagnosis D =
      diagnose(exampleModel("topk"), merged("topk", {"source.csv", "topk.cubin"}));
  const Evidence &E = topOf(D, "topkHits");
  EXPECT_EQ(E.Confidence, 1);
  EXPECT_EQ(producerLines(E), (Lines{40, 37}));
  bool Call = false;
  for (const Evidence *I : itemsOf(D, "topkHits"))
    Call |= I->Reason == "barrier" && implicates(*I, 24) && implicates(*I, 44);
  EXPECT_TRUE(Call);
}

TEST(RecordedCsv, ACubinOfAnotherBuildIsNotBelieved) {
  Profile P = merged("topk", {"source.csv"});
  P.Modules = merged("topk", {"topk.cubin"}).Modules;
  EXPECT_EQ(topOf(diagnose(exampleModel("topk"), P), "topkHits").Confidence, 1);
  for (FunctionSamples &F : P.Functions)
    for (PcSample &Pc : F.Pcs)
      if (Pc.Offset == 0x230)
        Pc.Sass = "STG.E desc[UR6][R6.64], R6";
  Diagnosis D = diagnose(exampleModel("topk"), P);
  EXPECT_LT(topOf(D, "topkHits").Confidence, 0.9);
}

TEST(RecordedRoofline, SamplesAndCountersJoin) {
  const SourceModel &M = exampleModel("topk");
  Diagnosis D = diagnose(M, merged("topk", {"topk.optimas.json", "raw.csv"}));
  const Roofline &R = D.Kernels[0].Roof;
  ASSERT_TRUE(R.Available) << R.Why;
  EXPECT_EQ(R.Precision, "int");
  EXPECT_EQ(R.Bound, "latency");
  ASSERT_FALSE(R.Levels.empty());
  EXPECT_EQ(R.Levels[0].Level, "dram");
  EXPECT_NEAR(R.Levels[0].AchievedBytesPerSecond, 2.18e12, 0.02e12);
  EXPECT_EQ(R.Levels[0].CeilingBytesPerSecond, 4.3e12); // measured on the device
  EXPECT_NEAR(R.Headroom, 4.3 / 2.18, 0.03);
  const Evidence *E = find(D, "topkHits", EvidenceKind::Roofline);
  ASSERT_NE(E, nullptr);
  EXPECT_EQ(E->Metric, "dram_pct_of_peak");
  EXPECT_EQ(E->Move, Direction::Up);
  EXPECT_TRUE(implicates(*E, 40));
  // Five in a hundred for the kernel-level item, the rest for the stalls.
  EXPECT_NEAR(E->Weight, 0.05, 1e-12);
  EXPECT_EQ(D.Items.front().Kind, EvidenceKind::Stall);
  double Sum = 0;
  for (const Evidence &I : D.Items)
    Sum += I.Weight;
  EXPECT_NEAR(Sum, 1, 1e-9);
  std::string Text = summarize(D, M, D.Kernels[0].Function);
  EXPECT_NE(Text.find("roofline: bound by latency"), std::string::npos) << Text;
  EXPECT_NE(Text.find("topk.cu:41 in topkHits"), std::string::npos) << Text;
}

/// An infinite headroom would be no JSON.
TEST(RecordedRoofline, CountersOutOfAnyRangeGiveNone) {
  Profile P = merged("topk", {"topk.optimas.json", "raw.csv"});
  bool Found = false;
  for (CounterValue &C : P.Counters)
    if (C.Name == "gpu__time_duration.sum") {
      C.Min = C.Median = C.Max = 1e-300;
      Found = true;
    }
  ASSERT_TRUE(Found);
  Diagnosis D = diagnose(exampleModel("topk"), P);
  EXPECT_FALSE(D.Kernels[0].Roof.Available);
  EXPECT_NE(D.Kernels[0].Roof.Why.find("out of any kernel's range"), std::string::npos);
  EXPECT_TRUE(D.Kernels[0].Roof.Levels.empty());
}

TEST(RecordedRoofline, StreamIsBoundByDramOrLatency) {
  Diagnosis D = diagnose(exampleModel("stream"), merged("stream", {"source.csv", "raw.csv"}));
  const Roofline &Add = kernelNamed(D, "add").Roof;
  EXPECT_EQ(Add.Bound, "memory (dram)");
  EXPECT_NEAR(Add.PercentOfRoof, 68, 1);  // of the counters' own peak
  EXPECT_NEAR(Add.Flop, 1 << 25, 1 << 18); // one addition an element
  EXPECT_EQ(Add.Precision, "fp32");
  EXPECT_EQ(kernelNamed(D, "copy").Roof.Precision, "int");
  EXPECT_EQ(kernelNamed(D, "dot").Roof.Bound, "latency");
  const Evidence *Wave = find(D, "dot", EvidenceKind::Launch);
  ASSERT_NE(Wave, nullptr);
  EXPECT_EQ(Wave->Reason, "partial_wave");
  EXPECT_NEAR(Wave->Value, 256.0 / 1056, 1e-9);
  const Evidence *Few = find(D, "copy", EvidenceKind::Launch);
  ASSERT_NE(Few, nullptr);
  EXPECT_EQ(Few->Reason, "few_elements_per_thread");
  EXPECT_EQ(Few->Consumer.Line, 82u);
  EXPECT_EQ(Few->Consumer.Function, "run");
}

TEST(RecordedRoofline, TransposeCountersBecomeEvidence) {
  const SourceModel &M = exampleModel("transpose");
  Diagnosis D = diagnose(M, merged("transpose", {"transpose.optimas.json", "raw.csv"}));
  const Evidence *Banks =
      find(D, "transposeTiled", EvidenceKind::Counter, "shared_bank_conflicts");
  ASSERT_NE(Banks, nullptr);
  EXPECT_EQ(Banks->Metric, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum");
  EXPECT_NEAR(Banks->Value, 65.556e6, 0.01e6);
  EXPECT_TRUE(implicates(*Banks, 36));
  EXPECT_TRUE(implicates(*Banks, 31));
  EXPECT_TRUE(llvm::any_of(regionTexts(D, M, *Banks), [](llvm::StringRef T) {
    return T.contains("__shared__ float tile[kTile][kTile];");
  }));
  EXPECT_EQ(find(D, "transposeNaive", EvidenceKind::Counter, "shared_bank_conflicts"),
            nullptr);
  const Evidence *Sectors =
      find(D, "transposeNaive", EvidenceKind::Counter, "global_store_sectors");
  ASSERT_NE(Sectors, nullptr);
  EXPECT_TRUE(implicates(*Sectors, 23));
  EXPECT_EQ(find(D, "transposeNaive", EvidenceKind::Counter, "global_load_sectors"),
            nullptr);
  EXPECT_EQ(kernelNamed(D, "transposeNaive").Roof.Bound, "memory (l2)");
  AnalysisOptions Few{100};
  Few.UseCounters = Few.UseRoofline = false;
  Diagnosis Less = diagnose(M, merged("transpose", {"transpose.optimas.json", "raw.csv"}), Few);
  EXPECT_EQ(find(Less, "transposeTiled", EvidenceKind::Counter), nullptr);
  EXPECT_EQ(find(Less, "transposeTiled", EvidenceKind::Roofline), nullptr);
}

TEST(RecordedRoofline, CountersWithoutSamplesStillSaySomething) {
  const SourceModel &M = exampleModel("transpose");
  Diagnosis D = diagnose(M, merged("transpose", {"raw.csv"}));
  EXPECT_TRUE(llvm::any_of(D.Notes, [](llvm::StringRef N) {
    return N.contains("`transposeNaive` has no samples");
  }));
  double Sum = 0;
  for (const Evidence *E : itemsOf(D, "transposeNaive")) {
    EXPECT_NE(E->Kind, EvidenceKind::Stall);
    Sum += E->Weight;
  }
  EXPECT_NEAR(Sum, 1, 1e-9);
}

const char *Loop = R"(__global__ void heavy(const float *a, float *b, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 256)
    s += a[i];
  b[threadIdx.x] = s;
}
void run(float *a, float *b, int n) { heavy<<<132, 256>>>(a, b, n); }
)";

/// A kernel that waits for its load, launched with the given resources.
Diagnosis launched(const SourceModel &M, Dim3 Grid, Dim3 Block, unsigned Registers,
                   uint64_t Shared) {
  ProfileBuilder B(&M);
  B.function("_Z5heavyPKfPfi")
      .pc("LDG.E R3, desc[UR4][R2.64]", {"k.cu:4"})
      .pc("FADD R5, R3, R5", {"k.cu:4"}, {stall("long_scoreboard", 1000)});
  B.kernel("_Z5heavyPKfPfi", 1000000, Grid, Block);
  B.P.Kernels[0].Registers = Registers;
  B.P.Kernels[0].StaticShared = Shared;
  return diagnose(M, B.P);
}

TEST(Occupancy, LimitsOfTheDevice) {
  const SourceModel &M = modelOf({{"k.cu", Loop}});
  struct Case {
    Dim3 Block;
    unsigned Registers;
    uint64_t Shared;
    double Occupancy;
    const char *Limiter;
  };
  // By hand, for an SM of 64 warps, 32 blocks, 65536 registers, 228 KB.
  const Case Cases[] = {
      {{256, 1, 1}, 32, 0, 1.0, "warps"},
      {{32, 1, 1}, 16, 0, 0.5, "blocks"},
      {{256, 1, 1}, 128, 0, 0.25, "registers"},       // 16 warps: 2 blocks
      {{256, 1, 1}, 33, 0, 0.75, "registers"},        // 33 → 1280 a warp: 48 warps
      {{256, 1, 1}, 32, 64 * 1024, 0.375, "shared memory"}, // 3 blocks
      {{1024, 1, 1}, 64, 0, 0.5, "registers"},
  };
  for (const Case &C : Cases) {
    Diagnosis D = launched(M, {100000, 1, 1}, C.Block, C.Registers, C.Shared);
    EXPECT_DOUBLE_EQ(D.Kernels[0].TheoreticalOccupancy, C.Occupancy) << C.Limiter;
    EXPECT_EQ(D.Kernels[0].OccupancyLimiter, C.Limiter);
  }
}

TEST(Launch, ItemsOnlyWhenTheFactsSupportThem) {
  const SourceModel &M = modelOf({{"k.cu", Loop}});
  auto Reasons = [&](Dim3 Grid, Dim3 Block, unsigned Registers) {
    std::vector<std::string> R;
    for (const Evidence &E : launched(M, Grid, Block, Registers, 0).Items)
      if (E.Kind == EvidenceKind::Launch)
        R.push_back(E.Reason);
    return R;
  };
  using Names = std::vector<std::string>;
  // 8 blocks an SM, 1056 at once.
  EXPECT_EQ(Reasons({1056 * 20, 1, 1}, {256, 1, 1}, 32), Names{});
  EXPECT_EQ(Reasons({1056, 1, 1}, {256, 1, 1}, 32), Names{});
  EXPECT_EQ(Reasons({132, 1, 1}, {256, 1, 1}, 32), Names{"partial_wave"});
  Diagnosis Few = launched(M, {40, 1, 1}, {256, 1, 1}, 32, 0);
  const Evidence *Idle = find(Few, "heavy", EvidenceKind::Launch);
  ASSERT_NE(Idle, nullptr);
  EXPECT_EQ(Idle->Sentence,
            "the launch has 40 blocks where the device holds 1,056 at once: 3.8 % of its "
            "warps have work, and 92 of its 132 multiprocessors no block at all");
  EXPECT_EQ(Reasons({1057, 1, 1}, {256, 1, 1}, 32), Names{"tail"});
  EXPECT_EQ(Reasons({1056 * 20, 1, 1}, {256, 1, 1}, 255), Names{"occupancy"});
}

TEST(Launch, UnequalBlocksAndShortKernels) {
  const SourceModel &M = modelOf({{"k.cu", Loop}});
  const std::string S = "_Z5heavyPKfPfi";
  auto Item = [&](uint64_t TotalNs, double Active, const char *Reason) {
    ProfileBuilder B(&M);
    B.function(S).pc("FADD R5, R3, R5", {"k.cu:4"}, {stall("long_scoreboard", 1000)});
    B.kernel(S, TotalNs, {1056 * 4, 1, 1});
    B.P.Kernels[0].Launches = 1000;
    B.P.Kernels[0].MedianNs = TotalNs / 1000;
    B.P.Kernels[0].Registers = 32;
    if (Active > 0) {
      B.counter(S, "sm__cycles_elapsed.max", 100000);
      B.counter(S, "sm__cycles_active.avg", Active);
    }
    Diagnosis D = diagnose(M, B.P);
    const Evidence *E = find(D, "heavy", EvidenceKind::Launch, Reason);
    return E ? std::optional<Evidence>(*E) : std::nullopt;
  };
  std::optional<Evidence> Uneven = Item(100'000'000, 60000, "imbalance");
  ASSERT_TRUE(Uneven);
  EXPECT_EQ(Uneven->Metric, "sm_busy");
  EXPECT_NEAR(Uneven->Value, 60, 1e-9);
  EXPECT_NE(Uneven->Sentence.find("4.00 waves of equal blocks would give 100.0 %"), std::string::npos)
      << Uneven->Sentence;
  EXPECT_FALSE(Item(100'000'000, 95000, "imbalance"));
  EXPECT_FALSE(Item(100'000'000, 0, "imbalance"));     // not measured
  EXPECT_FALSE(Item(10'000'000, 60000, "imbalance"));  // 10 us: starting it is a part of that
  std::optional<Evidence> Short = Item(3'000'000, 0, "launch_overhead");
  ASSERT_TRUE(Short);
  EXPECT_NE(Short->Sentence.find("1,000 launches of 3.0 us each"), std::string::npos) << Short->Sentence;
  EXPECT_FALSE(Item(10'000'000, 0, "launch_overhead"));
}

TEST(Occupancy, OtherBlockSizes) {
  const SourceModel &M = modelOf({{"k.cu", Loop}});
  // 1,024 threads of 40 registers: one block of 32 warps, where 51 (48) fit.
  Diagnosis D = launched(M, {100000, 1, 1}, {1024, 1, 1}, 40, 0);
  const KernelDiagnosis &K = D.Kernels[0];
  EXPECT_DOUBLE_EQ(K.TheoreticalOccupancy, 0.5);
  ASSERT_EQ(K.BlockSizes.size(), 6u);
  EXPECT_EQ(K.BlockSizes.front().Threads, 32u);
  EXPECT_DOUBLE_EQ(K.BlockSizes.front().Occupancy, 0.5); // 32 blocks
  EXPECT_EQ(K.BlockSizes.front().Limiter, "blocks");
  EXPECT_EQ(K.BlockSizes[3].Threads, 256u);
  EXPECT_DOUBLE_EQ(K.BlockSizes[3].Occupancy, 0.75);
  EXPECT_EQ(K.BlockSizes[3].Limiter, "registers");
  // Said where occupancy is evidence.
  Diagnosis Low = launched(M, {100000, 1, 1}, {1024, 1, 1}, 64, 64 * 1024);
  EXPECT_EQ(find(Low, "heavy", EvidenceKind::Launch, "occupancy"), nullptr); // 50 %
  Diagnosis Lower = launched(M, {100000, 1, 1}, {768, 1, 1}, 64, 0);
  const Evidence *E = find(Lower, "heavy", EvidenceKind::Launch, "occupancy");
  ASSERT_NE(E, nullptr);
  EXPECT_NE(E->Sentence.find("; blocks of 1024 threads would make it 50.0 %"), std::string::npos)
      << E->Sentence;
}

/// Work and traffic as the formulas of ncu's SpeedOfLight_RooflineChart.section make them
/// of the metrics on the same raw page.
TEST(RecordedRoofline, EqualsNsightComputesChart) {
  size_t Compared = 0;
  for (const char *Name : {"topk", "stream", "transpose"}) {
    Profile P = merged(Name, {"source.csv", "raw.csv"});
    Diagnosis D = diagnose(exampleModel(Name), P);
    for (const KernelDiagnosis &K : D.Kernels)
      for (const KernelInstance &I : K.Instances) {
        auto Get = [&](const std::string &Metric) {
          for (const CounterValue &V : P.Counters)
            if (V.Name == Metric && symbolsMatch(V.Symbol, I.Symbol))
              return V.Median;
          return 0.0;
        };
        double Dram = Get("dram__bytes.sum.per_second");
        if (!I.Roof.Available || Dram <= 0)
          continue;
        const RooflineLevel &L = I.Roof.Levels.front();
        ASSERT_EQ(L.Level, "dram");
        EXPECT_NEAR(L.AchievedBytesPerSecond / Dram, 1, 0.02) << I.Symbol;
        EXPECT_NEAR(L.CeilingBytesPerSecond / (Get("dram__bytes.sum.peak_sustained") *
                                               Get("dram__cycles_elapsed.avg.per_second")),
                    1, 0.02)
            << I.Symbol;
        ++Compared;
        if (I.Roof.Precision != "fp32")
          continue;
        const std::string Op = "sass_thread_inst_executed_op_f";
        double Work = Get("smsp__cycles_elapsed.avg.per_second") *
                      (Get("smsp__" + Op + "add_pred_on.sum.per_cycle_elapsed") +
                       Get("smsp__" + Op + "mul_pred_on.sum.per_cycle_elapsed") +
                       Get("derived__smsp__" + Op + "fma_pred_on_x2"));
        double Peak = Get("sm__cycles_elapsed.avg.per_second") *
                      Get("derived__sm__" + Op + "fma_pred_on_x2");
        EXPECT_NEAR(I.Roof.FlopPerSecond / Work, 1, 0.02) << I.Symbol;
        EXPECT_NEAR(I.Roof.PeakFlopPerSecond / Peak, 1, 0.02) << I.Symbol;
        EXPECT_NEAR(L.Intensity / (Work / Dram), 1, 0.02) << I.Symbol;
        Compared += 3;
      }
  }
  EXPECT_GE(Compared, 17u); // eight kernels, three of them with floating point
}

TEST(Launch, WithoutShapesNothingIsSaid) {
  const SourceModel &M = modelOf({{"k.cu", Loop}});
  ProfileBuilder B(&M);
  B.function("_Z5heavyPKfPfi").pc("EXIT", {"k.cu:4"}, {stall("wait", 10)});
  for (const Evidence &E : diagnose(M, B.P).Items)
    EXPECT_NE(E.Kind, EvidenceKind::Launch);
}

TEST(Roofline, ComputeBoundAndMissingParts) {
  const SourceModel &M = modelOf({{"k.cu", Loop}});
  const std::string S = "_Z5heavyPKfPfi";
  ProfileBuilder B(&M);
  B.function(S).pc("FADD R5, R3, R5", {"k.cu:4"}, {stall("math_pipe_throttle", 1000)});
  B.kernel(S, 10'000'000); // 1 ms a launch
  B.P.Device.SmClockKHz = 1'000'000;
  B.P.Device.Ceilings["dram_copy"] = 4e12;
  B.counter(S, "gpu__time_duration.sum", 1e6);
  EXPECT_NE(diagnose(M, B.P).Kernels[0].Roof.Why.find("dram__bytes"), std::string::npos);
  B.counter(S, "dram__bytes.sum", 1e6);
  B.counter(S, "smsp__inst_executed.sum", 1e9);
  // 2 × 128 lanes × 132 SMs × 1 GHz = 33.8 TFLOP/s; 27 of them for 1 ms.
  B.counter(S, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 13.5e9);
  const Diagnosis D = diagnose(M, B.P);
  const Roofline &R = D.Kernels[0].Roof;
  ASSERT_TRUE(R.Available);
  EXPECT_EQ(R.Bound, "compute (fp32)");
  EXPECT_DOUBLE_EQ(R.Flop, 27e9);
  EXPECT_DOUBLE_EQ(R.PeakFlopPerSecond, 2.0 * 128 * 132 * 1e9);
  EXPECT_NEAR(R.PercentOfRoof, 100 * 27e12 / 33.792e12, 1e-6);
  EXPECT_NEAR(R.Headroom, 33.792 / 27, 1e-6);
  EXPECT_DOUBLE_EQ(R.Levels[0].Intensity, 27e9 / 1e6);
  const Evidence *E = find(D, "heavy", EvidenceKind::Roofline);
  ASSERT_NE(E, nullptr);
  EXPECT_EQ(E->Metric, "fp32_pct_of_peak");
}

} // namespace
