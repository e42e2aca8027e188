//===- Hasher.h - Hashes device memory on the GPU -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_HASHER_H
#define OPTIMAS_LIB_COLLECTOR_HASHER_H

#include "Driver.h"
#include <cstdint>
#include <map>
#include <vector>

namespace optimas::collector {

struct MemoryRange {
  uint64_t Address = 0, Bytes = 0;
};

/// Per context: the hash kernel, a stream of our own and device buffers. Not
/// thread-safe: callers hold their lock. Every call needs the context current.
class Hasher {
public:
  /// Loads the kernel into \p Context. Called early, before the program has filled
  /// the device's memory. Returns false (and has logged why) when that fails.
  bool prepare(CUcontext Context);
  /// The hash of each range, in order. The caller has synchronized the context.
  /// Returns the driver's error, most often one that a kernel of the program left.
  CUresult hash(CUcontext Context, const std::vector<MemoryRange> &Ranges,
                std::vector<uint64_t> &Hashes);
  /// Fills memory with a byte and waits for it, and \p Slack bytes (under 256) behind it.
  CUresult fill(CUcontext Context, const MemoryRange &Range, uint8_t Byte, unsigned Slack = 0);
  /// Forgets what belonged to a context that is destroyed.
  void contextGone(CUcontext Context) { Contexts.erase(Context); }
  /// Our stream in \p Context; null when there is none.
  CUstream stream(CUcontext Context) const;
  /// Bytes hashed so far.
  uint64_t bytesHashed() const { return Hashed; }

private:
  struct State {
    bool Usable = false;
    CUfunction Kernel = nullptr, FillSlack = nullptr;
    CUstream Stream = nullptr;
    unsigned Blocks = 0;
    size_t Capacity = 0; ///< ranges that the buffers hold
    CUdeviceptr Table = 0, Sums = 0;
  };
  CUresult create(State &S);
  CUresult grow(State &S, size_t Count);

  std::map<CUcontext, State> Contexts;
  uint64_t Hashed = 0;
};

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_HASHER_H
