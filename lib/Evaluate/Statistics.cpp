//===- Statistics.cpp - Medians, bootstrap intervals, the noise floor -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Statistics.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;

namespace optimas {

uint64_t SplitMix64::next() {
  uint64_t Z = State += 0x9e3779b97f4a7c15ull;
  Z = (Z ^ (Z >> 30)) * 0xbf58476d1ce4e5b9ull;
  Z = (Z ^ (Z >> 27)) * 0x94d049bb133111ebull;
  return Z ^ (Z >> 31);
}

uint64_t SplitMix64::below(uint64_t Bound) {
  // The high half of the product; its bias is below 2^-32 for the bounds used here.
  return static_cast<uint64_t>(
      (static_cast<unsigned __int128>(next()) * Bound) >> 64);
}

double median(std::vector<double> Values) {
  if (Values.empty())
    return 0;
  size_t Middle = Values.size() / 2;
  std::nth_element(Values.begin(), Values.begin() + Middle, Values.end());
  double High = Values[Middle];
  if (Values.size() % 2)
    return High;
  return (*std::max_element(Values.begin(), Values.begin() + Middle) + High) / 2;
}

double quantile(ArrayRef<double> Sorted, double Q) {
  double Position = Q * double(Sorted.size() - 1);
  size_t Below = size_t(std::floor(Position));
  if (Below + 1 >= Sorted.size())
    return Sorted.back();
  double Part = Position - double(Below);
  return Sorted[Below] * (1 - Part) + Sorted[Below + 1] * Part;
}

Interval bootstrapMedian(ArrayRef<double> Values, double Level, uint64_t Seed,
                         unsigned Resamples) {
  if (Values.empty())
    return {0, 0, 0};
  if (Values.size() == 1)
    return {Values[0], 0, std::numeric_limits<double>::infinity()};
  SplitMix64 Random(Seed);
  std::vector<double> Medians, Draw(Values.size());
  Medians.reserve(Resamples);
  for (unsigned R = 0; R < Resamples; ++R) {
    for (double &D : Draw)
      D = Values[Random.below(Values.size())];
    Medians.push_back(median(Draw));
  }
  std::sort(Medians.begin(), Medians.end());
  double Tail = (1 - Level) / 2;
  return {median(Values.vec()), quantile(Medians, Tail), quantile(Medians, 1 - Tail)};
}

std::vector<double> pairedRatios(ArrayRef<double> Baseline, ArrayRef<double> Candidate) {
  std::vector<double> Out;
  for (size_t I = 0, E = std::min(Baseline.size(), Candidate.size()); I < E; ++I)
    if (Baseline[I] > 0 && Candidate[I] > 0)
      Out.push_back(Baseline[I] / Candidate[I]);
  return Out;
}

Interval noiseFloor(ArrayRef<double> Baseline, double Level, uint64_t Seed) {
  std::vector<double> First, Second;
  for (size_t I = 0; I + 1 < Baseline.size(); I += 2) {
    First.push_back(Baseline[I]);
    Second.push_back(Baseline[I + 1]);
  }
  Interval I = bootstrapMedian(pairedRatios(First, Second), Level, Seed);
  if (I.Estimate == 0)
    return {1, 1, 1};
  double High = std::max(I.High, I.Low > 0 ? 1 / I.Low
                                           : std::numeric_limits<double>::infinity());
  return {1, 1 / High, High};
}

} // namespace optimas
