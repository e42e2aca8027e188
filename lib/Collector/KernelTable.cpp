//===- KernelTable.cpp - Kernel activity -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/KernelTable.h"
#include <algorithm>

namespace optimas::collector {

std::vector<uint64_t> KernelTable::Kernel::durations() const {
  auto Sorted = Launches;
  // Records of several buffers arrive out of order. Kernels of one graph launch
  // share a correlation id and are told apart by their start.
  std::sort(Sorted.begin(), Sorted.end());
  std::vector<uint64_t> Result;
  Result.reserve(Sorted.size());
  for (const Launch &L : Sorted)
    Result.push_back(L.Ns);
  return Result;
}

uint64_t KernelTable::Kernel::minNs() const {
  uint64_t Min = Launches.empty() ? 0 : UINT64_MAX;
  for (const Launch &L : Launches)
    Min = std::min(Min, L.Ns);
  return Min;
}

uint64_t KernelTable::Kernel::maxNs() const {
  uint64_t Max = 0;
  for (const Launch &L : Launches)
    Max = std::max(Max, L.Ns);
  return Max;
}

uint64_t KernelTable::Kernel::medianNs() const {
  std::vector<uint64_t> All = durations();
  if (All.empty())
    return 0;
  std::sort(All.begin(), All.end());
  size_t Half = All.size() / 2;
  return All.size() % 2 ? All[Half] : (All[Half - 1] + All[Half]) / 2;
}

bool KernelTable::addSpan(uint64_t Start, uint64_t End) {
  // CUPTI writes 0 for times that it could not take.
  if (!Start || End < Start) {
    ++Broken;
    return false;
  }
  FirstStart = std::min(FirstStart, Start);
  LastEnd = std::max(LastEnd, End);
  return true;
}

uint64_t KernelTable::brokenLaunches() const {
  uint64_t Sum = 0;
  for (const auto &[Symbol, Count] : BrokenKernels)
    Sum += Count;
  return Sum;
}

void KernelTable::add(const KernelRecord &Record) {
  if (!addSpan(Record.StartNs, Record.EndNs)) {
    ++BrokenKernels[Record.Symbol];
    return;
  }
  uint64_t Ns = Record.EndNs - Record.StartNs;
  Kernel &K = Kernels[Record.Symbol];
  K.Registers = std::max(K.Registers, Record.Registers);
  K.StaticShared = std::max(K.StaticShared, Record.StaticShared);
  K.LocalPerThread = std::max(K.LocalPerThread, Record.LocalPerThread);
  ShapeTotals &S = K.Shapes[{Record.Grid, Record.Block, Record.DynamicShared}];
  ++S.Launches;
  S.TotalNs += Ns;
  K.TotalNs += Ns;
  K.Launches.push_back({Record.Correlation, Record.StartNs, Ns});
  Streams.insert({Record.Device, Record.Stream});
  Intervals.push_back({Record.StartNs, Record.EndNs});
  KernelNs += Ns;
  ++LaunchCount;
  GraphKernels += Record.Graph != 0;
}

void KernelTable::add(const TransferRecord &Record) {
  if (!addSpan(Record.StartNs, Record.EndNs))
    return;
  (Record.Memset ? MemsetNs : CopyNs) += Record.EndNs - Record.StartNs;
  if (!Record.Memset)
    CopyBytes += Record.Bytes;
}

uint64_t KernelTable::busyNs() const {
  auto Sorted = Intervals;
  std::sort(Sorted.begin(), Sorted.end());
  uint64_t Busy = 0, End = 0;
  for (const auto &[From, To] : Sorted) {
    uint64_t Begin = std::max(From, End);
    if (To > Begin)
      Busy += To - Begin;
    End = std::max(End, To);
  }
  return Busy;
}

} // namespace optimas::collector
