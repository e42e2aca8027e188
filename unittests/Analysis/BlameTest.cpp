//===- BlameTest.cpp - Producers on hand-made graphs ------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Blame.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {
/// Assembles a function of what blame looks at; offsets are 16 apart.
struct Asm {
  std::vector<Instruction> Code;

  Instruction &add(InstrClass C, std::vector<uint8_t> Defs = {},
                   std::vector<uint8_t> Uses = {}) {
    Instruction I;
    I.Offset = 16 * Code.size();
    I.Class = C;
    I.Defs = std::move(Defs);
    I.Uses = std::move(Uses);
    Code.push_back(I);
    return Code.back();
  }
  Instruction &load(uint8_t To, unsigned Barrier) {
    Instruction &I = add(InstrClass::GlobalLoad, {To}, {2});
    I.WriteBarrier = Barrier;
    return I;
  }
  Instruction &use(std::vector<uint8_t> Registers, unsigned Mask) {
    Instruction &I = add(InstrClass::Other, {9}, std::move(Registers));
    I.WaitMask = Mask;
    return I;
  }
  Instruction &branch(size_t To, bool Conditional) {
    Instruction &I = add(InstrClass::Branch);
    I.Target = 16 * To;
    I.Predicate = Conditional ? 0 : 7;
    return I;
  }
  Instruction &exit(bool Conditional = false) {
    Instruction &I = add(InstrClass::Exit);
    I.Predicate = Conditional ? 0 : 7;
    return I;
  }
};

std::vector<size_t> producers(const BlameGraph &G, size_t Consumer,
                              llvm::StringRef Reason) {
  std::vector<size_t> Indices;
  for (const BlamedInstruction &P : G.blame(Consumer, Reason).Producers)
    Indices.push_back(P.Index);
  llvm::sort(Indices);
  return Indices;
}

using Indices = std::vector<size_t>;

TEST(Blame, EverySetterOfABarrierIsAProducer) {
  Asm A;
  A.load(3, 3);
  A.load(4, 3);
  A.use({3, 4}, 1 << 3);
  A.exit();
  BlameGraph G(A.Code);
  BlameResult R = G.blame(2, "long_scoreboard");
  ASSERT_EQ(R.Producers.size(), 2u);
  EXPECT_EQ(R.Producers[0].Index, 1u);
  EXPECT_EQ(R.Producers[0].Distance, 1u);
  EXPECT_NEAR(R.Producers[0].Share, 2.0 / 3, 1e-12);
  EXPECT_NEAR(R.Producers[1].Share, 1.0 / 3, 1e-12);
  EXPECT_TRUE(R.Producers[0].Confirmed);
  EXPECT_EQ(R.Confidence, 1);
}

TEST(Blame, AWaitEndsTheSearch) {
  Asm A;
  A.load(3, 3);
  A.use({3}, 1 << 3);
  A.load(4, 3);
  A.use({4}, 1 << 3);
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 3, "long_scoreboard"), Indices{2});
  EXPECT_EQ(producers(G, 1, "long_scoreboard"), Indices{0});
}

TEST(Blame, AnInstructionMayWaitAndSetTheSameBarrier) {
  Asm A;
  A.load(3, 0);
  A.load(4, 0).WaitMask = 1;
  A.use({4}, 1);
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 2, "long_scoreboard"), Indices{1});
}

// The shape of topkHits: one load before the loop, one in it, one wait for both.
TEST(Blame, LoopCarriedAndInvariantLoads) {
  Asm A;
  A.load(9, 5);             // 0: before the loop
  A.load(6, 3);             // 1: loop
  A.use({6, 9}, 0b101000);  // 2
  A.branch(1, true);        // 3
  A.exit();                 // 4
  BlameGraph G(A.Code);
  EXPECT_TRUE(G.inSameLoop(1, 3));
  EXPECT_FALSE(G.inLoop(0));
  EXPECT_EQ(producers(G, 2, "long_scoreboard"), (Indices{0, 1}));
  std::vector<uint64_t> Executed{1, 40, 40, 40, 1};
  BlameResult R = G.blame(2, "long_scoreboard", Executed);
  EXPECT_EQ(R.Producers.front().Index, 1u);
  EXPECT_GT(R.Producers.front().Share, 0.98);
  // Without counts the loop still outweighs what runs once.
  EXPECT_GT(G.blame(2, "long_scoreboard").Producers.front().Share, 0.9);
}

TEST(Blame, SettersOnBothArms) {
  Asm A;
  A.branch(3, true); // 0
  A.load(3, 1);      // 1
  A.branch(4, false);// 2
  A.load(3, 1);      // 3
  A.use({3}, 2);     // 4
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 4, "long_scoreboard"), (Indices{1, 3}));
  EXPECT_EQ(G.successors()[0].size(), 2u);
  EXPECT_EQ(G.successors()[2], std::vector<size_t>{4});
}

