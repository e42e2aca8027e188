//===- Progress.cpp - Telling a waiting person what goes on -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Progress.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace optimas {

Progress::Progress(bool Quiet, bool Verbose)
    : Enabled(Verbose || (!Quiet && sys::Process::StandardErrIsDisplayed())), Lines(Verbose),
      Start(std::chrono::steady_clock::now()) {}

void Progress::operator()(StringRef Step) {
  if (!Enabled)
    return;
  double Seconds = std::chrono::duration<double>(
                       std::chrono::steady_clock::now() - Start).count();
  clear();
  std::string Line = formatv("[{0,4:f0} s] {1}", Seconds, Step).str();
  if (Lines) {
    errs() << Line << '\n';
    return;
  }
  unsigned Columns = sys::Process::StandardErrColumns();
  if (Columns > 4 && Line.size() >= Columns)
    Line.resize(Columns - 1);
  errs() << Line;
  errs().flush();
  Shown = true;
}

void Progress::clear() {
  if (!Shown)
    return;
  errs() << "\r\x1b[K";
  errs().flush();
  Shown = false;
}

} // namespace optimas
