//===- ControlFlow.cpp - Blocks, edges and cycles of SASS code --*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Blame.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <queue>

namespace optimas {

namespace {
constexpr unsigned OpBra = 0x947, OpBrx = 0x949, OpJmx = 0x94c, OpRet = 0x950;
} // namespace

static bool isReturn(const Instruction &I) {
  return I.Opcode == OpRet || llvm::StringRef(I.Mnemonic).starts_with("RET");
}

static bool isIndirect(const Instruction &I) {
  return I.Class == InstrClass::Branch &&
         (!I.Target || I.Opcode == OpBrx || I.Opcode == OpJmx);
}

static bool endsBlock(const Instruction &I) {
  return I.Class == InstrClass::Branch || I.Class == InstrClass::Exit ||
         I.Class == InstrClass::Call;
}

/// A second predicate of BRA and EXIT (bits 87–90, 7 = always), and the .DIV and
/// .CONV forms (bits 91–92), which go on when the warp does not agree.
static bool hasHiddenCondition(const Instruction &I) {
  if (!I.Hi)
    return false; // made from text
  if (((I.Hi >> 23) & 0xf) != 7)
    return true;
  return I.Class == InstrClass::Branch && ((I.Hi >> 27) & 3);
}

bool BlameGraph::fallsThrough(size_t Index) const {
  const Instruction &I = Code[Index];
  if (I.Class == InstrClass::Exit)
    return I.isConditional() || hasHiddenCondition(I);
  if (I.Class == InstrClass::Call)
    return !isReturn(I) || I.isConditional();
  if (I.Class != InstrClass::Branch)
    return true;
  if (I.isConditional() || hasHiddenCondition(I))
    return true;
  // The uniform-predicate forms keep their condition elsewhere: an edge too many
  // only widens the answer.
  return I.Opcode != 0 && I.Opcode != OpBra && !isIndirect(I);
}

std::optional<size_t> BlameGraph::indexOf(uint64_t Offset) const {
  auto It = llvm::lower_bound(
      Code, Offset, [](const Instruction &I, uint64_t O) { return I.Offset < O; });
  if (It == Code.end() || It->Offset != Offset)
    return std::nullopt;
  return It - Code.begin();
}

void BlameGraph::findTargets(std::vector<char> &Leader) {
  Leader.assign(Code.size() + 1, 0);
  Leader[0] = 1;
  for (auto [Index, I] : llvm::enumerate(Code)) {
    if (!endsBlock(I))
      continue;
    Leader[Index + 1] = 1;
    if (I.Target && !isIndirect(I) && !isReturn(I))
      if (std::optional<size_t> To = indexOf(*I.Target))
        Leader[*To] = 1;
  }
}

void BlameGraph::connectBlocks() {
  auto Connect = [&](unsigned From, unsigned To) {
    if (llvm::is_contained(Blocks[From].Succs, To))
      return;
    Blocks[From].Succs.push_back(To);
    Blocks[To].Preds.push_back(From);
  };
  std::vector<unsigned> Indirect;
  for (unsigned B = 0; B != Blocks.size(); ++B) {
    size_t Last = Blocks[B].End - 1;
    const Instruction &I = Code[Last];
    if (I.Class == InstrClass::Branch && I.Target && !isIndirect(I))
      if (std::optional<size_t> To = indexOf(*I.Target))
        Connect(B, BlockOf[*To]);
    if (fallsThrough(Last) && B + 1 != Blocks.size())
      Connect(B, B + 1);
    if (isIndirect(I))
      Indirect.push_back(B);
  }
  if (Indirect.empty())
    return;
  std::vector<char> Called(Blocks.size(), 0);
  for (const Instruction &I : Code)
    if (I.Class == InstrClass::Call && I.Target && !isReturn(I))
      if (std::optional<size_t> To = indexOf(*I.Target))
        Called[BlockOf[*To]] = 1;
  // Jump tables are not read: an indirect branch may go to every block that
  // nothing else leads to (the padding after the last exit aside).
  for (unsigned B = 1; B != Blocks.size(); ++B) {
    bool Padding = llvm::all_of(
        llvm::ArrayRef(Code).slice(Blocks[B].Begin, Blocks[B].End - Blocks[B].Begin),
        [](const Instruction &I) { return I.Class == InstrClass::Nop; });
    if (Blocks[B].Preds.empty() && !Padding && !Called[B])
      for (unsigned From : Indirect)
        Connect(From, B);
  }
}

/// Gathers what lies between the target of every direct CALL and the RETs that end
/// it. Edges over a CALL stand for what it calls.
void BlameGraph::findRoutines() {
  for (unsigned B = 0; B != Blocks.size(); ++B) {
    const Instruction &I = Code[Blocks[B].End - 1];
    if (I.Class != InstrClass::Call || isReturn(I) || !I.Target)
      continue;
    std::optional<size_t> To = indexOf(*I.Target);
    if (!To)
      continue;
    unsigned Entry = BlockOf[*To];
    if (Blocks[Entry].EntryOf == None) {
      Routine R{Entry, {}, {}, {}, {}};
      std::vector<char> Seen(Blocks.size(), 0);
      std::vector<unsigned> Work{Entry};
      Seen[Entry] = 1;
      while (!Work.empty()) {
        unsigned At = Work.back();
        Work.pop_back();
        R.Blocks.push_back(At);
        if (isReturn(Code[Blocks[At].End - 1]))
          R.Returns.push_back(At);
        for (unsigned S : Blocks[At].Succs)
          if (!Seen[S]) {
            Seen[S] = 1;
            Work.push_back(S);
          }
      }
      if (R.Returns.empty())
        continue; // never comes back: a trap
      Blocks[Entry].EntryOf = Routines.size();
      for (unsigned At : R.Blocks)
        if (Blocks[At].RoutineId == None)
          Blocks[At].RoutineId = Routines.size();
      Routines.push_back(std::move(R));
    }
    Blocks[B].Callee = Blocks[Entry].EntryOf;
    Routines[Blocks[B].Callee].Calls.push_back(B);
  }
  for (unsigned R = 0; R != Routines.size(); ++R) {
    std::vector<unsigned> &Callees = Routines[R].Callees;
    Callees.push_back(R);
    for (size_t Next = 0; Next != Callees.size(); ++Next)
      for (unsigned B : Routines[Callees[Next]].Blocks)
        if (unsigned Callee = Blocks[B].Callee;
            Callee != None && !llvm::is_contained(Callees, Callee))
          Callees.push_back(Callee);
  }
}

/// A routine runs in the loop of its calls, when they have one in common.
void BlameGraph::placeRoutinesInCycles() {
  bool Changed = true;
  for (size_t Round = 0; Changed && Round <= Routines.size(); ++Round) {
    Changed = false;
    for (const Routine &R : Routines) {
      unsigned Cycle = Blocks[R.Calls.front()].Cycle;
      if (Cycle == None || llvm::any_of(R.Calls, [&](unsigned B) {
            return Blocks[B].Cycle != Cycle;
          }))
        continue;
      for (unsigned B : R.Blocks)
        if (Blocks[B].Cycle == None) {
          Blocks[B].Cycle = Cycle;
          Changed = true;
        }
    }
  }
}

std::vector<size_t> BlameGraph::callsTo(size_t Index) const {
  std::vector<size_t> Calls;
  if (unsigned R = Blocks[BlockOf[Index]].RoutineId; R != None)
    for (unsigned B : Routines[R].Calls)
      Calls.push_back(Blocks[B].End - 1);
  return Calls;
}

uint64_t BlameGraph::loopBytes(size_t Index) const {
  unsigned Cycle = Blocks[BlockOf[Index]].Cycle;
  return Cycle == None ? 0 : CycleBytes[Cycle];
}

/// Tarjan's algorithm with an explicit stack.
void BlameGraph::findCycles() {
  size_t N = Blocks.size();
  std::vector<unsigned> Number(N, None), Low(N, 0), Stack;
  std::vector<char> OnStack(N, 0);
  struct Frame {
    unsigned Block;
    unsigned Next;
  };
  unsigned Count = 0, Cycles = 0;
  for (unsigned Root = 0; Root != N; ++Root) {
    if (Number[Root] != None)
      continue;
    std::vector<Frame> Frames{{Root, 0}};
    while (!Frames.empty()) {
      unsigned B = Frames.back().Block;
      if (Frames.back().Next == 0) {
        Number[B] = Low[B] = Count++;
        Stack.push_back(B);
        OnStack[B] = 1;
      }
      if (Frames.back().Next < Blocks[B].Succs.size()) {
        unsigned S = Blocks[B].Succs[Frames.back().Next++];
        if (Number[S] == None)
          Frames.push_back({S, 0});
        else if (OnStack[S])
          Low[B] = std::min(Low[B], Number[S]);
        continue;
      }
      Frames.pop_back();
      if (!Frames.empty()) {
        unsigned &Up = Low[Frames.back().Block];
        Up = std::min(Up, Low[B]);
      }
      if (Low[B] != Number[B])
        continue;
      bool Cycle = Stack.back() != B || llvm::is_contained(Blocks[B].Succs, B);
      unsigned Member;
      do {
        Member = Stack.back();
        Stack.pop_back();
        OnStack[Member] = 0;
        if (Cycle)
          Blocks[Member].Cycle = Cycles;
      } while (Member != B);
      Cycles += Cycle;
    }
  }
}

void BlameGraph::build() {
  Preds.resize(Code.size());
  Succs.resize(Code.size());
  if (Code.empty())
    return;
  llvm::StringMap<llvm::StringRef> PipeOf; // few names, many instructions
  for (const Instruction &I : Code) {
    auto [It, New] = PipeOf.try_emplace(I.Mnemonic);
    if (New)
      It->second = pipeOf(I.Mnemonic);
    Pipes.push_back(It->second);
  }
  std::vector<char> Leader;
  findTargets(Leader);
  BlockOf.resize(Code.size());
  for (size_t I = 0; I != Code.size(); ++I) {
    if (Leader[I]) {
      Blocks.emplace_back();
      Blocks.back().Begin = I;
    }
    Blocks.back().End = I + 1;
    BlockOf[I] = Blocks.size() - 1;
  }
  connectBlocks();
  findRoutines();
  findCycles();
  placeRoutinesInCycles();
  for (const Block &B : Blocks)
    if (B.Cycle != None) {
      CycleBytes.resize(std::max<size_t>(CycleBytes.size(), B.Cycle + 1));
      CycleBytes[B.Cycle] += 16 * (B.End - B.Begin);
    }
  connectInstructions();
}

void BlameGraph::connectInstructions() {
  auto Connect = [&](size_t From, size_t To) {
    if (llvm::is_contained(Succs[From], To))
      return;
    Succs[From].push_back(To);
    Preds[To].push_back(From);
  };
  for (const Block &B : Blocks) {
    size_t Last = B.End - 1;
    for (size_t I = B.Begin; I != Last; ++I)
      Connect(I, I + 1);
    bool Returns = B.Callee != None && !Code[Last].isConditional();
    for (unsigned S : B.Succs)
      if (!Returns)
        Connect(Last, Blocks[S].Begin);
    if (B.Callee == None)
      continue;
    const Routine &R = Routines[B.Callee];
    Connect(Last, Blocks[R.Entry].Begin);
    for (unsigned S : B.Succs)
      for (unsigned From : R.Returns)
        Connect(Blocks[From].End - 1, Blocks[S].Begin);
  }
}

BlameGraph::BlameGraph(llvm::ArrayRef<Instruction> Instructions)
    : Code(Instructions.begin(), Instructions.end()) {
  for (const Instruction &I : Code) {
    Defs.emplace_back(I.Defs.begin(), I.Defs.end());
    Uses.emplace_back(I.Uses.begin(), I.Uses.end());
  }
  build();
}

/// Branch targets are printed as absolute addresses there. A function ends in a
/// branch to itself after its last exit, which gives the base away; else the
/// targets are offsets already, or nothing is known of them.
static uint64_t codeBase(llvm::ArrayRef<SassText> Texts) {
  for (size_t I = Texts.size(); I-- > 1;) {
    const SassText &T = Texts[I];
    if (T.PrintedTarget && *T.PrintedTarget >= T.Instr.Offset &&
        !T.Instr.isConditional() && Texts[I - 1].Instr.Class == InstrClass::Exit &&
        (I + 1 == Texts.size() || Texts[I + 1].Instr.Class == InstrClass::Nop))
      return *T.PrintedTarget - T.Instr.Offset;
  }
  return 0;
}

BlameGraph BlameGraph::fromSassText(llvm::ArrayRef<PcSample> Pcs) {
  BlameGraph G;
  G.FromText = true;
  std::vector<SassText> Texts;
  for (const PcSample &Pc : Pcs)
    Texts.push_back(parseSass(Pc.Sass, Pc.Offset));
  uint64_t End = Pcs.empty() ? 0 : Pcs.back().Offset + 16;
  uint64_t Base = codeBase(Texts);
  for (SassText &T : Texts) {
    if (T.PrintedTarget && *T.PrintedTarget >= Base && *T.PrintedTarget - Base < End)
      T.Instr.Target = *T.PrintedTarget - Base;
    G.Code.push_back(std::move(T.Instr));
    G.Defs.push_back(std::move(T.Defs));
    G.Uses.push_back(std::move(T.Uses));
  }
  G.build();
  return G;
}

bool BlameGraph::inLoop(size_t Index) const {
  return Blocks[BlockOf[Index]].Cycle != None;
}

bool BlameGraph::inSameLoop(size_t A, size_t B) const {
  return inLoop(A) && Blocks[BlockOf[A]].Cycle == Blocks[BlockOf[B]].Cycle;
}

void BlameGraph::walkBack(size_t From, size_t Limit, Visitor Visit) const {
  using Item = std::pair<unsigned, unsigned>; // distance at the block's end, block
  std::priority_queue<Item, std::vector<Item>, std::greater<>> Queue;
  llvm::DenseSet<unsigned> Seen;
  size_t Visited = 0;
  // Scans [Begin, Last) backward; true when the path goes on above Begin.
  auto Scan = [&](size_t Begin, size_t Last, unsigned Distance) {
    for (size_t I = Last; I-- > Begin;) {
      if (++Visited > Limit || Visit(I, Distance + (Last - I)) == Step::Stop)
        return false;
    }
    return true;
  };
  // Out of a routine into its callers; a walk that began outside does not enter one.
  auto PushPreds = [&](const Block &B, unsigned Distance) {
    for (unsigned P : B.Preds)
      if (!Seen.contains(P))
        Queue.push({Distance, P});
    if (B.EntryOf != None)
      for (unsigned P : Routines[B.EntryOf].Calls)
        if (!Seen.contains(P))
          Queue.push({Distance, P});
  };
  const Block &Own = Blocks[BlockOf[From]];
  if (Scan(Own.Begin, From, 0))
    PushPreds(Own, From - Own.Begin);
  while (!Queue.empty() && Visited <= Limit) {
    auto [Distance, Index] = Queue.top();
    Queue.pop();
    if (!Seen.insert(Index).second)
      continue;
    const Block &B = Blocks[Index];
    // Around a loop into the block it started in: its first part is seen already.
    if (&B == &Own)
      Scan(From, B.End, Distance);
    else if (Scan(B.Begin, B.End, Distance))
      PushPreds(B, Distance + (B.End - B.Begin));
  }
}

} // namespace optimas
