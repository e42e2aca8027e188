//===- Passes.h - The runs that make a profile -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_PASSES_H
#define OPTIMAS_TOOLS_PROFILE_PASSES_H

#include "optimas/Profile/Profile.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"

namespace optimas {

/// How counters that need several passes are read. Kernel: CUPTI runs each
/// launch once a pass and restores memory in between. Application: the program
/// is run once for each pass. Auto: one run for what kernel replay disturbs
/// (time, DRAM traffic), the rest by kernel replay.
enum class ReplayMode { Auto, Kernel, Application };

struct ProfileOptions {
  std::vector<std::string> Command;
  std::string Collector; ///< the library to inject
  std::string Toolkit;   ///< for CUPTI
  /// 2: activity first, then sampling, so that durations are those of a run
  /// that is not sampled. 1: both at once.
  unsigned Passes = 2;
  bool Sampling = true;      ///< false: times and counters only
  bool RanBefore = false;    ///< standard input was read
  unsigned IntervalLog2 = 0; ///< 0: by rule
  bool Serialized = false;   ///< one kernel at a time while sampling
  bool Concurrent = false;   ///< kernels may overlap while they are timed
  double TimeoutSeconds = 0; ///< of each run
  bool IgnoreExitStatus = false;
  /// Hardware counters to read in runs of their own, `name unit`; empty: none.
  std::vector<std::string> Metrics;
  ReplayMode Replay = ReplayMode::Auto;
  double HotPercent = 80; ///< counters of the kernels that cover this much time
  unsigned CounterLaunches = 5; ///< of each of them
  std::string Log; ///< append the collector's log to this file; may be empty
};

/// Runs the program once or twice, and again for counters, and makes one
/// profile of it. Samples, kernels, modules and the hashes of the source files
/// that the line tables name are in it; frames are left to resolveFrames().
/// Every way in which a run gives no evidence (does not start, crashes, hangs,
/// uses no GPU) is an error EvidenceUnusable with its own message.
llvm::Expected<Profile> profileProgram(const ProfileOptions &O);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_PASSES_H
