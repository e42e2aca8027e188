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

/// `--show`: where the profile comes from, kernels by time, the lines of each by latency
/// samples with a bar of stall reasons, and how far it can be trusted. No more than
/// \p Top kernels, and as many lines of each; what is left out is counted. 0: all.
void showProfile(llvm::raw_ostream &OS, const Profile &P, unsigned Top);

/// `--diff`: what changed from \p A to \p B, kernel by kernel and reason by reason.
void showDifference(llvm::raw_ostream &OS, const Profile &A, const Profile &B,
                    unsigned Top);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_SHOW_H
