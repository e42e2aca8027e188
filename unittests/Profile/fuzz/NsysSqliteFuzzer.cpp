// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Profile/Readers.h"

using namespace llvm;
using namespace optimas;

/// What is read must be a profile that can be written and read again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Bytes(reinterpret_cast<const char *>(Data), Size);
  Expected<Profile> P = parseNsysSqlite(Bytes, "fuzz.sqlite");
  if (!P) {
    consumeError(P.takeError());
    return 0;
  }
  std::string Text = toJson(*P);
  Expected<Profile> Again = parseProfileJson(Text, "again.json");
  if (!Again || toJson(*Again) != Text)
    abort();
  return 0;
}
