//===- RangeCounter.cpp - Counting one launch at a time with CUPTI's range profiler -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RangeCounter.h"
#include "Log.h"

namespace optimas::collector {

template <typename T> static T params(size_t Size) {
  T P = {};
  P.structSize = Size;
  return P;
}
#define OPTIMAS_PARAMS(Type) params<Type##_Params>(Type##_Params_STRUCT_SIZE)

static bool failed(CUptiResult Result, const char *What, std::string &Error) {
  logLine("  %s: %s", What, Result == CUPTI_SUCCESS ? "ok" : describe(Result).c_str());
  if (Result == CUPTI_SUCCESS)
    return false;
  Error = std::string(What) + ": " + describe(Result);
  return true;
}

RangeCounter::~RangeCounter() { disable(); }

/// What this device, as it is configured, can count; empty when CUPTI does not say.
static std::vector<uint8_t> availability(CUcontext Context) {
  auto P = OPTIMAS_PARAMS(CUpti_Profiler_GetCounterAvailability);
  P.ctx = Context;
  std::string Ignored;
  if (failed(Cupti.cuptiProfilerGetCounterAvailability(&P),
             "cuptiProfilerGetCounterAvailability (size)", Ignored))
    return {};
  std::vector<uint8_t> Image(P.counterAvailabilityImageSize);
  P.pCounterAvailabilityImage = Image.data();
  if (failed(Cupti.cuptiProfilerGetCounterAvailability(&P),
             "cuptiProfilerGetCounterAvailability", Ignored))
    return {};
  return Image;
}

bool RangeCounter::enable(const std::vector<MetricRequest> &Wanted, std::string &Error) {
  auto Initialize = OPTIMAS_PARAMS(CUpti_Profiler_Initialize);
  if (failed(Cupti.cuptiProfilerInitialize(&Initialize), "cuptiProfilerInitialize", Error))
    return false;
  uint32_t Ordinal = 0;
  if (failed(Cupti.cuptiGetDeviceId(Context, &Ordinal), "cuptiGetDeviceId", Error))
    return false;
  auto Chip = OPTIMAS_PARAMS(CUpti_Device_GetChipName);
  Chip.deviceIndex = Ordinal;
  if (failed(Cupti.cuptiDeviceGetChipName(&Chip), "cuptiDeviceGetChipName", Error))
    return false;
  // Asked before the profiler is enabled: with a session open it may fail.
  if (!Config.prepare(Chip.pChipName, availability(Context), Wanted, Error) ||
      (Mode == Replay::Application && !Config.keepOnePass(Error)))
    return false;
  auto Enable = OPTIMAS_PARAMS(CUpti_RangeProfiler_Enable);
  Enable.ctx = Context;
  if (failed(Cupti.cuptiRangeProfilerEnable(&Enable), "cuptiRangeProfilerEnable", Error))
    return false;
  Object = Enable.pRangeProfilerObject;
  auto Size = OPTIMAS_PARAMS(CUpti_RangeProfiler_GetCounterDataSize);
  std::vector<const char *> Names = Config.names();
  Size.pRangeProfilerObject = Object;
  Size.pMetricNames = Names.data();
  Size.numMetrics = Names.size();
  Size.maxNumOfRanges = 1;
  Size.maxNumRangeTreeNodes = 1;
  if (failed(Cupti.cuptiRangeProfilerGetCounterDataSize(&Size),
             "cuptiRangeProfilerGetCounterDataSize", Error)) {
    disable();
    return false;
  }
  Data.assign(Size.counterDataSize, 0);
  logLine("counters: image of %zu bytes, data of %zu bytes", Config.image().size(),
          Data.size());
  return true;
}

bool RangeCounter::begin(std::string &Error) {
  auto Clear = OPTIMAS_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize);
  Clear.pRangeProfilerObject = Object;
  Clear.counterDataSize = Data.size();
  Clear.pCounterData = Data.data();
  if (failed(Cupti.cuptiRangeProfilerCounterDataImageInitialize(&Clear),
             "cuptiRangeProfilerCounterDataImageInitialize", Error))
    return false;
  auto Set = OPTIMAS_PARAMS(CUpti_RangeProfiler_SetConfig);
  Set.pRangeProfilerObject = Object;
  Set.configSize = Config.image().size();
  Set.pConfig = Config.image().data();
  Set.counterDataImageSize = Data.size();
  Set.pCounterDataImage = Data.data();
  Set.range = CUPTI_AutoRange;
  // With user replay CUPTI leaves memory alone: even before a single pass, kernel replay may
  // save what the kernel writes, which then waits in the L2 cache to be written back.
  Set.replayMode = Mode == Replay::Kernel ? CUPTI_KernelReplay : CUPTI_UserReplay;
  Set.targetNestingLevel = 1;
  Set.maxRangesPerPass = 1;
  Set.numNestingLevels = 1;
  Set.minNestingLevel = 1;
  if (failed(Cupti.cuptiRangeProfilerSetConfig(&Set), "cuptiRangeProfilerSetConfig", Error))
    return false;
  auto Start = OPTIMAS_PARAMS(CUpti_RangeProfiler_Start);
  Start.pRangeProfilerObject = Object;
  return !failed(Cupti.cuptiRangeProfilerStart(&Start), "cuptiRangeProfilerStart", Error);
}

bool RangeCounter::end(std::vector<double> &Values, std::string &Error) {
  auto Stop = OPTIMAS_PARAMS(CUpti_RangeProfiler_Stop);
  Stop.pRangeProfilerObject = Object;
  if (failed(Cupti.cuptiRangeProfilerStop(&Stop), "cuptiRangeProfilerStop", Error))
    return false;
  logLine("  pass %zu, all submitted %d", Stop.passIndex, int(Stop.isAllPassSubmitted));
  auto Decode = OPTIMAS_PARAMS(CUpti_RangeProfiler_DecodeData);
  Decode.pRangeProfilerObject = Object;
  if (failed(Cupti.cuptiRangeProfilerDecodeData(&Decode), "cuptiRangeProfilerDecodeData",
             Error))
    return false;
  auto Info = OPTIMAS_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo);
  Info.pCounterDataImage = Data.data();
  Info.counterDataImageSize = Data.size();
  if (failed(Cupti.cuptiRangeProfilerGetCounterDataInfo(&Info),
             "cuptiRangeProfilerGetCounterDataInfo", Error))
    return false;
  logLine("  %zu ranges, %zu dropped", Info.numTotalRanges, Decode.numOfRangeDropped);
  if (Info.numTotalRanges == 0) {
    Error = "CUPTI counted no kernel in this launch";
    return false;
  }
  if (Config.evaluate(Data, Values))
    return true;
  Error = "CUPTI could not compute the metrics from what was counted";
  return false;
}

void RangeCounter::disable() {
  if (!Object)
    return;
  auto P = OPTIMAS_PARAMS(CUpti_RangeProfiler_Disable);
  P.pRangeProfilerObject = Object;
  succeeded(Cupti.cuptiRangeProfilerDisable(&P), "cuptiRangeProfilerDisable");
  Object = nullptr;
}

} // namespace optimas::collector
