//===- CounterStudy.cpp - Which few counters explain a time -----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/CounterStudy.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#define EIGEN_ALLOCA __builtin_alloca // strict C++ declares no other
#include <Eigen/Dense>
#include <cmath>
#include <map>

namespace optimas {

namespace {
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr unsigned MaxSupport = 32;
using SmallMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, MaxSupport,
                                  MaxSupport>;
using SmallVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, MaxSupport, 1>;

constexpr unsigned Batches = 10, BestOfBatch = 5;

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same everywhere.
class Random {
public:
  explicit Random(uint64_t Seed) : State(Seed) {}
  /// In [0, 1), 53 bits.
  double unit() {
    uint64_t Z = State += 0x9e3779b97f4a7c15;
    Z = (Z ^ (Z >> 30)) * 0xbf58476d1ce4e5b9;
    Z = (Z ^ (Z >> 27)) * 0x94d049bb133111eb;
    return double((Z ^ (Z >> 31)) >> 11) * 0x1p-53;
  }

private:
  uint64_t State;
};

/// The columns that take part, of unit norm, and what was left out.
struct Prepared {
  MatrixXd D;
  VectorXd Y; ///< of unit norm
  std::vector<size_t> Column;
  std::vector<std::vector<size_t>> Same;
  size_t Dropped = 0, Merged = 0;
};

/// One problem, solved many times.
class Pursuit {
public:
  Pursuit(const Prepared &P, const CounterStudyOptions &O)
      : D(P.D), Y(P.Y), O(O), DtY(P.D.transpose() * P.Y), Gram(P.D.cols()) {}
  /// Draws one support; its weights are added to \p Sum, and 1 to \p Drawn.
  void run(Random &R, VectorXd &Sum, std::vector<unsigned> &Drawn);

private:
  size_t draw(Random &R, const VectorXd &Gain, llvm::ArrayRef<size_t> Support) const;
  void solve(llvm::ArrayRef<size_t> Support, SmallVector &W);
  const VectorXd &gram(size_t Column);

