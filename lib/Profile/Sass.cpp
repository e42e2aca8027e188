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

/// Direct targets are relative to the next instruction, in words of four bytes.
/// Until sm_89 the distance is in bits 34 to 81; sm_90 put eight more low bits
/// into bits 16 to 23. BSSY, which only goes forward and since sm_100 keeps a
/// flag in bit 73, has it in bits 34 to 63 on every architecture.
static std::optional<uint64_t> targetOf(const Instruction &I, unsigned Sm) {
  constexpr unsigned Bra = 0x147, CallRel = 0x144, Bssy = 0x145;
  unsigned Base = I.Opcode & 0x1ff;
  if (Base == Bssy)
    return I.Offset + 16 + (I.Lo >> 34) * 4;
  if (Base != Bra && Base != CallRel)
    return std::nullopt;
  int64_t Words = llvm::SignExtend64<48>((I.Lo >> 34) | (I.Hi & 0x3ffff) << 30);
  if (Sm >= 90)
    Words = int64_t(uint64_t(Words) << 8 | bits(I, 16, 8));
  return I.Offset + 16 + uint64_t(Words) * 4;
}

Instruction decodeInstruction(uint64_t Offset, uint64_t Lo, uint64_t Hi,
                              unsigned Sm) {
  constexpr unsigned CgaErrbar = 0x5ab; // the one form with a name of its own
  constexpr unsigned Reduction = 0x18e;  // RED, called REDG since sm_90
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
    I.Mnemonic = I.Opcode == CgaErrbar                                ? "CGAERRBAR"
                 : (I.Opcode & 0x1ff) == Reduction && Sm >= 90 ? "REDG"
                                                               : Op->Mnemonic;
    I.Class = Op->Class;
    readOperands(I, *Op, Sm);
  } else {
    I.Mnemonic = llvm::formatv("op_{0:x-}", I.Opcode).str();
    I.Mnemonic.insert(3, "0x");
  }
  if (I.Class == InstrClass::ScoreboardWait) {
    I.CountedBarrier = bits(I, 44, 3);
    I.CountedMax = bits(I, 38, 6);
  }
  I.Target = targetOf(I, Sm);
  return I;
}

} // namespace optimas
