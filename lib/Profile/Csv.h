//===- Csv.h - Comma-separated values ---------------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_CSV_H
#define OPTIMAS_LIB_PROFILE_CSV_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <deque>
#include <string>

namespace optimas {

/// Reads RFC 4180 text row by row. Cells refer to the text, or, where quotes
/// were doubled, to strings that live until the next row.
class CsvReader {
public:
  explicit CsvReader(llvm::StringRef Text) : Text(Text) {}

  enum class Status {
    Row,
    End,
    Cut, ///< the text ends inside quotes or behind a comma
  };

  /// The next row that is not blank.
  Status next(llvm::SmallVectorImpl<llvm::StringRef> &Cells);

  /// 1-based line on which the last row started.
  unsigned line() const { return RowLine; }

private:
  bool readCell(llvm::StringRef &Cell);
  char at(size_t I) const { return I < Text.size() ? Text[I] : '\0'; }

  llvm::StringRef Text;
  size_t At = 0;
  unsigned Line = 1, RowLine = 1;
  std::deque<std::string> Unescaped;
};

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_CSV_H
