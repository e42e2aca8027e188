//===- PcSampler.h - CUPTI PC sampling in continuous mode -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_PCSAMPLER_H
#define OPTIMAS_LIB_COLLECTOR_PCSAMPLER_H

#include "Cupti.h"
#include "optimas/Collector/SampleTable.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace optimas::collector {

/// Samples the program counters of all kernels of all contexts and adds them up.
///
/// Per context: configure → enable (when the context was created) → read (when
/// modules come and go, when much is waiting) → disable. The last data arrive in
/// the configured buffer at disable. Not thread-safe: callers hold their lock.
class PcSampler {
public:
  /// \p IntervalLog2 is log2 of cycles; 0 chooses by rule. \p Serialized: CUPTI runs one
  /// kernel at a time.
  PcSampler(unsigned IntervalLog2, bool Serialized);
  ~PcSampler();

  /// Sets sampling up in a new context. On failure sampling stays off there, the
  /// reason is logged and kept in notes().
  void contextCreated(CUcontext Context);
  /// Reads what is waiting.
  void drain(CUcontext Context);
  /// Reads if so much waits that the buffer may overflow; in serialized mode, what the
  /// last kernel left.
  void drainIfFilling(CUcontext Context);
  /// Reads the rest and disables sampling.
  void contextEnding(CUcontext Context);
  void finish();

  const SampleTable &table() const { return Samples; }
  /// The interval in use as log2 of cycles; 0 while nothing was sampled.
  unsigned intervalLog2() const { return Interval; }
  const std::vector<std::string> &notes() const { return Notes; }

private:
  struct Buffer;
  struct Context;
  bool configure(Context &C, std::string &Why);
  bool readReasons(Context &C, std::string &Why);
  bool setAttributes(Context &C, std::string &Why);
  void readBack(Context &C);
  bool getData(Context &C);
  void consume(Buffer &B, const char *When);
  void note(const std::string &Text);

  unsigned Wanted, Interval = 0;
  bool Serialized;
  std::map<CUcontext, std::unique_ptr<Context>> Contexts;
  /// Buffers of ended contexts: CUPTI is not known to forget their addresses.
  std::vector<std::unique_ptr<Context>> Ended;
  SampleTable Samples;
  std::vector<std::string> Notes;
};

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_PCSAMPLER_H
