//===- Sass.cpp - Decoding what blame needs of an instruction ---*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Profile/Sass.h"
#include "SassTable.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace optimas {

/// Bits of the 128-bit instruction, numbered from the low word's lowest.
static unsigned bits(const Instruction &I, unsigned From, unsigned Count) {
  uint64_t Word = From < 64 ? I.Lo >> From : I.Hi >> (From - 64);
  return unsigned(Word & ((uint64_t(1) << Count) - 1));
}

constexpr unsigned ZeroRegister = 255;

static void addRegisters(std::vector<uint8_t> &To, unsigned First, unsigned Count) {
  for (unsigned R = First; R < First + Count && R < ZeroRegister; ++R)
    To.push_back(uint8_t(R));
}

namespace {
/// Where the slots a, b, c of an arithmetic instruction lie.
struct Slots {
  unsigned A;
  std::optional<unsigned> B, C;
};
} // namespace

/// Bits 9 to 11 say which of b and c is a register; the other one, in bits 32 to
/// 63, is an immediate, a constant or a uniform register. When c is that one, b
/// moves to where c was.
static Slots slotsOf(const Instruction &I) {
  constexpr unsigned At32 = 32, At64 = 64;
  unsigned A = bits(I, 24, 8);
  unsigned AtB = bits(I, At32, 8), AtC = bits(I, At64, 8);
  switch (bits(I, 9, 3)) {
  case 1:
    return {A, AtB, AtC};
  case 2: // immediate c
  case 3: // constant c
  case 7: // uniform c
    return {A, AtC, std::nullopt};
  default: // immediate, constant or uniform b
    return {A, std::nullopt, AtC};
  }
}

static void readOperands(Instruction &I, const char *Shape) {
  Slots S = slotsOf(I);
  for (; *Shape; ++Shape) {
    unsigned Count = *Shape < 'a' ? 2 : 1;
    switch (*Shape | 0x20) {
    case 'd':
      addRegisters(I.Defs, bits(I, 16, 8), Count);
      break;
    case 'a':
      addRegisters(I.Uses, S.A, Count);
      break;
    case 'b':
      if (S.B)
        addRegisters(I.Uses, *S.B, Count);
      break;
    case 'c':
      if (S.C)
        addRegisters(I.Uses, *S.C, Count);
      break;
    }
  }
}

/// Bits 73 to 75 of loads and stores: 8, 8, 16, 16, 32, 64, 128 bits.
static unsigned accessBytes(const Instruction &I) {
  static const unsigned Bytes[] = {1, 1, 2, 2, 4, 8, 16, 32};
  return Bytes[bits(I, 73, 3)];
}

static unsigned registersOf(unsigned Bytes) { return (Bytes + 3) / 4; }

static void readMemoryOperands(Instruction &I) {
  unsigned D = bits(I, 16, 8), A = bits(I, 24, 8), B = bits(I, 32, 8);
  unsigned Base = I.Opcode & 0x1ff;
  constexpr unsigned Uldc = 0x0b9, Ldcu = 0x1ac; // to uniform registers
  if (Base == Uldc || Base == Ldcu) {
    I.AccessBytes = accessBytes(I);
    return;
  }
  // .E: the address is a pair of registers.
  bool Global = I.Class == InstrClass::GlobalLoad ||
                I.Class == InstrClass::GlobalStore || I.Class == InstrClass::Atomic;
  unsigned AddressRegisters = Global && bits(I, 72, 1) ? 2 : 1;
  switch (I.Class) {
  case InstrClass::GlobalLoad:
  case InstrClass::LocalLoad:
  case InstrClass::SharedLoad:
  case InstrClass::ConstantLoad:
    I.AccessBytes = accessBytes(I);
    addRegisters(I.Defs, D, registersOf(I.AccessBytes));
    addRegisters(I.Uses, A, AddressRegisters);
    return;
  case InstrClass::GlobalStore:
  case InstrClass::LocalStore:
  case InstrClass::SharedStore:
    I.AccessBytes = accessBytes(I);
    addRegisters(I.Uses, A, AddressRegisters);
    addRegisters(I.Uses, B, registersOf(I.AccessBytes));
    return;
  default:
    return;
  }
}

/// Direct targets are relative to the next instruction. Until sm_89, and in BSSY
/// of every architecture, the distance is 48 bits from bit 34 on, in words of four
/// bytes; sm_90 put eight more low bits into bits 16 to 23.
static std::optional<uint64_t> targetOf(const Instruction &I, unsigned Sm) {
  constexpr unsigned Bra = 0x147, CallRel = 0x144, Bssy = 0x145;
  unsigned Base = I.Opcode & 0x1ff;
  if (Base != Bra && Base != CallRel && Base != Bssy)
    return std::nullopt;
  uint64_t Field = (I.Lo >> 34) | (I.Hi & 0x3ffff) << 30;
  int64_t Words = llvm::SignExtend64<48>(Field);
  if (Sm >= 90 && Base != Bssy)
    Words = Words * 256 + bits(I, 16, 8);
  return I.Offset + 16 + uint64_t(Words) * 4;
}

Instruction decodeInstruction(uint64_t Offset, uint64_t Lo, uint64_t Hi,
                              unsigned Sm) {
  Instruction I;
  I.Offset = Offset;
  I.Lo = Lo;
  I.Hi = Hi;
  I.Opcode = Lo & 0xfff;
  I.Predicate = bits(I, 12, 3);
  I.PredicateNegated = bits(I, 15, 1);
  I.StallCycles = bits(I, 105, 4);
  I.WriteBarrier = bits(I, 110, 3);
  I.ReadBarrier = bits(I, 113, 3);
  I.WaitMask = bits(I, 116, 6);
  if (const OpInfo *Op = findOp(I.Opcode & 0x1ff)) {
    I.Mnemonic = Op->Mnemonic;
    I.Class = Op->Class;
    if (*Op->Operands)
      readOperands(I, Op->Operands);
    else
      readMemoryOperands(I);
  } else {
    I.Mnemonic = llvm::formatv("op_{0:x-}", I.Opcode).str();
    I.Mnemonic.insert(3, "0x");
  }
  I.Target = targetOf(I, Sm);
  return I;
}

} // namespace optimas
