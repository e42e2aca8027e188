//===- Csv.cpp - Comma-separated values -------------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Csv.h"

using namespace llvm;

namespace optimas {

/// Reads a cell up to its comma or line end, which stays. False when the text
/// ends inside quotes.
bool CsvReader::readCell(StringRef &Cell) {
  if (at(At) != '"') {
    size_t End = std::min(Text.find_first_of(",\r\n", At), Text.size());
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
  // Anything between the closing quote and the comma belongs to no cell.
  At = std::min(Text.find_first_of(",\r\n", At), Text.size());
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
    if (at(At) != ',')
      return Status::Row;
    if (++At == Text.size()) // a comma promises a cell
      return Status::Cut;
  }
}

} // namespace optimas
