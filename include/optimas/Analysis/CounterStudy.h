//===- CounterStudy.h - Which few counters explain a time -------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Ensemble orthogonal matching pursuit over configurations × counters: many greedy
/// selections with a seeded random choice among the best, averaged. After the ensemble
/// OMP of Dashing (Islam et al., SC 2016 and later), with two faults of the published
/// code mended: counters are drawn without
/// replacement, and a run stops on the norm of the residual, not on its sum.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_ANALYSIS_COUNTERSTUDY_H
#define OPTIMAS_ANALYSIS_COUNTERSTUDY_H

#include "optimas/Profile/Profile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace optimas {

/// One counter over the configurations (input sizes, launch shapes).
struct CounterColumn {
  std::string Name, Group;
  std::vector<double> Values; ///< one a configuration; NaN drops the counter
};

struct CounterStudyOptions {
  unsigned Runs = 500;
  uint64_t Seed = 1;
  unsigned MaxCounters = 15;   ///< in one run; less than the configurations, at most 32
  unsigned Choices = 3;        ///< the best candidates among which a run draws
  double SameAbove = 0.98;     ///< |correlation| from which two counters are one
  double StopBelow = 1e-6;     ///< residual norm over the target's
};

struct CounterScore {
  size_t Column = 0; ///< into the given columns
  /// Part of the target's norm that the counter explains alone, with its mean weight.
  double Score = 0;
  double Weight = 0; ///< mean over all runs, for columns and target of unit norm
  double Selected = 0; ///< share of the runs that drew it
  /// Share of ten batches of the runs in which it is among the five best: 1 when the
  /// answer does not hang on the seed.
  double Stability = 0;
  std::vector<size_t> Same; ///< columns that it stands for
};

struct CounterStudy {
  std::vector<CounterScore> Counters; ///< those with a weight, best first
  struct Group {
    std::string Name;
    double Score = 0; ///< as a counter's, of all its counters together
  };
  std::vector<Group> Groups; ///< best first
  size_t Dropped = 0;        ///< NaN or constant columns
  size_t Merged = 0;         ///< columns for which another one stands
};

/// A study of fewer configurations says nothing.
constexpr size_t MinConfigurations = 8;

/// EvidenceUnusable with fewer than MinConfigurations, columns of unequal length, a
/// target that is not finite or all zero, or no usable column. The same input and
/// seed give the same answer on every machine.
llvm::Expected<CounterStudy> studyCounters(llvm::ArrayRef<CounterColumn> Columns,
                                           llvm::ArrayRef<double> Target,
                                           const CounterStudyOptions &Options = {});

/// What studyCounters() takes, of a sweep's profile.
struct CounterTable {
  std::vector<CounterColumn> Columns; ///< medians; NaN where a run did not count it
  std::vector<double> Target;         ///< median ns of a launch
  std::vector<std::string> Configurations; ///< `B=128 N=1024`
};

/// The counters of \p Symbol over the configurations in which it ran. Times and cycles,
/// which are the target itself, are left out. A counter's group is its unit, `dram` of
/// `dram__bytes_read.sum`. EvidenceUnusable where no configuration has the kernel.
llvm::Expected<CounterTable> counterTable(const Profile &P, llvm::StringRef Symbol);

/// What a counter of Nsight Compute says: quantity, rollup, what much of it means and
/// which transformations it points to. Absent for one that is not collected here
/// (lib/Analysis/CounterMeanings.def has all that are).
std::optional<std::string> counterSentence(llvm::StringRef Metric);

/// For each kernel of a sweep, the one with the most time first, the five counters that
/// explain its time best, in words, with their stability over seeds. EvidenceUnusable when
/// \p P is no sweep, or no kernel has MinConfigurations.
llvm::Expected<std::string> explainCounters(const Profile &P);

} // namespace optimas

#endif // OPTIMAS_ANALYSIS_COUNTERSTUDY_H
