//===- Pursuit.h - Greedy selections of counters, many times ----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_ANALYSIS_PURSUIT_H
#define OPTIMAS_LIB_ANALYSIS_PURSUIT_H

#include "optimas/Analysis/CounterStudy.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#define EIGEN_ALLOCA __builtin_alloca // strict C++ declares no other
#include <Eigen/Dense>
#include <unordered_map>

namespace optimas {

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

/// One problem, solved many times. Runs meet the same sets of columns again and again,
/// in one order or another; what follows from a set is worked out once.
class Pursuit {
public:
  /// \p D has columns of unit norm, \p Y is of unit norm; both must outlive this.
  Pursuit(const Eigen::MatrixXd &D, const Eigen::VectorXd &Y, const CounterStudyOptions &O);
  /// Draws one support; its weights are added to \p Sum, and 1 to \p Drawn.
  void run(Random &R, Eigen::VectorXd &Sum, std::vector<unsigned> &Drawn);

private:
  static constexpr unsigned MaxSupport = 32;
  using SmallMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, MaxSupport,
                                    MaxSupport>;
  using SmallColumn = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, MaxSupport, 1>;
  using Support = llvm::SmallVector<unsigned, 16>; ///< ascending

  struct Candidate {
    unsigned Column;
    double Gain;
  };
  struct State {
    llvm::SmallVector<double, 16> Weights; ///< of the support, in its order
    bool Ends = false;                     ///< the residual is small enough
    bool Ranked = false;                   ///< Best is known
    /// The columns among which the next one is drawn, largest gain first.
    llvm::SmallVector<Candidate, 4> Best;
  };
  struct Hash {
    size_t operator()(const Support &S) const {
      return llvm::hash_combine_range(S.begin(), S.end());
    }
  };

  State &after(unsigned Column, const State &Before, Support &S);
  const Candidate *draw(Random &R, State &At, const Support &S);
  void rank(State &At, const Support &S);
  void solve(const Support &S, SmallColumn &W);
  double residual(const Support &S, const State &At);
  const Eigen::VectorXd &gram(unsigned Column);

  const Eigen::MatrixXd &D;
  const Eigen::VectorXd &Y;
  const CounterStudyOptions &O;
  const size_t Limit;
  Eigen::VectorXd DtY;
  std::vector<Eigen::VectorXd> Gram; ///< DᵀD by column, at its first use
  State Root;
  std::unordered_map<Support, State, Hash> States;
  State Spare;                   ///< when States is full
  Eigen::VectorXd Gain, Rest;    ///< scratch
};

} // namespace optimas

#endif // OPTIMAS_LIB_ANALYSIS_PURSUIT_H
