//===- Subprocess.h - Running a program with a time limit -------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_SUPPORT_SUBPROCESS_H
#define OPTIMAS_SUPPORT_SUBPROCESS_H

#include "optimas/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace optimas {

/// What to run and under which limits.
struct SubprocessOptions {
  /// argv; argv[0] is looked up on PATH.
  std::vector<std::string> Args;
  /// Working folder; empty means the caller's.
  std::string Directory;
  /// Variables set on top of the caller's environment.
  std::vector<std::pair<std::string, std::string>> Environment;
  /// Fed to standard input, which is otherwise empty.
  std::string Input;
  /// Wall-clock limit in seconds; 0 means none. The whole process group is killed.
  double TimeoutSeconds = 0;
  /// Standard output and error kept up to this many bytes each; the rest is read and dropped.
  size_t MaxOutputBytes = size_t(256) << 20;
  /// Standard error goes into Output in order.
  bool MergeError = false;
};

struct SubprocessResult {
  int ExitStatus = 0;   ///< exit status; 128 + signal when killed by one
  int Signal = 0;       ///< the signal that ended it, 0 when it exited
  bool TimedOut = false;
  bool Truncated = false; ///< more output than MaxOutputBytes
  std::string Output;   ///< standard output
  std::string Error;    ///< standard error
  uint64_t WallNs = 0;  ///< from start to reaping

  bool ok() const { return !TimedOut && Signal == 0 && ExitStatus == 0; }
};

/// Runs a program to its end. Fails only when it cannot be started; a failing
/// program is a result, not an error. The child gets its own process group and
/// dies with it at the time limit (and with this process, by PR_SET_PDEATHSIG).
llvm::Expected<SubprocessResult> runSubprocess(const SubprocessOptions &Options);

/// Splits \p Command as a POSIX shell splits words (quotes, backslashes); no
/// expansion. Fails on an unclosed quote.
llvm::Expected<std::vector<std::string>> splitCommand(llvm::StringRef Command);

/// \p Args quoted so that a shell reads them back.
std::string quoteCommand(llvm::ArrayRef<std::string> Args);

} // namespace optimas

#endif // OPTIMAS_SUPPORT_SUBPROCESS_H
