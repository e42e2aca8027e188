// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../../lib/Transform/GuardLexical.h"
#include "llvm/ADT/Twine.h"
#include <cstdlib>

using namespace llvm;
using namespace optimas;

/// Text that passes must not change how what follows it is read: the same
/// tokens, then the one that stands on the next line.
static void expectStaysInPlace(StringRef Text) {
  LexedText Alone = lexSource(Text);
  std::string Around = "{\n" + Text.str() + "\n}";
  LexedText Placed = lexSource(Around);
  if (Placed.Tokens.size() != Alone.Tokens.size() + 2 ||
      !Placed.Tokens.back().is("}"))
    abort();
  for (size_t I = 0; I < Alone.Tokens.size(); ++I)
    if (Alone.Tokens[I].Text != Placed.Tokens[I + 1].Text)
      abort();
  if (closingBracket(Placed.Tokens, 0) != Placed.Tokens.size() - 1)
    abort();
}

/// One byte for the role, then the replaced text and the edit's, split at a
/// NUL.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (!Size)
    return 0;
  StringRef All(reinterpret_cast<const char *>(Data), Size);
  auto [Replaced, Text] = All.drop_front().split('\0');
  if (All[0] % 4 == 3) {
    if (!checkWrapText(Text, Replaced, false)) {
      std::pair<StringRef, StringRef> Halves = Text.split("$body");
      expectStaysInPlace((Twine(Halves.first) + "x;" + Halves.second).str());
    }
    return 0;
  }
  TextRole Role = TextRole(All[0] % 4);
  bool Trusted = All[0] & 4;
  if (!checkText(Role, Text, Replaced, Trusted))
    expectStaysInPlace(Text);
  splitAtCommas(lexSource(Text).Tokens);
  return 0;
}