TEST(Blame, SetterAroundTheBackEdge) {
  Asm A;
  A.use({3}, 1 << 2); // 0: loop head waits for the last iteration's load
  A.load(3, 2);       // 1
  A.branch(0, true);  // 2
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 0, "long_scoreboard"), Indices{1});
}

TEST(Blame, PredicatedExitFallsThroughAndAPlainOneDoesNot) {
  Asm A;
  A.load(3, 0);
  A.exit(true);
  A.load(4, 0);
  A.exit();
  A.use({3}, 1);
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(G.successors()[1], std::vector<size_t>{2});
  EXPECT_TRUE(G.successors()[3].empty());
  EXPECT_TRUE(G.blame(4, "long_scoreboard").Producers.empty());
  EXPECT_FALSE(G.blame(4, "long_scoreboard").UnresolvedWhy.empty());
}

TEST(Blame, ReasonChoosesAmongBarriers) {
  Asm A;
  A.load(3, 0);
  A.add(InstrClass::SharedLoad, {4}).WriteBarrier = 1;
  A.use({3, 4}, 0b11);
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 2, "long_scoreboard"), Indices{0});
  EXPECT_EQ(producers(G, 2, "short_scoreboard"), Indices{1});
}

TEST(Blame, ReadBarriersComeSecond) {
  Asm A;
  A.add(InstrClass::GlobalStore, {}, {4}).ReadBarrier = 0;
  A.load(5, 1);
  A.use({5}, 0b11);                           // waits for both
  A.add(InstrClass::GlobalStore, {}, {7}).ReadBarrier = 2;
  A.add(InstrClass::Other, {7}).WaitMask = 4; // overwrites the stored register
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 2, "long_scoreboard"), Indices{1});
  BlameResult R = G.blame(4, "long_scoreboard");
  ASSERT_EQ(R.Producers.size(), 1u);
  EXPECT_EQ(R.Producers[0].Index, 3u);
  EXPECT_LT(R.Confidence, 0.9);
}

TEST(Blame, LoadsThatReturnInOrderShareABarrier) {
  Asm A;
  A.add(InstrClass::SharedLoad, {6});
  A.add(InstrClass::SharedLoad, {7}).WriteBarrier = 1;
  A.use({6, 7}, 2);
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 2, "short_scoreboard"), (Indices{0, 1}));
}

Instruction &depbar(Asm &A, unsigned Barrier, unsigned Left) {
  Instruction &I = A.add(InstrClass::ScoreboardWait);
  I.CountedBarrier = Barrier;
  I.CountedMax = Left;
  return I;
}

TEST(Blame, ACountedWaitLeavesTheYoungestPending) {
  Asm A;
  for (unsigned I = 0; I != 4; ++I)
    A.load(3 + I, 0);
  depbar(A, 0, 1); // 4: the first three
  depbar(A, 0, 0); // 5: the last one
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 4, "long_scoreboard"), (Indices{0, 1, 2}));
  EXPECT_EQ(producers(G, 5, "long_scoreboard"), Indices{3});
}

TEST(Blame, CommitsStandForTheirAsyncCopies) {
  Asm A;
  for (unsigned I = 0; I != 2; ++I) {
    A.add(InstrClass::AsyncCopy); // 0, 2
    Instruction &Commit = A.add(InstrClass::AsyncCopy);
    Commit.Opcode = 0x9af;
    Commit.WriteBarrier = 0; // 1, 3
  }
  depbar(A, 0, 1); // 4
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 4, "long_scoreboard"), Indices{0});
}

TEST(Blame, FixedLatencyGoesToTheInstructionBefore) {
  Asm A;
  A.add(InstrClass::Other, {1}, {2});
  A.add(InstrClass::Other, {3}, {4});
  A.add(InstrClass::Other, {5}, {1}); // reads the one two before
  A.add(InstrClass::Other, {6}, {5});
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 2, "wait"), Indices{0});
  EXPECT_EQ(producers(G, 3, "wait"), Indices{2});
  EXPECT_TRUE(producers(G, 0, "wait").empty());
}

TEST(Blame, BarrierNamesTheBarBeforeAndItsWork) {
  Asm A;
  A.add(InstrClass::Barrier);
  A.load(3, 0);
  A.use({3}, 1);
  A.add(InstrClass::Barrier);
  A.add(InstrClass::SharedLoad, {4}, {1});
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 4, "barrier"), Indices{3});
  EXPECT_EQ(G.workBefore(3), (Indices{2, 1}));
}

