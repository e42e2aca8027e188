//===- ProfileJson.h - The profile's JSON form, written without LLVM -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_COLLECTOR_PROFILEJSON_H
#define OPTIMAS_COLLECTOR_PROFILEJSON_H

#include "optimas/Collector/KernelTable.h"
#include "optimas/Collector/SampleTable.h"
#include <map>
#include <memory>

namespace optimas::collector {

/// A cubin that the program loaded.
struct LoadedModule {
  std::string Id; ///< SHA-256
  std::string Bytes;
  unsigned Sm = 0;
  uint64_t CuptiCrc = 0; ///< cuptiGetCubinCrc() of it, 0 when unknown
  bool LineInfo = false;
  std::vector<std::string> Functions; ///< mangled
};

/// What NVML tells of a device at one moment. 0: it did not tell.
struct DeviceState {
  std::string When; ///< `start` or `end` of the recording
  unsigned SmMhz = 0, MemoryMhz = 0, TemperatureC = 0, PowerMw = 0;
  uint64_t ClockReasons = 0; ///< nvmlClocksEventReason… bits
  /// Why clocks were lowered (`power`, `thermal`, …) → for how long since the driver
  /// was loaded.
  std::map<std::string, uint64_t> ThrottledNs;
};

/// The names that the profile gives nvmlClocksEventReason… bits: `sw_power_cap`, ….
std::vector<std::string> clockReasonNames(uint64_t Bits);

/// The device fields of the profile, in its units.
struct DeviceFields {
  std::string Name, Uuid, DriverVersion;
  unsigned CudaVersion = 0, CcMajor = 0, CcMinor = 0, Sms = 0, WarpSize = 32;
  unsigned MaxThreadsPerSm = 0, MaxBlocksPerSm = 0, RegistersPerSm = 0;
  uint64_t SharedPerSm = 0, SharedPerBlockOptin = 0, L2Bytes = 0, MemoryBytes = 0;
  unsigned SmClockKHz = 0, MemoryClockKHz = 0, MemoryBusBits = 0;
  std::vector<DeviceState> States; ///< at the start and at the end; empty without NVML
};

/// The values of one hardware counter of one kernel, in launch order.
struct CounterFields {
  std::string Symbol, Name, Unit;
  std::vector<double> Values;
};

/// What the launcher must know of a run that counted; no part of the profile format.
struct CountingFields {
  std::string Replay; ///< `kernel` or `application`; empty: nothing was counted
  std::vector<std::string> Left;            ///< metrics that did not fit into the one pass
  std::map<std::string, uint64_t> Launches; ///< of the selected kernels, counted or not
};

/// Everything that a profile run found.
struct ProfileData {
  std::string Tool; ///< name and version
  std::string Started, Directory;
  std::vector<std::string> Command;
  uint64_t WallNs = 0;
  DeviceFields Device;
  unsigned IntervalLog2 = 0; ///< 0 when nothing was sampled
  std::vector<std::string> Notes;
  /// Cubin CRC, as the samples name it → module.
  std::map<uint64_t, std::shared_ptr<const LoadedModule>> Modules;
  SampleTable Samples;
  KernelTable Kernels;
  std::vector<CounterFields> Counters;
  CountingFields Counting;
};

/// The JSON text of \p Data, format version 1 (docs/schemas/profile.schema.json).
/// Only modules that were sampled or launched from are in it. Adds notes on
/// dropped samples, full buffers, missing cubins, missing line information and
/// throttled clocks, each with its remedy.
std::string profileJson(const ProfileData &Data);

} // namespace optimas::collector

#endif // OPTIMAS_COLLECTOR_PROFILEJSON_H
