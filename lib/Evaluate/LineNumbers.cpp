//===- LineNumbers.cpp - Keeping line numbers below an edit -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/LineNumbers.h"
#include <numeric>

using namespace llvm;

namespace optimas {

namespace {
/// Where directives may stand in a text: a small scanner of comments, literals,
/// directives and brackets.
class LineScanner {
public:
  explicit LineScanner(StringRef Text) : Text(Text) { scan(); }

  struct Line {
    size_t Begin = 0;
    bool Safe = false; ///< a directive may be put before it
  };
  ArrayRef<Line> lines() const { return Lines; }

  /// The number that the compiler gives physical line \p Index (0-based), which differs
  /// after a `#line` of the text's own.
  unsigned presumed(size_t Index) const {
    unsigned Number = unsigned(Index) + 1;
    for (const auto &[At, Value] : Directives)
      if (At < Index)
        Number = Value + unsigned(Index - At - 1);
    return Number;
  }

private:
  void scan();
  void newLine();
  void skipBlockComment();
  void skipLineComment();
  void skipLiteral(char Quote);
  void skipRawString();
  void directive();
  bool isContinued() const {
    return I >= 1 && (Text[I - 1] == '\\' ||
                      (I >= 2 && Text[I - 1] == '\r' && Text[I - 2] == '\\'));
  }
  bool at(StringRef Prefix) const { return Text.substr(I).starts_with(Prefix); }

  StringRef Text;
  size_t I = 0;
  int Parentheses = 0;
  bool InToken = false, InDirective = false, BlankSoFar = true;
  std::vector<Line> Lines;
  std::vector<std::pair<size_t, unsigned>> Directives; ///< line index of a #line, its value
};
} // namespace

/// \p I is at a newline.
void LineScanner::newLine() {
  bool Continued = isContinued();
  if (!Continued && !InToken)
    InDirective = false;
  ++I;
  // Inside parentheses the lines may be arguments of a macro, where a directive is
  // undefined behaviour.
  Lines.push_back({I, !InToken && !Continued && !InDirective && Parentheses <= 0});
  BlankSoFar = true;
}

void LineScanner::skipBlockComment() {
  InToken = true;
  for (I += 2; I < Text.size() && !at("*/");)
    if (Text[I] == '\n')
      newLine();
    else
      ++I;
  I = std::min(Text.size(), I + 2);
  InToken = false;
}

void LineScanner::skipLineComment() {
  while (I < Text.size() && (Text[I] != '\n' || isContinued()))
    if (Text[I] == '\n')
      newLine();
    else
      ++I;
}

void LineScanner::skipLiteral(char Quote) {
  for (++I; I < Text.size() && Text[I] != Quote && Text[I] != '\n'; ++I)
    if (Text[I] == '\\' && I + 1 < Text.size() && Text[I + 1] != '\n')
      ++I;
  if (I < Text.size() && Text[I] == Quote)
    ++I;
}

void LineScanner::skipRawString() {
  size_t Open = Text.find('(', I);
  if (Open == StringRef::npos || Open - I > 18) {
    ++I;
    return;
  }
  std::string Close = ")" + Text.slice(I + 1, Open).str() + "\"";
  size_t End = Text.find(Close, Open);
  End = End == StringRef::npos ? Text.size() : End + Close.size();
  InToken = true;
  while (I < End)
    if (Text[I] == '\n')
      newLine();
    else
      ++I;
  InToken = false;
}

void LineScanner::directive() {
  InDirective = true;
  StringRef Rest = Text.substr(I + 1).ltrim(" \t");
  Rest.consume_front("line");
  Rest = Rest.ltrim(" \t");
  unsigned Value;
  if (!Rest.consumeInteger(10, Value))
    Directives.push_back({Lines.size() - 1, Value});
  ++I;
}

void LineScanner::scan() {
  Lines.push_back({0, true});
  while (I < Text.size()) {
    char C = Text[I];
    if (C == '\n') {
      newLine();
      continue;
    }
    if (at("/*")) {
      skipBlockComment();
    } else if (at("//")) {
      skipLineComment();
    } else if (C == 'R' && at("R\"") &&
               (I == 0 || (!isAlnum(Text[I - 1]) && Text[I - 1] != '_'))) {
      ++I;
      skipRawString();
    } else if (C == '"' || (C == '\'' && (I == 0 || !isAlnum(Text[I - 1])))) {
      // A quote behind a letter or digit separates digits.
      skipLiteral(C);
    } else if (C == '#' && BlankSoFar) {
      directive();
    } else {
      // Branches of an #if may not balance; a brace in the first column ends that.
      if (C == '}' && I == Lines.back().Begin)
        Parentheses = 0;
      Parentheses += !InDirective && C == '(';
      Parentheses -= !InDirective && C == ')';
      BlankSoFar &= C == ' ' || C == '\t' || C == '\r';
      ++I;
      continue;
    }
    BlankSoFar = false;
  }
}

/// Index of the first line that begins at or after \p Offset and is safe.
static std::optional<size_t> safeLineFrom(ArrayRef<LineScanner::Line> Lines,
                                          size_t Offset) {
  for (size_t L = 0; L < Lines.size(); ++L)
    if (Lines[L].Begin >= Offset && Lines[L].Begin > 0 && Lines[L].Safe)
      return L;
  return std::nullopt;
}

Expected<std::string> applyKeepingLines(StringRef Text, ArrayRef<FileEdit> Edits) {
  // Insertions at one place keep their order and come before a replacement there.
  std::vector<size_t> Order(Edits.size());
  std::iota(Order.begin(), Order.end(), 0);
  sort(Order, [&](size_t A, size_t B) {
    return std::make_tuple(Edits[A].Offset, Edits[A].Length != 0, A) <
           std::make_tuple(Edits[B].Offset, Edits[B].Length != 0, B);
  });
  LineScanner Scanner(Text);
  StringRef End = Text.contains("\r\n") ? "\r\n" : "\n";
  std::string Out;
  size_t At = 0;
  std::optional<size_t> Pending; // the line before which a directive is due
  auto CopyTo = [&](size_t To) {
    if (Pending && Scanner.lines()[*Pending].Begin <= To) {
      size_t Begin = Scanner.lines()[*Pending].Begin;
      if (Begin < Text.size()) {
        Out += Text.slice(At, Begin);
        if (!StringRef(Out).ends_with("\n"))
          Out += End;
        Out += ("#line " + Twine(Scanner.presumed(*Pending)) + End).str();
        At = Begin;
      }
      Pending.reset();
    }
    Out += Text.slice(At, To);
    At = To;
  };
  for (size_t Index : Order) {
    const FileEdit &E = Edits[Index];
    size_t Stop = size_t(E.Offset) + E.Length;
    if (E.Offset < At || Stop > Text.size())
      return makeError(ExitCode::Internal,
                       "an edit overlaps another or ends beyond the file", E.Path);
    CopyTo(E.Offset);
    Out += E.Replacement;
    At = Stop;
    bool Shifted = StringRef(E.Replacement).count('\n') !=
                   Text.slice(E.Offset, Stop).count('\n');
    // An edit that covers the place of an earlier directive moves it down.
    if (Shifted || Pending)
      Pending = safeLineFrom(Scanner.lines(), Stop);
  }
  CopyTo(Text.size());
  return Out;
}

} // namespace optimas
