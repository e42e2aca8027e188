//===- Nvml.cpp - Clocks, throttling, temperature and power -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Nvml.h"
#include "Log.h"
#include <dlfcn.h>

namespace optimas::collector {

namespace {
using Device = void *;
enum { Success = 0, SmClock = 1, MemoryClock = 2, GpuSensor = 0 };
/// nvmlViolationTime_t.
struct Violation {
  unsigned long long ReferenceUs, ViolationNs;
};
/// nvmlPerfPolicyType_t, of which these lower clocks.
struct Policy {
  int Number;
  const char *Name;
};
} // namespace

static constexpr Policy Policies[] = {
    {0, "power"}, {1, "thermal"}, {3, "board_limit"}, {5, "reliability"}};

struct Nvml::Functions {
  int (*Init)() = nullptr;
  int (*Shutdown)() = nullptr;
  int (*SystemGetDriverVersion)(char *, unsigned) = nullptr;
  int (*DeviceGetCount)(unsigned *) = nullptr;
  int (*DeviceGetHandleByIndex)(unsigned, Device *) = nullptr;
  int (*DeviceGetUUID)(Device, char *, unsigned) = nullptr;
  int (*DeviceGetClockInfo)(Device, int, unsigned *) = nullptr;
  int (*DeviceGetClockReasons)(Device, unsigned long long *) = nullptr;
  int (*DeviceGetTemperature)(Device, int, unsigned *) = nullptr;
  int (*DeviceGetPowerUsage)(Device, unsigned *) = nullptr;
  int (*DeviceGetViolationStatus)(Device, int, Violation *) = nullptr;
};

template <typename Function>
static void bind(void *Library, const char *Name, Function &To) {
  if (!To)
    To = reinterpret_cast<Function>(::dlsym(Library, Name));
}

std::unique_ptr<Nvml> Nvml::load(const char *Library) {
  void *Handle = ::dlopen(Library, RTLD_NOW | RTLD_LOCAL);
  if (!Handle) {
    logLine("no NVML: %s", ::dlerror());
    return nullptr;
  }
  auto F = std::make_unique<Functions>();
  bind(Handle, "nvmlInit_v2", F->Init);
  bind(Handle, "nvmlShutdown", F->Shutdown);
  bind(Handle, "nvmlSystemGetDriverVersion", F->SystemGetDriverVersion);
  bind(Handle, "nvmlDeviceGetCount_v2", F->DeviceGetCount);
  bind(Handle, "nvmlDeviceGetHandleByIndex_v2", F->DeviceGetHandleByIndex);
  bind(Handle, "nvmlDeviceGetUUID", F->DeviceGetUUID);
  bind(Handle, "nvmlDeviceGetClockInfo", F->DeviceGetClockInfo);
  // The newer name first.
  bind(Handle, "nvmlDeviceGetCurrentClocksEventReasons", F->DeviceGetClockReasons);
  bind(Handle, "nvmlDeviceGetCurrentClocksThrottleReasons", F->DeviceGetClockReasons);
  bind(Handle, "nvmlDeviceGetTemperature", F->DeviceGetTemperature);
  bind(Handle, "nvmlDeviceGetPowerUsage", F->DeviceGetPowerUsage);
  bind(Handle, "nvmlDeviceGetViolationStatus", F->DeviceGetViolationStatus);
  int Status = F->Init && F->Shutdown ? F->Init() : -1;
  if (Status != Success) {
    logLine("NVML does not start: %d", Status);
    ::dlclose(Handle);
    return nullptr;
  }
  std::unique_ptr<Nvml> Made(new Nvml);
  Made->Handle = Handle;
  Made->F = std::move(F);
  return Made;
}

Nvml::~Nvml() {
  F->Shutdown();
  ::dlclose(Handle);
}

std::string Nvml::driverVersion() const {
  char Text[128] = "";
  if (!F->SystemGetDriverVersion || F->SystemGetDriverVersion(Text, sizeof(Text)) != Success)
    return "";
  Text[sizeof(Text) - 1] = 0;
  return Text;
}

std::map<std::string, DeviceState> Nvml::states(const char *When) const {
  std::map<std::string, DeviceState> States;
  unsigned Count = 0;
  if (!F->DeviceGetCount || !F->DeviceGetHandleByIndex || !F->DeviceGetUUID ||
      F->DeviceGetCount(&Count) != Success)
    return States;
  for (unsigned I = 0; I < Count; ++I) {
    Device D = nullptr;
    char Uuid[96] = "";
    if (F->DeviceGetHandleByIndex(I, &D) != Success ||
        F->DeviceGetUUID(D, Uuid, sizeof(Uuid)) != Success)
      continue;
    Uuid[sizeof(Uuid) - 1] = 0;
    DeviceState &S = States[Uuid];
    S.When = When;
    // What fails leaves the 0 that is there.
    auto Get = [&](auto *Function, auto &To, auto... Which) {
      auto Value = To;
      if (Function && Function(D, Which..., &Value) == Success)
        To = Value;
    };
    Get(F->DeviceGetClockInfo, S.SmMhz, SmClock);
    Get(F->DeviceGetClockInfo, S.MemoryMhz, MemoryClock);
    Get(F->DeviceGetTemperature, S.TemperatureC, GpuSensor);
    Get(F->DeviceGetPowerUsage, S.PowerMw);
    unsigned long long Reasons = 0;
    Get(F->DeviceGetClockReasons, Reasons);
    S.ClockReasons = Reasons;
    for (const Policy &P : Policies) {
      Violation V = {0, 0};
      if (F->DeviceGetViolationStatus &&
          F->DeviceGetViolationStatus(D, P.Number, &V) == Success)
        S.ThrottledNs[P.Name] = V.ViolationNs;
    }
  }
  return States;
}

} // namespace optimas::collector
