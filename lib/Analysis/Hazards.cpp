//===- Hazards.cpp - Is every result waited for? ----------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Hazards.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace optimas {

namespace {
constexpr size_t WalkLimit = 1 << 16;
} // namespace

/// May the result come at any time? CS2R and the uniform forms have a fixed latency.
static bool isVariable(const Instruction &I) {
  switch (I.Class) {
  case InstrClass::GlobalLoad:
  case InstrClass::LocalLoad:
  case InstrClass::SharedLoad:
  case InstrClass::Texture:
  case InstrClass::Special:
  case InstrClass::Shuffle:
  case InstrClass::Atomic:
    return true;
  case InstrClass::ConstantLoad:
    return I.Mnemonic == "LDC";
  case InstrClass::SystemRead:
    return I.Mnemonic == "S2R";
  default:
    return I.WriteBarrier != NoBarrier;
  }
}

static bool touches(llvm::ArrayRef<uint8_t> Registers, llvm::ArrayRef<uint8_t> Of) {
  return llvm::any_of(Registers, [&](uint8_t R) { return llvm::is_contained(Of, R); });
}

/// Barriers that \p I waits on; a counted wait may leave others pending, not the one
/// that the compiler meant.
static unsigned waitsOf(const Instruction &I) {
  return I.WaitMask | (I.CountedBarrier < 6 ? 1u << I.CountedBarrier : 0);
}

static void follow(const BlameGraph &G, size_t Producer, HazardCheck &Check) {
  llvm::ArrayRef<Instruction> Code = G.instructions();
  const Instruction &P = Code[Producer];
  bool Grouped = P.WriteBarrier == NoBarrier;
  using State = std::pair<size_t, unsigned>; // instruction, barriers that cover P
  std::vector<State> Work;
  llvm::DenseSet<State> Seen;
  auto Push = [&](size_t From, unsigned Covered) {
    for (size_t Next : G.successors()[From])
      if (Seen.insert({Next, Covered}).second)
        Work.push_back({Next, Covered});
  };
  Push(Producer, Grouped ? 0 : 1u << P.WriteBarrier);
  while (!Work.empty()) {
    auto [At, Covered] = Work.back();
    Work.pop_back();
    const Instruction &I = Code[At];
    if (waitsOf(I) & Covered)
      continue;
    if (Seen.size() > WalkLimit) {
      ++Check.GaveUp;
      return;
    }
    bool Reads = touches(P.Defs, I.Uses);
    if (Reads || touches(P.Defs, I.Defs)) {
      Check.Found.push_back({Producer, At, !Reads});
      continue;
    }
    if (Grouped && I.Class == P.Class && I.WriteBarrier != NoBarrier)
      Covered |= 1u << I.WriteBarrier;
    Push(At, Covered);
  }
}

HazardCheck checkHazards(const BlameGraph &Graph) {
  HazardCheck Check;
  for (auto [Index, I] : llvm::enumerate(Graph.instructions())) {
    if (I.Defs.empty() || !isVariable(I))
      continue;
    ++Check.Results;
    Check.Grouped += I.WriteBarrier == NoBarrier;
    follow(Graph, Index, Check);
  }
  return Check;
}

} // namespace optimas
