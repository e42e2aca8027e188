//===- Csv.cpp - Comma-separated values -------------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Csv.h"

using namespace llvm;

namespace optimas {

size_t CsvReader::endOfCell() const {
  return std::min(Text.find_first_of(StringRef(Ends, 3), At), Text.size());
}

/// Reads a cell up to its separator or line end, which stays. False when the text
/// ends inside quotes.
bool CsvReader::readCell(StringRef &Cell) {
  if (at(At) != '"') {
    size_t End = endOfCell();
    Cell = Text.slice(At, End);
    At = End;
    return true;
  }
  size_t Start = ++At;
  std::string *Joined = nullptr;
  while (true) {
    size_t Quote = Text.find('"', At);
    if (Quote == StringRef::npos)
      return false;
    StringRef Piece = Text.slice(Joined ? At : Start, Quote);
    Line += Text.slice(At, Quote).count('\n');
    At = Quote + 1;
    bool Doubled = at(At) == '"' && At < Text.size();
    if (!Doubled && !Joined) {
      Cell = Piece;
      break;
    }
    if (!Joined)
      Joined = &Unescaped.emplace_back();
    *Joined += Piece;
    if (!Doubled) {
      Cell = *Joined;
      break;
    }
    *Joined += '"';
    ++At;
  }
  // Anything between the closing quote and the separator belongs to no cell.
  At = endOfCell();
  return true;
}

CsvReader::Status CsvReader::next(SmallVectorImpl<StringRef> &Cells) {
  Cells.clear();
  Unescaped.clear();
  while (At < Text.size() && (Text[At] == '\n' || Text[At] == '\r')) {
    Line += Text[At] == '\n';
    ++At;
  }
  if (At >= Text.size())
    return Status::End;
  RowLine = Line;
  while (true) {
    StringRef Cell;
    if (!readCell(Cell))
      return Status::Cut;
    Cells.push_back(Cell);
    if (At >= Text.size() || Text[At] != Ends[0])
      return Status::Row;
    if (++At == Text.size()) // a separator promises a cell
      return Status::Cut;
  }
}

Error CsvReader::forEachRow(RowFunction Row, function_ref<Error(const Twine &)> Fail) {
  SmallVector<StringRef, 0> Cells;
  while (true) {
    Status S = next(Cells);
    if (S == Status::End)
      return Error::success();
    if (S == Status::Cut)
      return Fail("the file ends within a row: it is cut short");
    Expected<bool> More = Row(Cells);
    if (!More)
      return More.takeError();
    if (!*More)
      return Error::success();
  }
}

} // namespace optimas
