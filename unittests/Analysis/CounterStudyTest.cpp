//===- CounterStudyTest.cpp - Planted counters are found -------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// scripts/compare-counter-study compares with SciPy and scikit-learn; here are the
// properties that hold whatever the numbers.
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/CounterStudy.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace optimas;

namespace {

struct Problem {
  std::vector<CounterColumn> Columns;
  std::vector<double> Target;
};

/// \p Counters random columns over \p Configurations; the target is the sum of those
/// that \p Planted names, weighed 3, 2, 1.5, …, and noise of that relative size.
Problem problem(unsigned Seed, size_t Configurations, size_t Counters,
                std::vector<size_t> Planted, double Noise) {
  std::mt19937_64 Engine(Seed);
  auto Unit = [&] { return double(Engine() >> 11) * 0x1p-53; };
  Problem P;
  for (size_t J = 0; J != Counters; ++J) {
    CounterColumn C{"c" + std::to_string(J), J % 2 ? "odd" : "even", {}};
    for (size_t I = 0; I != Configurations; ++I)
      C.Values.push_back(1000 * Unit());
    P.Columns.push_back(std::move(C));
  }
  P.Target.assign(Configurations, 0);
  for (auto [Rank, J] : llvm::enumerate(Planted))
    for (size_t I = 0; I != Configurations; ++I)
      P.Target[I] += (1 + 2.0 / (1 + Rank)) * P.Columns[J].Values[I];
  for (double &T : P.Target)
    T *= 1 + Noise * (2 * Unit() - 1);
  return P;
}

CounterStudy study(const Problem &P, CounterStudyOptions O = {}) {
  llvm::Expected<CounterStudy> S = studyCounters(P.Columns, P.Target, O);
  if (!S) {
    ADD_FAILURE() << llvm::toString(S.takeError());
    return {};
  }
  return std::move(*S);
}

std::string refusal(const Problem &P) {
  llvm::Expected<CounterStudy> S = studyCounters(P.Columns, P.Target);
  if (S) {
    ADD_FAILURE() << "a study was expected to fail";
    return "";
  }
  llvm::Error E = S.takeError();
  EXPECT_EQ(exitCodeOf(E), ExitCode::EvidenceUnusable);
  return llvm::toString(std::move(E));
}

TEST(CounterStudy, FindsPlantedCountersUnderNoise) {
  size_t Found = 0, Sought = 0;
  for (unsigned Seed = 1; Seed <= 10; ++Seed) {
    std::vector<size_t> Planted = {3, 41, 17};
    CounterStudy S = study(problem(Seed, 40, 60, Planted, 0.05));
    for (size_t J : Planted) {
      ++Sought;
      for (const CounterScore &C : llvm::ArrayRef(S.Counters).take_front(5))
        Found += C.Column == J;
    }
  }
  EXPECT_GE(Found, 0.95 * Sought);
}

TEST(CounterStudy, TheSameSeedGivesTheSameAnswer) {
  Problem P = problem(5, 20, 40, {1, 2}, 0.1);
  CounterStudy A = study(P), B = study(P);
  CounterStudyOptions Other;
  Other.Seed = 2;
  CounterStudy C = study(P, Other);
  ASSERT_EQ(A.Counters.size(), B.Counters.size());
  bool Differs = A.Counters.size() != C.Counters.size();
  for (size_t I = 0; I != A.Counters.size(); ++I) {
    EXPECT_EQ(A.Counters[I].Column, B.Counters[I].Column);
    EXPECT_EQ(A.Counters[I].Weight, B.Counters[I].Weight);
    Differs |= I < C.Counters.size() && A.Counters[I].Weight != C.Counters[I].Weight;
  }
  EXPECT_TRUE(Differs);
  EXPECT_EQ(A.Counters[0].Stability, 1);
  for (const CounterScore &S : A.Counters) {
    EXPECT_GT(S.Weight, 0);
    EXPECT_LE(S.Selected, 1);
  }
}

// With one choice it is plain OMP: an exact sum of orthogonal columns is found exactly.
TEST(CounterStudy, PlainPursuitSolvesAnExactProblem) {
  Problem P;
  for (size_t J = 0; J != 8; ++J) {
    CounterColumn C{"c" + std::to_string(J), "g", std::vector<double>(8, 0)};
    C.Values[J] = 7;
    P.Columns.push_back(C);
  }
  P.Target = {0, 3, 0, 0, 4, 0, 0, 0};
  CounterStudyOptions O;
  O.Choices = 1;
  CounterStudy S = study(P, O);
  ASSERT_EQ(S.Counters.size(), 2u);
  EXPECT_EQ(S.Counters[0].Column, 4u);
  EXPECT_NEAR(S.Counters[0].Weight, 0.8, 1e-12);
  EXPECT_EQ(S.Counters[1].Column, 1u);
  EXPECT_NEAR(S.Counters[1].Weight, 0.6, 1e-12);
  EXPECT_NEAR(S.Counters[0].Score, 1 - 0.6, 1e-12);
  ASSERT_EQ(S.Groups.size(), 1u);
  EXPECT_NEAR(S.Groups[0].Score, 1, 1e-12);
}

TEST(CounterStudy, OneStandsForThoseThatMoveWithIt) {
  Problem P = problem(9, 16, 10, {4}, 0);
  CounterColumn Twin = P.Columns[4], Constant = P.Columns[4], Broken = P.Columns[4];
  for (double &V : Twin.Values)
    V = 5 - 2 * V;
  for (double &V : Constant.Values)
    V = 3;
  Broken.Values[2] = std::nan("");
  P.Columns.insert(P.Columns.end(), {Twin, Constant, Broken});
  CounterStudy S = study(P);
  EXPECT_EQ(S.Merged, 1u);
  EXPECT_EQ(S.Dropped, 2u);
  EXPECT_EQ(S.Counters[0].Column, 4u);
  EXPECT_EQ(S.Counters[0].Same, std::vector<size_t>{10});
}

TEST(CounterStudy, RefusesWhatCannotBeAnswered) {
  EXPECT_NE(refusal(problem(1, 7, 20, {1}, 0)).find("at least 8"), std::string::npos);
  Problem Short = problem(1, 9, 4, {1}, 0);
  Short.Columns[2].Values.pop_back();
  EXPECT_NE(refusal(Short).find("counter c2 has 8 values for 9"), std::string::npos);
  Problem Zero = problem(1, 9, 4, {1}, 0);
  Zero.Target.assign(9, 0);
  EXPECT_NE(refusal(Zero).find("all zero"), std::string::npos);
  Problem Same = problem(1, 9, 4, {1}, 0);
  for (CounterColumn &C : Same.Columns)
    C.Values.assign(9, 2);
  EXPECT_NE(refusal(Same).find("no counter changes"), std::string::npos);
}

/// A sweep of one kernel whose time is that of the bytes it reads.
Profile sweep(unsigned Count) {
  Profile P;
  for (unsigned I = 0; I < Count; ++I) {
    SweepConfiguration C;
    C.Parameters = {{"N", std::to_string(I)}};
    double Bytes = 1000 + 700 * I + (I % 3) * 90;
    KernelStats K;
    K.Symbol = "scan";
    K.Launches = 5;
    K.MedianNs = uint64_t(2 * Bytes);
    C.Kernels.push_back(K);
    auto Count = [&](const char *Name, double V) {
      C.Counters.push_back({"scan", Name, "", V, V, V, 5});
    };
    Count("dram__bytes_read.sum", Bytes);
    Count("gpu__time_duration.sum", 2 * Bytes);
    Count("smsp__cycles_elapsed.max", 4 * Bytes);
    Count("smsp__inst_executed.sum", 50 + (I * 7) % 5);
    if (I != 2)
      Count("lts__t_sectors.sum", I);
    C.Counters.push_back({"fill", "dram__bytes_write.sum", "byte", 1, 1, 1, 5});
    P.Configurations.push_back(std::move(C));
  }
  return P;
}

TEST(CounterTable, IsWhatAStudyTakes) {
  Profile P = sweep(9);
  P.Configurations[8].Kernels[0].Symbol = "other";
  llvm::Expected<CounterTable> T = counterTable(P, "scan");
  ASSERT_TRUE(bool(T)) << llvm::toString(T.takeError());
  EXPECT_EQ(T->Configurations.size(), 8u); // those that have the kernel
  EXPECT_EQ(T->Configurations[3], "N=3");
  EXPECT_EQ(T->Target[0], 2000.0);
  ASSERT_EQ(T->Columns.size(), 3u); // no times, no cycles, no counters of others
  EXPECT_EQ(T->Columns[0].Name, "dram__bytes_read.sum");
  EXPECT_EQ(T->Columns[0].Group, "dram");
  EXPECT_EQ(T->Columns[1].Group, "lts");
  EXPECT_TRUE(std::isnan(T->Columns[1].Values[2]));
  EXPECT_EQ(T->Columns[1].Values[3], 3.0);
  llvm::Expected<CounterStudy> S = studyCounters(T->Columns, T->Target);
  ASSERT_TRUE(bool(S)) << llvm::toString(S.takeError());
  EXPECT_EQ(T->Columns[S->Counters.at(0).Column].Name, "dram__bytes_read.sum");
  EXPECT_EQ(S->Dropped, 1u);
}

TEST(CounterTable, NamesAreJoinedAndAbsentKernelsRefused) {
  Profile P = sweep(8);
  for (SweepConfiguration &C : P.Configurations)
    C.Kernels[0].Symbol = C.Counters[0].Symbol = "_Z4scanPi";
  llvm::Expected<CounterTable> T = counterTable(P, "scan(int *)");
  ASSERT_TRUE(bool(T)) << llvm::toString(T.takeError());
  EXPECT_EQ(T->Columns.size(), 3u); // a bare name names it, too
  llvm::Expected<CounterTable> None = counterTable(P, "nosuch");
  ASSERT_FALSE(bool(None));
  EXPECT_NE(llvm::toString(None.takeError()).find("--sweep"), std::string::npos);
}

} // namespace
