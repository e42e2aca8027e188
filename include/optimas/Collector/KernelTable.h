//===- KernelTable.h - Kernel activity -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_COLLECTOR_KERNELTABLE_H
#define OPTIMAS_COLLECTOR_KERNELTABLE_H

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace optimas::collector {

/// One execution of a kernel, as CUPTI's activity record has it.
struct KernelRecord {
  std::string Symbol; ///< mangled
  uint64_t StartNs = 0, EndNs = 0;
  std::array<uint32_t, 3> Grid{1, 1, 1}, Block{1, 1, 1};
  uint32_t Registers = 0;      ///< per thread
  uint64_t StaticShared = 0;   ///< bytes
  uint64_t DynamicShared = 0;  ///< bytes
  uint64_t LocalPerThread = 0; ///< bytes
  uint32_t Correlation = 0;    ///< grows with the order of the launch calls
  uint32_t Device = 0, Stream = 0;
  uint32_t Graph = 0; ///< id of the CUDA graph that launched it, 0 for none
};

/// A copy or memset on the GPU.
struct TransferRecord {
  uint64_t StartNs = 0, EndNs = 0, Bytes = 0;
  uint32_t Device = 0, Stream = 0;
  bool Memset = false;
};

/// All GPU activity of a run. Keeps 40 bytes a launch, so that the order and the
/// median are exact.
class KernelTable {
public:
  struct Shape {
    std::array<uint32_t, 3> Grid, Block;
    uint64_t DynamicShared;
    bool operator<(const Shape &O) const {
      return std::tie(Grid, Block, DynamicShared) <
             std::tie(O.Grid, O.Block, O.DynamicShared);
    }
  };
  struct ShapeTotals {
    uint64_t Launches = 0, TotalNs = 0;
  };
  struct Kernel {
    uint32_t Registers = 0;
    uint64_t StaticShared = 0, LocalPerThread = 0;
    std::map<Shape, ShapeTotals> Shapes;
    uint64_t TotalNs = 0;
    struct Launch {
      uint32_t Correlation;
      uint64_t StartNs, Ns;
      bool operator<(const Launch &O) const {
        return std::tie(Correlation, StartNs) < std::tie(O.Correlation, O.StartNs);
      }
    };
    std::vector<Launch> Launches; ///< as they arrived

    /// Durations in launch order.
    std::vector<uint64_t> durations() const;
    uint64_t minNs() const, medianNs() const, maxNs() const;
  };

  void add(const KernelRecord &Record);
  void add(const TransferRecord &Record);

  const std::map<std::string, Kernel> &kernels() const { return Kernels; }
  uint64_t totalNs() const { return KernelNs; }
  uint64_t launches() const { return LaunchCount; }
  uint64_t graphLaunches() const { return GraphKernels; }
  uint64_t copyNs() const { return CopyNs; }
  uint64_t memsetNs() const { return MemsetNs; }
  uint64_t copyBytes() const { return CopyBytes; }
  /// Distinct (device, stream) pairs that ran a kernel.
  size_t streams() const { return Streams.size(); }
  /// From the first start to the last end of anything on the GPU.
  uint64_t spanNs() const { return LastEnd > FirstStart ? LastEnd - FirstStart : 0; }
  /// Time in which at least one kernel ran: less than totalNs() when they overlap.
  uint64_t busyNs() const;
  /// Records without times (0, after a fault on the GPU) or with such as make no sense
  /// (end before start). They are in no other figure.
  uint64_t broken() const { return Broken; }
  /// Those of kernels, by symbol, and their sum.
  const std::map<std::string, uint64_t> &brokenKernels() const { return BrokenKernels; }
  uint64_t brokenLaunches() const;

private:
  bool addSpan(uint64_t Start, uint64_t End);

  std::map<std::string, Kernel> Kernels;
  std::map<std::string, uint64_t> BrokenKernels;
  std::set<std::pair<uint32_t, uint32_t>> Streams;
  std::vector<std::pair<uint64_t, uint64_t>> Intervals;
  uint64_t KernelNs = 0, LaunchCount = 0, GraphKernels = 0;
  uint64_t CopyNs = 0, MemsetNs = 0, CopyBytes = 0, Broken = 0;
  uint64_t FirstStart = UINT64_MAX, LastEnd = 0;
};

} // namespace optimas::collector

#endif // OPTIMAS_COLLECTOR_KERNELTABLE_H
