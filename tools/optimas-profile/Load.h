//===- Load.h - Profiles to look at -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_LOAD_H
#define OPTIMAS_TOOLS_PROFILE_LOAD_H

#include "optimas/Profile/Profile.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace optimas {

/// One profile of all \p Paths, of any kind that readProfile() knows, with its source
/// lines. What does not fit together is in its quality's notes.
llvm::Expected<Profile> loadProfiles(llvm::ArrayRef<std::string> Paths);

/// Where latency samples of a function fall.
struct LineWeight {
  std::string File;  ///< as the compiler wrote it, empty when unknown
  unsigned Line = 0; ///< of the innermost frame
  uint64_t Samples = 0;
  std::map<std::string, uint64_t> Reasons;
};

/// The lines of \p F, the heaviest first. Weighs by latency samples, or, where the
/// profile has none, by the samples of all stalls.
std::vector<LineWeight> linesOf(const FunctionSamples &F);

/// All samples of a function's instruction, stall or not.
uint64_t samplesOf(const PcSample &Pc);

/// The text of source lines: the profile's own, or that of the file, or of one of its
/// name in the current folder, as long as it is the one that was profiled.
class SourceTexts {
public:
  explicit SourceTexts(const Profile &P) : P(P) {}
  /// Without indentation; empty when it is not known.
  std::string line(llvm::StringRef File, unsigned Line);
  /// Files that are there, but not as they were.
  const std::vector<std::string> &changed() const { return Changed; }

private:
  std::vector<std::string> read(llvm::StringRef File);

  const Profile &P;
  llvm::StringMap<std::vector<std::string>> Files;
  std::vector<std::string> Changed;
};

/// `3 kernels`, `1 kernel`.
std::string counted(uint64_t N, llvm::StringRef What);
/// Four significant digits: `151.1 us`, `2.985 ms`.
std::string duration(double Ns);
/// Cut to \p Width characters, with `…` in the place of what is left out.
std::string fitted(llvm::StringRef Text, size_t Width);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_LOAD_H
