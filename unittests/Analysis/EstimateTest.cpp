//===- EstimateTest.cpp - Estimates of edits ------------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Estimate.h"
#include "AnalysisTest.h"
#include "optimas/Analysis/Calibration.h"
#include "optimas/Profile/Readers.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {

const char *Source = R"(__global__ void heavy(const float *a, float *b, int n) {
  __shared__ float tile[256];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 256)
    s += a[i];
  tile[threadIdx.x] = s;
  b[threadIdx.x] = tile[threadIdx.x ^ 1];
}
void run(float *a, float *b, int n) { heavy<<<132, 256>>>(a, b, n); }
)";
const char *Symbol = "_Z5heavyPKfPfi";

/// Of 1,000 samples 500 wait for the load, 200 for shared memory, 100 for a barrier; 200
/// issue. \p Rate in bytes a second of 4 TB/s, 0 without counters.
Diagnosis heavy(double Rate = 0) {
  ProfileBuilder B(&modelOf({{"k.cu", Source}}));
  B.function(Symbol)
      .pc("LDG.E R3, desc[UR4][R2.64]", {"k.cu:5"}, {{"selected", 200, 0}})
      .pc("FADD R5, R3, R5", {"k.cu:5"}, {{"long_scoreboard", 500, 500}})
      .pc("LDS R6, [R7]", {"k.cu:7"})
      .pc("STG.E desc[UR4][R8.64], R6", {"k.cu:7"}, {{"short_scoreboard", 200, 200}})
      .pc("BAR.SYNC 0x0", {"k.cu:6"}, {{"barrier", 100, 100}});
  B.kernel(Symbol, 10'000'000); // 10 launches
  B.P.Device.SmClockKHz = 1'000'000;
  B.P.Device.Ceilings["dram_copy"] = 4e12;
  if (Rate > 0) {
    B.counter(Symbol, "gpu__time_duration.sum", 1e6);
    B.counter(Symbol, "dram__bytes.sum", Rate / 1000);
  }
  return diagnose(modelOf({{"k.cu", Source}}), B.P);
}

unsigned idOf(const Diagnosis &D, llvm::StringRef Reason) {
  for (const Evidence &E : D.Items)
    if (E.Reason == Reason)
      return E.Id;
  ADD_FAILURE() << Reason.str();
  return 0;
}

Estimate estimateOf(const Diagnosis &D, const char *Transformation, const char *Reason,
                    unsigned Factor = 1) {
  return estimate(D, D.Kernels[0].Function, PlannedEdit{Transformation, {idOf(D, Reason)}, Factor});
}

TEST(Estimate, FollowsTheFormulas) {
  Diagnosis D = heavy();
  ASSERT_EQ(D.Kernels[0].TotalSamples, 1000u);
  Estimate Batch = estimateOf(D, "optimas-load-batching", "long_scoreboard", 4);
  EXPECT_NEAR(Batch.Speedup, 1 / (1 - 0.5 * 0.75), 1e-9);
  EXPECT_EQ(Batch.Model, "latency hiding");
  EXPECT_NEAR(Batch.Acted, 0.5, 1e-9);
  EXPECT_FALSE(Batch.capped());
  EXPECT_NE(estimateText(Batch).find("1.60× (latency hiding acts on 50 % of the time; no roofline"),
            std::string::npos)
      << estimateText(Batch);
  // Bank conflicts: by reason and producer, whatever is cited.
  Estimate Padding = estimateOf(D, "optimas-shared-padding", "barrier");
  EXPECT_NEAR(Padding.Speedup, 1 / 0.8, 1e-9);
  EXPECT_EQ(Padding.Model, "stall elimination");
  // One thread does the work of four: every stall a quarter as often.
  Estimate Vector = estimateOf(D, "optimas-vectorized-access", "long_scoreboard", 4);
  EXPECT_NEAR(Vector.Speedup, 1 / (1 - 0.8 * 0.75), 1e-9);
  // A model's own edit: no more than what it cites.
  Estimate Own = estimateOf(D, "my idea", "long_scoreboard");
  EXPECT_TRUE(Own.AtMost);
  EXPECT_NEAR(Own.Speedup, 2, 1e-9);
}

TEST(Estimate, TwoEditsOfOneStallCountOnce) {
  Diagnosis D = heavy();
  unsigned Load = idOf(D, "long_scoreboard"), Shared = idOf(D, "short_scoreboard");
  Estimate Both = estimate(D, D.Kernels[0].Function,
                           {{"optimas-load-batching", {Load}, 2},
                            {"optimas-invariant-load-hoisting", {Load}},
                            {"optimas-register-accumulator", {Shared}}});
  EXPECT_NEAR(Both.Speedup, 1 / (1 - 0.5 - 0.2), 1e-9);
  EXPECT_EQ(Both.Model, "latency hiding and stall elimination");
}

