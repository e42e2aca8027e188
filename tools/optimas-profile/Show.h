//===- Show.h - A profile for people -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_SHOW_H
#define OPTIMAS_TOOLS_PROFILE_SHOW_H

#include "optimas/Profile/Profile.h"
#include "llvm/Support/raw_ostream.h"

namespace optimas {

/// One line: kernels, launches, time, samples.
std::string summaryLine(const Profile &P);

/// `--show`: kernels by time, each with its lines by latency samples, and what limits
/// the profile. Resolves frames; fits 80 columns where names allow.
void showProfile(llvm::raw_ostream &OS, Profile P);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_SHOW_H
