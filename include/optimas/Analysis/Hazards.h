//===- Hazards.h - Is every result waited for? ------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A check of our reading of the code, not of the code: ptxas waits for every result
/// of variable latency before its register is touched. Where we see no wait on some
/// path, the decoder, the operands or the control-flow graph are wrong.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_ANALYSIS_HAZARDS_H
#define OPTIMAS_ANALYSIS_HAZARDS_H

#include "optimas/Analysis/Blame.h"

namespace optimas {

/// A register is touched while its value may still be on the way.
struct Hazard {
  size_t Producer, Use; ///< instruction indices
  bool Overwrites;      ///< the use writes the register and does not read it
};

struct HazardCheck {
  size_t Results = 0; ///< of variable latency, with a register that we know
  size_t Grouped = 0; ///< of them, those for which a later one of their queue waits
  size_t GaveUp = 0;  ///< paths too many to follow
  /// Touched before a wait, and rightly so. A load of shared memory overwritten by the
  /// next one: they return in order, the later value stays. (ptxas loads 16 bytes and,
  /// right behind, a part of them again.)
  size_t Ordered = 0;
  /// An instruction with the opposite guard: no thread executes both. (`@!P1 LDS R27`
  /// and `@P1 MOV R27` merge two values.)
  size_t Exclusive = 0;
  std::vector<Hazard> Found;
};

/// Follows every path from every result of variable latency to the first wait on its
/// scoreboard. One that sets none (of loads that return in order only the last of a
/// group needs to) counts as waited for where a later one of its kind is; shuffles and
/// loads of shared memory are one kind.
HazardCheck checkHazards(const BlameGraph &Graph);

} // namespace optimas

#endif // OPTIMAS_ANALYSIS_HAZARDS_H
