//===- SampleTable.cpp - PC samples, aggregated while they arrive -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/SampleTable.h"
#include <algorithm>

namespace optimas::collector {

static bool consumePrefix(std::string &Text, const std::string &Prefix) {
  if (Text.compare(0, Prefix.size(), Prefix) != 0)
    return false;
  Text.erase(0, Prefix.size());
  return true;
}

static bool consumeSuffix(std::string &Text, const std::string &Suffix) {
  if (Text.size() < Suffix.size() ||
      Text.compare(Text.size() - Suffix.size(), Suffix.size(), Suffix) != 0)
    return false;
  Text.erase(Text.size() - Suffix.size());
  return true;
}

StallReason classifyReason(const std::string &FullName) {
  StallReason Reason;
  Reason.Name = FullName;
  if (FullName == "smsp__pcsamp_sample_count") {
    Reason.What = StallReason::Kind::SampleCount;
  } else if (FullName == "smsp__pcsamp_samples_data_dropped") {
    Reason.What = StallReason::Kind::DataDropped;
  } else if (consumePrefix(Reason.Name, "smsp__pcsamp_warps_issue_stalled_")) {
    Reason.What = StallReason::Kind::Stall;
    Reason.Latency = consumeSuffix(Reason.Name, "_not_issued");
  }
  return Reason;
}

void SampleTable::nameReason(uint32_t Index, const std::string &FullName) {
  Reasons[Index] = classifyReason(FullName);
}

void SampleTable::add(uint64_t CubinCrc, const std::string &Function, uint64_t Pc,
                      uint32_t Index, uint64_t Samples) {
  auto Reason = Reasons.find(Index);
  if (Reason == Reasons.end() || !Samples)
    return;
  if (Reason->second.What == StallReason::Kind::DataDropped)
    PseudoDropped += Samples;
  if (Reason->second.What != StallReason::Kind::Stall)
    return;
  Counts &C = Table[{CubinCrc, Function}][Pc][Reason->second.Name];
  (Reason->second.Latency ? C.Latency : C.Samples) += Samples;
}

void SampleTable::addTotals(const SampleTotals &Totals) {
  Sums.Total += Totals.Total;
  Sums.Dropped += Totals.Dropped;
  Sums.NonUser += Totals.NonUser;
  Sums.BufferFull |= Totals.BufferFull;
  Sums.Dropped = std::max(Sums.Dropped, PseudoDropped);
}

uint64_t SampleTable::attributed() const {
  uint64_t Sum = 0;
  for (const auto &[Key, Pcs] : Table)
    for (const auto &[Pc, Stalls] : Pcs)
      for (const auto &[Name, C] : Stalls)
        Sum += C.Samples;
  return Sum;
}

} // namespace optimas::collector
