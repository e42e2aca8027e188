// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Profile/Cubin.h"

using namespace llvm;
using namespace optimas;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Bytes(reinterpret_cast<const char *>(Data), Size);
  if (Expected<Cubin> C = Cubin::parse(Bytes, "fuzz.cubin")) {
    for (const CubinFunction &F : C->functions())
      for (const Instruction &I : C->instructions(F))
        C->frames(F, I.Offset);
  } else {
    consumeError(C.takeError());
  }
  consumeError(Cubin::extract(Bytes).takeError());
  return 0;
}
