//===- AllocationTable.h - Live device memory -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_COLLECTOR_ALLOCATIONTABLE_H
#define OPTIMAS_COLLECTOR_ALLOCATIONTABLE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace optimas::collector {

/// One allocation of device memory.
struct Allocation {
  uint64_t Index = 0; ///< order of allocation in the process, from 1
  uint64_t Address = 0;
  uint64_t Bytes = 0;
  const void *Context = nullptr; ///< the CUcontext that it was made in

  /// Bytes from the end to the next multiple of 256, the least alignment of device
  /// memory (CUDA Programming Guide, "Device Memory Accesses"): they belong to no
  /// other allocation, so that what a kernel writes past the end shows there. None
  /// when the end is aligned.
  unsigned slack() const { return unsigned(-Bytes % 256); }
};

/// Every live allocation. An address that is freed and handed out again gets a new
/// index.
class AllocationTable {
public:
  const Allocation &add(uint64_t Address, uint64_t Bytes, const void *Context);
  /// Forgets the allocation at \p Address and returns it; nothing when there is none.
  std::optional<Allocation> remove(uint64_t Address);
  /// Forgets all allocations of a context that is destroyed, and returns them.
  std::vector<Allocation> removeContext(const void *Context);
  /// The live allocations of \p Context, by index.
  std::vector<Allocation> ofContext(const void *Context) const;
  /// The contexts that have live allocations.
  std::vector<const void *> contexts() const;
  size_t live() const { return Live.size(); }
  uint64_t made() const { return Made; }

private:
  std::map<uint64_t, Allocation> Live; ///< by address
  uint64_t Made = 0;
};

} // namespace optimas::collector

#endif // OPTIMAS_COLLECTOR_ALLOCATIONTABLE_H
