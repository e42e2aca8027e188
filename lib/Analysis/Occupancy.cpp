//===- Occupancy.cpp - How many warps an SM can hold ------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Theoretical occupancy, after the "Technical Specifications per Compute
/// Capability" table of the CUDA C++ Programming Guide and the toolkit's
/// cuda_occupancy.h: blocks per SM = the least of
///   blocks     the device's limit
///   warps      floor(warps per SM / warps per block)
///   registers  floor(floor(registers per SM / registers per warp) / warps per block)
///              with registers per warp rounded up to 256, and warps to a multiple of 4
///   shared     floor(shared per SM / shared per block), rounded up to 128 bytes, with
///              1024 bytes reserved a block since compute capability 8
/// Checked against Nsight Compute's launch__occupancy_limit_* on the recordings.
///
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "llvm/Support/MathExtras.h"

namespace optimas {

DeviceInfo withDefaults(DeviceInfo D) {
  struct Limits {
    unsigned Cc, Threads, Blocks;
    uint64_t SharedKb;
  };
  // Programming Guide, table of technical specifications.
  static const Limits Table[] = {
      {70, 2048, 32, 96},  {75, 1024, 16, 64},  {80, 2048, 32, 164}, {86, 1536, 16, 100},
      {87, 1536, 16, 164}, {89, 1536, 24, 100}, {90, 2048, 32, 228}, {100, 2048, 32, 228},
      {103, 2048, 32, 228}, {120, 1536, 24, 100}, {121, 1536, 24, 100},
  };
  unsigned Cc = D.CcMajor * 10 + D.CcMinor;
  for (const Limits &L : Table) {
    if (L.Cc != Cc)
      continue;
    if (!D.MaxThreadsPerSm)
      D.MaxThreadsPerSm = L.Threads;
    if (!D.MaxBlocksPerSm)
      D.MaxBlocksPerSm = L.Blocks;
    if (!D.SharedPerSm)
      D.SharedPerSm = L.SharedKb * 1024;
    if (!D.RegistersPerSm)
      D.RegistersPerSm = 65536;
  }
  return D;
}

Occupancy occupancy(const DeviceInfo &Device, const LaunchShape &Shape,
                    unsigned Registers, uint64_t StaticShared) {
  Occupancy O;
  DeviceInfo D = withDefaults(Device);
  uint64_t Threads = volume(Shape.Block);
  if (!D.MaxThreadsPerSm || !D.WarpSize || !Threads)
    return O;
  uint64_t WarpsPerBlock = llvm::divideCeil(Threads, D.WarpSize);
  uint64_t WarpsPerSm = D.MaxThreadsPerSm / D.WarpSize;
  uint64_t Blocks = ~uint64_t(0);
  auto Limit = [&](uint64_t N, const char *Name) {
    if (N < Blocks) {
      Blocks = N;
      O.Limiter = Name;
    }
  };
  Limit(WarpsPerSm / WarpsPerBlock, "warps");
  if (D.MaxBlocksPerSm)
    Limit(D.MaxBlocksPerSm, "blocks");
  if (Registers && D.RegistersPerSm) {
    uint64_t PerWarp = llvm::alignTo(uint64_t(Registers) * D.WarpSize, 256);
    uint64_t Warps = D.RegistersPerSm / PerWarp / 4 * 4;
    Limit(Warps / WarpsPerBlock, "registers");
  }
  uint64_t Shared = StaticShared + Shape.DynamicShared;
  if (Shared && D.SharedPerSm) {
    uint64_t Reserved = D.CcMajor >= 8 ? 1024 : 0;
    Limit(D.SharedPerSm / llvm::alignTo(Shared + Reserved, 128), "shared memory");
  }
  O.BlocksPerSm = unsigned(Blocks);
  O.Theoretical = std::min(1.0, double(Blocks * WarpsPerBlock) / double(WarpsPerSm));
  return O;
}

std::vector<BlockSizeChoice> blockSizes(const DeviceInfo &D, const LaunchShape &Shape,
                                        unsigned Registers, uint64_t StaticShared) {
  std::vector<BlockSizeChoice> Choices;
  for (unsigned Threads = D.WarpSize; Threads && Threads <= 1024; Threads *= 2) {
    LaunchShape Other = Shape;
    Other.Block = {Threads, 1, 1};
    Occupancy O = occupancy(D, Other, Registers, StaticShared);
    if (O.Theoretical > 0)
      Choices.push_back({Threads, O.Theoretical, O.Limiter});
  }
  return Choices;
}

} // namespace optimas
