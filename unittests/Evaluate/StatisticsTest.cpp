//===- StatisticsTest.cpp - Statistics and the verdict rule -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Measure.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace optimas;

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({}), 0);
}

TEST(Statistics, QuantileInterpolates) {
  std::vector<double> V = {1, 2, 3, 4, 5};
  EXPECT_EQ(quantile(V, 0), 1);
  EXPECT_EQ(quantile(V, 1), 5);
  EXPECT_DOUBLE_EQ(quantile(V, 0.625), 3.5);
}

TEST(Statistics, GeneratorMatchesItsPublishedNumbers) {
  // The first outputs for seed 1234567 that implementations of SplitMix64 agree on.
  SplitMix64 R(1234567);
  EXPECT_EQ(R.next(), 6457827717110365317ull);
  EXPECT_EQ(R.next(), 3203168211198807973ull);
  SplitMix64 B(1);
  for (int I = 0; I < 1000; ++I)
    ASSERT_LT(B.below(7), 7u);
}

TEST(Statistics, BootstrapIsDeterministicAndHoldsTheMedian) {
  std::vector<double> V;
  SplitMix64 R(3);
  for (int I = 0; I < 40; ++I)
    V.push_back(1.5 + double(R.below(1000)) / 20000);
  Interval A = bootstrapMedian(V, 0.95, 7), B = bootstrapMedian(V, 0.95, 7);
  EXPECT_EQ(A.Low, B.Low);
  EXPECT_EQ(A.High, B.High);
  EXPECT_LE(A.Low, A.Estimate);
  EXPECT_GE(A.High, A.Estimate);
  EXPECT_LT(A.relativeWidth(), 0.03);
  EXPECT_GE(A.Low, 1.5);
}

TEST(Statistics, BootstrapOfAnExactlyKnownCase) {
  // Three values: a resample's median is the smallest with probability 7/27 and the
  // largest likewise, so the 95 % interval is the whole range.
  Interval I = bootstrapMedian({1, 2, 3}, 0.95, 1);
  EXPECT_EQ(I.Low, 1);
  EXPECT_EQ(I.Estimate, 2);
  EXPECT_EQ(I.High, 3);
}

TEST(Statistics, CoversTheTruthAboutAsOftenAsItSays) {
  // 300 series of 15 uniform values around 1: the true median is in the interval in
  // about 95 of 100 cases (the percentile bootstrap of a median is a little wide).
  SplitMix64 R(11);
  int Covered = 0;
  for (int S = 0; S < 300; ++S) {
    std::vector<double> V;
    for (int I = 0; I < 15; ++I)
      V.push_back(0.9 + double(R.below(1 << 20)) / (1 << 20) * 0.2);
    Interval I = bootstrapMedian(V, 0.95, S, 500);
    Covered += I.Low <= 1 && 1 <= I.High;
  }
  EXPECT_GT(Covered, 300 * 0.90);
  EXPECT_LT(Covered, 300 * 0.995);
}

TEST(Statistics, OneSampleSaysNothingAboutSpread) {
  Interval I = bootstrapMedian({1.4}, 0.95, 1);
  EXPECT_EQ(I.Low, 0);
  EXPECT_TRUE(std::isinf(I.High));
}

TEST(Statistics, NoiseFloorIsSymmetricAboutOne) {
  Interval I = noiseFloor({100, 102, 101, 100, 100, 103}, 0.95, 5);
  EXPECT_EQ(I.Estimate, 1);
  EXPECT_GE(I.High, 1.0);
  EXPECT_DOUBLE_EQ(I.Low * I.High, 1.0);
}

static Comparison series(std::vector<double> A, std::vector<double> B) {
  return compareSamples("k", std::move(A), std::move(B), 1);
}

TEST(Verdict, FasterOnlyWhenIntervalAndFloorSaySo) {
  std::vector<double> A = {100, 101, 100, 99, 100, 101, 100, 100, 99, 101};
  std::vector<double> Half, Same, Slow, Noisy;
  for (double V : A) {
    Half.push_back(V / 2);
    Same.push_back(V * 1.001);
    Slow.push_back(V * 1.3);
  }
  EXPECT_EQ(judge(series(A, Half), 0.02), VerdictKind::Faster);
  EXPECT_EQ(judge(series(A, Same), 0.02), VerdictKind::Unchanged);
  EXPECT_EQ(judge(series(A, Slow), 0.02), VerdictKind::Slower);
  // A baseline that differs from itself by 30 % hides a gain of 10 %.
  std::vector<double> Wild = {100, 130, 131, 100, 100, 130, 99, 131, 130, 100};
  for (double V : Wild)
    Noisy.push_back(V / 1.1);
  EXPECT_EQ(judge(series(Wild, Noisy), 0.02), VerdictKind::Ambiguous);
}

TEST(Verdict, IntervalThatHoldsOneIsNotFaster) {
  std::vector<double> A(10, 100), B = {90, 110, 95, 108, 92, 106, 97, 103, 99, 101};
  VerdictKind K = judge(series(A, B), 0.02);
  EXPECT_EQ(K, VerdictKind::Ambiguous);
}

TEST(Verdict, ASingleRunIsAmbiguous) {
  EXPECT_EQ(judge(series({100}, {10}), 0.02), VerdictKind::Ambiguous);
}

TEST(Verdict, ImplausibleAboveTenOrBeyondTheRoof) {
  EXPECT_FALSE(isImplausible(9, 0));
  EXPECT_TRUE(isImplausible(10.5, 0));
  EXPECT_TRUE(isImplausible(2.0, 1.5));
  EXPECT_FALSE(isImplausible(1.6, 1.5));
}

TEST(Measure, OrderIsAbbaAbba) {
  std::string Order;
  for (unsigned I = 0; I < 8; ++I)
    Order += candidateRunsAt(I) ? 'B' : 'A';
  EXPECT_EQ(Order, "ABBAABBA");
}

TEST(Measure, KernelsAreSummedPerRunAndEditedOnesTogether) {
  TimeTrace T;
  T.Kernels = {{"_Z4copyIfEvPKT_PS0_i", "copy<float>", {10, 20}},
               {"_Z4copyIdEvPKT_PS0_i", "copy<double>", {40}},
               {"_Z3dotv", "dot", {5, 5}}};
  RunTimes R = runTimes(T, 1000);
  EXPECT_EQ(R.Kernels["copy<float>"], 30);
  EXPECT_EQ(R.AllKernels, 80);
  PairedRuns Runs;
  for (int I = 0; I < 10; ++I) {
    Runs.Baseline.push_back(R);
    RunTimes C = R;
    C.Kernels["copy<float>"] = 15;
    C.AllKernels = 65;
    Runs.Candidate.push_back(C);
  }
  std::vector<Comparison> C = compareKernels(Runs, {"copy"}, 1);
  ASSERT_EQ(C.size(), 5u);
  EXPECT_EQ(C[0].Name, "copy<double>");
  EXPECT_EQ(C[1].Name, "copy<float>");
  EXPECT_EQ(C[1].Speedup, 2);
  EXPECT_EQ(C[3].Name, "edited kernels");
  EXPECT_DOUBLE_EQ(C[3].Speedup, 70.0 / 55.0);
  EXPECT_EQ(C[4].Name, "all kernels");
  EXPECT_TRUE(preciseEnough(Runs, {"copy"}, 10, 0.02, 1));
  EXPECT_FALSE(preciseEnough(Runs, {"copy"}, 11, 0.02, 1));
}