  const MatrixXd &D;
  const VectorXd &Y;
  const CounterStudyOptions &O;
  VectorXd DtY;
  std::vector<VectorXd> Gram; ///< DᵀD by column, at its first use
};
} // namespace

const VectorXd &Pursuit::gram(size_t Column) {
  VectorXd &G = Gram[Column];
  if (G.size() == 0)
    G.noalias() = D.transpose() * D.col(Column);
  return G;
}

/// Non-negative least squares on the support, by active sets (Lawson and Hanson 1974,
/// chapter 23) over the normal equations. \p W holds the solution without the last
/// column and receives the new one.
void Pursuit::solve(llvm::ArrayRef<size_t> Support, SmallVector &W) {
  const Eigen::Index N = Support.size();
  SmallMatrix A(N, N);
  SmallVector B(N);
  for (Eigen::Index J = 0; J != N; ++J) {
    const VectorXd &G = gram(Support[J]);
    for (Eigen::Index I = 0; I != N; ++I)
      A(I, J) = G[Support[I]];
    B[J] = DtY[Support[J]];
  }
  W.conservativeResize(N);
  W[N - 1] = 0;
  std::vector<char> Passive(N);
  for (Eigen::Index I = 0; I != N; ++I)
    Passive[I] = W[I] > 0;
  constexpr double Tolerance = 1e-12;
  for (Eigen::Index Round = 0; Round != 10 * N + 10; ++Round) {
    SmallVector Slope = B - A * W;
    Eigen::Index Best = -1;
    for (Eigen::Index I = 0; I != N; ++I)
      if (!Passive[I] && Slope[I] > Tolerance && (Best < 0 || Slope[I] > Slope[Best]))
        Best = I;
    if (Best < 0)
      break;
    Passive[Best] = 1;
    while (true) {
      std::vector<Eigen::Index> Set;
      for (Eigen::Index I = 0; I != N; ++I)
        if (Passive[I])
          Set.push_back(I);
      const Eigen::Index K = Set.size();
      SmallMatrix Sub(K, K);
      SmallVector Right(K);
      for (Eigen::Index J = 0; J != K; ++J) {
        for (Eigen::Index I = 0; I != K; ++I)
          Sub(I, J) = A(Set[I], Set[J]);
        Right[J] = B[Set[J]];
      }
      SmallVector Z = Sub.ldlt().solve(Right);
      if (K == 0 || Z.minCoeff() > 0) {
        W.setZero();
        for (Eigen::Index J = 0; J != K; ++J)
          W[Set[J]] = Z[J];
        break;
      }
      // Back to the edge of the feasible part, where some weight becomes zero.
      double Step = 1;
      for (Eigen::Index J = 0; J != K; ++J)
        if (Z[J] <= 0)
          Step = std::min(Step, W[Set[J]] / (W[Set[J]] - Z[J]));
      for (Eigen::Index J = 0; J != K; ++J) {
        double &Value = W[Set[J]];
        Value += Step * (Z[J] - Value);
        if (Z[J] <= 0 && Value <= Tolerance) {
          Value = 0;
          Passive[Set[J]] = 0;
        }
      }
    }
  }
}

/// One of the O.Choices columns with the largest gain, with a chance in proportion to
/// it; D.cols() when none gains anything.
size_t Pursuit::draw(Random &R, const VectorXd &Gain,
                     llvm::ArrayRef<size_t> Support) const {
  llvm::SmallVector<size_t, 4> Best; // largest first; of equal ones the first column
  double Least = -1;
  for (Eigen::Index J = 0; J != Gain.size(); ++J) {
    if (Best.size() == O.Choices && Gain[J] <= Least)
      continue;
    if (llvm::is_contained(Support, size_t(J)))
      continue;
    size_t At = Best.size();
    while (At > 0 && Gain[Best[At - 1]] < Gain[J])
      --At;
    Best.insert(Best.begin() + At, J);
    if (Best.size() > O.Choices)
      Best.pop_back();
    Least = Gain[Best.back()];
  }
  double Sum = 0;
  for (size_t J : Best)
    Sum += Gain[J];
  if (!(Sum > 0))
    return D.cols();
  double U = R.unit() * Sum;
  for (size_t J : Best) {
    if (U < Gain[J])
      return J;
    U -= Gain[J];
  }
  return Best.back();
}

void Pursuit::run(Random &R, VectorXd &Sum, std::vector<unsigned> &Drawn) {
  const size_t Limit = std::min<size_t>(
      {O.MaxCounters, MaxSupport, size_t(D.rows() - 1), size_t(D.cols())});
  llvm::SmallVector<size_t, MaxSupport> Support;
  SmallVector W(0);
  VectorXd Gain = DtY.cwiseAbs(), Residual(Y.size());
  while (Support.size() < Limit) {
    size_t J = draw(R, Gain, Support);
    if (J == size_t(D.cols()))
      break;
    Support.push_back(J);
    solve(Support, W);
    Residual = Y;
    Gain = DtY;
    for (auto [K, Column] : llvm::enumerate(Support))
      if (W[K] > 0) {
        Residual.noalias() -= W[K] * D.col(Column);
        Gain.noalias() -= W[K] * gram(Column);
      }
    Gain = Gain.cwiseAbs();
    if (Residual.norm() < O.StopBelow)
      break;
  }
  for (auto [K, Column] : llvm::enumerate(Support)) {
    Sum[Column] += W[K];
    ++Drawn[Column];
  }
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
  MatrixXd Centred(N, Columns.size()); // unit norm: products are correlations
  Eigen::Index Kept = 0;
  for (auto [Index, C] : llvm::enumerate(Columns)) {
    VectorXd V = Eigen::Map<const VectorXd>(C.Values.data(), N);
    if (!normalise(V)) {
      ++P.Dropped;
      continue;
    }
    VectorXd U = V.array() - V.mean();
    U /= U.norm();
    VectorXd Correlation = Centred.leftCols(Kept).transpose() * U;
    Eigen::Index Same = -1;
    for (Eigen::Index K = 0; K != Kept && Same < 0; ++K)
      if (std::abs(Correlation[K]) > SameAbove)
        Same = K;
    if (Same >= 0) {
      P.Same[Same].push_back(Index);
      ++P.Merged;
      continue;
    }
    P.D.col(Kept) = V;
    Centred.col(Kept++) = U;
    P.Column.push_back(Index);
    P.Same.emplace_back();
  }
  P.D.conservativeResize(Eigen::NoChange, Kept);
  return P;
}

/// max(0, 1 − ‖y − fit‖) for ‖y‖ = 1.
static double explained(const VectorXd &Y, const VectorXd &Fit) {
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

  Pursuit Greedy(P, Options);
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
