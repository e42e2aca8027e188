//===- RangeCounter.h - Counting one launch at a time with CUPTI's range profiler -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_RANGECOUNTER_H
#define OPTIMAS_LIB_COLLECTOR_RANGECOUNTER_H

#include "CounterConfig.h"
#include <memory>

namespace optimas::collector {

/// The range profiler of one context, in automatic ranges. With kernel replay CUPTI saves
/// what the kernel may write, runs it once a pass and restores the memory between; with
/// application replay it runs once, for the counters that fit into one pass. Not
/// thread-safe: callers hold their lock.
class RangeCounter {
public:
  RangeCounter(CUcontext Context, Replay Mode) : Context(Context), Mode(Mode) {}
  ~RangeCounter();
  RangeCounter(const RangeCounter &) = delete;
  RangeCounter &operator=(const RangeCounter &) = delete;

  /// Sets counting up in the context, which must be current. Returns false and why.
  bool enable(const std::vector<MetricRequest> &Wanted, std::string &Error);
  /// The next launch in the context is counted.
  bool begin(std::string &Error);
  /// After that launch: its values in the order of config().metrics().
  bool end(std::vector<double> &Values, std::string &Error);
  /// At the end, or before the context goes.
  void disable();

  const CounterConfig &config() const { return Config; }

private:
  CUcontext Context;
  Replay Mode;
  CounterConfig Config;
  CUpti_RangeProfiler_Object *Object = nullptr;
  std::vector<uint8_t> Data; ///< the counter data image, of one range
};

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_RANGECOUNTER_H
