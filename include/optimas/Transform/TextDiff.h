//===- TextDiff.h - Unified diff of two texts -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TRANSFORM_TEXTDIFF_H
#define OPTIMAS_TRANSFORM_TEXTDIFF_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace optimas {

/// Lines with their ends (`\n`, `\r\n`); the last one may have none.
std::vector<llvm::StringRef> splitLinesKeepEnds(llvm::StringRef Text);

/// A run of lines that differs: old lines [OldBegin, OldEnd) became new lines
/// [NewBegin, NewEnd); 0-based. Either may be empty, not both.
struct LineChange {
  size_t OldBegin = 0, OldEnd = 0, NewBegin = 0, NewEnd = 0;
};

/// The changes between two texts, a shortest script (Myers, "An O(ND) Difference
/// Algorithm and Its Variations", Algorithmica 1986). Beyond 1,000 changed lines the
/// middle is taken as one change: right, but not shortest.
std::vector<LineChange> diffLines(llvm::ArrayRef<llvm::StringRef> Old,
                                  llvm::ArrayRef<llvm::StringRef> New);

/// Unified diff with 3 lines of context that `patch -p1` and `git apply` take; empty
/// when the texts are equal. \p Path stands behind `a/` and `b/`.
std::string unifiedTextDiff(llvm::StringRef Path, llvm::StringRef Old,
                            llvm::StringRef New);

} // namespace optimas

#endif // OPTIMAS_TRANSFORM_TEXTDIFF_H
