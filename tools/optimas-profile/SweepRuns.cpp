//===- SweepRuns.cpp - A profile of several configurations -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SweepRuns.h"
#include "Launch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace optimas {

/// Puts what one run gave into the profile of the sweep. The first one's device, sources
/// and source files stand for all; modules may differ.
static void add(Profile &Sweep, SweepConfiguration C, Profile Run) {
  C.Kernels = Run.Kernels;
  C.Counters = Run.Counters;
  if (Sweep.Configurations.empty()) {
    Sweep = std::move(Run);
  } else {
    for (Module &M : Run.Modules)
      if (!Sweep.module(M.Id))
        Sweep.Modules.push_back(std::move(M));
    for (const std::string &Note : Run.Quality.Notes)
      if (!is_contained(Sweep.Quality.Notes, Note))
        Sweep.Quality.Notes.push_back(describe(C) + ": " + Note);
  }
  Sweep.Configurations.push_back(std::move(C));
}

Expected<Profile> profileSweep(const ProfileOptions &O, ArrayRef<SweepRun> Runs, bool Quiet,
                               function_ref<Error(const Profile &)> Keep) {
  Profile Sweep;
  std::vector<std::string> Failures;
  Error First = Error::success();
  auto Notes = [&](Profile P) {
    P.Quality.Notes.insert(P.Quality.Notes.begin(), Failures.begin(), Failures.end());
    return P;
  };
  for (size_t I = 0; I < Runs.size() && !interruptedBy(); ++I) {
    SweepConfiguration C;
    C.Parameters = Runs[I].Parameters;
    if (!Quiet)
      errs() << "optimas-profile: configuration " << I + 1 << " of " << Runs.size() << ": "
             << describe(C) << "\n";
    ProfileOptions One = O;
    One.Command = Runs[I].Command;
    One.Sampling = false;
    One.RanBefore = I > 0;
    Expected<Profile> Run = profileProgram(One);
    if (interruptedBy()) { // what it left may be half of it
      consumeError(Run.takeError());
      Failures.push_back("the sweep was interrupted at configuration " + std::to_string(I + 1) +
                         " of " + std::to_string(Runs.size()) + " (" + describe(C) +
                         "), which is left out with those after it");
      break;
    }
    if (!Run) {
      std::string Message = toString(Run.takeError());
      auto [What, Rest] = StringRef(Message).split('\n');
      What.consume_back("; no profile is written"); // that of the others is
      Failures.push_back(("configuration " + describe(C) + " is left out: " + What).str());
      if (!First)
        First = makeError(ExitCode::EvidenceUnusable,
                          "no configuration of the sweep could be measured; of the first, " +
                              describe(C) + ", this is known",
                          One.Command.front(), Message);
      continue;
    }
    add(Sweep, std::move(C), std::move(*Run));
    if (Error E = Keep(Notes(Sweep)))
      return joinErrors(std::move(E), std::move(First));
  }
  if (!Sweep.Configurations.empty()) {
    consumeError(std::move(First));
    return Notes(std::move(Sweep));
  }
  if (First)
    return std::move(First);
  return makeError(ExitCode::EvidenceUnusable, "the sweep was interrupted before it had measured "
                                               "anything",
                   O.Command.front(), "run it again");
}

} // namespace optimas
