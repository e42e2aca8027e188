//===- Bounds.h - How large an index can get --------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_CATALOGUE_BOUNDS_H
#define OPTIMAS_LIB_TRANSFORM_CATALOGUE_BOUNDS_H

#include "KernelView.h"
#include <array>

namespace optimas::recipes {

/// Both ends inclusive.
struct Interval {
  int64_t Low = 0, High = 0;
};

/// Block sizes that all launches of a kernel give as constants, by dimension.
struct BlockSizes {
  std::array<std::optional<Interval>, 3> At;
};
/// Empty when the launches are not all known.
BlockSizes blockSizes(const KernelView &View);

/// The values that \p E can have in \p B; nullopt when no bound is known. Seen
/// through variables that are initialised once, and counters of `for` loops.
std::optional<Interval> intervalOf(const clang::Expr *E, const KernelView &View,
                                   const Body &B, const BlockSizes &Blocks);

} // namespace optimas::recipes

#endif // OPTIMAS_LIB_TRANSFORM_CATALOGUE_BOUNDS_H
