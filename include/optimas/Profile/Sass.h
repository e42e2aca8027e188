//===- Sass.h - Decoding what blame needs of an instruction -----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The 128-bit instruction encoding of sm_70 and later, as far as scoreboards,
/// control flow and operands go. Facts: measured on nvcc 13.0 output; see
/// docs/sass-encoding.md.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_PROFILE_SASS_H
#define OPTIMAS_PROFILE_SASS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace optimas {

enum class InstrClass {
  Other,         ///< fixed-latency arithmetic and moves
  GlobalLoad,    ///< LDG, LD (generic)
  GlobalStore,   ///< STG, ST
  LocalLoad,     ///< LDL
  LocalStore,    ///< STL
  SharedLoad,    ///< LDS, LDSM
  SharedStore,   ///< STS
  ConstantLoad,  ///< LDC, ULDC
  Atomic,        ///< ATOM, ATOMG, ATOMS, RED
  AsyncCopy,     ///< LDGSTS, UBLKCP, …
  Texture,       ///< TEX, TLD, SULD, …
  Special,       ///< MUFU, conversions on XU
  SystemRead,    ///< S2R, S2UR, CS2R
  Shuffle,       ///< SHFL, VOTE through the MIO
  Barrier,       ///< BAR, B2R
  MemoryBarrier, ///< MEMBAR, ERRBAR, FENCE
  Branch,        ///< BRA, BRX, JMP, …
  Convergence,   ///< BSSY, BSYNC, WARPSYNC
  Call,          ///< CALL, RET
  Exit,
  ScoreboardWait, ///< DEPBAR
  Tensor,         ///< HMMA, IMMA, GMMA, …
  Nop,
};

constexpr unsigned NoBarrier = 7;

/// One decoded instruction.
struct Instruction {
  uint64_t Offset = 0; ///< bytes from the function's start
  uint64_t Lo = 0, Hi = 0;
  unsigned Opcode = 0; ///< Lo & 0xfff
  InstrClass Class = InstrClass::Other;
  std::string Mnemonic; ///< `LDG`, or `op_0x981` when not known
  unsigned StallCycles = 0;
  unsigned WriteBarrier = NoBarrier; ///< scoreboard set when the result arrives
  unsigned ReadBarrier =
      NoBarrier;         ///< scoreboard set when the operands were read
  unsigned WaitMask = 0; ///< bit b: waits until scoreboard b is zero
  /// DEPBAR.LE: waits until at most CountedMax of what was issued under
  /// scoreboard CountedBarrier is outstanding; NoBarrier on every other
  /// instruction.
  unsigned CountedBarrier = NoBarrier;
  unsigned CountedMax = 0;
  /// Guard predicate, 7 = PT (always).
  unsigned Predicate = 7;
  bool PredicateNegated = false;
  /// Bytes accessed per thread by a memory instruction, 0 when not one.
  unsigned AccessBytes = 0;
  /// Offset of a direct branch's target.
  std::optional<uint64_t> Target;
  /// General registers written and read (255 = RZ left out). Wide results list
  /// each register. Without what a callee clobbers (CALL), the accumulators of
  /// HGMMA, the result of LDGMC.
  std::vector<uint8_t> Defs, Uses;

  bool isLoad() const {
    return Class == InstrClass::GlobalLoad || Class == InstrClass::LocalLoad ||
           Class == InstrClass::SharedLoad ||
           Class == InstrClass::ConstantLoad || Class == InstrClass::Texture;
  }
  bool isConditional() const { return Predicate != 7 || PredicateNegated; }
};

/// Decodes one instruction of \p Lo, \p Hi at \p Offset. \p Sm is the
/// architecture (90 for sm_90): branch offsets are encoded differently before
/// sm_90.
Instruction decodeInstruction(uint64_t Offset, uint64_t Lo, uint64_t Hi,
                              unsigned Sm = 90);

} // namespace optimas

#endif // OPTIMAS_PROFILE_SASS_H
