//===- Terminal.cpp - Text from elsewhere, made safe to print -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Support/Terminal.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace optimas {

/// Length of a colour sequence at the start of \p Text, 0 when there is none.
static size_t colorAt(StringRef Text) {
  if (Text.starts_with("\x1b[0m"))
    return 4;
  bool Set = Text.size() >= 5 && Text.starts_with("\x1b[3") && Text[3] >= '0' &&
             Text[3] <= '7' && Text[4] == 'm';
  return Set ? 5 : 0;
}

std::string visible(StringRef Text, bool KeepColors) {
  std::string Out;
  Out.reserve(Text.size());
  for (size_t I = 0; I < Text.size(); ++I) {
    if (size_t Color = KeepColors ? colorAt(Text.drop_front(I)) : 0) {
      Out += Text.substr(I, Color);
      I += Color - 1;
      continue;
    }
    auto Byte = static_cast<unsigned char>(Text[I]);
    auto Next = static_cast<unsigned char>(I + 1 < Text.size() ? Text[I + 1] : 0);
    bool C1 = Byte == 0xC2 && Next >= 0x80 && Next < 0xA0;
    if (C1) {
      Byte = Next;
      ++I;
    }
    bool LineEnd = Byte == '\r' && Next == '\n';
    if (LineEnd || (!C1 && Byte != 0x7F && (Byte >= 0x20 || Byte == '\n' || Byte == '\t'))) {
      Out += Text[I];
      continue;
    }
    Out += "\\x";
    Out += hexdigit(Byte >> 4, /*LowerCase=*/true);
    Out += hexdigit(Byte & 15, /*LowerCase=*/true);
  }
  return Out;
}

} // namespace optimas
