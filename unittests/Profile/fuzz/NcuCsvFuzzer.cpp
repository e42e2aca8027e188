// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Profile/Readers.h"

using namespace llvm;
using namespace optimas;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Text(reinterpret_cast<const char *>(Data), Size);
  for (auto *Parse : {parseNcuSourceCsv, parseNcuRawCsv, parseNsysCsv, parseProfile}) {
    Expected<Profile> P = Parse(Text, "fuzz.csv");
    if (!P) {
      consumeError(P.takeError());
      continue;
    }
    std::vector<std::string> Messages;
    toJson(mergeProfiles(*P, Messages));
  }
  return 0;
}
