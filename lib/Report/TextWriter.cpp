//===- TextWriter.cpp - Wrapped, coloured lines -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TextWriter.h"
#include "optimas/Support/Terminal.h"
#include "llvm/Support/Locale.h"

using namespace llvm;

namespace optimas {

unsigned columnsOf(StringRef Text) {
  std::string Plain;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] == '\x1b') {
      I = Text.find('m', I);
      if (I == StringRef::npos)
        break;
      continue;
    }
    Plain += Text[I];
  }
  int Width = sys::locale::columnWidth(Plain);
  return Width < 0 ? Plain.size() : Width;
}

std::string TextWriter::paint(StringRef Text, raw_ostream::Colors Color) const {
  if (!O.Color)
    return Text.str();
  return formatv("\x1b[{0}m{1}\x1b[0m", 30 + static_cast<int>(Color), Text).str();
}

void TextWriter::heading(const Twine &Text) {
  OS << '\n';
  std::string Shown = visible(Text.str());
  if (O.Color)
    OS << "\x1b[1m" << Shown << "\x1b[0m\n";
  else
    OS << Shown << '\n';
}

void TextWriter::line(const Twine &Text) { OS << visible(Text.str(), O.Color) << '\n'; }

void TextWriter::wrapped(const Twine &Text, unsigned First, unsigned Rest) {
  std::string Storage = visible(Text.str(), O.Color);
  SmallVector<StringRef, 32> Words;
  SplitString(Storage, Words, " \n");
  unsigned Indent = First, Column = First;
  OS.indent(First);
  bool AtStart = true;
  for (StringRef Word : Words) {
    unsigned Width = columnsOf(Word);
    if (!AtStart && Column + 1 + Width > O.Columns) {
      OS << '\n';
      Indent = Rest;
      OS.indent(Indent);
      Column = Indent;
      AtStart = true;
    }
    if (!AtStart) {
      OS << ' ';
      ++Column;
    }
    OS << Word;
    Column += Width;
    AtStart = false;
  }
  OS << '\n';
}

void TextWriter::cut(const Twine &Text, unsigned Indent) {
  std::string S = visible(StringRef(Text.str()).rtrim("\r\n"));
  unsigned Room = O.Columns > Indent ? O.Columns - Indent : 1;
  if (columnsOf(S) > Room) {
    while (!S.empty() && columnsOf(S) + 1 > Room) {
      // Never cut a UTF-8 sequence in two.
      do
        S.pop_back();
      while (!S.empty() && (S.back() & 0xC0) == 0x80);
    }
    S += "…";
  }
  OS.indent(Indent) << S << '\n';
}

void TextWriter::diff(StringRef Text, unsigned Indent) {
  SmallVector<StringRef, 64> Lines;
  std::string Shown = visible(Text);
  StringRef(Shown).rtrim('\n').split(Lines, '\n');
  for (StringRef Line : Lines) {
    raw_ostream::Colors Color = Line.starts_with("+")   ? raw_ostream::GREEN
                                : Line.starts_with("-") ? raw_ostream::RED
                                : Line.starts_with("@") ? raw_ostream::CYAN
                                                        : raw_ostream::BLACK;
    OS.indent(Indent) << (Color == raw_ostream::BLACK ? Line.str() : paint(Line, Color))
                      << '\n';
  }
}

std::string formatNs(double Ns) {
  if (Ns < 1e3)
    return formatv("{0:f0} ns", Ns).str();
  if (Ns < 1e6)
    return formatv("{0:f1} us", Ns / 1e3).str();
  if (Ns < 1e9)
    return formatv("{0:f2} ms", Ns / 1e6).str();
  return formatv("{0:f2} s", Ns / 1e9).str();
}

std::string formatBytes(double Bytes) {
  const char *Units[] = {"B", "KB", "MB", "GB", "TB"};
  unsigned U = 0;
  while (Bytes >= 1024 && U < 4) {
    Bytes /= 1024;
    ++U;
  }
  return U ? formatv("{0:f1} {1}", Bytes, Units[U]).str()
           : formatv("{0:f0} B", Bytes).str();
}

} // namespace optimas
