//===- GuardImpl.h - The guard's steps -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// resolve: ids → byte ranges, evidence, regions     (GuardResolve, GuardRaw)
// text:    lexical rules, signatures, launches       (GuardLexical, GuardSignature, GuardLaunch)
// units:   other translation units of the database   (GuardUnits)
// reparse: the edited file parsed again, compared    (GuardReparse, GuardFacts, GuardCompare)
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_GUARDIMPL_H
#define OPTIMAS_LIB_TRANSFORM_GUARDIMPL_H

#include "GuardFacts.h"
#include "OtherUnits.h"
#include "optimas/Transform/Guard.h"

namespace optimas {

struct GuardContext {
  const SourceModel &Model;
  const Diagnosis &D;
  const GuardOptions &Options;
  OtherUnits &Others;
};

/// An edit with its place.
struct ResolvedEdit {
  Edit Source;      ///< as proposed; a raw range with the statements it was mapped to
  std::string Text; ///< what shall stand in place of Old, as written; for a raw range
                    ///< with the rest of the statements that it is part of
  EditKind Kind = EditKind::Replace;  ///< effective: a raw range is mapped
  FunctionId Function = NoId;         ///< that holds it; the kernel of a launch
  const LaunchSite *Site = nullptr;
  /// What it names: the statements, the signature, the configuration.
  SourceRange Named;
  /// What it replaces; empty for an insertion.
  SourceRange Old;
  std::vector<FileEdit> Changes; ///< by offset
};

/// Where the edits' texts stand after they are applied.
struct Layout {
  std::map<std::string, std::string> NewContents;
  std::vector<SourceRange> New; ///< per edit, what stands in place of Old; in the old model's files
};

inline RuleHit ruleHit(llvm::StringRef Rule, const llvm::Twine &Message,
                       bool CannotProve = false) {
  return {Rule, Message.str(), CannotProve};
}

const LaunchSite *findLaunchSite(const SourceModel &Model, unsigned Id);
SourceRange makeRange(const SourceModel &Model, FileId File, unsigned Begin,
                      unsigned End);
/// `topk.cu:40`.
std::string placeText(const SourceModel &Model, const SourceRange &R);

/// Finds what the edit names and makes its changes; the rules about targets, macros,
/// files, regions and evidence.
MaybeHit resolveEdit(const GuardContext &C, const Edit &E, ResolvedEdit &Out);
/// Siblings of one block in order, none from a macro, none in a header.
MaybeHit checkNamedStatements(const GuardContext &C, const Edit &E,
                              const Statement *First, const Statement *Last);
/// A byte range as an edit of statements, a signature or a launch.
MaybeHit mapRawRange(const GuardContext &C, const Edit &E, ResolvedEdit &Out);
/// Fills Old and Changes: the text with the indentation of its place.
MaybeHit placeEdit(const GuardContext &C, ResolvedEdit &E);

/// The rules on the text alone.
MaybeHit checkEditText(const GuardContext &C, const ResolvedEdit &E);
MaybeHit checkSignature(const GuardContext &C, ResolvedEdit &E);
MaybeHit checkLaunch(const GuardContext &C, const ResolvedEdit &E);
/// Every launch of a kernel is edited, or none.
MaybeHit checkEveryLaunch(const GuardContext &C, const ResolvedEdit &E,
                          llvm::ArrayRef<ResolvedEdit> All);

/// Other units of the database may declare or launch the function of a changed signature
/// or launch, as far as text can tell.
MaybeHit checkOtherUnits(const GuardContext &C, const ResolvedEdit &E);
/// Parses the other units that include an edited header with the new contents.
MaybeHit reparseOtherUnits(const GuardContext &C, llvm::ArrayRef<ResolvedEdit> Edits,
                           const Layout &L);

llvm::Expected<Layout> layOut(const SourceModel &Model,
                              llvm::ArrayRef<ResolvedEdit> Edits);

/// The first error of a candidate that the program as it is does not have; nullptr
/// when there is none.
const ParseDiagnostic *newError(const SourceModel &Old, const SourceModel &New);

/// Index of the edit at fault and what it did.
struct Blame {
  size_t Edit;
  RuleHit Hit;
};
/// Parses the edited source and compares; what is found, by edit.
llvm::Expected<std::vector<Blame>> reparse(const GuardContext &C,
                                           llvm::ArrayRef<ResolvedEdit> Edits,
                                           Layout &L);

} // namespace optimas

#endif // OPTIMAS_LIB_TRANSFORM_GUARDIMPL_H