// transposeNaive: samples of `drain` lie on the dead branch after the exit.
TEST(Blame, DrainGoesToTheStoresThatReachTheExit) {
  Asm A;
  A.exit(true);
  A.add(InstrClass::GlobalStore, {}, {3});
  A.exit();
  A.branch(3, false);
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 3, "drain"), Indices{1});
  EXPECT_EQ(producers(G, 2, "drain"), Indices{1});
  // After the first exit: nothing stored yet.
  EXPECT_EQ(producers(G, 1, "drain"), Indices{0});
}

TEST(Blame, WarpsBehindAnExitThatOthersPassWaitAtTheExit) {
  Asm A;
  A.exit(true);             // 0
  A.add(InstrClass::Other); // 1
  A.exit(true);             // 2
  A.add(InstrClass::Other); // 3: also the target of 4
  A.branch(3, true);        // 4
  A.exit();                 // 5
  A.add(InstrClass::Other); // 6
  BlameGraph G(A.Code);
  EXPECT_EQ(G.waiting(1, "drain"), 0u);
  EXPECT_EQ(G.waiting(1, "branch_resolving"), 0u);
  EXPECT_EQ(G.waiting(1, "wait"), 1u);
  EXPECT_EQ(G.waiting(0, "drain"), 0u);
  EXPECT_EQ(G.waiting(3, "drain"), 2u);
  EXPECT_EQ(G.waiting(3, "branch_resolving"), 3u); // perhaps of the branch
  EXPECT_EQ(G.waiting(6, "drain"), 6u);
  EXPECT_EQ(G.waiting(99, "drain"), 99u);
}

TEST(Blame, ThrottleGoesToTheQueueOfTheLoop) {
  Asm A;
  A.load(2, 0);             // 0: outside
  A.load(3, 0);             // 1: loop
  A.add(InstrClass::Other); // 2
  A.load(4, 0);             // 3
  A.branch(1, true);        // 4
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 3, "lg_throttle"), (Indices{1, 3}));
  EXPECT_EQ(producers(G, 0, "lg_throttle"), Indices{0});
}

TEST(Blame, BranchAndFetchReasons) {
  Asm A;
  A.branch(2, true);
  A.add(InstrClass::Other);
  A.add(InstrClass::Other);
  A.exit();
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 1, "branch_resolving"), Indices{0});
  EXPECT_EQ(producers(G, 2, "no_instructions"), Indices{2});
  EXPECT_EQ(producers(G, 2, "imc_miss"), Indices{2});
  EXPECT_FALSE(isStall("selected"));
  EXPECT_FALSE(isStall("not_selected"));
  EXPECT_TRUE(isStall("wait"));
}

TEST(Blame, IndirectBranchesReachWhatNothingElseDoes) {
  Asm A;
  A.load(3, 0);                  // 0
  A.add(InstrClass::Branch);     // 1: BRX
  A.use({3}, 1);                 // 2: a case
  A.exit();                      // 3
  A.use({3}, 1);                 // 4: another
  A.exit();                      // 5
  A.add(InstrClass::Nop);
  BlameGraph G(A.Code);
  EXPECT_EQ(producers(G, 2, "long_scoreboard"), Indices{0});
  EXPECT_EQ(producers(G, 4, "long_scoreboard"), Indices{0});
  EXPECT_TRUE(G.predecessors()[6].empty());
}

TEST(Blame, OutOfRangeAndEmptyAreAnswered) {
  BlameGraph Empty{llvm::ArrayRef<Instruction>()};
  EXPECT_FALSE(Empty.blame(0, "wait").UnresolvedWhy.empty());
  Asm A;
  A.use({3}, 1);
  BlameGraph G(A.Code);
  EXPECT_EQ(G.blame(0, "long_scoreboard").Producers.size(), 0u);
  EXPECT_EQ(G.blame(7, "drain").Producers.size(), 0u);
  EXPECT_EQ(G.indexOf(8), std::nullopt);
}

// 100,000 instructions in 25,000 diamonds, a pending load before all of them: the
// naive search from every consumer would visit 10^9 instructions.
TEST(Blame, LargeFunctionsStayTractable) {
  Asm A;
  A.load(3, 5);
  for (unsigned I = 0; I != 25000; ++I) {
    A.branch(A.Code.size() + 2, true);
    A.load(4, I % 5);
    A.use({4}, 1u << (I % 5));
    A.use({9}, 0);
  }
  A.use({3}, 1 << 5);
  A.exit();
  BlameGraph G(A.Code);
  size_t Resolved = 0;
  for (size_t I = 0; I != A.Code.size(); ++I)
    Resolved += !G.blame(I, "long_scoreboard").Producers.empty();
  EXPECT_GE(Resolved, 25001u);
  EXPECT_EQ(producers(G, A.Code.size() - 2, "long_scoreboard"), Indices{0});
}

} // namespace
