//===- LineTable.h - The .debug_line section of a cubin ---------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_LINETABLE_H
#define OPTIMAS_LIB_PROFILE_LINETABLE_H

#include "optimas/Profile/Cubin.h"
#include <deque>

namespace optimas {

/// One sequence: the rows of one code section.
struct LineSequence {
  /// Offset in .debug_line of the first set_address's operand, which a
  /// relocation ties to a symbol.
  uint64_t AddressAt = 0;
  uint64_t Address = 0;      ///< the operand as stored: REL's addend
  std::vector<LineRow> Rows; ///< offsets from Address
};

/// Decodes every unit of \p Line: DWARF version 2 with NVIDIA's two extended
/// opcodes, 0x90 inlined_call (uleb caller's row, uleb offset in .debug_str)
/// and 0x91 set_function_name (uleb offset). Fails on anything that does not
/// add up. The rows refer to \p Strings and to \p Files, to which it adds.
llvm::Expected<std::vector<LineSequence>>
decodeLineTable(llvm::StringRef Line, llvm::StringRef Strings,
                std::deque<std::string> &Files);

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_LINETABLE_H
