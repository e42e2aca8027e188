//===- Scoreboard.cpp - Who set the barrier that is waited on ---*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The scoreboard part of BlameGraph. A wait is a bit of the wait mask or a
/// DEPBAR.LE, which lets the youngest settings be pending; LDGDEPBAR (opcode 0x9af)
/// stands for the asynchronous copies before it.
///
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Blame.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>
#include <set>

namespace optimas {

namespace {
/// More settings than this are never pending on six counters of six bits each.
constexpr size_t MaxPending = 64;
constexpr size_t CountedWalkLimit = 16384;
} // namespace

static bool isCommit(const Instruction &I) {
  return I.Opcode == 0x9af || I.Mnemonic == "LDGDEPBAR";
}

bool BlameGraph::setsBarrier(size_t Index, unsigned Barrier) const {
  return Code[Index].WriteBarrier == Barrier || Code[Index].ReadBarrier == Barrier;
}

bool BlameGraph::waitsOn(size_t Index, unsigned Barrier) const {
  const Instruction &I = Code[Index];
  if (I.WaitMask & (1u << Barrier))
    return true;
  return I.CountedBarrier == Barrier && I.CountedMax == 0;
}

template <typename T> static void keepNearest(std::vector<T> &List) {
  llvm::sort(List, [](const T &A, const T &B) {
    return std::tie(A.Distance, A.Index) < std::tie(B.Distance, B.Index);
  });
  llvm::DenseSet<size_t> Seen;
  llvm::erase_if(List, [&](const T &P) { return !Seen.insert(P.Index).second; });
  if (List.size() > MaxPending)
    List.resize(MaxPending);
}

/// Appends what is pending when \p Number begins. Over a CALL comes what the routine
/// does not wait for on every path, and what the routine itself leaves pending;
/// into a routine what is pending at any of its calls.
void BlameGraph::addPendingBefore(unsigned Number, unsigned Bar,
                                  const std::vector<BarrierSets> &AtEnd,
                                  std::vector<Pending> &List) const {
  const Block &B = Blocks[Number];
  auto AddAll = [&](unsigned From) {
    const std::vector<Pending> &In = AtEnd[From][Bar];
    List.insert(List.end(), In.begin(), In.end());
  };
  for (unsigned P : B.Preds) {
    unsigned Callee = Blocks[P].Callee;
    if (Callee == None) {
      AddAll(P);
      continue;
    }
    if (Code[Blocks[P].End - 1].isConditional() ||
        (Scoreboards->LetsThrough[Callee] & (1u << Bar)))
      AddAll(P);
    for (unsigned From : Routines[Callee].Returns)
      for (Pending In : AtEnd[From][Bar])
        if (llvm::is_contained(Routines[Callee].Callees,
                               Blocks[BlockOf[In.Index]].RoutineId))
          List.push_back(In);
  }
  if (B.EntryOf != None)
    for (unsigned P : Routines[B.EntryOf].Calls)
      AddAll(P);
}

/// What is pending at the end of every block, for every barrier: the least fixed
/// point of "set here, or pending before and not waited for here". Lists are cut to
/// the nearest MaxPending, so that the cost stays linear in the code.
const std::vector<BlameGraph::BarrierSets> &BlameGraph::pendingAtEnd() const {
  std::call_once(Scoreboards->Once, [&] {
    std::vector<BarrierSets> &AtEnd = Scoreboards->AtEnd;
    AtEnd.resize(Blocks.size());
    std::vector<std::array<bool, 6>> Waits(Blocks.size());
    std::vector<BarrierSets> Own(Blocks.size());
    for (auto [Number, B] : llvm::enumerate(Blocks)) {
      Waits[Number].fill(false);
      for (size_t I = B.Begin; I != B.End; ++I)
        for (unsigned Bar = 0; Bar != 6; ++Bar) {
          if (waitsOn(I, Bar)) {
            Own[Number][Bar].clear();
            Waits[Number][Bar] = true;
          }
          if (setsBarrier(I, Bar))
            Own[Number][Bar].push_back({I, unsigned(B.End - I)});
        }
      for (auto &List : Own[Number])
        keepNearest(List);
    }
    for (const Routine &R : Routines) {
      unsigned Mask = 0;
      for (unsigned Bar = 0; Bar != 6; ++Bar) {
        std::vector<char> Seen(Blocks.size(), 0);
        std::vector<unsigned> Paths{R.Entry};
        while (!Paths.empty()) {
          unsigned At = Paths.back();
          Paths.pop_back();
          if (Seen[At] || Waits[At][Bar])
            continue;
          Seen[At] = 1;
          Paths.insert(Paths.end(), Blocks[At].Succs.begin(), Blocks[At].Succs.end());
        }
        if (llvm::any_of(R.Returns, [&](unsigned From) { return Seen[From]; }))
          Mask |= 1u << Bar;
      }
      Scoreboards->LetsThrough.push_back(Mask);
    }
    std::map<unsigned, std::vector<unsigned>> ReturnOf;
    for (auto [Number, R] : llvm::enumerate(Routines))
      for (unsigned From : R.Returns)
        ReturnOf[From].push_back(Number);
    std::deque<unsigned> Work;
    std::vector<char> Queued(Blocks.size(), 1);
    for (unsigned B = 0; B != Blocks.size(); ++B)
      Work.push_back(B);
    while (!Work.empty()) {
      unsigned Number = Work.front();
      Work.pop_front();
      Queued[Number] = 0;
      const Block &B = Blocks[Number];
      bool Changed = false;
      for (unsigned Bar = 0; Bar != 6; ++Bar) {
        std::vector<Pending> List;
        if (!Waits[Number][Bar])
          addPendingBefore(Number, Bar, AtEnd, List);
        for (Pending &In : List)
          In.Distance += B.End - B.Begin;
        List.insert(List.end(), Own[Number][Bar].begin(), Own[Number][Bar].end());
        keepNearest(List);
        auto Same = [](const Pending &X, const Pending &Y) {
          return X.Index == Y.Index && X.Distance == Y.Distance;
        };
        if (!llvm::equal(List, AtEnd[Number][Bar], Same)) {
          AtEnd[Number][Bar] = std::move(List);
          Changed = true;
        }
      }
      if (!Changed)
        continue;
      auto Queue = [&](unsigned S) {
        if (!Queued[S]) {
          Queued[S] = 1;
          Work.push_back(S);
        }
      };
      for (unsigned S : B.Succs)
        Queue(S);
      if (B.Callee != None)
        Queue(Routines[B.Callee].Entry);
      for (unsigned R : ReturnOf[Number])
        for (unsigned Call : Routines[R].Calls)
          for (unsigned S : Blocks[Call].Succs)
            Queue(S);
    }
  });
  return Scoreboards->AtEnd;
}

std::vector<BlameGraph::Pending>
BlameGraph::settersFor(size_t Consumer, unsigned Barrier) const {
  std::vector<Pending> Setters;
  const Block &B = Blocks[BlockOf[Consumer]];
  for (size_t I = Consumer; I-- > B.Begin;) {
    if (setsBarrier(I, Barrier))
      Setters.push_back({I, unsigned(Consumer - I)});
    if (waitsOn(I, Barrier)) {
      keepNearest(Setters);
      return Setters;
    }
  }
  std::vector<Pending> Before;
  addPendingBefore(BlockOf[Consumer], Barrier, pendingAtEnd(), Before);
  for (Pending In : Before)
    Setters.push_back({In.Index, unsigned(In.Distance + Consumer - B.Begin)});
  keepNearest(Setters);
  return Setters;
}

/// A wait that leaves the \p Left youngest settings pending: its producers are the
/// older ones. Walks the states (block, younger settings seen, how many older ones
/// an earlier counted wait allows), which are few because the counts are.
std::vector<BlameGraph::Pending>
BlameGraph::countedSetters(size_t Consumer, unsigned Barrier, unsigned Left) const {
  struct State {
    unsigned Block;
    size_t Last;
    unsigned Younger, Allowed, Distance;
  };
  constexpr unsigned Unlimited = ~0u;
  std::vector<Pending> Setters;
  std::set<std::tuple<unsigned, unsigned, unsigned>> Seen;
  std::deque<State> Work{{BlockOf[Consumer], Consumer, 0, Unlimited, 0}};
  size_t Visited = 0;
  while (!Work.empty() && Visited < CountedWalkLimit) {
    State S = Work.front();
    Work.pop_front();
    const Block &B = Blocks[S.Block];
    bool Stopped = false;
    for (size_t I = S.Last; I-- > B.Begin && !Stopped;) {
      ++Visited;
      if (setsBarrier(I, Barrier)) {
        if (S.Allowed == 0) {
          Stopped = true;
          break;
        }
        if (S.Younger >= Left)
          Setters.push_back({I, S.Distance + unsigned(S.Last - I)});
        else
          ++S.Younger;
        if (S.Allowed != Unlimited)
          --S.Allowed;
      }
      if (Code[I].CountedBarrier == Barrier)
        S.Allowed = std::min(S.Allowed, Code[I].CountedMax);
      Stopped = waitsOn(I, Barrier);
    }
    if (Stopped)
      continue;
    for (unsigned P : B.Preds)
      if (Seen.insert({P, S.Younger, S.Allowed}).second)
        Work.push_back({P, Blocks[P].End, S.Younger, S.Allowed,
                        S.Distance + unsigned(S.Last - B.Begin)});
  }
  keepNearest(Setters);
  return Setters;
}

std::vector<BlameGraph::Pending>
BlameGraph::asyncCopiesOf(const Pending &Commit) const {
  std::vector<Pending> Copies;
  walkBack(Commit.Index, 512, [&](size_t I, unsigned Distance) {
    if (isCommit(Code[I]))
      return Step::Stop;
    if (Code[I].Class == InstrClass::AsyncCopy)
      Copies.push_back({I, Commit.Distance + Distance});
    return Step::Continue;
  });
  return Copies;
}

/// Does a result of this class arrive with \p Reason? Measured: LDC and S2R count as
/// short scoreboard.
static bool arrivesAs(const Instruction &I, llvm::StringRef Reason) {
  bool Long = false;
  switch (I.Class) {
  case InstrClass::GlobalLoad:
  case InstrClass::GlobalStore:
  case InstrClass::LocalLoad:
  case InstrClass::LocalStore:
  case InstrClass::Texture:
  case InstrClass::AsyncCopy:
    Long = true;
    break;
  case InstrClass::Atomic:
    Long = !llvm::StringRef(I.Mnemonic).starts_with("ATOMS");
    break;
  default:
    break;
  }
  return Long == (Reason != "short_scoreboard");
}

/// Loads of one queue return in order, so only the last of a group may carry the
/// barrier (LDS, LDS with barrier 1, wait on 1): adds the earlier ones of the block
/// whose result the consumer reads.
void BlameGraph::addInOrder(size_t Consumer, std::vector<Pending> &Setters) const {
  std::vector<Pending> More;
  for (const Pending &S : Setters) {
    size_t Begin = Blocks[BlockOf[S.Index]].Begin;
    if (Code[S.Index].Class != InstrClass::SharedLoad)
      continue;
    for (size_t I = S.Index; I-- > Begin && S.Index - I <= 16;) {
      if (Code[I].Class != InstrClass::SharedLoad)
        continue;
      if (Code[I].WriteBarrier != NoBarrier)
        break;
      if (feeds(I, Consumer))
        More.push_back({I, S.Distance + unsigned(S.Index - I)});
    }
  }
  Setters.insert(Setters.end(), More.begin(), More.end());
  keepNearest(Setters);
}

BlameResult BlameGraph::blameScoreboard(size_t Consumer,
                                        llvm::StringRef Reason) const {
  const Instruction &C = Code[Consumer];
  std::vector<Pending> Writers, Readers, Others;
  unsigned Mask = C.WaitMask;
  auto Sort = [&](const Pending &P, unsigned Barrier) {
    const Instruction &I = Code[P.Index];
    if (isCommit(I))
      llvm::append_range(Writers, asyncCopiesOf(P));
    else if (!arrivesAs(I, Reason))
      Others.push_back(P);
    else if (I.WriteBarrier == Barrier)
      Writers.push_back(P);
    else
      Readers.push_back(P);
  };
  if (C.CountedBarrier != NoBarrier)
    for (const Pending &P : countedSetters(Consumer, C.CountedBarrier, C.CountedMax))
      Sort(P, C.CountedBarrier);
  for (unsigned Barrier = 0; Barrier != 6; ++Barrier)
    if (Mask & (1u << Barrier))
      for (const Pending &P : settersFor(Consumer, Barrier))
        Sort(P, Barrier);
  addInOrder(Consumer, Writers);
  // A read barrier frees registers that the consumer overwrites; that wait is short
  // beside a result that is pending too.
  BlameResult Result;
  std::vector<Pending> &Chosen =
      !Writers.empty() ? Writers : !Readers.empty() ? Readers : Others;
  keepNearest(Chosen);
  bool Confirmed = false;
  for (const Pending &P : Chosen) {
    Result.Producers.push_back({P.Index, 0, P.Distance, feeds(P.Index, Consumer)});
    Confirmed |= Result.Producers.back().Confirmed;
  }
  Result.Confidence = Chosen.empty()          ? 0
                      : &Chosen == &Others    ? 0.5
                      : &Chosen == &Readers   ? 0.8
                      : Confirmed             ? 1
                                              : 0.9;
  if (Chosen.empty())
    Result.UnresolvedWhy =
        Mask || C.CountedBarrier != NoBarrier
            ? "no instruction sets the scoreboard that is waited on"
            : "the instruction waits on no scoreboard";
  return Result;
}

} // namespace optimas
