//===- Csv.h - Comma-separated values ---------------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_CSV_H
#define OPTIMAS_LIB_PROFILE_CSV_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <deque>
#include <string>

namespace optimas {

/// Reads RFC 4180 text row by row; cells may be separated by semicolons instead, as
/// spreadsheets write them where the comma is decimal. Cells refer to the text, or, where
/// quotes were doubled, to strings that live until the next row.
class CsvReader {
public:
  explicit CsvReader(llvm::StringRef Text, char Separator = ',')
      : Text(Text), Ends{Separator, '\r', '\n'} {}

  enum class Status {
    Row,
    End,
    Cut, ///< the text ends inside quotes or behind a separator
  };

  /// The next row that is not blank.
  Status next(llvm::SmallVectorImpl<llvm::StringRef> &Cells);

  /// 1-based line on which the last row started.
  unsigned line() const { return RowLine; }

  using RowFunction =
      llvm::function_ref<llvm::Expected<bool>(llvm::ArrayRef<llvm::StringRef>)>;
  /// Hands each row that is left to \p Row, until it fails or returns false. A cut text is
  /// what \p Fail makes of it.
  llvm::Error forEachRow(RowFunction Row,
                         llvm::function_ref<llvm::Error(const llvm::Twine &)> Fail);

private:
  bool readCell(llvm::StringRef &Cell);
  char at(size_t I) const { return I < Text.size() ? Text[I] : '\0'; }
  size_t endOfCell() const;

  llvm::StringRef Text;
  const char Ends[3]; ///< separator first
  size_t At = 0;
  unsigned Line = 1, RowLine = 1;
  std::deque<std::string> Unescaped;
};

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_CSV_H
