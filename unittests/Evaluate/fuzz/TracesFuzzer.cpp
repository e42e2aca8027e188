// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Evaluate/Build.h"
#include "optimas/Evaluate/Trace.h"
#include "optimas/Support/Error.h"

using namespace llvm;
using namespace optimas;

/// What the collector and ptxas print; a user's program can write into both.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Text(reinterpret_cast<const char *>(Data), Size);
  consumeError(parseMemoryTrace(Text, "fuzz.jsonl").takeError());
  consumeError(parseTimeTrace(Text, "fuzz.jsonl").takeError());
  parsePtxas(Text);
  return 0;
}
