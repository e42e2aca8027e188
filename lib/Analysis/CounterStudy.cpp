//===- CounterStudy.cpp - Which few counters explain a time -----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/CounterStudy.h"
#include "Pursuit.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <map>

namespace optimas {

using Eigen::MatrixXd;
using Eigen::VectorXd;

static constexpr unsigned Batches = 10, BestOfBatch = 5;

namespace {
/// The columns that take part, of unit norm, and what was left out.
struct Prepared {
  MatrixXd D;
  VectorXd Y; ///< of unit norm
  std::vector<size_t> Column;
  std::vector<std::vector<size_t>> Same;
  size_t Dropped = 0, Merged = 0;
};

/// Finds columns that correlate. With |c| of two columns, centred and of unit norm, above
/// s, they are less than 2(1 − s) apart, squared and but for the sign; so are any of
/// their rows. A few of these rule out nearly all pairs.
class Correlations {
public:
  Correlations(Eigen::Index Rows, Eigen::Index Columns, double Above)
      : Above(Above), Whole(Rows, Columns), Part(Columns, std::min(Rows, PartRows)),
        PartNorm(Columns) {}
  /// The first column whose correlation with \p U is larger, or -1; then \p U is added.
  Eigen::Index find(const VectorXd &U);

private:
  static constexpr Eigen::Index PartRows = 16;
  const double Above;
  Eigen::Index Kept = 0;
  MatrixXd Whole, Part; ///< Part: transposed, some rows from all over
  VectorXd PartNorm;    ///< squared
};
} // namespace

Eigen::Index Correlations::find(const VectorXd &U) {
  const Eigen::Index Rows = Part.cols();
  VectorXd Few(Rows);
  for (Eigen::Index I = 0; I != Rows; ++I)
    Few[I] = U[I * U.size() / Rows];
  const double Norm = Few.squaredNorm();
  const VectorXd Product = Part.topRows(Kept) * Few;
  const double Apart = 2 * (1 - Above) + 1e-9; // for rounding
  for (Eigen::Index K = 0; K != Kept; ++K)
    if (Norm + PartNorm[K] - 2 * std::abs(Product[K]) <= Apart &&
        std::abs(Whole.col(K).dot(U)) > Above)
      return K;
  Whole.col(Kept) = U;
  Part.row(Kept) = Few;
  PartNorm[Kept++] = Norm;
  return -1;
}

/// Min-max to [0, 1], then unit norm; false for what has no range.
static bool normalise(VectorXd &V) {
  double Low = V.minCoeff(), High = V.maxCoeff();
  if (!V.allFinite() || !(High > Low) || !std::isfinite(High - Low))
    return false;
  V = (V.array() - Low) / (High - Low);
  V /= V.norm();
  return true;
}

static Prepared prepare(llvm::ArrayRef<CounterColumn> Columns,
                        llvm::ArrayRef<double> Target, double SameAbove) {
  Prepared P;
  const Eigen::Index N = Target.size();
  P.Y = Eigen::Map<const VectorXd>(Target.data(), N);
  P.Y /= P.Y.norm();
  P.D.resize(N, Columns.size());
  Correlations Known(N, Columns.size(), SameAbove);
  Eigen::Index Kept = 0;
  for (auto [Index, C] : llvm::enumerate(Columns)) {
    VectorXd V = Eigen::Map<const VectorXd>(C.Values.data(), N);
    if (!normalise(V)) {
      ++P.Dropped;
      continue;
    }
    VectorXd U = V.array() - V.mean();
    U /= U.norm();
    if (Eigen::Index Same = Known.find(U); Same >= 0) {
      P.Same[Same].push_back(Index);
      ++P.Merged;
      continue;
    }
    P.D.col(Kept++) = V;
    P.Column.push_back(Index);
    P.Same.emplace_back();
  }
  P.D.conservativeResize(Eigen::NoChange, Kept);
  return P;
}

/// max(0, 1 − ‖y − fit‖) for ‖y‖ = 1.
template <typename Vector> static double explained(const VectorXd &Y, const Vector &Fit) {
  return std::max(0.0, 1 - (Y - Fit).norm());
}

static llvm::Error check(llvm::ArrayRef<CounterColumn> Columns,
                         llvm::ArrayRef<double> Target) {
  auto Unusable = [](const llvm::Twine &What, const char *Remedy) {
    return makeError(ExitCode::EvidenceUnusable, What, "", Remedy);
  };
  if (Target.size() < MinConfigurations)
    return Unusable(llvm::Twine(Target.size()) + " configurations do not say which counters "
                    "explain the time",
                    "Record at least 8 input sizes or launch shapes");
  for (const CounterColumn &C : Columns)
    if (C.Values.size() != Target.size())
      return Unusable("counter " + C.Name + " has " + llvm::Twine(C.Values.size()) +
                          " values for " + llvm::Twine(Target.size()) + " configurations",
                      "Collect it in every configuration");
  double Norm = Eigen::Map<const VectorXd>(Target.data(), Target.size()).norm();
  if (!std::isfinite(Norm) || Norm == 0)
    return Unusable("the run times are not finite, or all zero", "Measure them again");
  return llvm::Error::success();
}

llvm::Expected<CounterStudy> studyCounters(llvm::ArrayRef<CounterColumn> Columns,
                                           llvm::ArrayRef<double> Target,
                                           const CounterStudyOptions &Options) {
  if (llvm::Error E = check(Columns, Target))
    return std::move(E);
  Prepared P = prepare(Columns, Target, Options.SameAbove);
  const size_t N = P.Column.size();
  if (N == 0)
    return makeError(ExitCode::EvidenceUnusable, "no counter changes over the configurations",
                     "", "Record input sizes or launch shapes that differ more");
  CounterStudy Study;
  Study.Dropped = P.Dropped;
  Study.Merged = P.Merged;

  Pursuit Greedy(P.D, P.Y, Options);
  Random R(Options.Seed);
  const unsigned Runs = std::max(Options.Runs, Batches);
  VectorXd Mean = VectorXd::Zero(N);
  std::vector<unsigned> Drawn(N), Best(N);
  for (unsigned Batch = 0; Batch != Batches; ++Batch) {
    unsigned Count = Runs / Batches + (Batch < Runs % Batches);
    VectorXd Sum = VectorXd::Zero(N);
    for (unsigned I = 0; I != Count; ++I)
      Greedy.run(R, Sum, Drawn);
    Mean += Sum;
    Sum /= Count;
    std::vector<std::pair<double, size_t>> Scores;
    for (size_t J = 0; J != N; ++J)
      if (Sum[J] > 0)
        Scores.push_back({-explained(P.Y, P.D.col(J) * Sum[J]), J});
    llvm::sort(Scores);
    for (auto [Score, J] : llvm::ArrayRef(Scores).take_front(BestOfBatch))
      ++Best[J];
  }
  Mean /= Runs;

  std::map<std::string, VectorXd> Fits;
  for (size_t J = 0; J != N; ++J) {
    if (Mean[J] <= 0)
      continue;
    VectorXd Fit = P.D.col(J) * Mean[J];
    CounterScore S;
    S.Column = P.Column[J];
    S.Score = explained(P.Y, Fit);
    S.Weight = Mean[J];
    S.Selected = double(Drawn[J]) / Runs;
    S.Stability = double(Best[J]) / Batches;
    S.Same = P.Same[J];
    Study.Counters.push_back(std::move(S));
    VectorXd &Group = Fits[Columns[P.Column[J]].Group];
    if (Group.size() == 0)
      Group = Fit;
    else
      Group += Fit;
  }
  llvm::sort(Study.Counters, [](const CounterScore &A, const CounterScore &B) {
    return std::make_pair(-A.Score, A.Column) < std::make_pair(-B.Score, B.Column);
  });
  for (auto &[Name, Fit] : Fits)
    Study.Groups.push_back({Name, explained(P.Y, Fit)});
  llvm::sort(Study.Groups, [](const auto &A, const auto &B) {
    return std::tie(B.Score, A.Name) < std::tie(A.Score, B.Name);
  });
  return Study;
}

} // namespace optimas