TEST(Estimate, AnEditThatDoesTwoThings) {
  Diagnosis D = heavy();
  unsigned Load = idOf(D, "long_scoreboard"), Shared = idOf(D, "short_scoreboard");
  Estimate Both = estimate(
      D, D.Kernels[0].Function,
      PlannedEdit{"optimas-register-accumulator+optimas-load-batching", {Load, Shared}, 4});
  EXPECT_FALSE(Both.AtMost);
  EXPECT_NEAR(Both.Speedup, 1 / (1 - 0.5 * 0.75 - 0.2), 1e-9);
  EXPECT_EQ(Both.Model, "stall elimination and latency hiding");
}

TEST(Estimate, TheRooflineCapsIt) {
  Diagnosis D = heavy(3.2e12); // headroom 1.25
  ASSERT_NEAR(D.Kernels[0].headroom(), 1.25, 1e-9);
  Estimate E = estimateOf(D, "optimas-load-batching", "long_scoreboard", 4);
  EXPECT_NEAR(E.Speedup, 1.25, 1e-9);
  EXPECT_NEAR(E.Uncapped, 1.6, 1e-9);
  EXPECT_TRUE(E.capped());
  for (const Evidence &I : D.Items)
    EXPECT_LE(I.AtMost, 1.25 + 1e-9) << I.Sentence;
}

/// The item of what waits for the loads, where the machine code is \p Sass, all of line 5.
Evidence waitOf(const std::vector<std::pair<const char *, uint64_t>> &Sass) {
  ProfileBuilder B(&modelOf({{"k.cu", Source}}));
  B.function(Symbol);
  for (auto &[Text, Samples] : Sass)
    B.pc(Text, {"k.cu:5"}, Samples ? std::vector<StallCount>{stall("long_scoreboard", Samples)}
                                   : std::vector<StallCount>{});
  B.kernel(Symbol, 10'000'000);
  Diagnosis D = diagnose(modelOf({{"k.cu", Source}}), B.P);
  return *D.evidence(idOf(D, "long_scoreboard"));
}

TEST(Estimate, LoadsThatAreSideBySideAlready) {
  // One wait for four loads: the first consumer waits for all, the second for three.
  Evidence Unrolled = waitOf({{"LDG.E R3, desc[UR4][R2.64]", 0},
                              {"LDG.E R6, desc[UR4][R4.64]", 0},
                              {"LDG.E R7, desc[UR4][R8.64]", 0},
                              {"LDG.E R9, desc[UR4][R10.64]", 0},
                              {"FADD R5, R3, R5", 300},
                              {"FADD R5, R6, R5", 100}});
  EXPECT_NEAR(Unrolled.InFlight, (4 * 300 + 3 * 100) / 400.0, 1e-9);
  // Two loads of one iteration.
  Evidence Pair = waitOf({{"LDG.E R3, desc[UR4][R2.64]", 0},
                          {"LDG.E R6, desc[UR4][R4.64]", 0},
                          {"FFMA R5, R3, R6, R5", 400}});
  EXPECT_NEAR(Pair.InFlight, 1, 1e-9);
  // One after another.
  Evidence Serial = waitOf({{"LDG.E R3, desc[UR4][R2.64]", 0},
                            {"FADD R5, R3, R5", 300},
                            {"LDG.E R6, desc[UR4][R4.64]", 0},
                            {"FADD R5, R6, R5", 300}});
  EXPECT_NEAR(Serial.InFlight, 1, 1e-9);
}

Evidence &itemOf(Diagnosis &D, llvm::StringRef Reason) {
  for (Evidence &E : D.Items)
    if (E.Reason == Reason)
      return E;
  llvm_unreachable("no such item");
}

TEST(Estimate, BatchesNoLargerThanTheLoopGainNothing) {
  Diagnosis D = heavy();
  Evidence &Load = itemOf(D, "long_scoreboard");
  Load.InFlight = 2;
  EXPECT_NEAR(estimateOf(D, "optimas-load-batching", "long_scoreboard", 4).Speedup,
              1 / (1 - 0.5 * 0.5), 1e-9);
  // That is an answer, not a want of one.
  Load.InFlight = 4;
  Estimate Same = estimateOf(D, "optimas-load-batching", "long_scoreboard", 4);
  EXPECT_TRUE(Same.known());
  EXPECT_NEAR(Same.Speedup, 1, 1e-9);
  // Ten iterations: a batch of 16 waits once, batches of 8 twice, of 4 three times.
  Load.InFlight = 1;
  Load.PerThread = 10;
  for (auto [K, Waits] : {std::pair{16u, 1}, {8u, 2}, {4u, 3}})
    EXPECT_NEAR(estimateOf(D, "optimas-load-batching", "long_scoreboard", K).Speedup,
                1 / (1 - 0.5 * (1 - Waits / 10.0)), 1e-9)
        << K;
}

