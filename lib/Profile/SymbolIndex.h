//===- SymbolIndex.h - Finding a symbol by any of its names -----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_SYMBOLINDEX_H
#define OPTIMAS_LIB_PROFILE_SYMBOLINDEX_H

#include "optimas/Profile/Profile.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace optimas {

/// Whether \p Symbol is mangled, alone or as ptxas puts it behind a kernel.
bool isMangled(llvm::StringRef Symbol);

/// The last component of a name: `void a::copy<float>(…)` → `copy`.
std::string bareName(llvm::StringRef Symbol);

/// Symbols with a number each. Looking one up costs a demangling and as many
/// comparisons as functions share its bare name.
class SymbolIndex {
public:
  /// Keeps the first of two equal symbols.
  void add(llvm::StringRef Symbol, unsigned Id);

  /// The number of the symbol that is equal to \p Symbol, else of the only one
  /// that symbolsMatch() it; nothing when none or several do. Two mangled
  /// symbols are never taken for one: anonymous namespaces of two files look
  /// alike.
  std::optional<unsigned> find(llvm::StringRef Symbol) const;

  /// Whether several symbols match \p Symbol and none is equal to it.
  bool isAmbiguous(llvm::StringRef Symbol) const;

private:
  /// The numbers of all that match, no more than two.
  llvm::SmallVector<unsigned, 2> matches(llvm::StringRef Symbol) const;

  llvm::StringMap<unsigned> Exact;
  llvm::StringMap<std::vector<std::pair<std::string, unsigned>>> ByBareName;
};

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_SYMBOLINDEX_H
