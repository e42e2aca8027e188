//===- Profile.h - What was recorded of a program's run ---------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The profile model. Its JSON form, versioned, is described by
/// docs/schemas/profile.schema.json. Everything here is plain data; times are
/// in nanoseconds, sizes in bytes, unless a name says otherwise.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_PROFILE_PROFILE_H
#define OPTIMAS_PROFILE_PROFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace optimas {

/// Samples at one PC with one stall reason. Reason names are CUPTI's without
/// the prefix and the `_not_issued` suffix: `long_scoreboard`, `barrier`,
/// `selected`, …
struct StallCount {
  std::string Reason;
  uint64_t Samples = 0; ///< all samples with this reason
  uint64_t LatencySamples =
      0; ///< of them, those where the scheduler issued nothing
};

/// One frame of the inline chain that a PC belongs to.
struct SourceFrame {
  std::string File;  ///< as the compiler wrote it
  unsigned Line = 0; ///< 1-based
  /// The function whose body holds that line: mangled when it comes from a
  /// cubin, empty when unknown.
  std::string Function;
};

/// What was sampled at one instruction.
struct PcSample {
  uint64_t Offset = 0; ///< bytes from the function's start
  std::vector<StallCount> Stalls;
  /// SASS text, when the source had it (Nsight Compute's CSV does).
  std::string Sass;
  /// Innermost first. Filled from the cubin by resolveFrames(), or by a reader
  /// whose source names lines itself.
  std::vector<SourceFrame> Frames;
  /// Warp-level executions of the instruction, 0 when unknown.
  uint64_t Executed = 0;

  uint64_t latencySamples() const {
    uint64_t N = 0;
    for (const StallCount &S : Stalls)
      N += S.LatencySamples;
    return N;
  }
};

/// The samples of one device function in one module.
struct FunctionSamples {
  std::string Symbol;        ///< mangled, or as the tool printed it
  /// Module::Id, CuptiCrcPrefix and a CRC, or empty when unknown.
  std::string ModuleId;
  std::vector<PcSample> Pcs; ///< ascending offsets
};

using Dim3 = std::array<uint32_t, 3>;

/// Launches of a kernel with one shape.
struct LaunchShape {
  Dim3 Grid{1, 1, 1};
  Dim3 Block{1, 1, 1};
  uint64_t DynamicShared = 0;
  uint64_t Launches = 0;
  uint64_t TotalNs = 0;
};

/// Kernel activity: one entry a symbol (instantiation).
struct KernelStats {
  std::string Symbol; ///< mangled, or as the tool printed it
  std::string ModuleId;
  uint64_t Launches = 0;
  uint64_t TotalNs = 0;
  uint64_t MinNs = 0, MedianNs = 0, MaxNs = 0;
  std::vector<LaunchShape> Shapes;
  unsigned Registers = 0; ///< per thread
  uint64_t StaticShared = 0;
  uint64_t LocalPerThread = 0;
};

/// A hardware counter of one kernel, over launches.
struct CounterValue {
  std::string Symbol;
  std::string Name; ///< Nsight Compute's name: `dram__bytes.sum`
  std::string Unit; ///< base unit after scaling: `byte`, `ns`, `%`, `inst`, …
  double Min = 0, Median = 0, Max = 0;
  uint64_t Launches = 0;
};

/// What a trace knows of a module: `cupti-crc:` and cuptiGetCubinCrc() of it in
/// hexadecimal. mergeProfiles() puts the Module::Id in its place.
constexpr llvm::StringLiteral CuptiCrcPrefix = "cupti-crc:";

/// A loaded cubin.
struct Module {
  std::string Id;    ///< SHA-256 of the bytes
  std::string Cubin; ///< the ELF image; empty when it was not kept
  unsigned Sm = 0;   ///< 90 for sm_90
  uint64_t CuptiCrc = 0; ///< cuptiGetCubinCrc() of it, 0 when unknown
};

/// What NVML told of the device at one moment; 0: not known.
struct DeviceState {
  std::string When; ///< `start` or `end` of a run
  unsigned SmMhz = 0, MemoryMhz = 0, TemperatureC = 0, PowerMw = 0;
  /// Why the clocks were not higher, NVML's names in snake case: `gpu_idle`,
  /// `sw_power_cap`, `sw_thermal_slowdown`, …
  std::vector<std::string> ClockReasons;
};

