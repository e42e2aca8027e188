//===- Outputs.cpp - Files that a run writes -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Outputs.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace optimas {

/// What forbids --fix to write \p C; empty when nothing does.
static std::string whyUnfit(const CandidateOutcome &C) {
  if (!C.Validation.Ran)
    return "is not validated: it was never run";
  if (C.Verdict != VerdictKind::Faster)
    return ("is not known to be faster: " + toString(C.Verdict)).str();
  bool Exact = C.Validation.label() == "exact";
  if (Exact || (C.Validation.AcceptedByCommand && !C.Recorded))
    return "";
  return "is not validated as exact: " + C.Validation.label();
}

static Error fix(const Settings &S, const RunRecord &R, const CandidateOutcome &Final) {
  // No option makes a known fault welcome.
  if (Final.Verdict == VerdictKind::BuildFailed || Final.Verdict == VerdictKind::WrongResult)
    return makeError(Final.Verdict == VerdictKind::BuildFailed ? ExitCode::BuildFailed
                                                               : ExitCode::WrongResult,
                     "the result was not written: " + toString(Final.Verdict), "--fix",
                     "the report says what went wrong");
  std::string Unfit = whyUnfit(Final);
  if (!Unfit.empty() && !S.FixUnvalidated)
    return makeError(ExitCode::Usage, "nothing was written: the result " + Unfit, "--fix",
                     "evaluate it with --run on a machine with a GPU, or write it all the "
                     "same with --fix-unvalidated");
  if (Error E = applyFix(R.Model, Final.Set))
    return E;
  for (const auto &[Path, Text] : Final.Set.NewContents)
    outs() << "wrote " << Path << (Unfit.empty() ? "" : " (not validated)") << '\n';
  return Error::success();
}

Error writeOutputs(const Settings &S, const RunRecord &R) {
  const std::optional<CandidateOutcome> &Final = R.Evaluation.Final;
  static const EditSet Nothing;
  const EditSet &Set = Final ? Final->Set : Nothing;
  bool Unvalidated = Final && !whyUnfit(*Final).empty();
  auto Write = [](StringRef File, StringRef Text, const char *Remark) -> Error {
    if (File.empty())
      return Error::success();
    if (Error E = writeFileAtomically(File, Text))
      return E;
    outs() << "wrote " << File << Remark << '\n';
    return Error::success();
  };
  const char *Remark = Unvalidated ? " (not validated)" : "";
  for (const std::string &File : S.Reports)
    if (Error E = Write(File, toJson(R), ""))
      return E;
  if (Error E = Write(S.Patch, unifiedDiff(R.Model, Set, R.ProjectRoot), Remark))
    return E;
  if (Error E = Write(S.ExportFixes, exportFixes(R.Model, Set), Remark))
    return E;
  if (S.Fix && !Set.empty())
    return fix(S, R, *Final);
  return Error::success();
}

} // namespace optimas
