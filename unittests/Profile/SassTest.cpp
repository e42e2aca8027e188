// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Recorded.h"
#include "llvm/ADT/StringSwitch.h"
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
  Instruction Compare =
      at("topk", TopkHits, 0x260); // FSETP.GT.AND P2, PT, R6, R9, PT
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
  Instruction Constant =
      at("topk", TopkHits, 0x100); // LDC.64 R6, c[0x0][0x228]
  EXPECT_EQ(Constant.Class, InstrClass::ConstantLoad);
  EXPECT_EQ(Constant.AccessBytes, 8u);
  EXPECT_EQ(Constant.Defs, Registers({6, 7}));
}

TEST(Sass, NamesUniformInstructionsAsCuobjdumpDoes) {
  // Opcodes and names of the comparison over CUB's code, docs/measurements.md.
  const std::pair<unsigned, const char *> Known[] = {
      {0x29b, "UBMSK"}, {0x89b, "UBMSK"}, {0x24a, "UVIMNMX"}, {0x84a, "UVIMNMX"},
      {0x3c2, "R2UR"},  {0x297, "UIADD3"}, {0x897, "UIADD3"}};
  for (auto [Opcode, Name] : Known)
    EXPECT_EQ(decodeInstruction(0, 0x7000 | Opcode, 0, 120).Mnemonic, Name);
  for (unsigned Sm : {75u, 80u})
    EXPECT_EQ(decodeInstruction(0, 0x798e, 0, Sm).Mnemonic, "RED");
  EXPECT_EQ(decodeInstruction(0, 0x798e, 0, 90).Mnemonic, "REDG");
}

TEST(Sass, AnUnknownOpcodeKeepsItsNumber) {
  Instruction I = decodeInstruction(0, 0x7001, 0);
  EXPECT_EQ(I.Mnemonic, "op_0x1");
  EXPECT_EQ(I.Class, InstrClass::Other);
}

/// The text after a guard: `@!P0 LDG.E R2, …` is `LDG.E R2, …`.
static StringRef afterGuard(StringRef Text) {
  return Text.starts_with("@") ? Text.split(' ').second.ltrim() : Text;
}

static std::set<unsigned> registerSet(StringRef List) {
  std::set<unsigned> Result;
  SmallVector<StringRef, 8> Parts;
  List.split(Parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef Part : Parts) {
    unsigned N = 0;
    EXPECT_FALSE(Part.getAsInteger(10, N)) << Part.str();
    Result.insert(N);
  }
  return Result;
}

/// What a load's or store's suffixes say of its width.
static unsigned bytesOf(StringRef Mnemonic) {
  unsigned Bytes = 4;
  SmallVector<StringRef, 8> Parts;
  Mnemonic.split(Parts, '.');
  for (StringRef Part : Parts)
    Bytes = StringSwitch<unsigned>(Part)
                .Cases({"U8", "S8"}, 1)
                .Cases({"U16", "S16"}, 2)
                .Case("64", 8)
                .Case("128", 16)
                .Case("256", 32)
                .Default(Bytes);
  return Bytes;
}

static bool movesData(const Instruction &I) {
  return I.isLoad() || I.Class == InstrClass::GlobalStore ||
         I.Class == InstrClass::LocalStore ||
         I.Class == InstrClass::SharedStore;
}

TEST(Sass, AgreesWithTheDisassembler) {
  std::string Text = cantFail(
      readFile(OPTIMAS_PROFILE_INPUTS "/sass.txt", ExitCode::Internal));
  SmallVector<StringRef, 0> Lines;
  StringRef(Text).split(Lines, '\n', -1, /*KeepEmpty=*/false);
  unsigned Checked = 0;
  for (StringRef Line : Lines) {
    if (Line.starts_with("#"))
      continue;
    SmallVector<StringRef, 4> Columns;
    Line.split(Columns, '|', 3);
    ASSERT_EQ(Columns.size(), 4u) << Line.str();
    SmallVector<StringRef, 3> Words;
    Columns[0].split(Words, ' ');
    unsigned Sm = 0;
    uint64_t Lo = 0, Hi = 0;
    ASSERT_FALSE(Words[0].getAsInteger(10, Sm));
    ASSERT_FALSE(Words[1].getAsInteger(16, Lo));
    ASSERT_FALSE(Words[2].getAsInteger(16, Hi));
    Instruction I = decodeInstruction(0, Lo, Hi, Sm);
    StringRef Mnemonic = afterGuard(Columns[3]).split(' ').first;
    EXPECT_TRUE(Mnemonic.starts_with(I.Mnemonic))
        << I.Mnemonic << " for " << Line.str();
    EXPECT_EQ(std::set<unsigned>(I.Defs.begin(), I.Defs.end()),
              registerSet(Columns[1]))
        << "written by " << Line.str();
    EXPECT_EQ(std::set<unsigned>(I.Uses.begin(), I.Uses.end()),
              registerSet(Columns[2]))
        << "read by " << Line.str();
    EXPECT_EQ(I.isConditional(), Columns[3].starts_with("@")) << Line.str();
    if (movesData(I) && !Mnemonic.starts_with("SU") &&
        !Mnemonic.contains("SM.") && I.Class != InstrClass::Texture)
      EXPECT_EQ(I.AccessBytes, bytesOf(Mnemonic)) << Line.str();
    ++Checked;
  }
  EXPECT_GT(Checked, 600u);
}

TEST(Sass, ACountedWait) {
  Instruction I = decodeInstruction(0, 0x0000d0400000791a, 0x000fe80000000000);
  EXPECT_EQ(I.Class, InstrClass::ScoreboardWait); // DEPBAR.LE SB5, 0x1
  EXPECT_EQ(I.CountedBarrier, 5u);
  EXPECT_EQ(I.CountedMax, 1u);
}

TEST(Sass, BranchOffsetsDependOnTheArchitecture) {
  // A branch to itself at the end of every kernel.
  EXPECT_EQ(decodeInstruction(0x2a0, 0xfffffff000007947, 0x000fc0000383ffff, 75)
                .Target,
            0x2a0u);
  EXPECT_EQ(decodeInstruction(0x260, 0xfffffffc00fc7947, 0x000fc0000383ffff, 90)
                .Target,
            0x260u);
  // BSSY.RECONVERGENT B0, 0x360 at 0x60 of sm_100
  EXPECT_EQ(decodeInstruction(0x60, 0x000002f000007945, 0x000fe20003800200, 100)
                .Target,
            0x360u);
}
