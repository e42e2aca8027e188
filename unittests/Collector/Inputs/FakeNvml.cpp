//===- FakeNvml.cpp - A stand-in for libnvidia-ml.so.1 -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Not NVIDIA's library: a shared object with the functions that the collector uses of it,
/// for NvmlTest. Two devices; the second refuses everything but its UUID. FAKE_OLD: an old
/// driver's, without the newer names. FAKE_BROKEN: it does not start. The real one is
/// checked on a GPU by test/Collector/device-selftest.sh.
///
//===----------------------------------------------------------------------===//
#include <cstdio>

extern "C" {
int nvmlInit_v2() {
#ifdef FAKE_BROKEN
  return 9; // NVML_ERROR_DRIVER_NOT_LOADED
#else
  return 0;
#endif
}
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char *Text, unsigned Size) {
  std::snprintf(Text, Size, "580.1.2");
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned *Count) {
  *Count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned Index, void **Device) {
  static char Devices[2];
  *Device = &Devices[Index];
  return 0;
}
static bool isSecond(void *Device) {
  void *Second = nullptr;
  nvmlDeviceGetHandleByIndex_v2(1, &Second);
  return Device == Second;
}
int nvmlDeviceGetUUID(void *Device, char *Text, unsigned Size) {
  std::snprintf(Text, Size, isSecond(Device) ? "GPU-two" : "GPU-one");
  return 0;
}
/// Numbers that would be taken for values were the status not looked at.
static int give(void *Device, unsigned Value, unsigned *To) {
  *To = isSecond(Device) ? 77 : Value;
  return isSecond(Device) ? 3 : 0; // NVML_ERROR_NOT_SUPPORTED
}
int nvmlDeviceGetClockInfo(void *Device, int Clock, unsigned *Mhz) {
  return give(Device, Clock == 1 ? 1980 : 3201, Mhz);
}
int nvmlDeviceGetTemperature(void *Device, int, unsigned *Celsius) {
  return give(Device, 45, Celsius);
}
int nvmlDeviceGetPowerUsage(void *Device, unsigned *MilliWatt) {
  return give(Device, 351250, MilliWatt);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *Device, unsigned long long *Reasons) {
  *Reasons = 0x8;
  return isSecond(Device) ? 3 : 0;
}
#ifndef FAKE_OLD
int nvmlDeviceGetCurrentClocksEventReasons(void *Device, unsigned long long *Reasons) {
  *Reasons = 0x4;
  return isSecond(Device) ? 3 : 0;
}
struct Violation {
  unsigned long long ReferenceUs, ViolationNs;
};
/// More at every question about power, the same about heat.
int nvmlDeviceGetViolationStatus(void *Device, int Policy, Violation *V) {
  static unsigned long long Ns = 1000000000;
  if (isSecond(Device) || Policy > 1)
    return 3;
  V->ReferenceUs = 5;
  V->ViolationNs = Policy == 0 ? Ns += 1000000000 : 7;
  return 0;
}
#endif
}
