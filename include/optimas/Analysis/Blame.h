//===- Blame.h - From the victim of a stall to its cause -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_ANALYSIS_BLAME_H
#define OPTIMAS_ANALYSIS_BLAME_H

#include "optimas/Profile/Cubin.h"
#include "llvm/ADT/ArrayRef.h"

namespace optimas {

/// A producer found for one consumer instruction and one stall reason.
struct BlamedInstruction {
  size_t Index = 0;    ///< into the instruction list
  double Share = 1;    ///< of the stall, sums to 1
  unsigned Distance = 0; ///< instructions on the shortest path
};

struct BlameResult {
  std::vector<BlamedInstruction> Producers; ///< largest share first
  std::string UnresolvedWhy; ///< when empty above
};

/// The control-flow graph of one function's instructions and the scoreboard facts
/// needed to answer "who is waited for here".
/// Definition: the producers of a scoreboard wait are every instruction that set
/// that barrier on a control-flow path since the last wait on it (barriers count:
/// a second setter does not kill the first). GPA (CGO'21, section 4) gives the
/// slicing and apportioning.
class BlameGraph {
public:
  explicit BlameGraph(llvm::ArrayRef<Instruction> Instructions);

  /// \p Reason as in StallCount. \p Executed (same length, may be empty) weighs
  /// producers by issue counts.
  BlameResult blame(size_t Consumer, llvm::StringRef Reason,
                    llvm::ArrayRef<uint64_t> Executed = {}) const;

  llvm::ArrayRef<Instruction> instructions() const { return Code; }
  llvm::ArrayRef<std::vector<size_t>> predecessors() const { return Preds; }
  llvm::ArrayRef<std::vector<size_t>> successors() const { return Succs; }

private:
  std::vector<Instruction> Code;
  std::vector<std::vector<size_t>> Preds, Succs;
};

} // namespace optimas

#endif // OPTIMAS_ANALYSIS_BLAME_H
