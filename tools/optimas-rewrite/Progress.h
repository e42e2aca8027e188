//===- Progress.h - Telling a waiting person what goes on -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROGRESS_H
#define OPTIMAS_TOOLS_PROGRESS_H

#include "llvm/ADT/StringRef.h"
#include <chrono>

namespace optimas {

/// One line on standard error that says what is being done, rewritten in place on a
/// terminal. Anywhere else (files, CI) nothing is printed, so that logs stay clean,
/// unless asked for: then every step is a line of its own.
class Progress {
public:
  Progress(bool Quiet, bool Verbose);
  ~Progress() { clear(); }
  void operator()(llvm::StringRef Step);
  void clear();

private:
  bool Enabled, Lines;
  bool Shown = false;
  std::chrono::steady_clock::time_point Start;
};

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROGRESS_H
