//===- NsysReport.cpp - Nsight Systems' reports -----------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NsysSqlite.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Error.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace optimas {

static std::vector<std::string> exportArguments(StringRef Report, StringRef Database) {
  return {"nsys", "export", "--type", "sqlite", "--force-overwrite", "true",
          "--output", Database.str(), Report.str()};
}

std::string nsysExportCommand(StringRef Report, StringRef Database) {
  return quoteCommand(exportArguments(Report, Database));
}

bool isNsysReport(StringRef Path) {
  return Path.ends_with(".nsys-rep") || Path.ends_with(".qdrep");
}

Expected<Profile> readNsysReport(StringRef Path) {
  ErrorOr<std::string> Nsys = sys::findProgramByName("nsys");
  if (!Nsys)
    return makeError(ExitCode::EvidenceUnusable,
                     "a report of Nsight Systems can only be read by nsys, which is not on "
                     "PATH here",
                     Path,
                     "Where nsys is, run the command below and give run.sqlite with --profile:\n"
                     "  " + nsysExportCommand(Path, "run.sqlite"));
  Expected<ScratchDir> Scratch = ScratchDir::create("optimas-nsys");
  if (!Scratch)
    return Scratch.takeError();
  std::string Database = Scratch->file("run.sqlite");
  SubprocessOptions Options;
  Options.Args = exportArguments(Path, Database);
  Options.Args.front() = *Nsys;
  Options.Environment = {{"LC_ALL", "C"}};
  Options.TimeoutSeconds = 1800;
  Expected<SubprocessResult> Result = runSubprocess(Options);
  if (!Result)
    return Result.takeError();
  if (!Result->ok()) {
    StringRef Said = StringRef(Result->Error).trim();
    if (Said.empty())
      Said = StringRef(Result->Output).trim().take_back(500);
    return makeError(ExitCode::EvidenceUnusable,
                     "nsys could not export this report: " +
                         (Result->TimedOut
                              ? "it did not end within half an hour"
                              : "exit status " + std::to_string(Result->ExitStatus)) +
                         ": " + Said,
                     Path,
                     "Try it by hand; a report needs an nsys at least as new as the one that "
                     "wrote it:\n  " + nsysExportCommand(Path, "run.sqlite"));
  }
  Expected<Profile> P = readNsysSqliteFile(Database);
  if (!P)
    return P;
  for (Provenance &S : P->Sources) {
    S.Kind = "nsys-rep";
    S.File = Path.str();
  }
  return P;
}

} // namespace optimas
