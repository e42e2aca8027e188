//===- Outputs.cpp - Files that a run writes -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Outputs.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace optimas {

/// Folders are made when they are needed: the nearest one that is there counts.
static Error checkFolder(StringRef Folder) {
  SmallString<256> There(Folder);
  sys::fs::make_absolute(There);
  while (!sys::fs::exists(There) && sys::path::has_parent_path(There))
    sys::path::remove_filename(There);
  if (!sys::fs::is_directory(There))
    return makeError(ExitCode::Usage, "cannot be made: " + There + " is no folder", Folder,
                     "name a folder that can be written");
  if (std::error_code EC = sys::fs::access(There, sys::fs::AccessMode::Write))
    return makeError(ExitCode::Usage, "cannot be written: " + EC.message(), Folder,
                     "name a folder that can be written");
  return Error::success();
}

Error checkOutputs(const Settings &S) {
  std::vector<std::string> Files = S.Reports;
  for (const std::string &File : {S.Patch, S.ExportFixes, S.RooflineFile})
    if (!File.empty())
      Files.push_back(File);
  if (!S.CalibrationFile.empty() && !S.Run.empty() && S.Replay.empty() && S.Evaluate)
    Files.push_back(S.CalibrationFile); // what is measured is added to it
  for (const std::string &File : Files)
    if (Error E = checkWritable(File))
      return E;
  for (const std::string &Folder : {S.Record, S.EmitPrompt})
    if (!Folder.empty())
      if (Error E = checkFolder(Folder))
        return E;
  for (const std::string &Source : S.Sources)
    if (S.Fix && sys::fs::is_regular_file(Source)) // else another error says what is wrong
      if (Error E = checkReplaceable(Source))
        return E;
  return Error::success();
}

/// Other names of a file keep the old content when the file is replaced.
static unsigned otherNames(StringRef Path) {
  sys::fs::file_status Status;
  return sys::fs::status(Path, Status) || Status.getLinkCount() < 2
             ? 0
             : Status.getLinkCount() - 1;
}

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
  std::map<std::string, unsigned> Others;
  for (const auto &[Path, Text] : Final.Set.NewContents)
    Others[Path] = otherNames(Path);
  if (Error E = applyFix(R.Model, Final.Set))
    return E;
  for (const auto &[Path, Text] : Final.Set.NewContents) {
    outs() << "wrote " << Path << (Unfit.empty() ? "" : " (not validated)") << '\n';
    if (unsigned N = Others[Path])
      outs() << "  it was a hard link: " << N << (N == 1 ? " other name keeps" : " other names keep")
             << " the old content\n";
  }
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
