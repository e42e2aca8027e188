//===- Sweep.h - Runs of a program over parameters --------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_PROFILE_SWEEP_H
#define OPTIMAS_PROFILE_SWEEP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace optimas {

/// One parameter of a sweep: `N=1,2,4`.
struct SweepParameter {
  std::string Name;
  std::vector<std::string> Values; ///< one or more, each once
};

/// One run: the command with its values in place.
struct SweepRun {
  std::map<std::string, std::string> Parameters; ///< name → value
  std::vector<std::string> Command;
};

/// A sweep of more runs than this is refused: each is the program at least twice.
constexpr size_t MaxSweepRuns = 1000;

/// Reads `N=1,2,4;FILE="a,b;c.txt",d.txt`. A name is a letter or `_`, then also digits;
/// a value in quotes may have commas and semicolons, and `\"` and `\\` in it. Exit code
/// Usage on anything else, and where a name or one of its values stands twice.
llvm::Expected<std::vector<SweepParameter>> parseSweep(llvm::StringRef Text);

/// Every combination, the last parameter varying fastest. `{N}` in \p Command is N's value,
/// `{{N}}` is `{N}`; other braces stay. Exit code Usage where a placeholder names no
/// parameter, a parameter stands in no placeholder, or there are more than MaxSweepRuns.
llvm::Expected<std::vector<SweepRun>> planSweep(llvm::ArrayRef<SweepParameter> Parameters,
                                                llvm::ArrayRef<std::string> Command);

} // namespace optimas

#endif // OPTIMAS_PROFILE_SWEEP_H
