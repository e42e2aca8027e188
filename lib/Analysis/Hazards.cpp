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

/// Bit i: register \p Of[i] is among \p Registers.
static unsigned touched(llvm::ArrayRef<uint8_t> Registers, llvm::ArrayRef<uint8_t> Of) {
  unsigned Bits = 0;
  for (auto [Index, R] : llvm::enumerate(Of))
    if (llvm::is_contained(Registers, R))
      Bits |= 1u << Index;
  return Bits;
}

/// Barriers that \p I waits on; a counted wait may leave others pending, not the one
/// that the compiler meant.
static unsigned waitsOf(const Instruction &I) {
  return I.WaitMask | (I.CountedBarrier < 6 ? 1u << I.CountedBarrier : 0);
}

/// May \p I write predicate \p P? Results are in bits 81–83 and 84–86 of comparisons,
/// additions with carry, votes, atomics; those named here have none.
static bool mayWritePredicate(const Instruction &I, unsigned P) {
  static const llvm::StringRef Never[] = {
      "VIADD", "FSEL", "SEL",  "FADD", "FMUL", "FFMA",  "MOV",   "SHF",
      "PRMT",  "I2FP", "DADD", "DMUL", "DFMA", "HADD2", "HMUL2", "HFMA2",
      "S2R",   "CS2R"};
  llvm::StringRef Name = I.Mnemonic;
  // What begins with U works on the uniform registers and has their predicates.
  if (llvm::is_contained(Never, Name) || Name.starts_with("U"))
    return false;
  switch (I.Class) {
  case InstrClass::Other:
  case InstrClass::Shuffle:
  case InstrClass::Atomic:
  case InstrClass::GlobalLoad:
    // The only carry of a multiplication or a shift-and-add goes to the first place.
    return I.Hi && (((I.Hi >> 17) & 7) == P ||
                    (((I.Hi >> 20) & 7) == P && Name != "IMAD" && Name != "LEA") ||
                    llvm::StringRef(I.Mnemonic).starts_with("R2P"));
  default:
    return false;
  }
}

/// Do results of both come in the order of issue? Loads of shared memory and shuffles go
/// through one queue: ptxas lets the barrier of the last of them stand for all.
static bool inOneQueue(const Instruction &A, const Instruction &B) {
  auto Shared = [](const Instruction &I) {
    return I.Class == InstrClass::SharedLoad || I.Class == InstrClass::Shuffle;
  };
  return A.Class == B.Class || (Shared(A) && Shared(B));
}

namespace {
/// Follows one result.
class Follower {
public:
  Follower(const BlameGraph &G, size_t Producer, HazardCheck &Check)
      : G(G), Producer(Producer), P(G.instructions()[Producer]), Check(Check) {}
  void run();

private:
  struct State {
    size_t At;
    unsigned Covered; ///< barriers of which a wait is one for the result
    unsigned Pending; ///< bit i: register P.Defs[i] is on the way
    bool Guarded;     ///< the producer's guard still has its value
  };
  void push(State S);
  void step(State S);

  const BlameGraph &G;
  size_t Producer;
  const Instruction &P;
  HazardCheck &Check;
  std::vector<State> Work;
  llvm::DenseSet<std::pair<size_t, unsigned>> Seen;
  bool Ordered = false, Exclusive = false;
};
} // namespace

void Follower::push(State S) {
  unsigned Key = S.Covered | S.Pending << 6 | unsigned(S.Guarded) << 31;
  for (size_t Next : G.successors()[S.At])
    if (Seen.insert({Next, Key}).second)
      Work.push_back({Next, S.Covered, S.Pending, S.Guarded});
}

void Follower::step(State S) {
  const Instruction &I = G.instructions()[S.At];
  unsigned Reads = touched(I.Uses, P.Defs) & S.Pending;
  unsigned Writes = touched(I.Defs, P.Defs) & S.Pending;
  if ((Reads || Writes) && S.Guarded && I.Predicate == P.Predicate &&
      I.PredicateNegated != P.PredicateNegated) {
    Exclusive = true;
    Reads = Writes = 0;
  }
  if (Writes && !Reads && P.Class == InstrClass::SharedLoad && I.Class == P.Class) {
    Ordered = true;
    // Under a guard some threads keep the earlier result.
    if (!I.isConditional() || (I.Predicate == P.Predicate && S.Guarded))
      S.Pending &= ~Writes;
    Writes = 0;
    if (!S.Pending)
      return;
  }
  if (Reads || Writes) {
    Check.Found.push_back({Producer, S.At, !Reads});
    return;
  }
  if (P.WriteBarrier == NoBarrier && inOneQueue(I, P) && I.WriteBarrier != NoBarrier)
    S.Covered |= 1u << I.WriteBarrier;
  S.Guarded = S.Guarded && !mayWritePredicate(I, P.Predicate);
  push(S);
}

void Follower::run() {
  push({Producer, P.WriteBarrier == NoBarrier ? 0 : 1u << P.WriteBarrier,
        (1u << std::min<size_t>(P.Defs.size(), 24)) - 1, P.isConditional()});
  while (!Work.empty()) {
    State S = Work.back();
    Work.pop_back();
    if (waitsOf(G.instructions()[S.At]) & S.Covered)
      continue;
    if (Seen.size() > WalkLimit) {
      ++Check.GaveUp;
      return;
    }
    step(S);
  }
  Check.Ordered += Ordered;
  Check.Exclusive += Exclusive;
}

HazardCheck checkHazards(const BlameGraph &Graph) {
  HazardCheck Check;
  for (auto [Index, I] : llvm::enumerate(Graph.instructions())) {
    if (I.Defs.empty() || !isVariable(I))
      continue;
    ++Check.Results;
    Check.Grouped += I.WriteBarrier == NoBarrier;
    Follower(Graph, Index, Check).run();
  }
  return Check;
}

} // namespace optimas
