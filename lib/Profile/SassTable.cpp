//===- SassTable.cpp - What is known of each opcode -------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// How each line was established: docs/sass-encoding.md.
///
//===----------------------------------------------------------------------===//
#include "SassTable.h"
#include "llvm/ADT/STLExtras.h"

namespace optimas {

using C = InstrClass;

// In order of Base.
static const OpInfo Table[] = {
    {0x002, "MOV", C::Other, "db"},
    {0x004, "P2R", C::Other, "dab"},
    {0x005, "CS2R", C::SystemRead, ""},
    {0x006, "VOTE", C::Other, "d"},
    {0x007, "SEL", C::Other, "dab"},
    {0x008, "FSEL", C::Other, "dab"},
    {0x009, "FMNMX", C::Other, "dab"},
    {0x00b, "FSETP", C::Other, "ab"},
    {0x00c, "ISETP", C::Other, "ab"},
    {0x010, "IADD3", C::Other, "dabc"},
    {0x011, "LEA", C::Other, "dabc"},
    {0x012, "LOP3", C::Other, "dabc"},
    {0x013, "IABS", C::Other, "db"},
    {0x014, "VABSDIFF", C::Other, "dabc"},
    {0x016, "PRMT", C::Other, "dabc"},
    {0x017, "IMNMX", C::Other, "dab"},
    {0x019, "SHF", C::Other, "dabc"},
    {0x01c, "PLOP3", C::Other, ""},
    {0x020, "FMUL", C::Other, "dab"},
    {0x021, "FADD", C::Other, "dab"},
    {0x023, "FFMA", C::Other, "dabc"},
    {0x024, "IMAD", C::Other, "dabc"},
    {0x025, "IMAD.WIDE", C::Other, "DabC"},
    {0x026, "IDP", C::Other, "dabc"},
    {0x027, "IMAD.HI", C::Other, "dabC"},
    {0x028, "DMUL", C::Other, "DAB"},
    {0x029, "DADD", C::Other, "DAC"},
    {0x02a, "DSETP", C::Other, "AB"},
    {0x02b, "DFMA", C::Other, "DABC"},
    {0x030, "HADD2", C::Other, "dab"},
    {0x031, "HFMA2", C::Other, "dabc"},
    {0x032, "HMUL2", C::Other, "dab"},
    {0x035, "HFMA2.MMA", C::Other, "dabc"},
    {0x036, "VIADD", C::Other, "dab"},
    {0x03b, "LDSM", C::SharedLoad, ""},
    {0x03c, "HMMA", C::Tensor, ""},
    {0x040, "HMNMX2", C::Other, "dab"},
    {0x045, "I2FP", C::Other, "db"},
    {0x046, "VIADDMNMX", C::Other, "dabc"},
    {0x048, "VIMNMX", C::Other, "dab"},
    {0x082, "UMOV", C::Other, ""},
    {0x086, "VOTEU", C::Other, ""},
    {0x08c, "UISETP", C::Other, ""},
    {0x090, "UIADD3", C::Other, ""},
    {0x091, "ULEA", C::Other, ""},
    {0x092, "ULOP3", C::Other, ""},
    {0x099, "USHF", C::Other, ""},
    {0x0b9, "ULDC", C::ConstantLoad, ""},
    {0x0bd, "UFLO", C::Other, ""},
    {0x0ca, "R2UR", C::Other, "a"},
    {0x100, "FLO", C::Special, "db"},
    {0x101, "BREV", C::Special, "db"},
    {0x102, "FCHK", C::Special, "ab"},
    {0x104, "F2F", C::Special, "db"},
    {0x105, "F2I", C::Special, "db"},
    {0x106, "I2F", C::Special, "db"},
    {0x107, "FRND", C::Special, "db"},
    {0x108, "MUFU", C::Special, "db"},
    {0x109, "POPC", C::Special, "db"},
    {0x110, "F2F", C::Special, ""},
    {0x111, "F2I", C::Special, ""},
    {0x112, "I2F", C::Special, ""},
    {0x118, "NOP", C::Nop, ""},
    {0x119, "S2R", C::SystemRead, "d"},
    {0x11a, "DEPBAR", C::ScoreboardWait, ""},
    {0x11c, "B2R", C::Barrier, "d"},
    {0x11d, "BAR", C::Barrier, ""},
    {0x141, "BSYNC", C::Convergence, ""},
    {0x143, "CALL", C::Call, "A"},
    {0x144, "CALL", C::Call, ""},
    {0x145, "BSSY", C::Convergence, ""},
    {0x147, "BRA", C::Branch, ""},
    {0x148, "WARPSYNC", C::Convergence, ""},
    {0x149, "BRX", C::Branch, "A"},
    {0x14d, "EXIT", C::Exit, ""},
    {0x14e, "LEPC", C::Other, "D"},
    {0x150, "RET", C::Call, "A"},
    {0x155, "BMOV", C::Convergence, ""},
    {0x156, "BMOV", C::Convergence, "a"},
    {0x15d, "NANOSLEEP", C::Other, ""},
    {0x160, "TEX", C::Texture, ""},
    {0x163, "TLD4", C::Texture, ""},
    {0x166, "TLD", C::Texture, ""},
    {0x180, "LD", C::GlobalLoad, ""},
    {0x181, "LDG", C::GlobalLoad, ""},
    {0x182, "LDC", C::ConstantLoad, ""},
    {0x183, "LDL", C::LocalLoad, ""},
    {0x184, "LDS", C::SharedLoad, ""},
    {0x185, "ST", C::GlobalStore, ""},
    {0x186, "STG", C::GlobalStore, ""},
    {0x187, "STL", C::LocalStore, ""},
    {0x188, "STS", C::SharedStore, ""},
    {0x189, "SHFL", C::Shuffle, "dabc"},
    {0x18a, "ATOM", C::Atomic, ""},
    {0x18c, "ATOMS", C::Atomic, ""},
    {0x18e, "RED", C::Atomic, ""},
    {0x18f, "CCTL", C::Other, ""},
    {0x192, "MEMBAR", C::MemoryBarrier, ""},
    {0x199, "SULD", C::Texture, ""},
    {0x19d, "SUST", C::GlobalStore, ""},
    {0x1a1, "MATCH", C::Shuffle, "da"},
    {0x1a6, "REDG", C::Atomic, ""},
    {0x1a8, "ATOMG", C::Atomic, ""},
    {0x1a9, "ATOMG", C::Atomic, ""},
    {0x1ab, "ERRBAR", C::MemoryBarrier, ""},
    {0x1ac, "LDCU", C::ConstantLoad, ""},
    {0x1ae, "LDGSTS", C::AsyncCopy, ""},
    {0x1af, "LDGDEPBAR", C::AsyncCopy, ""},
    {0x1c3, "S2UR", C::SystemRead, ""},
    {0x1c4, "REDUX", C::Shuffle, "a"},
};

const OpInfo *findOp(unsigned Base) {
  const OpInfo *At = llvm::lower_bound(
      Table, Base, [](const OpInfo &Op, unsigned B) { return Op.Base < B; });
  return At != std::end(Table) && At->Base == Base ? At : nullptr;
}

} // namespace optimas
