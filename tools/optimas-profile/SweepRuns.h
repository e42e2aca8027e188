//===- SweepRuns.h - A profile of several configurations -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_SWEEPRUNS_H
#define OPTIMAS_TOOLS_PROFILE_SWEEPRUNS_H

#include "Passes.h"
#include "optimas/Profile/Sweep.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace optimas {

/// Times and counts the kernels of each run with the settings of \p O. A run that fails is
/// named in a note and left out; so are those after SIGINT or SIGTERM. \p Keep gets the
/// profile after every run that went well, so that nothing is lost of a sweep that is
/// killed. Says on standard error which run starts, unless \p Quiet. Fails as
/// profileProgram() does when no run went well, or when \p Keep does.
llvm::Expected<Profile> profileSweep(const ProfileOptions &O, llvm::ArrayRef<SweepRun> Runs,
                                     bool Quiet,
                                     llvm::function_ref<llvm::Error(const Profile &)> Keep);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_SWEEPRUNS_H
