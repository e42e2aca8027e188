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

/// One operation. The low nine bits of an instruction name it; the three above
/// select where operands b and c come from (register, immediate, constant bank,
/// uniform register).
struct OpInfo {
  uint16_t Base; ///< Lo & 0x1ff
  const char *Mnemonic;
  InstrClass Class;
  /// General registers by slot: `d` destination, `a` `b` `c` sources; a capital is
  /// a pair. Memory operations, whose widths are in the instruction, have their own
  /// rules and leave this empty.
  const char *Operands;
};

/// Null when the opcode is not known.
const OpInfo *findOp(unsigned Base);

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_SASSTABLE_H
