//===- Cupti.h - CUPTI, found at run time -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The only file that includes CUPTI's headers. CUPTI is not linked: a missing or
/// too new library must give a message, and the program must run on without us.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_CUPTI_H
#define OPTIMAS_LIB_COLLECTOR_CUPTI_H

#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <string>

/// Functions that every CUPTI since CUDA 11 has.
#define OPTIMAS_CUPTI_NEEDED(X)                                                          \
  X(cuptiGetVersion)                                                                     \
  X(cuptiGetResultString)                                                                \
  X(cuptiSubscribe)                                                                      \
  X(cuptiUnsubscribe)                                                                    \
  X(cuptiEnableCallback)                                                                 \
  X(cuptiEnableDomain)                                                                   \
  X(cuptiActivityRegisterCallbacks)                                                      \
  X(cuptiActivityEnable)                                                                 \
  X(cuptiActivityDisable)                                                                \
  X(cuptiActivityFlushAll)                                                               \
  X(cuptiActivityGetNextRecord)                                                          \
  X(cuptiActivityGetNumDroppedRecords)                                                   \
  X(cuptiGetDeviceId)                                                                    \
  X(cuptiGetStreamIdEx)

/// Functions of PC sampling, absent from old versions.
#define OPTIMAS_CUPTI_SAMPLING(X)                                                        \
  X(cuptiPCSamplingGetNumStallReasons)                                                   \
  X(cuptiPCSamplingGetStallReasons)                                                      \
  X(cuptiPCSamplingSetConfigurationAttribute)                                            \
  X(cuptiPCSamplingGetConfigurationAttribute)                                            \
  X(cuptiPCSamplingEnable)                                                               \
  X(cuptiPCSamplingDisable)                                                              \
  X(cuptiPCSamplingGetData)                                                              \
  X(cuptiGetCubinCrc)

/// Functions of the Range Profiler and its host part, of CUDA 12.6 and later.
#define OPTIMAS_CUPTI_COUNTERS(X)                                                        \
  X(cuptiProfilerInitialize)                                                             \
  X(cuptiDeviceGetChipName)                                                              \
  X(cuptiProfilerGetCounterAvailability)                                                 \
  X(cuptiProfilerHostInitialize)                                                         \
  X(cuptiProfilerHostDeinitialize)                                                       \
  X(cuptiProfilerHostGetMetricProperties)                                                \
  X(cuptiProfilerHostConfigAddMetrics)                                                   \
  X(cuptiProfilerHostGetConfigImageSize)                                                 \
  X(cuptiProfilerHostGetConfigImage)                                                     \
  X(cuptiProfilerHostGetNumOfPasses)                                                     \
  X(cuptiProfilerHostEvaluateToGpuValues)                                                \
  X(cuptiRangeProfilerEnable)                                                            \
  X(cuptiRangeProfilerDisable)                                                           \
  X(cuptiRangeProfilerSetConfig)                                                         \
  X(cuptiRangeProfilerStart)                                                             \
  X(cuptiRangeProfilerStop)                                                              \
  X(cuptiRangeProfilerDecodeData)                                                        \
  X(cuptiRangeProfilerGetCounterDataSize)                                                \
  X(cuptiRangeProfilerCounterDataImageInitialize)                                        \
  X(cuptiRangeProfilerGetCounterDataInfo)

namespace optimas::collector {

struct CuptiApi {
#define OPTIMAS_MEMBER(Name) decltype(&::Name) Name = nullptr;
  OPTIMAS_CUPTI_NEEDED(OPTIMAS_MEMBER)
  OPTIMAS_CUPTI_SAMPLING(OPTIMAS_MEMBER)
  OPTIMAS_CUPTI_COUNTERS(OPTIMAS_MEMBER)
#undef OPTIMAS_MEMBER
  uint32_t Version = 0;
  std::string Path; ///< the library that was loaded
  bool HasSampling = false, HasCounters = false;
};

/// The loaded library; its members are null before loadCupti() succeeded.
extern CuptiApi Cupti;

/// Loads CUPTI: `libcupti.so.13`, `.so.12`, `libcupti.so` on the loader's path, then
/// \p Configured (a folder or a file, may be empty), then the toolkit that this
/// library was built with. A library that is newer than \p DriverVersion (13000 for
/// CUDA 13.0) by a major version is passed over. Returns false and what was tried.
bool loadCupti(const std::string &Configured, int DriverVersion, std::string &Error);

/// CUDA's version number (13000) of a CUPTI version (130001); 0 when the old scheme
/// does not tell.
int cudaVersionOfCupti(uint32_t Version);

/// `CUPTI_ERROR_…` and, for the ones with a known cause, what to do about it.
std::string describe(CUptiResult Result);

/// Whether \p Result is success; otherwise logs an error naming \p What.
bool succeeded(CUptiResult Result, const char *What);

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_CUPTI_H
