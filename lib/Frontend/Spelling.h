//===- Spelling.h - Where a node stands in a file -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_FRONTEND_SPELLING_H
#define OPTIMAS_LIB_FRONTEND_SPELLING_H

#include "ParsedUnit.h"
#include "optimas/Frontend/SourceModel.h"
#include "llvm/ADT/DenseMap.h"

namespace optimas {

/// A node's place. All offsets are physical: `#line` plays no part.
struct Spelled {
  SourceRange Range; ///< in a macro's body: the range of the whole expansion
  /// Every token comes from one macro expansion, or the node begins or ends in
  /// the middle of one.
  bool InMacro = false;
  /// The first token is a macro's (`__shared__ float a[4];`).
  bool BeginsInMacro = false;
};

/// Maps Clang's locations of one pass to ranges of the model's files.
class Spelling {
public:
  explicit Spelling(const ParsedUnit &Unit)
      : SM(Unit.sources()), LangOpts(Unit.compiler().getLangOpts()) {}

  /// \p Model's elements must stay where they are.
  void setFiles(llvm::ArrayRef<SourceFile> Model) { Files = Model; }
  void mapFile(clang::FileID Clang, FileId Id) { Ids[Clang] = Id; }
  /// NoId for a file that is not the model's.
  FileId fileId(clang::FileID Clang) const;

  /// The place of the tokens from the one at \p Begin to the one at \p End;
  /// nullopt outside the model's files.
  std::optional<Spelled> tokens(clang::SourceLocation Begin,
                                clang::SourceLocation End) const;
  /// The same for places known to be contiguous whatever macros they use: from the
  /// start of the expansion at \p Begin to the end of that at \p End.
  std::optional<SourceRange> expanded(clang::SourceLocation Begin,
                                      clang::SourceLocation End) const;
  /// File and offset of \p Loc's expansion.
  std::optional<std::pair<FileId, unsigned>> offset(clang::SourceLocation Loc) const;

  /// \p R made longer by blanks, comments and a `;` when that is what follows.
  SourceRange withSemicolon(SourceRange R) const;
  /// Offset after blanks, comments and line continuations from \p Offset on.
  unsigned skipBlanks(FileId File, unsigned Offset) const;
  SourceRange make(FileId File, unsigned Begin, unsigned End) const;

  clang::SourceManager &SM;
  const clang::LangOptions &LangOpts;

private:
  std::optional<SourceRange> fromChars(clang::CharSourceRange R) const;

  llvm::ArrayRef<SourceFile> Files;
  llvm::DenseMap<clang::FileID, FileId> Ids;
};

} // namespace optimas

#endif // OPTIMAS_LIB_FRONTEND_SPELLING_H
