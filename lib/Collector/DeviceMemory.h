//===- DeviceMemory.h - Following the program's device memory -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_DEVICEMEMORY_H
#define OPTIMAS_LIB_COLLECTOR_DEVICEMEMORY_H

#include "ApiCalls.h"
#include "Hasher.h"
#include "optimas/Collector/AllocationTable.h"
#include "optimas/Collector/Options.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace optimas::collector {

/// Keeps the table of live allocations from the driver's calls, poisons new ones,
/// permutes copies, and counts what it cannot follow. Not thread-safe: callers hold
/// their lock.
class DeviceMemory {
public:
  /// \p Poison: fill new allocations with this byte.
  DeviceMemory(const Options &O, std::optional<uint8_t> Poison) : O(O), Poison(Poison) {}

  /// Called with allocations that are about to go, while they can still be read:
  /// before a free, a device reset, a destroyed context.
  std::function<void(CUcontext, const std::vector<Allocation> &)> BeforeRelease;

  /// A driver call of MemoryIds, at its entry or exit.
  void call(CUpti_CallbackId Id, const CUpti_CallbackData &Data);
  void contextDestroyed(CUcontext Context);

  /// Waits for all work of \p Context, current or not.
  CUresult synchronize(CUcontext Context);

  AllocationTable &table() { return Table; }
  Hasher &hasher() { return TheHasher; }
  bool capturing() const { return Captures > 0; }
  /// Whether \p Stream is being captured into a graph.
  bool isCapturing(CUstream Stream) const;

  /// Notes memory, or launches, that the trace does not cover.
  void notCovered(const std::string &What, uint64_t Bytes);
  /// One sentence for each kind of it: `cuMemCreate: 3 calls, 6291456 bytes`.
  std::vector<std::string> uncovered() const;

  struct Count {
    uint64_t Calls = 0, Bytes = 0;
  };
  /// Pinned host memory, which kernels can write and which is not hashed.
  const Count &hostMemory() const { return Host; }
  uint64_t copies() const { return Copies; }
  uint64_t permutedCopies() const { return Permuted; }

private:
  void allocated(const MemoryCall &Call, const CUpti_CallbackData &Data);
  void releasing(const MemoryCall &Call, CUcontext Current);
  void copied(const MemoryCall &Call, CUcontext Context);
  void resetting(const MemoryCall &Call);
  void permute(const MemoryCall &Call, CUcontext Context);

  const Options &O;
  std::optional<uint8_t> Poison;
  AllocationTable Table;
  Hasher TheHasher;
  std::map<CUcontext, CUdevice> Devices;
  std::map<std::string, Count> Uncovered;
  Count Host;
  uint64_t Copies = 0, Permuted = 0;
  int Captures = 0;
};

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_DEVICEMEMORY_H
