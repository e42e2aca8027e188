//===- main.cpp - The optimas-rewrite command -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Outputs.h"
#include "Pipeline.h"
#include "optimas/Support/Interrupt.h"
#include "optimas/Support/Output.h"
#include "optimas/Transform/Catalogue.h"
#include "optimas/Transform/Guard.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace optimas;

static int listChecks(const Settings &S) {
  outs() << "Enabled checks:\n";
  for (const Transformation *T : catalogue())
    if (checkEnabled(S.Checks, T->id()))
      outs() << "    " << T->id() << '\n';
  return 0;
}

/// A pattern that matches nothing is a slip, and would read like a clean bill of health.
static Error checkChecks(const Settings &S) {
  std::vector<std::string> Ids;
  for (const Transformation *T : catalogue()) {
    if (checkEnabled(S.Checks, T->id()))
      return Error::success();
    Ids.push_back(T->id().str());
  }
  return makeError(ExitCode::Usage, "no check is enabled by '" + Twine(S.Checks) + "'",
                   "--checks", "known: " + join(Ids, ", "));
}

static Expected<int> explain(StringRef Id) {
  for (const Transformation *T : catalogue())
    if (T->id() == Id) {
      outs() << T->id() << "\n  " << T->summary() << "\n  Exact: " << T->exactness()
             << "\n  Source: " << T->source() << "\n  More: docs/catalogue/"
             << T->id().substr(StringRef("optimas-").size()) << ".md\n";
      return 0;
    }
  for (const GuardRule &R : guardRules())
    if (R.Id == Id) {
      outs() << R.Id << "\n  " << R.Summary << "\n  More: docs/guard-rules.md\n";
      return 0;
    }
  return makeError(ExitCode::Usage, "no catalogue entry or guard rule of that name",
                   "--explain=" + Id,
                   "--list-checks prints the catalogue's names; docs/guard-rules.md has the rules");
}

static Expected<int> run(int Argc, const char **Argv) {
  Expected<ParsedCommandLine> Parsed = parseCommandLine(Argc, Argv);
  if (!Parsed)
    return Parsed.takeError();
  const Settings &S = Parsed->Values;
  if (S.ListChecks)
    return listChecks(S);
  if (!S.Explain.empty())
    return explain(S.Explain);
  if (S.DumpConfig) {
    outs() << dumpConfig(S);
    return 0;
  }
  if (S.Sources.empty())
    return makeError(ExitCode::Usage, "no source file was given", "",
                     "optimas-rewrite kernel.cu -p build/   (see --help)");
  if (S.Sources.size() > 1 && !S.Reports.empty())
    return makeError(ExitCode::Usage, "--report takes one source file at a time", "",
                     "run optimas-rewrite once for each source");
  if (S.Proposer == "catalogue" && S.Candidate.empty())
    if (Error E = checkChecks(S))
      return std::move(E);
  if (Error E = checkOutputs(S))
    return std::move(E);
  Progress Say(S.Quiet, S.Verbose);
  ToolContext Tool;
  Tool.ToolDir =
      sys::path::parent_path(sys::fs::getMainExecutable(Argv[0], reinterpret_cast<void *>(&run))).str();
  Tool.CommandLine.assign(Argv, Argv + Argc);
  Tool.Say = &Say;
  // The first code that is not Done is the run's; later sources are still done.
  int Code = 0;
  for (const std::string &Source : S.Sources) {
    Expected<ExitCode> R = runPipeline(S, Source, Tool);
    Say.clear();
    int This = R ? static_cast<int>(*R) : static_cast<int>(reportError(errs(), R.takeError()));
    if (Code == 0)
      Code = This;
  }
  return Code;
}

int main(int Argc, const char **Argv) {
  if (Error E = openStandardStreams())
    return static_cast<int>(reportError(errs(), std::move(E)));
  InitLLVM Init(Argc, Argv);
  cleanUpOnInterrupt();
  Expected<int> Code = run(Argc, Argv);
  Error Lost = finishOutput();
  if (!Code)
    return static_cast<int>(reportError(errs(), joinErrors(Code.takeError(), std::move(Lost))));
  int Unwritten = Lost ? static_cast<int>(reportError(errs(), std::move(Lost))) : 0;
  return *Code ? *Code : Unwritten;
}
