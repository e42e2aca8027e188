//===- Permutation.h - A seeded shuffle of a buffer -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_COLLECTOR_PERMUTATION_H
#define OPTIMAS_COLLECTOR_PERMUTATION_H

#include <cstddef>
#include <cstdint>

namespace optimas::collector {

/// Copies \p Bytes from \p From to \p To with its elements of \p Element bytes (4 or
/// 8) in an order that depends on \p Seed and their number only; bytes beyond the
/// last whole element stay in place. Every value keeps its own bits. The buffers
/// must not overlap.
void permuteElements(void *To, const void *From, size_t Bytes, unsigned Element,
                     uint64_t Seed);

} // namespace optimas::collector

#endif // OPTIMAS_COLLECTOR_PERMUTATION_H
