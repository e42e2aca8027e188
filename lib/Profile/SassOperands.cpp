//===- SassOperands.cpp - Registers an instruction reads and writes -------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// General registers only: predicates and uniform registers are not needed to
/// confirm a producer. Established against nvdisasm's life ranges; see
/// docs/sass-encoding.md.
///
//===----------------------------------------------------------------------===//
#include "SassTable.h"
#include "llvm/ADT/bit.h"

namespace optimas {

constexpr unsigned ZeroRegister = 255;

static void addRegisters(std::vector<uint8_t> &To, unsigned First,
                         unsigned Count) {
  for (unsigned R = First; R < First + Count && R < ZeroRegister; ++R)
    To.push_back(uint8_t(R));
}

namespace {
/// The register fields.
struct Fields {
  explicit Fields(const Instruction &I)
      : D(bits(I, 16, 8)), A(bits(I, 24, 8)), B(bits(I, 32, 8)),
        C(bits(I, 64, 8)) {}
  unsigned D, A, B, C;
};
} // namespace

/// Bits 9 to 11 say which of b and c is a register; the other one, in bits 32
/// to 63, is an immediate, a constant or a uniform register. When c is that
/// one, b moves to where c was.
static void readSlots(Instruction &I, const char *Shape) {
  Fields F(I);
  unsigned Form = bits(I, 9, 3);
  bool OnlyRegisters = Form == 1;
  bool ReplacesC = Form == 2 || Form == 3 || Form == 7;
  for (; *Shape; ++Shape) {
    unsigned Count = *Shape < 'a' ? 2 : 1;
    switch (*Shape | 0x20) {
    case 'd':
      addRegisters(I.Defs, F.D, Count);
      break;
    case 'a':
      addRegisters(I.Uses, F.A, Count);
      break;
    case 'b':
      if (OnlyRegisters || ReplacesC)
        addRegisters(I.Uses, ReplacesC ? F.C : F.B, Count);
      break;
    case 'c':
      if (!ReplacesC)
        addRegisters(I.Uses, F.C, Count);
      break;
    case 'x':
      if (OnlyRegisters)
        addRegisters(I.Uses, F.B, Count);
      break;
    case 'y':
      if (OnlyRegisters)
        addRegisters(I.Uses, F.A, Count);
      break;
    case 'r':
      addRegisters(I.Uses, F.B, Count);
      break;
    }
  }
}

/// Bits 73 to 75 of loads and stores: u8, s8, u16, s16, 32, 64, 128 bits.
static unsigned accessBytes(const Instruction &I) {
  static const unsigned Bytes[] = {1, 1, 2, 2, 4, 8, 16, 0};
  return Bytes[bits(I, 73, 3)];
}

static unsigned atomicBytes(const Instruction &I, OperandRule Rule,
                            unsigned Sm) {
  unsigned Type = bits(I, 73, 3);
  if (Rule == OperandRule::AtomicFloat) {
    // Bit 76: f32, its vectors of two and four, f64; else two packed halves and
    // their vectors, f16 first, bf16 from 3 on.
    static const unsigned Floats[] = {4, 4, 8, 16, 4, 4, 4, 8};
    static const unsigned Halves[] = {4, 8, 16, 4, 8, 16, 4, 4};
    return bits(I, 76, 1) ? Floats[Type] : Halves[Type];
  }
  // u32, s32, u64; then s64 since sm_90, before f32, f16x2, s64, f64.
  static const unsigned Since90[] = {4, 4, 8, 8, 4, 8, 8, 8};
  static const unsigned Before90[] = {4, 4, 8, 4, 4, 8, 8, 8};
  return (Sm >= 90 ? Since90 : Before90)[Type];
}

static unsigned copyBytes(const Instruction &I, unsigned Sm) {
  return Sm >= 100 ? 4u << bits(I, 74, 2) : accessBytes(I);
}

static unsigned registersOf(unsigned Bytes) { return (Bytes + 3) / 4; }

/// Global and generic addresses are pairs when bit 72 (.E) is set; not so the
/// 32-bit offset that a load or store adds to a uniform register (bit 91
/// without bit 90: [R0.U32+UR4]).
static unsigned addressRegisters(const Instruction &I) {
  switch (I.Class) {
  case InstrClass::GlobalLoad:
  case InstrClass::GlobalStore:
    return bits(I, 72, 1) && bits(I, 90, 2) != 2 ? 2 : 1;
  case InstrClass::Atomic:
    return bits(I, 72, 1) ? 2 : 1;
  default:
    return 1;
  }
}

/// Fragments of the shapes that nvcc emits. HMMA: bit 75 is k = 16 (k = 8
/// without), bit 76 f32 accumulators, bit 83 tf32, whose elements are twice as
/// wide.
static void readMatrix(Instruction &I) {
  constexpr unsigned Dmma = 0x03f, Hmma = 0x03c;
  Fields F(I);
  unsigned A = 4, B = 2, CD = 4;
  unsigned Base = I.Opcode & 0x1ff;
  if (Base == Dmma) {
    A = B = 2;
  } else if (Base == Hmma) {
    bool Wide = bits(I, 75, 1) || bits(I, 83, 1);
    A = Wide ? 4 : 2;
    B = Wide ? 2 : 1;
    CD = bits(I, 76, 1) ? 4 : 2;
  }
  addRegisters(I.Defs, F.D, CD);
  addRegisters(I.Uses, F.A, A);
  addRegisters(I.Uses, F.B, B);
  addRegisters(I.Uses, F.C, CD);
}

/// Results: two registers at d, the rest at c, as the mask of bits 72 to 75
/// says. Coordinates: as many as the dimension in bits 61 to 63 needs.
static void readTexture(Instruction &I) {
  Fields F(I);
  unsigned Results = llvm::popcount(bits(I, 72, 4));
  addRegisters(I.Defs, F.D, std::min(Results, 2u));
  addRegisters(I.Defs, F.C, Results > 2 ? Results - 2 : 0);
  static const unsigned Coordinates[] = {1, 2, 3, 3, 2, 3, 3, 4};
  addRegisters(I.Uses, F.A, Coordinates[bits(I, 61, 3)]);
  addRegisters(I.Uses, F.B, 1);
}

static void readSurface(Instruction &I) {
  constexpr unsigned Suld = 0x199;
  Fields F(I);
  I.AccessBytes = accessBytes(I);
  addRegisters(I.Uses, F.A, 2);
  bool Loads = (I.Opcode & 0x1ff) == Suld;
  addRegisters(Loads ? I.Defs : I.Uses, Loads ? F.D : F.B,
               registersOf(I.AccessBytes));
}

/// Widths as 2^n bytes: the result's in bits 75 and 76, the source's in 84
/// and 85.
static void readConversion(Instruction &I) {
  Fields F(I);
  addRegisters(I.Defs, F.D, bits(I, 75, 2) == 3 ? 2 : 1);
  if (bits(I, 9, 3) == 1)
    addRegisters(I.Uses, F.B, bits(I, 84, 2) == 3 ? 2 : 1);
}

/// Forms 1 to 7 of SHFL: 0x389 lane and mask in registers, 0x589 the mask,
/// 0x989 the lane an immediate, 0xf89 both.
static void readShuffle(Instruction &I) {
  Fields F(I);
  unsigned Form = bits(I, 9, 3);
  addRegisters(I.Defs, F.D, 1);
  addRegisters(I.Uses, F.A, 1);
  if (Form == 1 || Form == 2)
    addRegisters(I.Uses, F.B, 1);
  if (Form == 1 || Form == 4)
    addRegisters(I.Uses, F.C, 1);
}

static void readAtomic(Instruction &I, OperandRule Rule, unsigned Sm) {
  constexpr unsigned Red = 0x18e, RedFloat = 0x1a6;
  // ATOMS without an operand: POPC.INC counts lanes, ARRIVE arrives.
  constexpr unsigned AtomsNoOperand = 0xf8c;
  // This form's d is a predicate's place, its result the predicate.
  constexpr unsigned AtomsSwapPredicate = 0x58d;
  Fields F(I);
  unsigned Base = I.Opcode & 0x1ff;
  I.AccessBytes = atomicBytes(I, Rule, Sm);
  unsigned Count = registersOf(I.AccessBytes);
  addRegisters(I.Uses, F.A, addressRegisters(I));
  if (Base != Red && Base != RedFloat && I.Opcode != AtomsSwapPredicate)
    addRegisters(I.Defs, F.D, Count);
  if (I.Opcode != AtomsNoOperand)
    addRegisters(I.Uses, F.B, Count);
  if (Rule == OperandRule::AtomicSwap)
    addRegisters(I.Uses, F.C, Count);
}

/// sm_120 has 64-bit integer forms under opcodes that were 32-bit: bit 80 marks
/// MOV, ISETP and SEL, IADD.64 has HFMA2.MMA's number, IMNMX is otherwise gone.
static bool readWideInteger(Instruction &I, unsigned Sm) {
  constexpr unsigned Mov = 0x002, Isetp = 0x00c, Iadd = 0x035, Mov64 = 0x402,
                     Sel = 0x007, Sel64 = 0x407, Imnmx = 0x017;
  unsigned Base = I.Opcode & 0x1ff;
  if (Sm < 100)
    return false;
  if (Base == Iadd) {
    I.Mnemonic = "IADD.64";
    readSlots(I, "DAX");
    return true;
  }
  if (I.Opcode == Mov64 || I.Opcode == Sel64 || Base == Imnmx) {
    readSlots(I, I.Opcode == Mov64 ? "D" : "DAX");
    return true;
  }
  if (!bits(I, 80, 1) || (Base != Mov && Base != Isetp && Base != Sel))
    return false;
  readSlots(I, Base == Mov ? "DX" : Base == Sel ? "DAX" : "AX");
  return true;
}

void readOperands(Instruction &I, const OpInfo &Info, unsigned Sm) {
  constexpr unsigned Uldc = 0x0b9, UldcIndexed = 0x0bb, Ldcu = 0x1ac,
                     Match = 0x1a1, SyncsArrive = 0x9a7;
  constexpr unsigned StGeneric75 = 0x385; // its data is at c
  unsigned Base = I.Opcode & 0x1ff;
  Fields F(I);
  switch (Info.Rule) {
  case OperandRule::Slots:
    if (Base == Uldc || Base == UldcIndexed || Base == Ldcu)
      I.AccessBytes = accessBytes(I);
    if (Base == Match && bits(I, 73, 1))
      readSlots(I, "dA"); // .U64
    else if (I.Opcode == SyncsArrive)
      readSlots(I, "Dr");
    else if (!readWideInteger(I, Sm))
      readSlots(I, Info.Slots);
    return;
  case OperandRule::Load:
    I.AccessBytes = accessBytes(I);
    addRegisters(I.Defs, F.D, registersOf(I.AccessBytes));
    addRegisters(I.Uses, F.A, addressRegisters(I));
    return;
  case OperandRule::Store:
    I.AccessBytes = accessBytes(I);
    addRegisters(I.Uses, F.A, addressRegisters(I));
    addRegisters(I.Uses, I.Opcode == StGeneric75 ? F.C : F.B,
                 registersOf(I.AccessBytes));
    return;
  case OperandRule::Load256:
    I.AccessBytes = 32;
    addRegisters(I.Defs, F.C, 4);
    addRegisters(I.Defs, F.D, 4);
    addRegisters(I.Uses, F.A, 2);
    return;
  case OperandRule::Store256:
    I.AccessBytes = 32;
    addRegisters(I.Uses, F.A, 2);
    addRegisters(I.Uses, F.B, 4);
    addRegisters(I.Uses, F.D, 4);
    return;
  case OperandRule::LoadMatrix:
  case OperandRule::StoreMatrix: {
    unsigned Count = 1u << std::min(bits(I, 72, 2), 2u);
    I.AccessBytes = 4 * Count;
    addRegisters(I.Uses, F.A, 1);
    if (Info.Rule == OperandRule::LoadMatrix)
      addRegisters(I.Defs, F.D, Count);
    else
      addRegisters(I.Uses, F.B, Count);
    return;
  }
  case OperandRule::Atomic:
  case OperandRule::AtomicFloat:
  case OperandRule::AtomicSwap:
    readAtomic(I, Info.Rule, Sm);
    return;
  case OperandRule::AsyncCopy:
    I.AccessBytes = copyBytes(I, Sm);
    addRegisters(I.Uses, F.D, 1);
    addRegisters(I.Uses, F.A, 2);
    return;
  case OperandRule::Address:
    addRegisters(I.Uses, F.A, bits(I, 72, 1) ? 2 : 1);
    return;
  case OperandRule::Convert:
    readConversion(I);
    return;
  case OperandRule::Shuffle:
    readShuffle(I);
    return;
  case OperandRule::Special64:
    addRegisters(I.Defs, F.D, bits(I, 80, 1) ? 2 : 1);
    return;
  case OperandRule::Matrix:
    readMatrix(I);
    return;
  case OperandRule::Texture:
    readTexture(I);
    return;
  case OperandRule::Surface:
    readSurface(I);
    return;
  }
}

} // namespace optimas