struct DeviceInfo {
  std::string Name, Uuid;
  std::string DriverVersion; ///< `580.159`
  unsigned CudaVersion = 0;  ///< CUDA_VERSION of the driver, 13000
  unsigned CcMajor = 0, CcMinor = 0;
  unsigned Sms = 0, WarpSize = 32;
  unsigned MaxThreadsPerSm = 0, MaxBlocksPerSm = 0, RegistersPerSm = 0;
  uint64_t SharedPerSm = 0, SharedPerBlockOptin = 0, L2Bytes = 0,
           MemoryBytes = 0;
  unsigned SmClockKHz = 0, MemoryClockKHz = 0, MemoryBusBits = 0;
  /// Measured ceilings in bytes/s and FLOP/s, empty when not measured:
  /// `dram_copy`, `l2_read`, `fp32`, `fp64`, …
  std::map<std::string, double> Ceilings;
  std::vector<DeviceState> States; ///< in the order of the runs; may be empty
  /// For how long of the runs the clocks were lowered, by reason: `power`,
  /// `thermal`, `board_limit`, `reliability`.
  std::map<std::string, double> ThrottledNs;
};

/// How far the samples can be trusted.
struct ProfileQuality {
  uint64_t TotalSamples = 0;
  uint64_t DroppedSamples = 0;
  uint64_t NonUserSamples = 0; ///< samples in kernels that are not the user's
  bool HardwareBufferFull = false;
  /// Sampling interval is 2^this cycles; 0 when unknown.
  unsigned SamplingIntervalLog2 = 0;
  std::vector<std::string> Notes;
};

/// A source file at the time of the run.
struct SourceSnapshot {
  std::string File;
  std::string Sha256; ///< empty when the file could not be read
};

/// One run of a sweep: what the parameters were and what it measured.
struct SweepConfiguration {
  /// Name → value, as the command line had it: `N` → `1024`.
  std::map<std::string, std::string> Parameters;
  std::vector<KernelStats> Kernels;
  std::vector<CounterValue> Counters;
};

/// `B=128 N=1024`.
std::string describe(const SweepConfiguration &C);

struct Provenance {
  /// `optimas-profile`, `ncu-csv-source`, `ncu-csv-raw`, `ncu-csv-details`, `ncu-rep`, `nsys-csv`,
  /// `nsys-sqlite`, `nsys-rep`,
  /// `cupti-pcsampling-util`, `cupti-dump`, `cubin`.
  std::string Kind;
  std::string Tool; ///< name and version
  std::string File; ///< the file it was read from
  std::vector<std::string> Command;
  std::string Directory;
  std::string Started; ///< ISO 8601, UTC
  int ExitStatus = 0;
  uint64_t WallNs = 0; ///< of the profiled run, 0 when unknown
};

/// Current version of the own file format; readers accept every earlier one.
constexpr unsigned ProfileFormatVersion = 1;

struct Profile {
  std::vector<Provenance> Sources; ///< one, or several after a merge
  DeviceInfo Device;
  ProfileQuality Quality;
  std::vector<Module> Modules;
  std::vector<FunctionSamples> Functions;
  std::vector<KernelStats> Kernels;
  std::vector<CounterValue> Counters;
  /// Of a sweep, in the order of its runs. The members above are those of the first.
  std::vector<SweepConfiguration> Configurations;
  std::vector<SourceSnapshot> SourceFiles;
  /// Source text that the profile itself carries, (file, line) → text. Nsight
  /// Compute's source page has it; used to detect a stale source.
  std::map<std::pair<std::string, unsigned>, std::string> LineTexts;

  const Module *module(llvm::StringRef Id) const;
};

/// One name for what nvcc, Clang and Nsight Compute call one kernel: demangled,
/// `(anonymous namespace)` for either mangling, `static` ignored, no return
/// type, blanks, parameter and template-argument spellings normalised. \p
/// Symbol may be mangled or demangled.
/// `_ZN32_GLOBAL__N__a1b2c3d4_7_main_cu_x4kernEPf` → `(anonymous
/// namespace)::kern(float*)`, `void a::f<const int *, (int)3>(T1)` → `a::f<int
/// const*, 3>(T1)`.
std::string canonicalSymbol(llvm::StringRef Symbol);

/// The name of the function template or function without parameters, template
/// arguments and return type: `void copy<float>(float const*, …)` → `copy`.
/// Namespaces stay: `(anonymous namespace)::kern(float*)` → `(anonymous
/// namespace)::kern`.
std::string baseName(llvm::StringRef Canonical);

/// Whether \p A and \p B can name one function. Canonical names that are equal
/// do; a name as Nsight Compute prints it also matches one that has what it
/// leaves out: the parameters of a template (`T1 *`), inner namespaces (its raw
/// page), or all but the bare name (`--print-kernel-base function`). Two
/// mangled names match by their canonical names alone.
bool symbolsMatch(llvm::StringRef A, llvm::StringRef B);

} // namespace optimas

#endif // OPTIMAS_PROFILE_PROFILE_H
