//===- Edit.h - Edits, proposals, refusals -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TRANSFORM_EDIT_H
#define OPTIMAS_TRANSFORM_EDIT_H

#include "optimas/Analysis/Diagnosis.h"
#include "llvm/Support/JSON.h"

namespace optimas {

enum class EditKind {
  Replace,      ///< statement ids → Text
  InsertBefore, ///< Text before a statement
  InsertAfter,
  Delete,
  Wrap,         ///< Text holds `$body` once: the statement's own text goes there
  Signature,    ///< Text replaces the kernel's or device function's whole signature (to before `{`)
  LaunchSite,   ///< Text replaces what stands between `<<<` and `>>>`
  RawRange,     ///< a byte range (from readers of full files and diffs); the guard maps or refuses it
};

struct Edit {
  unsigned Id = 0; ///< printed `D1`, unique in a run
  EditKind Kind = EditKind::Replace;
  /// First and last statement (equal for one); must be siblings. NoId for the kinds
  /// that name no statement.
  StatementId First = NoId, Last = NoId;
  FunctionId Function = NoId;  ///< Signature
  unsigned LaunchSiteId = NoId; ///< LaunchSite
  SourceRange Raw;             ///< RawRange
  std::string Text;
  std::vector<unsigned> Evidence; ///< cited ids, at least one
  /// `optimas-load-batching`, or the model's own word; several ids are joined by `+`.
  std::string Transformation;
  /// Iterations or elements that it puts together; 1 when it puts none, or it is unknown.
  unsigned Factor = 1;
  std::string Reason;         ///< one sentence
  std::string Precondition, Postcondition;
  std::string Metric; ///< predicted to move
  Direction Move = Direction::Down;
};

/// Edits that belong together: one candidate program.
struct Proposal {
  unsigned Id = 0; ///< printed `P1`
  std::string Proposer; ///< `catalogue`, `openai:MODEL`, `command:…`, `file:…`
  std::string Title;    ///< `load batching by 4 + register accumulator`
  std::vector<FunctionId> Kernels; ///< kernels it means to speed up
  std::vector<Edit> Edits;
  /// Proposals of one group are variants for the same kernel: the measured best is kept.
  std::string Group;
  /// Speedup of the kernel that the proposer expects, from its rule of thumb; 0 when it
  /// has none. Orders what is measured first, and is never shown as a result.
  double Expected = 0;
  std::vector<std::string> SuggestedButNotApplied;
};

struct Refusal {
  std::string Rule;    ///< id of docs/guard-rules.md: `guard-out-of-region`
  std::string Message; ///< what, where, what would be legal
  unsigned Edit = 0;   ///< id
  unsigned Proposal = 0;
  std::string Transformation;
  bool CannotProve = false; ///< "cannot prove" as opposed to "failed"
};

/// One replacement of bytes in one file.
struct FileEdit {
  std::string Path;
  FileId File = NoId;
  unsigned Offset = 0, Length = 0;
  std::string Replacement;
  unsigned Edit = 0; ///< id of the edit it comes from
};

/// What passed the guard.
struct EditSet {
  unsigned Proposal = 0;
  std::vector<Edit> Accepted;
  std::vector<FileEdit> FileEdits; ///< by file and offset, disjoint
  std::vector<Refusal> Refusals;
  /// Path → new content of each file that changes.
  std::map<std::string, std::string> NewContents;
  bool empty() const { return FileEdits.empty(); }
};

llvm::StringRef toString(EditKind K);
std::optional<EditKind> editKindFrom(llvm::StringRef Text);

llvm::json::Value toJson(const Edit &E, const SourceModel &Model);
llvm::json::Value toJson(const Proposal &P, const SourceModel &Model);

} // namespace optimas

#endif // OPTIMAS_TRANSFORM_EDIT_H
