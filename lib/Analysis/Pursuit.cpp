//===- Pursuit.cpp - Greedy selections of counters, many times --*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pursuit.h"
#include "llvm/ADT/STLExtras.h"

namespace optimas {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// States kept at most, of about 300 bytes each.
static constexpr size_t MaxStates = 1 << 16;
/// Gains are looked at by as many: most hold none of the best.
static constexpr Index Stretch = 32;

Pursuit::Pursuit(const MatrixXd &D, const VectorXd &Y, const CounterStudyOptions &O)
    : D(D), Y(Y), O(O),
      Limit(std::min<size_t>(
          {O.MaxCounters, MaxSupport, size_t(D.rows() - 1), size_t(D.cols())})),
      DtY(D.transpose() * Y), Gram(D.cols()), Gain(D.cols()), Rest(Y.size()) {}

const VectorXd &Pursuit::gram(unsigned Column) {
  VectorXd &G = Gram[Column];
  if (G.size() == 0)
    G.noalias() = D.transpose() * D.col(Column);
  return G;
}

/// Non-negative least squares on the support, by active sets (Lawson and Hanson 1974,
/// chapter 23) over the normal equations. \p W holds a feasible start.
void Pursuit::solve(const Support &S, SmallColumn &W) {
  const Index N = S.size();
  SmallMatrix A(N, N);
  SmallColumn B(N);
  for (Index J = 0; J != N; ++J) {
    const VectorXd &G = gram(S[J]);
    for (Index I = 0; I != N; ++I)
      A(I, J) = G[S[I]];
    B[J] = DtY[S[J]];
  }
  llvm::SmallVector<char, MaxSupport> Passive(N);
  for (Index I = 0; I != N; ++I)
    Passive[I] = W[I] > 0;
  constexpr double Tolerance = 1e-12;
  for (Index Round = 0; Round != 10 * N + 10; ++Round) {
    SmallColumn Slope = B - A * W;
    Index Best = -1;
    for (Index I = 0; I != N; ++I)
      if (!Passive[I] && Slope[I] > Tolerance && (Best < 0 || Slope[I] > Slope[Best]))
        Best = I;
    if (Best < 0)
      break;
    Passive[Best] = 1;
    while (true) {
      llvm::SmallVector<Index, MaxSupport> Set;
      for (Index I = 0; I != N; ++I)
        if (Passive[I])
          Set.push_back(I);
      const Index K = Set.size();
      SmallMatrix Sub(K, K);
      SmallColumn Right(K);
      for (Index J = 0; J != K; ++J) {
        for (Index I = 0; I != K; ++I)
          Sub(I, J) = A(Set[I], Set[J]);
        Right[J] = B[Set[J]];
      }
      SmallColumn Z = Sub.ldlt().solve(Right);
      if (K == 0 || Z.minCoeff() > 0) {
        W.setZero();
        for (Index J = 0; J != K; ++J)
          W[Set[J]] = Z[J];
        break;
      }
      // Back to the edge of the feasible part, where some weight becomes zero.
      double Step = 1;
      for (Index J = 0; J != K; ++J)
        if (Z[J] <= 0)
          Step = std::min(Step, W[Set[J]] / (W[Set[J]] - Z[J]));
      for (Index J = 0; J != K; ++J) {
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

double Pursuit::residual(const Support &S, const State &At) {
  Rest = Y;
  for (auto [K, Column] : llvm::enumerate(S))
    if (At.Weights[K] > 0)
      Rest.noalias() -= At.Weights[K] * D.col(Column);
  return Rest.norm();
}

/// Fills At.Best: the O.Choices columns outside \p S that the residual has most of, of
/// equal ones the first.
void Pursuit::rank(State &At, const Support &S) {
  Gain = DtY;
  llvm::SmallVector<std::pair<double, const VectorXd *>, MaxSupport> Parts;
  for (auto [K, Column] : llvm::enumerate(S))
    if (At.Weights[K] > 0)
      Parts.push_back({At.Weights[K], &gram(Column)});
  // Four at a time: Gain is then read and written a quarter as often.
  size_t K = 0;
  for (; K + 4 <= Parts.size(); K += 4)
    Gain.noalias() -= Parts[K].first * *Parts[K].second +
                      Parts[K + 1].first * *Parts[K + 1].second +
                      Parts[K + 2].first * *Parts[K + 2].second +
                      Parts[K + 3].first * *Parts[K + 3].second;
  for (; K != Parts.size(); ++K)
    Gain.noalias() -= Parts[K].first * *Parts[K].second;
  auto &Best = At.Best;
  for (Index Begin = 0; Begin < Gain.size(); Begin += Stretch) {
    const Index End = std::min(Begin + Stretch, Index(Gain.size()));
    if (Best.size() == O.Choices &&
        Gain.segment(Begin, End - Begin).cwiseAbs().maxCoeff() <= Best.back().Gain)
      continue;
    for (Index J = Begin; J != End; ++J) {
      const double G = std::abs(Gain[J]);
      if (Best.size() == O.Choices && G <= Best.back().Gain)
        continue;
      if (std::binary_search(S.begin(), S.end(), unsigned(J)))
        continue;
      size_t Place = Best.size();
      while (Place > 0 && Best[Place - 1].Gain < G)
        --Place;
      Best.insert(Best.begin() + Place, {unsigned(J), G});
      if (Best.size() > O.Choices)
        Best.pop_back();
    }
  }
  At.Ranked = true;
}

/// One of the best, with a chance in proportion to its gain; null when none gains
/// anything.
const Pursuit::Candidate *Pursuit::draw(Random &R, State &At, const Support &S) {
  if (!At.Ranked)
    rank(At, S);
  double Sum = 0;
  for (const Candidate &C : At.Best)
    Sum += C.Gain;
  if (!(Sum > 0))
    return nullptr;
  double U = R.unit() * Sum;
  for (const Candidate &C : At.Best) {
    if (U < C.Gain)
      return &C;
    U -= C.Gain;
  }
  return &At.Best.back();
}

/// Adds \p Column to \p S.
Pursuit::State &Pursuit::after(unsigned Column, const State &Before, Support &S) {
  const size_t Place = llvm::lower_bound(S, Column) - S.begin();
  S.insert(S.begin() + Place, Column);
  if (auto It = States.find(S); It != States.end())
    return It->second;
  SmallColumn W(S.size());
  for (size_t K = 0; K != S.size(); ++K)
    W[K] = K == Place ? 0 : Before.Weights[K - (K > Place)];
  solve(S, W);
  State &At = States.size() < MaxStates ? States[S] : Spare = State();
  At.Weights.assign(W.begin(), W.end());
  At.Ends = residual(S, At) < O.StopBelow;
  return At;
}

void Pursuit::run(Random &R, VectorXd &Sum, std::vector<unsigned> &Drawn) {
  Support S;
  State *At = &Root;
  while (S.size() < Limit && !At->Ends) {
    const Candidate *Next = draw(R, *At, S);
    if (!Next)
      break;
    At = &after(Next->Column, *At, S);
  }
  for (auto [K, Column] : llvm::enumerate(S)) {
    Sum[Column] += At->Weights[K];
    ++Drawn[Column];
  }
}

} // namespace optimas
