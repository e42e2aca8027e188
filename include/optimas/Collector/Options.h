//===- Options.h - What the environment asks the collector for -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_COLLECTOR_OPTIONS_H
#define OPTIMAS_COLLECTOR_OPTIONS_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace optimas::collector {

enum class Mode { Off, Profile, Memory, Time, Counters };

/// Which half of a profile a run records. CUPTI may slow kernels while it samples,
/// so durations are trusted from a run without sampling only.
enum class Pass { Both, Activity, Sampling };

/// How the counters mode reads metrics that need several passes. Kernel: CUPTI runs each
/// launch once a pass and restores memory between. Application: what fits into one pass is
/// read and the rest is named, so that whoever runs the program can run it again.
enum class Replay { Kernel, Application };

/// One `launch:index:path` of OPTIMAS_COLLECT_DUMP.
struct DumpRequest {
  uint64_t Launch = 0; ///< 1-based, as in the trace
  uint64_t Index = 0;  ///< allocation index; 0 when Symbol names a global
  std::string Symbol;
  std::string Path;
};

/// One line of OPTIMAS_COLLECT_METRICS: a hardware counter by Nsight Compute's name, and
/// the unit that the profile gives it.
struct MetricRequest {
  std::string Name, Unit;
};

/// The collector's settings. Each stands in an environment variable, since the
/// library is loaded into a program whose command line is not ours.
struct Options {
  Mode RunMode = Mode::Off;   ///< OPTIMAS_COLLECT=profile|memory|time|counters
  Pass RunPass = Pass::Both;  ///< OPTIMAS_COLLECT_PASS=activity|sampling|both
  std::string Output;         ///< OPTIMAS_COLLECT_OUTPUT, see expandPath()
  std::string Log;            ///< OPTIMAS_COLLECT_LOG: a path, or `stderr`; empty: errors only
  std::string CuptiPath;      ///< OPTIMAS_CUPTI_PATH: a folder or a library
  /// OPTIMAS_COLLECT_INTERVAL: a sample every 2^n cycles, 5 to 31; 0: by rule.
  unsigned IntervalLog2 = 0;
  /// OPTIMAS_COLLECT_SERIALIZED: one kernel at a time while sampling; 0 or 1.
  bool Serialized = false;
  /// OPTIMAS_COLLECT_CONCURRENT: kernels may overlap while their times are recorded, 0 or
  /// 1. CUPTI then instruments every block, which lengthens kernels of many short ones.
  bool Concurrent = false;
  /// OPTIMAS_COLLECT_KERNELS: base names, one a line; empty selects every kernel.
  std::vector<std::string> Kernels;
  /// OPTIMAS_COLLECT_POISON: byte that new allocations are filled with, decimal or
  /// 0x-hexadecimal. Memory mode fills with 0xA5 when it is not given; time mode
  /// fills only when it is.
  std::optional<uint8_t> Poison;
  /// OPTIMAS_COLLECT_PERMUTE=seed[:4|:8]: shuffle host-to-device copies.
  std::optional<uint64_t> PermuteSeed;
  unsigned PermuteElement = 8; ///< bytes that stay together
  /// OPTIMAS_COLLECT_PERMUTE_SKIP: 1-based numbers of copies left alone, by commas.
  std::vector<uint64_t> PermuteSkip;
  /// OPTIMAS_COLLECT_DUMP, one a line.
  std::vector<DumpRequest> Dumps;
  /// OPTIMAS_COLLECT_METRICS: `name unit`, one a line; for the counters mode.
  std::vector<MetricRequest> Metrics;
  /// OPTIMAS_COLLECT_LAUNCHES: so many launches of each kernel are counted.
  unsigned Launches = 5;
  /// OPTIMAS_COLLECT_REPLAY=kernel|application, for the counters mode.
  Replay ReplayMode = Replay::Kernel;
  /// OPTIMAS_COLLECT_GLOBALS=0: leave `__device__` variables alone.
  bool Globals = true;

  uint8_t poison() const { return Poison.value_or(0xA5); }
};

/// Reads the variables through \p Get (which returns null for an unset one, as
/// getenv does). Returns false and a sentence in \p Error for a value that makes
/// no sense.
bool parseOptions(const std::function<const char *(const char *)> &Get,
                  Options &Result, std::string &Error);

/// \p Path with `%p` replaced by \p Pid and `%q{NAME}` by the environment variable NAME
/// as \p Get gives it (nothing where it is not set), so that each rank of a job has a
/// file of its own; `%%` is a percent sign.
std::string expandPath(const std::string &Path, long Pid,
                       const std::function<const char *(const char *)> &Get);

/// The sampling interval, as log2 of cycles, that should give about \p Target
/// samples in \p Seconds of GPU time on a device of \p Sms multiprocessors at
/// \p ClockKHz, taking it that each multiprocessor yields one sample an interval:
///   interval = SMs · clock · seconds / Target,
/// rounded down to a power of two and kept within [2^9, 2^20]: below, buffers
/// overflow; above, short kernels get too few samples.
unsigned chooseInterval(unsigned Sms, uint64_t ClockKHz, double Seconds,
                        double Target = 2e6);

} // namespace optimas::collector

#endif // OPTIMAS_COLLECTOR_OPTIONS_H
