//===- Runs.h - One run of the program under the collector -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_RUNS_H
#define OPTIMAS_TOOLS_PROFILE_RUNS_H

#include "Launch.h"
#include "Passes.h"
#include <map>

namespace optimas {

/// What a run that counted says beside its profile (the collector's
/// `counting`).
struct CountingReport {
  std::vector<std::string> Left; ///< metrics that did not fit into the one pass
  std::map<std::string, uint64_t>
      Launches; ///< of each selected kernel, counted or not
};

/// One run and what it left.
struct Pass {
  LaunchResult Run;
  std::vector<Profile> Profiles;       ///< one a process that used CUDA
  std::vector<CountingReport> Reports; ///< of each of them
  std::vector<std::string> Errors;     ///< of the collector
  bool LeftPartial = false; ///< some process ended before it could write
};

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Runs the program of \p O with the collector's \p Settings beside those of
/// every run.
llvm::Expected<Pass> runPass(const ProfileOptions &O, bool Quiet,
                             const Variables &Settings);

/// The error for a run that cannot be used, if it cannot.
llvm::Error judgeRun(const ProfileOptions &O, const Pass &P);

/// The busiest process of a run, with the run's status. A profile is of one
/// program; several ranks or workers do alike, and a sum of unlike ones would
/// be of none. \p P has at least one profile. \p Report receives what it says
/// of counting.
Profile busiest(Pass &P, CountingReport *Report = nullptr);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_RUNS_H
