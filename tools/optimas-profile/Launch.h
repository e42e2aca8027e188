//===- Launch.h - Running the program to be profiled -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_LAUNCH_H
#define OPTIMAS_TOOLS_PROFILE_LAUNCH_H

#include "optimas/Support/Error.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace optimas {

struct LaunchOptions {
  std::vector<std::string> Args; ///< argv; argv[0] is looked up on PATH
  /// Variables set on top of the environment.
  std::vector<std::pair<std::string, std::string>> Environment;
  /// Throw the program's output away (a second run of a program whose output was
  /// already shown).
  bool Quiet = false;
  /// The program ran before: a file on standard input is read from its start again.
  bool InputAgain = false;
  /// Seconds until it is told to end (SIGTERM), and killed 10 seconds later; 0: none.
  double TimeoutSeconds = 0;
};

struct LaunchResult {
  int ExitStatus = 0;
  int Signal = 0; ///< that ended it, 0 when it exited
  bool TimedOut = false;
  uint64_t WallNs = 0;
};

/// Runs a program whose standard input, output and error are ours, unchanged.
/// SIGINT and SIGTERM to us reach it too. Fails when it cannot be started.
llvm::Expected<LaunchResult> launchProgram(const LaunchOptions &O);

/// The SIGINT or SIGTERM that reached us while a program ran; 0: none.
int interruptedBy();

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_LAUNCH_H
