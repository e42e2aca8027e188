// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Recorded.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

static Instruction at(StringRef Program, StringRef Symbol, uint64_t Offset) {
  Cubin C = recordedCubin(Program);
  const CubinFunction *F = C.function(Symbol);
  EXPECT_TRUE(F);
  return C.instructions(*F)[Offset / 16];
}

static const char *const TopkHits = "_Z8topkHitsiiiPKfPKiPi";
static const char *const AddFloat = "_Z3addIfEvPKT_S2_PS0_i";
static const char *const DotFloat = "_Z3dotIfEvPKT_S2_PS0_i";

using Registers = std::vector<uint8_t>;

TEST(Sass, ALoadSetsABarrierAndItsConsumerWaits) {
  Instruction Load = at("topk", TopkHits, 0x230); // LDG.E R6, desc[UR6][R6.64]
  EXPECT_EQ(Load.Class, InstrClass::GlobalLoad);
  EXPECT_EQ(Load.Mnemonic, "LDG");
  EXPECT_EQ(Load.WriteBarrier, 3u);
  EXPECT_EQ(Load.AccessBytes, 4u);
  EXPECT_EQ(Load.Defs, Registers({6}));
  EXPECT_EQ(Load.Uses, Registers({6, 7}));
  Instruction Hoisted = at("topk", TopkHits, 0x1d0);
  EXPECT_EQ(Hoisted.WriteBarrier, 5u);
  Instruction Compare = at("topk", TopkHits, 0x260); // FSETP.GT.AND P2, PT, R6, R9, PT
  EXPECT_EQ(Compare.Mnemonic, "FSETP");
  EXPECT_EQ(Compare.WaitMask, (1u << 3) | (1u << 5));
  EXPECT_EQ(Compare.Uses, Registers({6, 9}));
  EXPECT_TRUE(Compare.Defs.empty());
}

TEST(Sass, TwoLoadsShareABarrier) {
  EXPECT_EQ(at("stream", AddFloat, 0xd0).WriteBarrier, 3u);
  EXPECT_EQ(at("stream", AddFloat, 0xf0).WriteBarrier, 3u);
  EXPECT_EQ(at("stream", DotFloat, 0x180).WriteBarrier, 2u);
  EXPECT_EQ(at("stream", DotFloat, 0x190).WriteBarrier, 2u);
}

TEST(Sass, BranchesAndGuards) {
  Instruction Back = at("topk", TopkHits, 0x2d0); // @!P2 BRA 0x210
  EXPECT_EQ(Back.Class, InstrClass::Branch);
  EXPECT_EQ(Back.Target, 0x210u);
  EXPECT_EQ(Back.Predicate, 2u);
  EXPECT_TRUE(Back.PredicateNegated);
  Instruction Scope = at("topk", TopkHits, 0x160); // BSSY B0, 0x2f0
  EXPECT_EQ(Scope.Class, InstrClass::Convergence);
  EXPECT_EQ(Scope.Target, 0x2f0u);
}

TEST(Sass, WideOperandsListEachRegister) {
  Instruction Wide = at("topk", TopkHits, 0x130); // IMAD.WIDE R6, R5, 0x4, R6
  EXPECT_EQ(Wide.Defs, Registers({6, 7}));
  EXPECT_EQ(Wide.Uses, Registers({5, 6, 7}));
  Instruction Constant = at("topk", TopkHits, 0x100); // LDC.64 R6, c[0x0][0x228]
  EXPECT_EQ(Constant.Class, InstrClass::ConstantLoad);
  EXPECT_EQ(Constant.AccessBytes, 8u);
  EXPECT_EQ(Constant.Defs, Registers({6, 7}));
}

TEST(Sass, AnUnknownOpcodeKeepsItsNumber) {
  Instruction I = decodeInstruction(0, 0x7001, 0);
  EXPECT_EQ(I.Mnemonic, "op_0x1");
  EXPECT_EQ(I.Class, InstrClass::Other);
}
