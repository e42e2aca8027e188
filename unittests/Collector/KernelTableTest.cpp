//===- KernelTableTest.cpp - Kernel activity -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/KernelTable.h"
#include <gtest/gtest.h>

using namespace optimas::collector;

static KernelRecord record(const char *Symbol, uint32_t Correlation, uint64_t Start,
                           uint64_t Ns, uint32_t Grid = 1, uint32_t Stream = 7) {
  KernelRecord R;
  R.Symbol = Symbol;
  R.Correlation = Correlation;
  R.StartNs = Start;
  R.EndNs = Start + Ns;
  R.Grid = {Grid, 1, 1};
  R.Block = {256, 1, 1};
  R.Stream = Stream;
  R.Registers = 32;
  return R;
}

TEST(CollectorKernels, DurationsInLaunchOrder) {
  KernelTable T;
  T.add(record("k", 30, 3000, 3));
  T.add(record("k", 10, 1000, 1));
  T.add(record("k", 20, 2000, 2));
  T.add(record("k", 40, 4000, 100));
  const KernelTable::Kernel &K = T.kernels().at("k");
  EXPECT_EQ(K.durations(), (std::vector<uint64_t>{1, 2, 3, 100}));
  EXPECT_EQ(K.minNs(), 1u);
  EXPECT_EQ(K.medianNs(), 2u);
  EXPECT_EQ(K.maxNs(), 100u);
  EXPECT_EQ(K.TotalNs, 106u);
  EXPECT_EQ(T.totalNs(), 106u);
}

TEST(CollectorKernels, GraphKernelsOfOneLaunchByStart) {
  KernelTable T;
  KernelRecord A = record("k", 5, 2000, 2), B = record("k", 5, 1000, 1);
  A.Graph = B.Graph = 9;
  T.add(A);
  T.add(B);
  EXPECT_EQ(T.kernels().at("k").durations(), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(T.graphLaunches(), 2u);
}

TEST(CollectorKernels, ShapesAndStreams) {
  KernelTable T;
  T.add(record("k", 1, 100, 10, 4));
  T.add(record("k", 2, 200, 20, 4));
  T.add(record("k", 3, 300, 30, 8, 8));
  const auto &Shapes = T.kernels().at("k").Shapes;
  ASSERT_EQ(Shapes.size(), 2u);
  EXPECT_EQ(Shapes.begin()->second.Launches, 2u);
  EXPECT_EQ(Shapes.begin()->second.TotalNs, 30u);
  EXPECT_EQ(T.streams(), 2u);
}

TEST(CollectorKernels, BusyTimeOfOverlappingKernels) {
  KernelTable T;
  T.add(record("a", 1, 100, 50));
  T.add(record("b", 2, 120, 50));
  T.add(record("c", 3, 300, 10));
  EXPECT_EQ(T.totalNs(), 110u);
  EXPECT_EQ(T.busyNs(), 80u);
  EXPECT_EQ(T.spanNs(), 210u);
}

TEST(CollectorKernels, BrokenTimesAreLeftOut) {
  KernelTable T;
  T.add(record("k", 1, 0, 10));
  KernelRecord R = record("k", 2, 100, 0);
  R.EndNs = 50;
  T.add(R);
  EXPECT_TRUE(T.kernels().empty());
  EXPECT_EQ(T.broken(), 2u);
  EXPECT_EQ(T.spanNs(), 0u);
  T.add(record("other", 3, 0, 0));
  T.add(TransferRecord());
  EXPECT_EQ(T.broken(), 4u);
  EXPECT_EQ(T.brokenLaunches(), 3u);
  EXPECT_EQ(T.brokenKernels(),
            (std::map<std::string, uint64_t>{{"k", 2}, {"other", 1}}));
}

TEST(CollectorKernels, Transfers) {
  KernelTable T;
  TransferRecord R;
  R.StartNs = 10, R.EndNs = 30, R.Bytes = 5;
  T.add(R);
  R.Memset = true;
  T.add(R);
  EXPECT_EQ(T.copyNs(), 20u);
  EXPECT_EQ(T.copyBytes(), 5u);
  EXPECT_EQ(T.memsetNs(), 20u);
}
