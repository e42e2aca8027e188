//===- NcuMetrics.h - Metrics of launches, as Nsight Compute's --*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_NCUMETRICS_H
#define OPTIMAS_LIB_PROFILE_NCUMETRICS_H

#include "optimas/Profile/Profile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace optimas {

/// A unit as the profile has it, and what to multiply a value with: ncu's Kbyte is 1000
/// bytes; times become ns, rates per second, frequencies cycles per second. Units that are
/// not known stay. Nsight Compute wrote `usecond`, `byte/second` and `cycle/nsecond` until
/// 2023 and `us`, `byte/s` and `Ghz` since.
struct BaseUnit {
  std::string Name;
  double Factor = 1;
};
BaseUnit baseUnitOf(llvm::StringRef Unit);

/// What is wrong with metric \p Name in \p Base; empty when nothing is: a time must be one.
std::string unitProblem(llvm::StringRef Name, llvm::StringRef Base);

/// The metrics of one launch. Values are in base units.
struct NcuLaunch {
  std::string Kernel;
  std::optional<Dim3> Grid, Block;
  std::vector<std::pair<size_t, double>> Values; ///< by NcuMetrics' index
};

/// Sums launches up to kernels.
class NcuMetrics {
public:
  /// The index of a metric. \p Base is its unit, which the first call decides.
  size_t metric(llvm::StringRef Name, llvm::StringRef Base);
  llvm::StringRef unit(size_t Metric) const { return Metrics[Metric].Unit; }

  void add(const NcuLaunch &Launch);
  uint64_t launches() const { return Launches; }

  /// Kernels, counters, and what the metrics say of device and quality. \p Kind is the
  /// provenance's.
  Profile profile(llvm::StringRef Kind, llvm::StringRef File) const;

private:
  struct Metric {
    std::string Name, Unit;
  };
  /// The launches of one kernel: of each metric the values it has.
  struct Kernel {
    std::string Symbol;
    uint64_t Launches = 0;
    std::vector<std::vector<double>> Values; ///< by metric
    std::map<std::tuple<Dim3, Dim3, uint64_t>, std::pair<uint64_t, double>> Shapes;
  };

  void addKernel(const Kernel &K, Profile &P) const;
  const std::vector<double> *values(const Kernel &K, llvm::StringRef Name) const;
  std::optional<Dim3> dimension(const NcuLaunch &L, llvm::StringRef Prefix) const;
  std::optional<double> value(const NcuLaunch &L, llvm::StringRef Name) const;
  void readDevice(Profile &P) const;

  std::vector<Metric> Metrics;
  llvm::StringMap<size_t> MetricIndex, KernelIndex;
  std::vector<Kernel> Kernels;
  uint64_t Launches = 0;
};

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_NCUMETRICS_H
