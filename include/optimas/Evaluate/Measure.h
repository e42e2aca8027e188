//===- Measure.h - Interleaved timing and the verdict rule -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_MEASURE_H
#define OPTIMAS_EVALUATE_MEASURE_H

#include "optimas/Evaluate/Statistics.h"
#include "optimas/Evaluate/Trace.h"

namespace optimas {

/// Which side runs at step \p Step of an interleaved series: A B B A A B B A …
/// True for the candidate (B). Steps 2i and 2i+1 are pair i.
bool candidateRunsAt(unsigned Step);

/// The times of one run of the program: of each kernel the **sum** over its launches
/// in the run (a median would hide launches of other sizes), of all kernels, and the
/// wall clock. Nanoseconds.
struct RunTimes {
  std::map<std::string, double> Kernels; ///< by kernelLabel
  double AllKernels = 0;
  double Wall = 0;
};
RunTimes runTimes(const TimeTrace &T, uint64_t WallNs);

/// The runs of both sides; index i of both is pair i.
struct PairedRuns {
  std::vector<RunTimes> Baseline, Candidate;
  size_t pairs() const { return std::min(Baseline.size(), Candidate.size()); }
};

/// Baseline against candidate with the 95 % interval and the noise floor.
Comparison compareSamples(llvm::StringRef Name, std::vector<double> Baseline,
                          std::vector<double> Candidate, uint64_t Seed);

/// One comparison per kernel label (by baseline time, largest first), the sum of
/// \p Edited (labels without template arguments) named `edited kernels` when there
/// are several kernels, and last `all kernels`.
std::vector<Comparison> compareKernels(const PairedRuns &Runs,
                                       llvm::ArrayRef<std::string> Edited,
                                       uint64_t Seed);
Comparison compareWall(const PairedRuns &Runs, uint64_t Seed);

/// True when enough pairs are there and the intervals of the edited kernels and of
/// all kernels are narrower than \p RelativeWidth.
bool preciseEnough(const PairedRuns &Runs, llvm::ArrayRef<std::string> Edited,
                   unsigned MinPairs, double RelativeWidth, uint64_t Seed);

/// Faster (slower): the whole interval is above 1 (below) and beyond the noise floor.
/// Unchanged: the whole interval lies within \p RelativeWidth of 1 or within the
/// noise floor. Ambiguous otherwise.
VerdictKind judge(const Comparison &C, double RelativeWidth);

/// A speedup that needs an explanation before it is believed: above 10, or above the
/// roofline's headroom (by more than 10 %: the ceilings are measured, too).
/// \p Headroom 0 when there is no roofline.
bool isImplausible(double Speedup, double Headroom);

/// A verdict with its reason.
struct Decision {
  VerdictKind Verdict = VerdictKind::Ambiguous;
  std::string Why;
  bool Implausible = false;
};

/// Decides on a candidate from its kernels' comparisons (compareKernels()) and what
/// validation found. Faster needs all of: the statistics say so for the edited kernels
/// together, no instantiation of them is slower, device memory was checked and is
/// identical (or the user's own command accepted the results), and the speedup is
/// plausible. \p Explained: a speedup beyond the headroom is explained by the
/// candidate's own counters.
Decision decide(llvm::ArrayRef<Comparison> Kernels, llvm::ArrayRef<std::string> Edited,
                const ValidationOutcome &Validation, ValidateMode Mode, double Headroom,
                double RelativeWidth, bool Explained = false);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_MEASURE_H
