//===- Combine.h - Uniting edit sets -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_COMBINE_H
#define OPTIMAS_EVALUATE_COMBINE_H

#include "optimas/Transform/Edit.h"

namespace optimas {

/// Original text of every file that an edit changes, by path.
using SourceTexts = std::map<std::string, std::string>;

/// The edits of all \p Sets in one; an edit that several have (the same bytes by the same
/// text) is there once. Nullopt when two of them want different text at one place.
std::optional<EditSet> unite(llvm::ArrayRef<const EditSet *> Sets,
                             const SourceTexts &Texts);

/// \p Set without edit \p Id; nullopt when nothing is left.
std::optional<EditSet> without(const EditSet &Set, unsigned Id, const SourceTexts &Texts);

/// The files as a scratch build sees them: edited, with line numbers kept. Files that the
/// set does not change have their original text.
llvm::Expected<SourceTexts> scratchContents(const EditSet &Set, const SourceTexts &Texts);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_COMBINE_H
