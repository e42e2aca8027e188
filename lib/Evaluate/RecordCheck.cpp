//===- RecordCheck.cpp - Is a recorded outcome what its samples say? -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RecordCheck.h"
#include "optimas/Evaluate/Measure.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace optimas {

/// Far more than two machines' last bits, far less than what a verdict hangs on.
static constexpr double Tolerance = 1e-6;

static bool same(double A, double B) {
  // A recording writes infinity as 1e300.
  if (A > 1e299 && B > 1e299)
    return true;
  return std::abs(A - B) <= Tolerance * std::max(std::abs(A), std::abs(B));
}

static Error contradiction(StringRef File, const CandidateOutcome &C, const Twine &Field,
                           const Twine &What) {
  return makeError(ExitCode::EvidenceUnusable,
                   "contradicts itself: `" + Field + "` of candidate " +
                       StringRef(C.Key).take_front(8) + " " + What,
                   File, "record it again with --record on a machine with a GPU");
}

/// The row's figures from its own samples.
static Error checkRow(const CandidateOutcome &C, const Comparison &Row, uint64_t Seed,
                      StringRef File) {
  if (Row.BaselineSamples.size() != Row.CandidateSamples.size())
    return contradiction(File, C, "candidate_samples",
                         "has not one value for each of the baseline's (" + Row.Name + ")");
  Comparison Again =
      compareSamples(Row.Name, Row.BaselineSamples, Row.CandidateSamples, Seed);
  const std::tuple<const char *, double, double> Figures[] = {
      {"baseline_ns", Row.BaselineNs, Again.BaselineNs},
      {"candidate_ns", Row.CandidateNs, Again.CandidateNs},
      {"speedup", Row.Speedup, Again.Speedup},
      {"low", Row.Low, Again.Low},
      {"high", Row.High, Again.High},
      {"noise_low", Row.NoiseLow, Again.NoiseLow},
      {"noise_high", Row.NoiseHigh, Again.NoiseHigh}};
  for (const auto &[Name, Recorded, Computed] : Figures)
    if (!same(Recorded, Computed))
      return contradiction(File, C, Name,
                           formatv("is {0} for {1}, but the samples give {2}", Recorded,
                                   Row.Name, Computed)
                               .str());
  return Error::success();
}

/// Rows that are sums of others must be, run by run.
static Error checkSums(const CandidateOutcome &C, ArrayRef<std::string> Edited,
                       StringRef File) {
  std::vector<double> Base, Cand;
  const Comparison *Together = nullptr, *All = nullptr;
  unsigned Parts = 0;
  auto Add = [](std::vector<double> &Sum, ArrayRef<double> Values) {
    Sum.resize(std::max(Sum.size(), Values.size()));
    for (size_t I = 0; I < Values.size(); ++I)
      Sum[I] += Values[I];
  };
  for (const Comparison &Row : C.Kernels) {
    if (Row.Name == "edited kernels")
      Together = &Row;
    else if (Row.Name == "all kernels")
      All = &Row;
    else if (is_contained(Edited, kernelBase(Row.Name))) {
      Add(Base, Row.BaselineSamples);
      Add(Cand, Row.CandidateSamples);
      ++Parts;
    }
  }
  auto IsSum = [](ArrayRef<double> Whole, ArrayRef<double> Sum) {
    return Whole.size() == Sum.size() && all_of(zip(Whole, Sum), [](auto P) {
             return same(std::get<0>(P), std::get<1>(P));
           });
  };
  auto Holds = [](ArrayRef<double> Whole, ArrayRef<double> Sum) {
    return Whole.size() == Sum.size() && all_of(zip(Whole, Sum), [](auto P) {
             return std::get<0>(P) >= std::get<1>(P) * (1 - Tolerance);
           });
  };
  if (Parts > 1 && (!Together || !IsSum(Together->BaselineSamples, Base) ||
                    !IsSum(Together->CandidateSamples, Cand)))
    return contradiction(File, C, "kernels",
                         "has no row `edited kernels` that is the sum of them");
  if (Parts && (!All || !Holds(All->BaselineSamples, Base) ||
                !Holds(All->CandidateSamples, Cand)))
    return contradiction(File, C, "kernels",
                         "has no row `all kernels` that holds the edited ones");
  return Error::success();
}

/// The field of the validation that forbids *faster*; empty when none does.
static StringRef notExact(const ValidationOutcome &V) {
  return !V.Ran                  ? "ran"
         : V.AcceptedByCommand   ? ""
         : !V.OutputIdentical    ? "output_identical"
         : !V.MemoryChecked      ? "memory_checked"
         : !V.MemoryIdentical    ? "memory_identical"
         : !V.LaunchesCompared   ? "launches_compared"
                                 : "";
}

Error checkRecorded(CandidateOutcome &Out, ArrayRef<std::string> Edited, double Headroom,
                    const EvaluationOptions &O, StringRef File) {
  bool Faster = Out.Verdict == VerdictKind::Faster;
  std::string Is = "while the verdict is `" + toString(Out.Verdict).str() + "`";
  const ValidationOutcome &V = Out.Validation;
  if (!V.Mismatches.empty() && !V.AcceptedByCommand &&
      Out.Verdict != VerdictKind::WrongResult)
    return contradiction(File, Out, "validation.mismatches",
                         "says: " + V.Mismatches.front().What + " differs, " + Is);
  if (Out.Kept && !Faster)
    return contradiction(File, Out, "kept", "is true " + Is);
  if (Out.Kernels.empty()) {
    if (Faster) { // shortened recordings leave the runs out
      Out.Verdict = VerdictKind::Ambiguous;
      Out.Why = "recorded as faster, but the recording holds no timed runs that bear it out";
      Out.Kept = false;
    }
    return Error::success();
  }
  for (const Comparison &Row : Out.Kernels)
    if (Error E = checkRow(Out, Row, O.Seed, File))
      return E;
  if (!Out.Wall.BaselineSamples.empty() || Out.Wall.BaselineNs > 0)
    if (Error E = checkRow(Out, Out.Wall, O.Seed, File))
      return E;
  if (Error E = checkSums(Out, Edited, File))
    return E;
  if (StringRef Field = notExact(V); Faster && !Field.empty())
    return contradiction(File, Out, "validation." + Field, "does not hold " + Is);
  if (!Faster)
    return Error::success(); // figures are right, and nothing is claimed with them
  Decision Own = decide(Out.Kernels, Edited, V,
                        V.AcceptedByCommand ? ValidateMode::Command : ValidateMode::Bytes,
                        0, O.RelativeWidth);
  if (Own.Verdict != VerdictKind::Faster && !Own.Implausible)
    return contradiction(File, Out, "verdict",
                         "is `faster`, but its samples say `" + toString(Own.Verdict) +
                             "`: " + Own.Why);
  Decision Here =
      decide(Out.Kernels, Edited, V, O.Validate, Headroom, O.RelativeWidth);
  bool Together = StringRef(Out.Why).ends_with("; measured together with the other candidates");
  Out.Verdict = Here.Verdict;
  Out.Why = Here.Why + (Together ? "; measured together with the other candidates" : "");
  Out.Implausible = Here.Implausible;
  Out.Kept &= Here.Verdict == VerdictKind::Faster;
  return Error::success();
}

} // namespace optimas
