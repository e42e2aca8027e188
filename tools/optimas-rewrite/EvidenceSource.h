//===- EvidenceSource.h - Where the profile of a run comes from -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_EVIDENCESOURCE_H
#define OPTIMAS_TOOLS_EVIDENCESOURCE_H

#include "Settings.h"
#include "optimas/Evaluate/Evaluation.h"
#include "optimas/Profile/Profile.h"

namespace optimas {

/// A profile and what has to be said about it.
struct LoadedProfile {
  Profile P;
  std::vector<std::string> Notes; ///< conflicts of a merge, missing line information
};

/// The profile for \p Source, by the first of these that applies: the files of
/// --profile, joined; a run of --run under optimas-profile; a file
/// `<BuildDir>/*.optimas.json` whose recorded hash of \p Source is today's.
/// Otherwise EvidenceUnusable, with the two commands that would make one.
/// \p ToolDir is the folder of this executable.
llvm::Expected<LoadedProfile> loadEvidence(const Settings &S, llvm::StringRef Source,
                                           llvm::StringRef BuildDir,
                                           llvm::StringRef ToolDir);

/// A new profile of the unedited or the edited program, for EAR's result agreement, by
/// the optimas-profile in \p ToolDir.
llvm::Expected<Profile> profileAgain(const Settings &S, llvm::StringRef ToolDir,
                                     const ReprofileRequest &Request);

} // namespace optimas

#endif // OPTIMAS_TOOLS_EVIDENCESOURCE_H
