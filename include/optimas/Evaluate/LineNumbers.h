//===- LineNumbers.h - Keeping line numbers below an edit -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_LINENUMBERS_H
#define OPTIMAS_EVALUATE_LINENUMBERS_H

#include "optimas/Transform/Edit.h"

namespace optimas {

/// Applies \p Edits (one file's, by offset, disjoint) to \p Text and, where an edit
/// changes the number of lines, puts a `#line` at the next line start where a directive
/// may stand, so that everything below keeps its number. An `assert` or `__LINE__` below
/// an inserted line would change the machine code of kernels that no edit touches.
/// For scratch builds only: what --fix writes has no `#line`.
/// Overlapping edits or ones beyond the text are an error (Internal).
llvm::Expected<std::string> applyKeepingLines(llvm::StringRef Text,
                                              llvm::ArrayRef<FileEdit> Edits);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_LINENUMBERS_H
