//===- Roofline.cpp - What bounds a kernel ----------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The hierarchical roofline (Williams 2009; Yang 2020 for GPUs) from Nsight Compute's
/// counters. Ceilings come from the device's measured ones, else from the counters'
/// own peak_sustained and pct_of_peak values, else from the data sheet (clock × width).
/// Kernels with almost no floating point use the instruction roofline (Ding &
/// Williams 2019): warp instructions per 32-byte transaction.
///
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include <cmath>

namespace optimas {

namespace {
/// Below this share of every roof it is latency that binds.
constexpr double LatencyBelow = 60;
/// Floating-point operations per thread instruction under which a kernel counts as
/// integer: one in fifty.
constexpr double FewFlop = 0.02;
constexpr double SectorBytes = 32;

struct Numbers {
  const DeviceInfo &D;
  const KernelData &Data;
  double Seconds = 0;

  double get(llvm::StringRef Name, double Default = 0) const {
    return Data.counter(Name).value_or(Default);
  }
  double ceiling(const char *Name) const {
    auto It = D.Ceilings.find(Name);
    return It == D.Ceilings.end() ? 0 : It->second;
  }
  /// Executions of one SASS operation by all threads, per launch.
  double operations(const std::string &Op) const {
    std::string Stem = "smsp__sass_thread_inst_executed_op_" + Op + "_pred_on.sum";
    if (std::optional<double> N = Data.counter(Stem))
      return *N;
    double Cycles = get("smsp__cycles_elapsed.max", get("sm__cycles_elapsed.max"));
    return get(Stem + ".per_cycle_elapsed") * Cycles;
  }
  double flop(const std::string &Type) const {
    return operations(Type + "add") + operations(Type + "mul") +
           2 * operations(Type + "fma");
  }
  double clock() const {
    return get("sm__cycles_elapsed.avg.per_second", D.SmClockKHz * 1e3);
  }
  /// The largest of some percentages of peak.
  double percent(std::initializer_list<const char *> Names) const {
    double Max = 0;
    for (const char *Name : Names)
      Max = std::max(Max, get(std::string(Name) + ".avg.pct_of_peak_sustained_elapsed"));
    return Max;
  }
};
} // namespace

static double dramBytes(const Numbers &N) {
  if (std::optional<double> B = N.Data.counter("dram__bytes.sum"))
    return *B;
  double ReadWrite = N.get("dram__bytes_read.sum") + N.get("dram__bytes_write.sum");
  if (ReadWrite > 0)
    return ReadWrite;
  if (double PerSecond = N.get("dram__bytes.sum.per_second"))
    return PerSecond * N.Seconds;
  return SectorBytes * (N.get("dram__sectors_read.sum") + N.get("dram__sectors_write.sum"));
}

static double dramCeiling(const Numbers &N, double Achieved) {
  if (double Measured = N.ceiling("dram_copy"))
    return Measured;
  double Peak = N.get("dram__bytes.sum.peak_sustained") *
                N.get("dram__cycles_elapsed.avg.per_second");
  if (Peak > 0)
    return Peak;
  double Percent = N.percent({"gpu__dram_throughput", "dram__throughput"});
  if (Percent > 0)
    return Achieved * 100 / Percent;
  // Two transfers a clock.
  return 2.0 * N.D.MemoryClockKHz * 1e3 * N.D.MemoryBusBits / 8;
}

/// \p Percent names the busiest part of that level, which for scattered accesses is
/// not the data path: the ceiling is that of the accesses as they are.
static void addLevel(Roofline &R, const char *Name, double Bytes, double Seconds,
                     double Ceiling, double Percent) {
  if (Bytes <= 0)
    return;
  RooflineLevel L;
  L.Level = Name;
  L.Bytes = Bytes;
  L.Intensity = R.Precision == "int" ? R.Flop / (Bytes / SectorBytes) : R.Flop / Bytes;
  L.AchievedBytesPerSecond = Bytes / Seconds;
  L.CeilingBytesPerSecond =
      Percent > 0 ? L.AchievedBytesPerSecond * 100 / Percent : Ceiling;
  L.ByBusiestPart = Percent > 0;
  if (L.CeilingBytesPerSecond > 0)
    R.Levels.push_back(L);
}

static double l1Bytes(const Numbers &N) {
  if (std::optional<double> B = N.Data.counter("l1tex__t_bytes.sum"))
    return *B;
  double Sectors = 0;
  for (const char *Space : {"global", "local"})
    for (const char *Op : {"ld", "st", "red", "atom"})
      Sectors += N.get("l1tex__t_sectors_pipe_lsu_mem_" + std::string(Space) + "_op_" +
                       Op + ".sum");
  // Shared memory moves 128 bytes a wavefront.
  return SectorBytes * Sectors +
         128 * N.get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
}

/// Chooses the precision with the most work and its peak.
static void setCompute(Roofline &R, const Numbers &N) {
  struct Kind {
    const char *Name, *Type, *Peak;
    double LanesPerSm;
  };
  static const Kind Kinds[] = {{"fp32", "f", "ffma", 128}, {"fp64", "d", "dfma", 64},
                               {"fp16", "h", "hfma", 256}};
  const Kind *Best = &Kinds[0];
  double Share = -1;
  for (const Kind &K : Kinds) {
    double Flop = N.flop(K.Type);
    if (Flop / K.LanesPerSm > Share) {
      Share = Flop / K.LanesPerSm;
      Best = &K;
      R.Flop = Flop;
    }
  }
  double WarpInstructions = N.get("smsp__inst_executed.sum");
  double ThreadInstructions = 32 * WarpInstructions;
  if (WarpInstructions > 0 && R.Flop < FewFlop * ThreadInstructions) {
    R.Precision = "int";
    R.Flop = WarpInstructions;
    // Four schedulers issue one warp instruction a cycle each.
    R.PeakFlopPerSecond = 4.0 * N.get("launch__sm_count", N.D.Sms) * N.clock();
    return;
  }
  R.Precision = Best->Name;
  R.PeakFlopPerSecond = N.ceiling(Best->Name);
  if (R.PeakFlopPerSecond > 0)
    return;
  double PerCycle = N.get(std::string("sm__sass_thread_inst_executed_op_") + Best->Peak +
                              "_pred_on.sum.peak_sustained",
                          Best->LanesPerSm * N.D.Sms);
  R.PeakFlopPerSecond = 2 * PerCycle * N.clock();
}

/// Counters are read from files: 1e-300 bytes would give an infinite headroom, which no
/// JSON can hold.
static bool isFinite(const Roofline &R) {
  bool Finite = std::isfinite(R.Flop) && std::isfinite(R.FlopPerSecond) &&
                std::isfinite(R.PeakFlopPerSecond) && std::isfinite(R.Headroom) &&
                std::isfinite(R.PercentOfRoof);
  for (const RooflineLevel &L : R.Levels)
    Finite &= std::isfinite(L.Bytes) && std::isfinite(L.Intensity) &&
              std::isfinite(L.AchievedBytesPerSecond) &&
              std::isfinite(L.CeilingBytesPerSecond);
  return Finite;
}

Roofline roofline(const DeviceInfo &D, const KernelData &Data,
                  const KernelDiagnosis &K) {
  Roofline R;
  Numbers N{D, Data};
  N.Seconds = N.get("gpu__time_duration.sum", double(K.MedianNs)) * 1e-9;
  if (Data.Counters.empty()) {
    R.Why = "the profile has no counters of this kernel: add Nsight Compute's raw page "
            "(ncu --set full, then --page raw --csv)";
    return R;
  }
  if (N.Seconds <= 0) {
    R.Why = "the counters do not say how long the kernel runs (gpu__time_duration)";
    return R;
  }
  setCompute(R, N);
  double Dram = dramBytes(N);
  if (Dram <= 0) {
    R.Why = "the counters do not say how many bytes the kernel moves (dram__bytes)";
    return R;
  }
  addLevel(R, "dram", Dram, N.Seconds, dramCeiling(N, Dram / N.Seconds), 0);
  double L2 = N.get("lts__t_bytes.sum", SectorBytes * N.get("lts__t_sectors.sum"));
  addLevel(R, "l2", L2, N.Seconds, N.ceiling("l2_read"),
           N.percent({"lts__t_sectors", "lts__t_tag_requests", "lts__d_sectors",
                      "lts__xbar2lts_cycles_active", "lts__lts2xbar_cycles_active"}));
  addLevel(R, "l1", l1Bytes(N), N.Seconds, 0,
           N.percent({"l1tex__data_pipe_lsu_wavefronts", "l1tex__throughput",
                      "l1tex__m_l1tex2xbar_req_cycles_active"}));
  R.Available = true;
  R.FlopPerSecond = R.Flop / N.Seconds;
  double Best = 0;
  if (R.PeakFlopPerSecond > 0) {
    Best = 100 * R.FlopPerSecond / R.PeakFlopPerSecond;
    R.Bound = "compute (" + R.Precision + ")";
  }
  double Tensor = N.percent({"sm__pipe_tensor_cycles_active"});
  if (Tensor > Best) {
    Best = Tensor;
    R.Bound = "compute (tensor)";
  }
  for (const RooflineLevel &L : R.Levels) {
    double Percent = 100 * L.AchievedBytesPerSecond / L.CeilingBytesPerSecond;
    if (Percent > Best) {
      Best = Percent;
      R.Bound = "memory (" + L.Level + ")";
    }
  }
  R.PercentOfRoof = Best;
  R.Headroom = Best > 0 ? std::max(1.0, 100 / Best) : 1;
  if (!isFinite(R)) {
    Roofline None;
    None.Why = "the counters are out of any kernel's range: read them again";
    return None;
  }
  if (Best < LatencyBelow)
    R.Bound = "latency";
  return R;
}

} // namespace optimas
