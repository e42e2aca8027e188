//===- CeilingBounds.cpp - What a device cannot exceed --------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Sources of the rates: arithmetic and shared memory from the CUDA C++ Programming Guide,
/// "Throughput of Native Arithmetic Instructions", times two for a multiply-add; matrices
/// from the peaks, number of SMs and clock in NVIDIA's papers on Turing, A100, GA102, AD102
/// and H100, dense; L2 from the A100 paper (5120 bytes a clock). On an H200 Nsight Compute
/// names 94 slices that send 64 bytes a clock each at the cache's own 1.709 GHz
/// (derived__lts__lts2xbar_bytes.sum.peak_sustained 6016): 10.28e12 bytes/s, 1.01 × that
/// figure at 1.98 GHz. An SM can receive more, 128 bytes a clock (the peak behind
/// l1tex__m_xbar2l1tex_read_bytes): reads of several SMs that the unit before the cache
/// joins arrive faster than the cache sends.
///
//===----------------------------------------------------------------------===//
#include "optimas/Profile/CeilingBounds.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace optimas {

namespace {
/// Operations of one SM in one clock, 0 where not known.
struct Rates {
  unsigned CcLow, CcHigh; ///< 10 × major + minor
  unsigned Fp32, Fp64, Fp16, Int32;
  unsigned TensorFp16, TensorTf32, TensorInt8, TensorFp64;
};
} // namespace

static constexpr Rates Known[] = {
    {75, 75, 128, 4, 256, 128, 1024, 0, 2048, 0},
    {80, 80, 128, 64, 512, 128, 2048, 1024, 4096, 128},
    {86, 86, 256, 4, 512, 128, 1024, 512, 2048, 0},
    {87, 87, 256, 4, 512, 128, 0, 0, 0, 0}, // Orin's matrix rates are not those of 86
    {89, 89, 256, 4, 512, 128, 1024, 512, 2048, 0},
    {90, 90, 256, 128, 512, 128, 4096, 2048, 8192, 256},
    {100, 103, 256, 128, 512, 256, 0, 0, 0, 0},
    {120, 121, 256, 4, 512, 256, 0, 0, 0, 0},
};

static constexpr double SharedBytes = 128;  ///< of one SM in a clock
static constexpr double L2BytesPerSm = 64;  ///< of the cache's for each SM, before Hopper
static constexpr double L2BytesA100 = 5120; ///< what the whole cache can send

/// Operations of one SM in one clock, 0 when not known.
static double ratePerSm(StringRef Name, unsigned Cc) {
  for (const Rates &R : Known) {
    if (Cc < R.CcLow || Cc > R.CcHigh)
      continue;
    if (Name == "fp32")
      return R.Fp32;
    if (Name == "fp64")
      return R.Fp64;
    if (Name == "fp16")
      return R.Fp16;
    if (Name == "int32")
      return R.Int32;
    if (Name == "tensor_fp16" || Name == "tensor_bf16")
      return R.TensorFp16;
    if (Name == "tensor_tf32")
      return R.TensorTf32;
    if (Name == "tensor_int8" || Name == "tensor_fp8")
      return R.TensorInt8;
    if (Name == "tensor_fp64")
      return R.TensorFp64;
  }
  return 0;
}

std::optional<double> ceilingBound(StringRef Name, const DeviceInfo &D) {
  double Clock = D.SmClockKHz * 1e3, Bound = 0;
  unsigned Cc = D.CcMajor * 10 + D.CcMinor;
  if (Name.starts_with("dram_")) // two transfers a clock
    Bound = 2.0 * D.MemoryClockKHz * 1e3 * D.MemoryBusBits / 8;
  else if (Name.starts_with("l2_") && (Cc == 80 || Cc == 90))
    Bound = L2BytesA100 * Clock;
  else if (Name.starts_with("l2_"))
    Bound = L2BytesPerSm * D.Sms * Clock;
  else if (Name.starts_with("shared_"))
    Bound = SharedBytes * D.Sms * Clock;
  else
    Bound = ratePerSm(Name, Cc) * D.Sms * Clock;
  if (Bound <= 0)
    return std::nullopt;
  return Bound;
}

std::vector<std::string> dropImpossibleCeilings(DeviceInfo &D) {
  std::vector<std::string> Said;
  for (auto At = D.Ceilings.begin(); At != D.Ceilings.end();) {
    std::optional<double> Bound = ceilingBound(At->first, D);
    if (!Bound || At->second <= CeilingTolerance * *Bound) {
      ++At;
      continue;
    }
    Said.push_back(formatv("the ceiling {0} was measured as {1:e3}/s, which {2} SMs at {3:f2} "
                           "GHz cannot reach (at most {4:e3}/s): discarded, a mistake of the "
                           "measurement",
                           At->first, At->second, D.Sms, D.SmClockKHz * 1e-6, *Bound)
                       .str());
    At = D.Ceilings.erase(At);
  }
  return Said;
}

} // namespace optimas
