//===- Activity.cpp - Kernel, copy and memset records from CUPTI -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Activity.h"
#include "Cupti.h"
#include "Log.h"
#include <cstdlib>
#include <mutex>

namespace optimas::collector {

static constexpr size_t BufferBytes = size_t(4) << 20;
static constexpr size_t BufferAlignment = 8; // ACTIVITY_RECORD_ALIGNMENT

namespace {
/// Records arrive in CUPTI's own threads.
struct State {
  std::mutex Lock;
  KernelTable Table;
  std::set<std::pair<uint32_t, uint32_t>> Ignored;
  size_t Dropped = 0;
  size_t Records = 0, Buffers = 0;
};
} // namespace

/// Never destroyed: CUPTI's threads may outlive static destructors.
static State &state() {
  static State *S = new State;
  return *S;
}

/// Reads fields whose places are the same in every version of the record since
/// CUDA 11 (Kernel5 to Kernel10).
static void addKernel(State &S, const CUpti_ActivityKernel10 &Record) {
  KernelRecord K;
  K.Symbol = Record.name ? Record.name : "?";
  for (const char *Own : OwnKernels)
    if (K.Symbol == Own)
      return;
  K.StartNs = Record.start;
  K.EndNs = Record.end;
  K.Grid = {uint32_t(Record.gridX), uint32_t(Record.gridY), uint32_t(Record.gridZ)};
  K.Block = {uint32_t(Record.blockX), uint32_t(Record.blockY), uint32_t(Record.blockZ)};
  K.Registers = Record.registersPerThread;
  K.StaticShared = uint64_t(Record.staticSharedMemory);
  K.DynamicShared = uint64_t(Record.dynamicSharedMemory);
  K.LocalPerThread = Record.localMemoryPerThread;
  K.Correlation = Record.correlationId;
  K.Device = Record.deviceId;
  K.Stream = Record.streamId;
  K.Graph = Record.graphId;
  S.Table.add(K);
}

template <typename T> static void addTransfer(State &S, const T &Record, bool Memset) {
  if (S.Ignored.count({Record.deviceId, Record.streamId}))
    return;
  TransferRecord R;
  R.StartNs = Record.start;
  R.EndNs = Record.end;
  R.Bytes = Record.bytes;
  R.Device = Record.deviceId;
  R.Stream = Record.streamId;
  R.Memset = Memset;
  S.Table.add(R);
}

static void addRecord(State &S, const CUpti_Activity &Record) {
  ++S.Records;
  switch (Record.kind) {
  case CUPTI_ACTIVITY_KIND_KERNEL:
  case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    return addKernel(S, reinterpret_cast<const CUpti_ActivityKernel10 &>(Record));
  case CUPTI_ACTIVITY_KIND_MEMCPY:
    return addTransfer(S, reinterpret_cast<const CUpti_ActivityMemcpy6 &>(Record), false);
  case CUPTI_ACTIVITY_KIND_MEMSET:
    return addTransfer(S, reinterpret_cast<const CUpti_ActivityMemset4 &>(Record), true);
  default:
    return;
  }
}

static void CUPTIAPI requestBuffer(uint8_t **Buffer, size_t *Size, size_t *MaxRecords) {
  void *Memory = nullptr;
  if (::posix_memalign(&Memory, BufferAlignment, BufferBytes) != 0)
    Memory = nullptr;
  *Buffer = static_cast<uint8_t *>(Memory);
  *Size = Memory ? BufferBytes : 0;
  *MaxRecords = 0; // as many as fit
}

static void CUPTIAPI completeBuffer(CUcontext Context, uint32_t Stream, uint8_t *Buffer,
                                    size_t Size, size_t Valid) {
  State &S = state();
  std::lock_guard<std::mutex> Guard(S.Lock);
  ++S.Buffers;
  try {
    CUpti_Activity *Record = nullptr;
    while (Valid && Cupti.cuptiActivityGetNextRecord(Buffer, Valid, &Record) ==
                        CUPTI_SUCCESS)
      addRecord(S, *Record);
  } catch (...) {
    // Out of memory: an exception must not cross into CUPTI.
    logError("out of memory: kernel records were lost");
    ++S.Dropped;
  }
  size_t Dropped = 0;
  if (Cupti.cuptiActivityGetNumDroppedRecords(Context, Stream, &Dropped) ==
      CUPTI_SUCCESS)
    S.Dropped += Dropped;
  std::free(Buffer);
}

bool startActivity(bool Concurrent) {
  state();
  if (!succeeded(Cupti.cuptiActivityRegisterCallbacks(requestBuffer, completeBuffer),
                 "cuptiActivityRegisterCallbacks"))
    return false;
  // To let kernels overlap CUPTI adds code to each block that reads the clock: a kernel of
  // 130,000 blocks took 108 instead of 98 us on an H200 (docs/measurements.md).
  if (!succeeded(Cupti.cuptiActivityEnable(Concurrent ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                                                      : CUPTI_ACTIVITY_KIND_KERNEL),
                 "cuptiActivityEnable(kernels)"))
    return false;
  succeeded(Cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY),
            "cuptiActivityEnable(MEMCPY)");
  succeeded(Cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET),
            "cuptiActivityEnable(MEMSET)");
  return true;
}

void ignoreStream(unsigned Device, unsigned Stream) {
  State &S = state();
  std::lock_guard<std::mutex> Guard(S.Lock);
  S.Ignored.insert({Device, Stream});
}

void flushActivity(bool Force) {
  succeeded(Cupti.cuptiActivityFlushAll(Force ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0),
            "cuptiActivityFlushAll");
}

ActivityResult finishActivity() {
  flushActivity(false);
  flushActivity(true);
  State &S = state();
  std::lock_guard<std::mutex> Guard(S.Lock);
  logLine("activity: %zu records in %zu buffers, %zu dropped, %llu kernels", S.Records,
          S.Buffers, S.Dropped, (unsigned long long)S.Table.launches());
  return {std::move(S.Table), S.Dropped};
}

} // namespace optimas::collector
