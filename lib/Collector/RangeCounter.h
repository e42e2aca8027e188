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

/// The range profiler of one context, in automatic ranges with kernel replay: CUPTI
/// saves what the kernel may write, runs it once a pass and restores the memory
/// between. Not thread-safe: callers hold their lock.
class RangeCounter {
public:
  explicit RangeCounter(CUcontext Context) : Context(Context) {}
  ~RangeCounter();
  RangeCounter(const RangeCounter &) = delete;
  RangeCounter &operator=(const RangeCounter &) = delete;

  /// Sets counting up in the context, which must be current. Returns false and why.
  bool enable(const std::vector<MetricRequest> &Wanted, std::string &Error);
  /// The next launch in the context is counted: all metrics, or (\p Once, where
  /// hasOnce()) those of once() while the kernel runs a single time.
  bool begin(bool Once, std::string &Error);
  /// After that launch: its values in the order of config().metrics() or once().
  bool end(std::vector<double> &Values, std::string &Error);
  /// At the end, or before the context goes.
  void disable();

  const CounterConfig &config() const { return All.Config; }
  /// Whether replay disturbs some of the metrics and they fit into one pass.
  bool hasOnce() const { return !Single.Data.empty(); }
  const CounterConfig &once() const { return Single.Config; }
  /// From now on hasOnce() is false.
  void dropOnce() { Single.Data.clear(); }

private:
  struct Plan {
    CounterConfig Config;
    std::vector<uint8_t> Data; ///< the counter data image, of one range
  };
  bool makeData(Plan &P, std::string &Error);
  void planOnce(const std::string &Chip, const std::vector<uint8_t> &Availability);

  CUcontext Context;
  Plan All, Single;
  Plan *Current = &All; ///< between begin() and end()
  CUpti_RangeProfiler_Object *Object = nullptr;
};

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_RANGECOUNTER_H
