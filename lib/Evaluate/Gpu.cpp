//===- Gpu.cpp - Is there a GPU, and in which state -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Gpu.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include <dlfcn.h>

using namespace llvm;

namespace optimas {

namespace {
using NvmlDevice = void *;

/// NVML's functions as far as they are used (NVML API reference, stable since CUDA 11).
class Nvml {
public:
  static Nvml &get() {
    static Nvml N;
    return N;
  }
  bool Ok = false;
  NvmlDevice First = nullptr;
  int (*GetName)(NvmlDevice, char *, unsigned) = nullptr;
  int (*GetDriver)(char *, unsigned) = nullptr;
  int (*GetClock)(NvmlDevice, int, unsigned *) = nullptr;
  int (*GetTemperature)(NvmlDevice, int, unsigned *) = nullptr;
  int (*GetReasons)(NvmlDevice, unsigned long long *) = nullptr;

private:
  Nvml() {
    Library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*Init)() = nullptr;
    int (*Count)(unsigned *) = nullptr;
    int (*Handle)(unsigned, NvmlDevice *) = nullptr;
    if (!Library || !load("nvmlInit_v2", Init) || !load("nvmlDeviceGetCount_v2", Count) ||
        !load("nvmlDeviceGetHandleByIndex_v2", Handle))
      return;
    load("nvmlDeviceGetName", GetName);
    load("nvmlSystemGetDriverVersion", GetDriver);
    load("nvmlDeviceGetClockInfo", GetClock);
    load("nvmlDeviceGetTemperature", GetTemperature);
    if (!load("nvmlDeviceGetCurrentClocksEventReasons", GetReasons))
      load("nvmlDeviceGetCurrentClocksThrottleReasons", GetReasons);
    unsigned Devices = 0;
    Ok = Init() == 0 && Count(&Devices) == 0 && Devices > 0 && Handle(0, &First) == 0;
  }
  template <typename Fn> bool load(const char *Name, Fn &Into) {
    Into = reinterpret_cast<Fn>(::dlsym(Library, Name));
    return Into;
  }
  void *Library = nullptr;
};
} // namespace

/// The driver's own answer, for containers that have it without NVML.
static GpuInfo askDriver() {
  GpuInfo G;
  void *Library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!Library)
    return G;
  auto Init = reinterpret_cast<int (*)(unsigned)>(::dlsym(Library, "cuInit"));
  auto Count = reinterpret_cast<int (*)(int *)>(::dlsym(Library, "cuDeviceGetCount"));
  auto Name =
      reinterpret_cast<int (*)(char *, int, int)>(::dlsym(Library, "cuDeviceGetName"));
  int Devices = 0;
  char Text[256] = "";
  if (!Init || !Count || !Name || Init(0) != 0 || Count(&Devices) != 0 || Devices == 0)
    return G;
  G.Present = true;
  if (Name(Text, sizeof(Text), 0) == 0)
    G.Name = Text;
  return G;
}

GpuInfo detectGpu() {
  static const GpuInfo Info = [] {
    Nvml &N = Nvml::get();
    if (!N.Ok)
      return askDriver();
    GpuInfo G;
    G.Present = true;
    char Text[256] = "";
    if (N.GetName && N.GetName(N.First, Text, sizeof(Text)) == 0)
      G.Name = Text;
    if (N.GetDriver && N.GetDriver(Text, sizeof(Text)) == 0)
      G.Driver = Text;
    return G;
  }();
  return Info;
}

std::string GpuInfo::text() const {
  if (!Present)
    return "no GPU";
  std::string Out = Name.empty() ? "a GPU" : Name;
  return Driver.empty() ? Out : Out + ", driver " + Driver;
}

std::optional<GpuState> sampleGpu() {
  Nvml &N = Nvml::get();
  if (!N.Ok)
    return std::nullopt;
  GpuState S;
  constexpr int SmClock = 1, MemoryClock = 2, GpuSensor = 0;
  if (N.GetClock) {
    N.GetClock(N.First, SmClock, &S.SmMHz);
    N.GetClock(N.First, MemoryClock, &S.MemoryMHz);
  }
  if (N.GetTemperature)
    N.GetTemperature(N.First, GpuSensor, &S.Celsius);
  unsigned long long Reasons = 0;
  if (N.GetReasons && N.GetReasons(N.First, &Reasons) == 0)
    S.Reasons = Reasons;
  return S;
}

// Software power cap, hardware slowdown, software and hardware thermal, power brake.
static constexpr uint64_t ThrottleBits = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

bool GpuState::throttled() const { return Reasons & ThrottleBits; }

std::string describe(const GpuState &S) {
  std::string Out = formatv("{0} MHz, memory {1} MHz, {2} \xc2\xb0""C", S.SmMHz,
                            S.MemoryMHz, S.Celsius)
                        .str();
  if (S.Reasons & 0x4)
    Out += ", held down by the power cap";
  if (S.Reasons & (0x20 | 0x40))
    Out += ", held down by temperature";
  if (S.Reasons & (0x8 | 0x80))
    Out += ", held down by the hardware";
  return Out;
}

} // namespace optimas
