// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Profile/Sweep.h"
#include <set>

using namespace llvm;
using namespace optimas;

/// The sweep's text, then an argument a line. Every run must be another one.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  auto [Text, Rest] = StringRef(reinterpret_cast<const char *>(Data), Size).split('\n');
  Expected<std::vector<SweepParameter>> Parameters = parseSweep(Text);
  if (!Parameters) {
    consumeError(Parameters.takeError());
    return 0;
  }
  std::vector<std::string> Command;
  SmallVector<StringRef, 0> Lines;
  Rest.split(Lines, '\n');
  for (StringRef Line : Lines)
    Command.push_back(Line.str());
  Expected<std::vector<SweepRun>> Runs = planSweep(*Parameters, Command);
  if (!Runs) {
    consumeError(Runs.takeError());
    return 0;
  }
  std::set<std::map<std::string, std::string>> Seen;
  for (const SweepRun &R : *Runs)
    if (!Seen.insert(R.Parameters).second || R.Command.size() != Command.size() ||
        R.Parameters.size() != Parameters->size())
      abort();
  return 0;
}
