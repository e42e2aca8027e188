//===- SampleTable.h - PC samples, aggregated while they arrive -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_COLLECTOR_SAMPLETABLE_H
#define OPTIMAS_COLLECTOR_SAMPLETABLE_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace optimas::collector {

/// What a stall reason's run-time name says.
struct StallReason {
  enum class Kind { Stall, SampleCount, DataDropped, Unknown };
  Kind What = Kind::Unknown;
  std::string Name;     ///< `long_scoreboard`; the full name when unknown
  bool Latency = false; ///< `_not_issued`: the scheduler issued nothing
};

/// Takes CUPTI's name apart: `smsp__pcsamp_warps_issue_stalled_barrier_not_issued`
/// is a latency sample of `barrier`.
StallReason classifyReason(const std::string &FullName);

/// What one reading of CUPTI's buffers reports beside the samples.
struct SampleTotals {
  uint64_t Total = 0;    ///< all samples, dropped and non-user ones included
  uint64_t Dropped = 0;  ///< lost by the hardware
  uint64_t NonUser = 0;  ///< in kernels that are not the program's
  bool BufferFull = false;
};

/// Samples summed over (cubin, function, pc, reason): grows with the code that was
/// sampled, not with the run.
class SampleTable {
public:
  struct Counts {
    uint64_t Samples = 0, Latency = 0;
  };
  /// Reason name → counts.
  using Stalls = std::map<std::string, Counts>;
  using Pcs = std::map<uint64_t, Stalls>;
  /// (cubin CRC, mangled function) → pcs.
  using Functions = std::map<std::pair<uint64_t, std::string>, Pcs>;

  /// Tells the table what CUPTI's reason index \p Index is called.
  void nameReason(uint32_t Index, const std::string &FullName);
  /// Adds \p Samples of the reason with \p Index. CUPTI counts a latency sample
  /// under both the plain and the `_not_issued` reason, so the two are not summed.
  void add(uint64_t CubinCrc, const std::string &Function, uint64_t Pc,
           uint32_t Index, uint64_t Samples);
  void addTotals(const SampleTotals &Totals);

  const Functions &functions() const { return Table; }
  const SampleTotals &totals() const { return Sums; }
  /// Samples with a stall reason, summed over the table.
  uint64_t attributed() const;
  bool empty() const { return Table.empty(); }

private:
  std::map<uint32_t, StallReason> Reasons;
  Functions Table;
  SampleTotals Sums;
  uint64_t PseudoDropped = 0;
};

} // namespace optimas::collector

#endif // OPTIMAS_COLLECTOR_SAMPLETABLE_H
