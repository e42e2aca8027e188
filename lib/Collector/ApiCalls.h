//===- ApiCalls.h - Taking CUPTI's driver-API callbacks apart -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_APICALLS_H
#define OPTIMAS_LIB_COLLECTOR_APICALLS_H

#include "Cupti.h"
#include <cstdint>
#include <string>

namespace optimas::collector {

/// A kernel launch, whichever function made it.
struct LaunchCall {
  std::string Symbol; ///< mangled; `<graph>` for a graph launch
  CUfunction Function = nullptr;
  uint32_t Grid[3] = {0, 0, 0}, Block[3] = {0, 0, 0};
  CUstream Stream = nullptr; ///< CU_STREAM_PER_THREAD for the `_ptsz` functions' null
  bool Graph = false;
};

/// Whether the call is a launch that we understand; fills \p Call if so.
bool readLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Data, LaunchCall &Call);

/// The callbacks of launches, to be enabled one by one.
extern const CUpti_CallbackId LaunchIds[];
extern const unsigned LaunchIdCount;

/// Calls after which what was launched before has ended.
extern const CUpti_CallbackId SyncIds[];
extern const unsigned SyncIdCount;
bool isSynchronization(CUpti_CallbackId Id);

/// What a call does to device memory.
enum class MemoryCallKind {
  None,
  Allocate,   ///< Address and Bytes are known at exit
  Free,       ///< Address at entry
  HostToDevice,
  Uncovered,  ///< memory that is not tracked
  HostMemory, ///< pinned memory that kernels can reach
  BeginCapture,
  EndCapture,
  DestroyContext, ///< at entry; Context is set for cuCtxDestroy
  ResetDevice,    ///< at entry; Device is set
};

struct MemoryCall {
  MemoryCallKind Kind = MemoryCallKind::None;
  CUdeviceptr Address = 0;
  uint64_t Bytes = 0;
  const void *Host = nullptr; ///< source of a host-to-device copy
  CUstream Stream = nullptr;
  bool Ordered = false; ///< in the order of Stream (cuMemAllocAsync and the like)
  CUcontext Context = nullptr;
  CUdevice Device = 0;
};

/// \p AtExit tells whether results (pointers that the call returns) are there.
MemoryCall readMemoryCall(CUpti_CallbackId Id, const CUpti_CallbackData &Data, bool AtExit);

extern const CUpti_CallbackId MemoryIds[];
extern const unsigned MemoryIdCount;

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_APICALLS_H
