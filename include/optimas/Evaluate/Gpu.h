//===- Gpu.h - Is there a GPU, and in which state -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_GPU_H
#define OPTIMAS_EVALUATE_GPU_H

#include <cstdint>
#include <optional>
#include <string>

namespace optimas {

struct GpuInfo {
  bool Present = false;
  std::string Name;   ///< `NVIDIA H200`
  std::string Driver; ///< `580.159`
  /// `NVIDIA H200, driver 580.159`, or `no GPU`.
  std::string text() const;
};

/// Asks NVML (libnvidia-ml.so.1), and the driver itself where NVML is missing. Nothing
/// is linked: on a machine without a driver the answer is no. No context is made.
GpuInfo detectGpu();

/// The card's state at one moment, by NVML. Nothing is ever changed.
struct GpuState {
  unsigned SmMHz = 0, MemoryMHz = 0, Celsius = 0;
  /// NVML's clocks-event-reason bits; 1 is idle.
  uint64_t Reasons = 0;
  /// Bits that mean that the clock was held down (power cap, thermal, hardware slowdown).
  bool throttled() const;
};
std::optional<GpuState> sampleGpu();
/// `1980 MHz, memory 3201 MHz, 54 °C`, with the reasons for a throttled clock.
std::string describe(const GpuState &S);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_GPU_H
