//===- SassTable.h - What is known of each opcode ---------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_SASSTABLE_H
#define OPTIMAS_LIB_PROFILE_SASSTABLE_H

#include "optimas/Profile/Sass.h"

namespace optimas {

/// How the registers of an instruction are found.
enum class OperandRule : uint8_t {
  Slots,       ///< OpInfo::Slots says it
  Load,        ///< width in bits 73 to 75, address a, to d
  Store,       ///< width in bits 73 to 75, address a, from b
  Load256,     ///< sm_100: two groups of four registers, c and d
  Store256,    ///< sm_100: two groups of four registers, b and d
  LoadMatrix,  ///< LDSM: 1, 2 or 4 registers
  StoreMatrix, ///< STSM
  Atomic,      ///< address a, operand b, result d
  AtomicFloat, ///< the same with the types of sm_90's packed atomics
  AtomicSwap,  ///< address a, comparand b, value c, result d
  AsyncCopy,   ///< LDGSTS: shared address d, global address a
  Address,     ///< address a and nothing else
  Convert,     ///< widths of both sides in the instruction
  Shuffle,     ///< lane and mask each a register or an immediate
  Special64,   ///< CS2R: one register or a pair
  Matrix,      ///< HMMA and kin
  Texture,
  Surface, ///< SULD, SUST
};

/// One operation. The low nine bits of an instruction name it; the three above
/// select where operands b and c come from (register, immediate, constant bank,
/// uniform register).
struct OpInfo {
  uint16_t Base; ///< Lo & 0x1ff
  const char *Mnemonic;
  InstrClass Class;
  OperandRule Rule;
  /// General registers by slot: `d` destination, `a` `b` `c` sources, `x` a b
  /// that an immediate or constant replaces without moving c, `y` an a that
  /// only the register form has, `r` a b that every form has; a capital is a
  /// pair.
  const char *Slots;
};

/// Null when the opcode is not known.
const OpInfo *findOp(unsigned Base);

/// \p Info's registers of \p I, into Defs and Uses, and its AccessBytes.
void readOperands(Instruction &I, const OpInfo &Info, unsigned Sm);

/// \p Count bits of the 128-bit instruction, numbered from the low word's
/// lowest; none may straddle the words.
inline unsigned bits(const Instruction &I, unsigned From, unsigned Count) {
  uint64_t Word = From < 64 ? I.Lo >> From : I.Hi >> (From - 64);
  return unsigned(Word & ((uint64_t(1) << Count) - 1));
}

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_SASSTABLE_H
