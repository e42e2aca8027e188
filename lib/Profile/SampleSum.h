//===- SampleSum.h - Sums of PC sampling records ----------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_SAMPLESUM_H
#define OPTIMAS_LIB_PROFILE_SAMPLESUM_H

#include "optimas/Profile/Profile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

namespace optimas {

/// Adds up samples per (cubin, function, PC, stall reason). A trace names a few
/// functions and PCs millions of times, mostly in one order: the last answers are
/// tried first.
class SampleSum {
public:
  /// Of reason indices; CUPTI has some 40.
  static constexpr uint32_t MaxReasons = 1024;
  /// Of PC offsets; no function is larger.
  static constexpr uint64_t MaxOffset = uint64_t(1) << 40;

  struct Function {
    std::string Name;
    uint64_t Crc;
    llvm::DenseMap<uint64_t, size_t> RowOf; ///< by offset
    std::vector<uint64_t> Offsets;          ///< of each row
    std::vector<uint64_t> Counts;           ///< stride() to a row
    size_t Stride = 0;
    size_t Next = 0; ///< the row that is expected
  };

  SampleSum();

  /// The function's sums. \p Index is CUPTI's number for it, a hint only.
  Function &function(uint64_t Crc, uint32_t Index, llvm::StringRef Name);

  /// The counts of the instruction at \p Offset < MaxOffset, by column().
  uint64_t *row(Function &F, uint64_t Offset);

  /// The column of a reason < MaxReasons. A new one moves rows: ask before row().
  unsigned column(uint32_t Reason) {
    if (LLVM_LIKELY(Columns[Reason]))
      return Columns[Reason] - 1;
    return addColumn(Reason);
  }

  /// The reasons that occurred, by column.
  llvm::ArrayRef<uint32_t> reasons() const { return Reasons; }
  const std::deque<Function> &functions() const { return Functions; }

private:
  unsigned addColumn(uint32_t Reason);
  Function &find(uint64_t Crc, llvm::StringRef Name);

  std::deque<Function> Functions; ///< addresses stay
  llvm::StringMap<Function *> ByName;
  std::vector<Function *> Recent; ///< by CUPTI's number modulo its size
  std::vector<uint16_t> Columns;  ///< 1 + column by reason, 0: none yet
  std::vector<uint32_t> Reasons;
  size_t Stride = 8;
};

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_SAMPLESUM_H
