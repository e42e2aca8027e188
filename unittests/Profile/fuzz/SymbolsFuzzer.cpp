// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Profile/Profile.h"

using namespace llvm;
using namespace optimas;

/// Two names, split at the first newline.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  auto [A, B] =
      StringRef(reinterpret_cast<const char *>(Data), Size).split('\n');
  std::string Canonical = canonicalSymbol(A);
  baseName(Canonical);
  if (symbolsMatch(A, B) != symbolsMatch(B, A))
    abort();
  return 0;
}
