//===- Statistics.h - Medians, bootstrap intervals, the noise floor -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_STATISTICS_H
#define OPTIMAS_EVALUATE_STATISTICS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace optimas {

/// A small generator (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", OOPSLA 2014) whose numbers are the same on every machine, which the
/// standard library's distributions do not promise.
class SplitMix64 {
public:
  explicit SplitMix64(uint64_t Seed) : State(Seed) {}
  uint64_t next();
  /// Uniform in [0, Bound), Bound > 0.
  uint64_t below(uint64_t Bound);

private:
  uint64_t State;
};

/// An estimate and its interval.
struct Interval {
  double Estimate = 1, Low = 1, High = 1;
  /// Width relative to the estimate; 0 for an estimate of 0.
  double relativeWidth() const {
    return Estimate == 0 ? 0 : (High - Low) / Estimate;
  }
};

/// The middle value, or the mean of the two middle ones; 0 for none.
double median(std::vector<double> Values);

/// Linear interpolation between the order statistics of \p Sorted (ascending, not
/// empty); \p Q in [0, 1].
double quantile(llvm::ArrayRef<double> Sorted, double Q);

/// The median of \p Values and its percentile bootstrap interval at \p Level (Efron
/// and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13): the
/// medians of \p Resamples samples drawn with replacement. Deterministic for a seed.
/// One value: an interval from 0 to infinity, since one run says nothing about the
/// spread. None: all zero.
Interval bootstrapMedian(llvm::ArrayRef<double> Values, double Level, uint64_t Seed,
                         unsigned Resamples = 4000);

/// Baseline[i] / Candidate[i] for the pairs that both have; pairs with a value that
/// is not positive are left out.
std::vector<double> pairedRatios(llvm::ArrayRef<double> Baseline,
                                 llvm::ArrayRef<double> Candidate);

/// The interval of baseline against baseline: the ratios of consecutive samples, two
/// by two, made symmetric about 1 because which of two equals comes first is chance.
Interval noiseFloor(llvm::ArrayRef<double> Baseline, double Level, uint64_t Seed);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_STATISTICS_H
