//===- Evaluation.cpp - Names of verdicts and labels -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Evaluation.h"

using namespace llvm;

namespace optimas {

StringRef toString(VerdictKind K) {
  switch (K) {
  case VerdictKind::Faster:
    return "faster";
  case VerdictKind::Slower:
    return "slower";
  case VerdictKind::Unchanged:
    return "unchanged";
  case VerdictKind::Ambiguous:
    return "ambiguous";
  case VerdictKind::Screened:
    return "screened";
  case VerdictKind::WrongResult:
    return "wrong-result";
  case VerdictKind::BuildFailed:
    return "build-failed";
  case VerdictKind::NotMeasured:
    return "not-measured";
  }
  return "not-measured";
}

std::optional<VerdictKind> verdictFrom(StringRef Text) {
  for (VerdictKind K :
       {VerdictKind::Faster, VerdictKind::Slower, VerdictKind::Unchanged,
        VerdictKind::Ambiguous, VerdictKind::Screened, VerdictKind::WrongResult,
        VerdictKind::BuildFailed, VerdictKind::NotMeasured})
    if (toString(K) == Text)
      return K;
  return std::nullopt;
}

std::string ValidationOutcome::label() const {
  if (!Ran)
    return "not validated";
  if (BaselineNondeterministic && !AcceptedByCommand)
    return "program is nondeterministic";
  if (!Mismatches.empty() && !AcceptedByCommand)
    return "wrong result: " + Mismatches.front().What + " differs";
  if (AcceptedByCommand && !(OutputIdentical && MemoryChecked && MemoryIdentical))
    return "accepted by the validation command";
  if (OutputIdentical && MemoryChecked && MemoryIdentical)
    return "exact";
  return OutputIdentical ? "program output identical" : "not validated";
}

ExitCode exitCodeOf(const EvaluationResult &R) {
  unsigned Failed = 0, Wrong = 0;
  for (const CandidateOutcome &C : R.Candidates) {
    Failed += C.Verdict == VerdictKind::BuildFailed;
    Wrong += C.Verdict == VerdictKind::WrongResult;
  }
  if (R.Candidates.empty() || Failed + Wrong < R.Candidates.size())
    return ExitCode::Done;
  return Wrong ? ExitCode::WrongResult : ExitCode::BuildFailed;
}

} // namespace optimas
