//===- SassTextTest.cpp - Reading SASS text, slicing over it ----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Blame.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {
using Registers = std::vector<uint16_t>;

TEST(SassText, LoadsAndStores) {
  SassText T = parseSass("@!P1  LDG.E.64 R14, desc[UR6][R6.64+0x10]", 0x40);
  EXPECT_EQ(T.Instr.Class, InstrClass::GlobalLoad);
  EXPECT_EQ(T.Instr.Mnemonic, "LDG");
  EXPECT_EQ(T.Instr.AccessBytes, 8u);
  EXPECT_EQ(T.Instr.Predicate, 1u);
  EXPECT_TRUE(T.Instr.PredicateNegated);
  EXPECT_EQ(T.Defs, (Registers{14, 15}));
  EXPECT_EQ(T.Uses, (Registers{513, 256 + 6, 6, 7}));
  T = parseSass("STG.E.128 desc[UR4][R4.64], R8", 0);
  EXPECT_EQ(T.Instr.Class, InstrClass::GlobalStore);
  EXPECT_TRUE(T.Defs.empty());
  EXPECT_EQ(T.Uses, (Registers{260, 4, 5, 8, 9, 10, 11}));
  T = parseSass("LDS R6, [UR4+0x4]", 0);
  EXPECT_EQ(T.Instr.Class, InstrClass::SharedLoad);
  EXPECT_EQ(T.Instr.AccessBytes, 4u);
  EXPECT_EQ(parseSass("LDG.E.U8.CONSTANT R3, desc[UR4][R2.64]", 0).Instr.AccessBytes, 1u);
}

TEST(SassText, Arithmetic) {
  EXPECT_EQ(parseSass("FADD R9, R4, -R3", 0).Uses, (Registers{4, 3}));
  SassText T = parseSass("IMAD.WIDE R6, R5, 0x4, R6", 0);
  EXPECT_EQ(T.Defs, (Registers{6, 7}));
  EXPECT_EQ(T.Uses, (Registers{5, 6, 7}));
  T = parseSass("ISETP.GE.OR P0, PT, R0, UR6, P0", 0);
  EXPECT_EQ(T.Defs, Registers{512});
  EXPECT_EQ(T.Uses, (Registers{0, 262, 512}));
  T = parseSass("DFMA R4, R6, R8, R10", 0);
  EXPECT_EQ(T.Defs, (Registers{4, 5}));
  EXPECT_EQ(T.Uses, (Registers{6, 7, 8, 9, 10, 11}));
  T = parseSass("IADD3 R3, P0, R4, R5.reuse, RZ", 0);
  EXPECT_EQ(T.Defs, (Registers{3, 512}));
  EXPECT_EQ(T.Uses, (Registers{4, 5}));
  T = parseSass("S2UR UR5, SR_CgaCtaId", 0);
  EXPECT_EQ(T.Defs, Registers{261});
  EXPECT_TRUE(T.Uses.empty());
  T = parseSass("RED.E.ADD.STRONG.GPU desc[UR6][R2.64], R5", 0);
  EXPECT_EQ(T.Instr.Class, InstrClass::Atomic);
  EXPECT_TRUE(T.Defs.empty());
}

TEST(SassText, ControlFlow) {
  SassText T = parseSass("@P0   BRA 0x7f00fb7a06e0", 0);
  EXPECT_EQ(T.Instr.Class, InstrClass::Branch);
  EXPECT_TRUE(T.Instr.isConditional());
  EXPECT_EQ(T.PrintedTarget, 0x7f00fb7a06e0ull);
  EXPECT_FALSE(parseSass("BRA 0x40", 0).Instr.isConditional());
  EXPECT_TRUE(parseSass("BRA P1, 0x40", 0).Instr.isConditional());
  EXPECT_TRUE(parseSass("BRA.DIV UR4, 0x40", 0).Instr.isConditional());
  EXPECT_EQ(parseSass("EXIT", 0).Instr.Class, InstrClass::Exit);
  EXPECT_EQ(parseSass("BAR.SYNC.DEFER_BLOCKING 0x0", 0).Instr.Class, InstrClass::Barrier);
}

TEST(SassText, NonsenseIsHarmless) {
  for (const char *Text : {"", "@", "@!", ",,,", "LDG", "]]][[", "R1 R2", "@P9 X R999, P"})
    (void)parseSass(Text, 0);
  EXPECT_EQ(parseSass("\xff\xfe", 0).Instr.Class, InstrClass::Other);
  EXPECT_TRUE(parseSass("MOV R999, P77777777777777", 0).Defs.empty());
}

std::vector<PcSample> listing(std::vector<const char *> Lines) {
  std::vector<PcSample> Pcs;
  for (const char *Line : Lines) {
    PcSample Pc;
    Pc.Offset = 16 * Pcs.size();
    Pc.Sass = Line;
    Pcs.push_back(Pc);
  }
  return Pcs;
}

TEST(SassText, SliceFindsBothLoadsOfAnAddition) {
  BlameGraph G = BlameGraph::fromSassText(listing({
      "LDG.E R3, desc[UR4][R2.64]",
      "IMAD.WIDE R4, R9, 0x4, R4",
      "LDG.E R4, desc[UR4][R4.64]",
      "IMAD.WIDE R6, R9, 0x4, R6",
      "FADD R9, R4, R3",
      "STG.E desc[UR4][R6.64], R9",
      "EXIT",
      "BRA 0x7f75777a1070",
      "NOP",
  }));
  BlameResult R = G.blame(4, "long_scoreboard");
  ASSERT_EQ(R.Producers.size(), 2u);
  EXPECT_EQ(R.Producers[0].Index, 2u);
  EXPECT_EQ(R.Producers[1].Index, 0u);
  EXPECT_LE(R.Confidence, 0.6);
  // The dead branch after the exit is where drain is sampled; its target is itself.
  EXPECT_EQ(G.successors()[7], std::vector<size_t>{7});
  EXPECT_EQ(G.blame(7, "drain").Producers.at(0).Index, 5u);
}

TEST(SassText, SliceGoesAroundALoopByAbsoluteTargets) {
  BlameGraph G = BlameGraph::fromSassText(listing({
      "LDG.E R9, desc[UR6][R8.64]",            // 0
      "FSETP.GT.AND P2, PT, R6, R9, PT",       // 1: waits for the load at the loop's end
      "LDG.E R6, desc[UR6][R6.64]",            // 2
      "@!P2 BRA 0x7f0000000010",               // 3
      "EXIT",                                  // 4
      "BRA 0x7f0000000050",                    // 5
  }));
  EXPECT_TRUE(G.inSameLoop(1, 3));
  std::vector<size_t> Found;
  for (const BlamedInstruction &P : G.blame(1, "long_scoreboard").Producers)
    Found.push_back(P.Index);
  EXPECT_EQ(Found, (std::vector<size_t>{2, 0}));
}

TEST(SassText, WithoutTextNothingIsClaimed) {
  BlameGraph G = BlameGraph::fromSassText(listing({"", "", ""}));
  BlameResult R = G.blame(1, "long_scoreboard");
  EXPECT_TRUE(R.Producers.empty());
  EXPECT_FALSE(R.UnresolvedWhy.empty());
}

} // namespace
