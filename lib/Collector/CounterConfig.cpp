//===- CounterConfig.cpp - Which counters a chip has, and how they are read -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CounterConfig.h"
#include "Log.h"

namespace optimas::collector {

bool isSum(const std::string &Name) {
  return Name.size() > 4 && Name.compare(Name.size() - 4, 4, ".sum") == 0;
}

/// CUPTI's parameter blocks all begin with their size.
template <typename T> static T params(size_t Size) {
  T P = {};
  P.structSize = Size;
  return P;
}
#define OPTIMAS_PARAMS(Type) params<Type##_Params>(Type##_Params_STRUCT_SIZE)

CounterConfig::~CounterConfig() { close(); }

void CounterConfig::close() {
  if (!Host)
    return;
  auto P = OPTIMAS_PARAMS(CUpti_Profiler_Host_Deinitialize);
  P.pHostObject = Host;
  Cupti.cuptiProfilerHostDeinitialize(&P);
  Host = nullptr;
}

bool CounterConfig::open(CUpti_Profiler_Host_Object *&Object) {
  auto P = OPTIMAS_PARAMS(CUpti_Profiler_Host_Initialize);
  P.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  P.pChipName = Chip.c_str();
  P.pCounterAvailabilityImage = Availability.empty() ? nullptr : Availability.data();
  if (!succeeded(Cupti.cuptiProfilerHostInitialize(&P), "cuptiProfilerHostInitialize"))
    return false;
  Object = P.pHostObject;
  return true;
}

/// A host object that refused a metric, or whose image was taken, takes no more, so each
/// plan begins with a new one.
bool CounterConfig::plan(const std::vector<const char *> &Some) {
  close();
  if (!open(Host))
    return false;
  std::vector<const char *> List = Some;
  auto Add = OPTIMAS_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics);
  Add.pHostObject = Host;
  Add.ppMetricNames = List.data();
  Add.numMetrics = List.size();
  auto Size = OPTIMAS_PARAMS(CUpti_Profiler_Host_GetConfigImageSize);
  Size.pHostObject = Host;
  if (Cupti.cuptiProfilerHostConfigAddMetrics(&Add) != CUPTI_SUCCESS ||
      Cupti.cuptiProfilerHostGetConfigImageSize(&Size) != CUPTI_SUCCESS)
    return false;
  Image.assign(Size.configImageSize, 0);
  auto Get = OPTIMAS_PARAMS(CUpti_Profiler_Host_GetConfigImage);
  Get.pHostObject = Host;
  Get.configImageSize = Image.size();
  Get.pConfigImage = Image.data();
  auto Number = OPTIMAS_PARAMS(CUpti_Profiler_Host_GetNumOfPasses);
  Number.configImageSize = Image.size();
  Number.pConfigImage = Image.data();
  if (Cupti.cuptiProfilerHostGetConfigImage(&Get) != CUPTI_SUCCESS ||
      Cupti.cuptiProfilerHostGetNumOfPasses(&Number) != CUPTI_SUCCESS)
    return false;
  Passes = Number.numOfPasses;
  return true;
}

void CounterConfig::takeNames() {
  Names.clear();
  for (const MetricRequest &M : Metrics)
    Names.push_back(M.Name.c_str());
}

bool CounterConfig::prepare(const std::string &TheChip,
                            const std::vector<uint8_t> &TheAvailability,
                            const std::vector<MetricRequest> &Wanted,
                            std::string &Error) {
  Chip = TheChip;
  Availability = TheAvailability;
  CUpti_Profiler_Host_Object *Lookup = nullptr;
  if (!open(Lookup)) {
    Error = "CUPTI does not know the chip " + Chip + ": use a newer toolkit";
    return false;
  }
  for (const MetricRequest &M : Wanted) {
    auto P = OPTIMAS_PARAMS(CUpti_Profiler_Host_GetMetricProperties);
    P.pHostObject = Lookup;
    P.pMetricName = M.Name.c_str();
    if (Cupti.cuptiProfilerHostGetMetricProperties(&P) == CUPTI_SUCCESS)
      Metrics.push_back(M);
    else
      Missing.push_back(M.Name);
  }
  auto Close = OPTIMAS_PARAMS(CUpti_Profiler_Host_Deinitialize);
  Close.pHostObject = Lookup;
  Cupti.cuptiProfilerHostDeinitialize(&Close);

  takeNames();
  if (!Names.empty() && !plan(Names)) {
    // One of them cannot be counted after all: find out which.
    std::vector<MetricRequest> Good;
    for (const MetricRequest &M : Metrics)
      if (plan({M.Name.c_str()}))
        Good.push_back(M);
      else
        Missing.push_back(M.Name);
    Metrics = std::move(Good);
    takeNames();
    if (!Names.empty() && !plan(Names)) {
      Error = "CUPTI cannot plan these counters together: ask for fewer";
      return false;
    }
  }
  if (Names.empty()) {
    Error = "the chip " + Chip + " has none of the counters that were asked for";
    return false;
  }
  logLine("counters: chip %s, %zu metrics, %zu missing, %zu passes", Chip.c_str(),
          Names.size(), Missing.size(), Passes);
  for (const std::string &Name : Missing)
    logLine("counters: %s has no %s", Chip.c_str(), Name.c_str());
  return true;
}

bool CounterConfig::keepOnePass(std::string &Error) {
  std::vector<MetricRequest> Kept;
  std::vector<const char *> Fitting;
  for (const MetricRequest &M : Metrics) {
    Fitting.push_back(M.Name.c_str());
    if (plan(Fitting) && Passes == 1) {
      Kept.push_back(M);
      continue;
    }
    Fitting.pop_back();
    Left.push_back(M.Name);
  }
  if (Kept.empty()) {
    Error = "none of these counters fits into one pass";
    return false;
  }
  Metrics = std::move(Kept);
  takeNames();
  logLine("counters: %zu metrics in one pass, %zu left", Names.size(), Left.size());
  if (plan(Names))
    return true;
  Error = "CUPTI cannot plan these counters together: ask for fewer";
  return false;
}

bool CounterConfig::evaluate(const std::vector<uint8_t> &CounterData,
                             std::vector<double> &Values) {
  Values.assign(Names.size(), 0);
  auto P = OPTIMAS_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues);
  P.pHostObject = Host;
  P.pCounterDataImage = CounterData.data();
  P.counterDataImageSize = CounterData.size();
  P.rangeIndex = 0;
  P.ppMetricNames = Names.data();
  P.numMetrics = Names.size();
  P.pMetricValues = Values.data();
  return succeeded(Cupti.cuptiProfilerHostEvaluateToGpuValues(&P),
                   "cuptiProfilerHostEvaluateToGpuValues");
}

} // namespace optimas::collector
