//===- Counting.h - The runs that count -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_COUNTING_H
#define OPTIMAS_TOOLS_PROFILE_COUNTING_H

#include "Passes.h"

namespace optimas {

/// Runs the program of \p O again, as its replay mode says, and adds the
/// counters of the hot kernels to \p P. Kernels are awaited, and replayed, in
/// these runs, so neither times nor samples of them count. What goes wrong is a
/// note, since the profile is good without counters. Counters read in one pass
/// are dropped, and that is said, for a kernel that was not launched equally
/// often in every run.
void addCounters(const ProfileOptions &O, Profile &P);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_COUNTING_H
