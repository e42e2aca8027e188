//===- Guard.h - Refusing every edit that the evidence does not implicate -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TRANSFORM_GUARD_H
#define OPTIMAS_TRANSFORM_GUARD_H

#include "optimas/Transform/Edit.h"

namespace optimas {

struct GuardOptions {
  /// Edits of the catalogue may use the constructs of their own transformation's
  /// allow-list; a model's may use only the documented list.
  bool Trusted = false;
  /// Stop at the first refusal of a proposal (else: drop the refused edit, keep the
  /// rest when they stand alone).
  bool AllOrNothing = true;
  FrontendOptions Frontend; ///< for the re-parse
  /// Every command of the database, to check signature changes and headers in other units.
  std::vector<CompileCommand> Database;
};

struct GuardRule {
  llvm::StringRef Id;      ///< `guard-out-of-region`
  llvm::StringRef Summary; ///< one sentence
};
/// All rules, in the order in which they are checked.
llvm::ArrayRef<GuardRule> guardRules();

/// Checks \p P against the evidence and the regions, statically and by a re-parse of
/// the edited source. Errors are for faults of the program or environment; what is
/// wrong with an edit is a Refusal.
llvm::Expected<EditSet> guard(const SourceModel &Model, const Diagnosis &D,
                              const Proposal &P, const GuardOptions &Options);

/// Applies \p Edits to \p Text (one file's). Adjacent edits are fine, overlap is an error.
llvm::Expected<std::string> applyEdits(llvm::StringRef Text,
                                       llvm::ArrayRef<FileEdit> Edits);

/// Unified diff (3 lines of context) of the files that \p Set changes, with paths
/// relative to \p Root when below it.
std::string unifiedDiff(const SourceModel &Model, const EditSet &Set,
                        llvm::StringRef Root);

/// clang-apply-replacements' YAML for \p Set.
std::string exportFixes(const SourceModel &Model, const EditSet &Set);

/// Writes the new contents, each by temporary file and rename, after checking that
/// every file still has the content that was analysed; none is written otherwise.
llvm::Error applyFix(const SourceModel &Model, const EditSet &Set);

} // namespace optimas

#endif // OPTIMAS_TRANSFORM_GUARD_H