TEST(Estimate, IterationsAreReadFromSamples) {
  Diagnosis D = diagnose(exampleModel("topk"), exampleProfile("topk"));
  const Evidence &Top = topOf(D, "topkHits");
  // 10,000 columns, 256 threads.
  EXPECT_NEAR(Top.PerThread, 10000 / 256.0, 4);
  EXPECT_NEAR(Top.InFlight, 1, 1e-9);
}

TEST(Estimate, RegistersCostWarps) {
  Diagnosis D = heavy();
  ASSERT_EQ(D.Kernels[0].Instances.size(), 1u);
  KernelInstance &I = D.Kernels[0].Instances[0];
  D.Device.MaxThreadsPerSm = 2048;
  D.Device.WarpSize = 32;
  D.Device.RegistersPerSm = 65536;
  I.Registers = 32;
  D.Kernels[0].Shapes[0].Grid = {10'000, 1, 1};
  PlannedEdit Batch{"optimas-load-batching", {idOf(D, "long_scoreboard")}, 4};
  EstimateFacts Facts;
  auto Of = [&](unsigned Registers) {
    Facts.Registers[I.Symbol] = Registers;
    return estimate(D, D.Kernels[0].Function, Batch, Facts);
  };
  EXPECT_NEAR(Of(32).Speedup, 1.6, 1e-9);
  Estimate Half = Of(64);
  EXPECT_NEAR(Half.Warps, 0.5, 1e-9);
  EXPECT_NEAR(Half.Speedup, 0.8, 1e-9);
  EXPECT_NE(estimateText(Half).find(", 50 % of the warps fit beside its registers"), std::string::npos)
      << estimateText(Half);
  // Warps that waited for other warps alone lose that wait first, and no more than it.
  D.Kernels[0].NotSelected = 300;
  EXPECT_NEAR(Of(64).Speedup, 1 / ((0.625 - 0.3) / 0.5), 1e-9);
  D.Kernels[0].NotSelected = 600;
  EXPECT_NEAR(Of(64).Speedup, 1.6, 1e-9);
  // A grid that fills no more than half of the SM loses nothing.
  D.Kernels[0].NotSelected = 0;
  D.Kernels[0].Shapes[0].Grid = {132 * 4, 1, 1};
  D.Device.Sms = 132;
  EXPECT_NEAR(Of(64).Speedup, 1.6, 1e-9);
}

TEST(Estimate, UnrollingActsOnTheLoopsHeader) {
  Diagnosis D = heavy();
  const Evidence &Load = itemOf(D, "long_scoreboard");
  PlannedEdit Unroll{"optimas-unroll", {Load.Id}, 4, Load.Consumer.File, 4};
  Estimate Body = estimate(D, D.Kernels[0].Function, Unroll);
  EXPECT_TRUE(Body.known());
  EXPECT_NEAR(Body.Speedup, 1, 1e-9);
  Unroll.Line = 5;
  EXPECT_NEAR(estimate(D, D.Kernels[0].Function, Unroll).Speedup, 1 / (1 - 0.5 * 0.75), 1e-9);
}

TEST(Estimate, TheSameCodeTakesTheSameTime) {
  Diagnosis D = heavy();
  EstimateFacts Facts;
  Facts.SameCode = true;
  Estimate E = estimate(D, D.Kernels[0].Function,
                        PlannedEdit{"optimas-load-batching", {idOf(D, "long_scoreboard")}, 4}, Facts);
  EXPECT_EQ(E.Speedup, 1);
  EXPECT_EQ(estimateText(E), "1.00× (the compiler makes the same code of it)");
}

TEST(Estimate, MeasurementsCorrectIt) {
  Diagnosis D = heavy(3.2e12); // headroom 1.25
  D.Device.Name = "NVIDIA H200";
  Calibration Measured;
  auto Add = [&](const char *Kernel, double Ratio) {
    Measured.add({"NVIDIA H200", "optimas-load-batching", "k.cu", Kernel, "load batching by 4", 1,
                  Ratio});
  };
  EstimateFacts Facts;
  Facts.Measured = &Measured;
  PlannedEdit Batch{"optimas-load-batching", {idOf(D, "long_scoreboard")}, 4};
  auto Now = [&] { return estimate(D, D.Kernels[0].Function, Batch, Facts); };
  Add("a", 0.7);
  Add("b", 0.75);
  EXPECT_NEAR(Now().Speedup, 1.25, 1e-9); // two say nothing yet
  Add("c", 0.9);
  Estimate E = Now();
  EXPECT_NEAR(E.Speedup, 1.6 * 0.75, 1e-9);
  EXPECT_NEAR(E.Uncalibrated, 1.25, 1e-9);
  EXPECT_EQ(E.Calibrated, 3u);
  EXPECT_NE(estimateText(E).find(", corrected by 3 measurements"), std::string::npos) << estimateText(E);
  // Still no more than the memory allows.
  for (const char *Kernel : {"a", "b", "c"})
    Add(Kernel, 2);
  EXPECT_NEAR(Now().Speedup, 1.25, 1e-9);
  D.Device.Name = "NVIDIA H100";
  EXPECT_EQ(Now().Calibrated, 0u);
}

TEST(Estimate, SaysWhyThereIsNone) {
  Diagnosis D = heavy();
  Estimate Hints = estimateOf(D, "optimas-streaming-hints", "long_scoreboard");
  EXPECT_FALSE(Hints.known());
  EXPECT_EQ(estimateText(Hints), "none: what it changes does not show in samples");
  Estimate Elsewhere = estimateOf(D, "optimas-register-accumulator", "long_scoreboard");
  EXPECT_EQ(Elsewhere.Why, "the evidence holds no samples that it acts on");
  D.Kernels[0].TotalSamples = 0;
  EXPECT_EQ(estimateOf(D, "optimas-unroll", "long_scoreboard", 2).Why,
            "the profile has no samples of the kernel");
}

TEST(Estimate, InstantiationsWithoutCountersAreInferred) {
  std::vector<Profile> Parts{exampleProfile("stream"),
                             llvm::cantFail(parseProfile(recordedFile("stream", "raw.csv"), "raw.csv"))};
  std::vector<std::string> Conflicts;
  Diagnosis D = diagnose(exampleModel("stream"), mergeProfiles(Parts, Conflicts));
  size_t Inferred = 0;
  for (const KernelDiagnosis &K : D.Kernels) {
    ASSERT_EQ(K.Instances.size(), 2u) << K.Name;
    for (const KernelInstance &I : K.Instances) {
      bool Double = llvm::StringRef(I.Symbol).contains("<double>");
      EXPECT_EQ(I.HeadroomInferred, Double) << I.Symbol;
      Inferred += I.HeadroomInferred;
      EXPECT_GE(I.Headroom, 1) << I.Symbol;
      // Measured by hand on the H200: 4.1 TB/s of 4.3.
      if (I.Symbol.find("add<double>") != std::string::npos)
        EXPECT_NEAR(I.Headroom, 1.03, 0.03);
    }
  }
  EXPECT_EQ(Inferred, 5u);
}

TEST(Estimate, NothingIsAboveTheHeadroom) {
  static const char *Transformations[] = {
      "optimas-load-batching",  "optimas-unroll", "optimas-vectorized-access", "optimas-shared-padding",
      "optimas-register-accumulator", "optimas-invariant-load-hoisting", "a model's own"};
  size_t Known = 0;
  for (const char *Name : {"topk", "stream", "transpose"}) {
    std::vector<Profile> Parts{exampleProfile(Name),
                               llvm::cantFail(parseProfile(recordedFile(Name, "raw.csv"), "raw.csv"))};
    std::vector<std::string> Conflicts;
    Diagnosis D = diagnose(exampleModel(Name), mergeProfiles(Parts, Conflicts));
    for (const KernelDiagnosis &K : D.Kernels) {
      ASSERT_GT(K.headroom(), 0) << K.Name;
      std::vector<unsigned> All;
      for (const Evidence *E : D.evidenceOf(K.Function)) {
        All.push_back(E->Id);
        EXPECT_LE(E->AtMost, K.headroom() * (1 + 1e-9)) << E->Sentence;
      }
      for (const char *T : Transformations) {
        Estimate E = estimate(D, K.Function, PlannedEdit{T, All, 16});
        Known += E.known();
        EXPECT_LE(E.Speedup, K.headroom() * (1 + 1e-9)) << K.Name << ' ' << T;
        for (const InstanceEstimate &I : E.Instances)
          EXPECT_LE(I.Speedup, I.Headroom * (1 + 1e-9)) << I.Symbol << ' ' << T;
      }
    }
  }
  EXPECT_GE(Known, 30u);
}

} // namespace
