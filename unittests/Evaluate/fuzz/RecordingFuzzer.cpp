// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Evaluate/Replay.h"
#include "optimas/Support/Error.h"

using namespace llvm;
using namespace optimas;

/// What was read is written the same way again, whatever the file left out.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Text(reinterpret_cast<const char *>(Data), Size);
  Expected<Recording> First = parseRecording(Text, "fuzz.json");
  if (!First) {
    consumeError(First.takeError());
    return 0;
  }
  std::string Written = toJson(*First);
  Expected<Recording> Second = parseRecording(Written, "again.json");
  if (!Second || toJson(*Second) != Written)
    abort();
  return 0;
}
