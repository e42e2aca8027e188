//===- GuardNames.h - Names that the guard knows -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_GUARDNAMES_H
#define OPTIMAS_LIB_TRANSFORM_GUARDNAMES_H

#include "llvm/ADT/StringRef.h"

namespace optimas {

/// The rule that forbids a new use of the word \p Name in device code, whatever
/// stands beside it (`guard-asm` for `asm`); empty when none does.
llvm::StringRef ruleAgainstWord(llvm::StringRef Name, bool Trusted);

/// The rule that forbids a new call of \p Name, where it is sharper than "not on the
/// list" (`guard-fast-math` for `__expf`); empty otherwise.
llvm::StringRef ruleAgainstCall(llvm::StringRef Name);

/// Device functions without state that a model may call anew: the list of
/// docs/guard-rules.md.
bool isAllowedCall(llvm::StringRef Name);

/// Waits for, or orders memory against, other threads of the block or grid.
bool isBarrier(llvm::StringRef Name);

/// An atomic read-modify-write.
bool isAtomic(llvm::StringRef Name);

} // namespace optimas

#endif // OPTIMAS_LIB_TRANSFORM_GUARDNAMES_H
