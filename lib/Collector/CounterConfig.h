//===- CounterConfig.h - Which counters a chip has, and how they are read -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_COUNTERCONFIG_H
#define OPTIMAS_LIB_COLLECTOR_COUNTERCONFIG_H

#include "Cupti.h"
#include "optimas/Collector/Options.h"
#include <string>
#include <vector>

namespace optimas::collector {

/// Whether metric \p Name is a plain sum (`smsp__inst_executed.sum`): one that is no
/// number was not decoded, while a ratio is none where a kernel does no such thing.
bool isSum(const std::string &Name);

/// The host's half of counting: CUPTI's plan for a list of metrics on one chip. Needs
/// CUPTI but no GPU.
class CounterConfig {
public:
  ~CounterConfig();
  CounterConfig() = default;
  CounterConfig(const CounterConfig &) = delete;
  CounterConfig &operator=(const CounterConfig &) = delete;

  /// Makes the plan for \p Wanted on \p Chip (`GH100`). \p Availability is what
  /// cuptiProfilerGetCounterAvailability gave, or empty. Metrics that the chip lacks
  /// or that cannot be planned are left out and stand in missing(). Returns false and
  /// a sentence when none is left.
  bool prepare(const std::string &Chip, const std::vector<uint8_t> &Availability,
               const std::vector<MetricRequest> &Wanted, std::string &Error);

  /// After prepare(): keeps the first of metrics() that fit into one pass together, in
  /// their order; the others stand in left(). Returns false and a sentence when each needs
  /// several passes.
  bool keepOnePass(std::string &Error);

  const std::vector<MetricRequest> &metrics() const { return Metrics; }
  /// The names as CUPTI wants them.
  const std::vector<const char *> &names() const { return Names; }
  const std::vector<std::string> &missing() const { return Missing; }
  /// Metrics that keepOnePass() put aside.
  const std::vector<std::string> &left() const { return Left; }
  const std::vector<uint8_t> &image() const { return Image; }
  /// How often a kernel must run for all metrics.
  size_t passes() const { return Passes; }

  /// The values of metrics(), in their order, of range 0 of a decoded image.
  bool evaluate(const std::vector<uint8_t> &CounterData, std::vector<double> &Values);

private:
  bool open(CUpti_Profiler_Host_Object *&Host);
  bool plan(const std::vector<const char *> &Some);
  void takeNames();
  void close();

  std::string Chip;
  std::vector<uint8_t> Availability, Image;
  std::vector<MetricRequest> Metrics;
  std::vector<const char *> Names; ///< into Metrics
  std::vector<std::string> Missing, Left;
  CUpti_Profiler_Host_Object *Host = nullptr;
  size_t Passes = 0;
};

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_COUNTERCONFIG_H
