// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Profile/Readers.h"

using namespace llvm;
using namespace optimas;

/// What is read must be written so that it reads the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Text(reinterpret_cast<const char *>(Data), Size);
  Expected<Profile> P = parseProfileJson(Text, "fuzz.json");
  if (!P) {
    consumeError(P.takeError());
    return 0;
  }
  std::string Written = toJson(*P);
  Expected<Profile> Again = parseProfileJson(Written, "again.json");
  if (!Again || toJson(*Again) != Written)
    abort();
  std::vector<std::string> Messages;
  Profile Merged = mergeProfiles({*P, *Again}, Messages);
  resolveFrames(Merged, Messages);
  return 0;
}
