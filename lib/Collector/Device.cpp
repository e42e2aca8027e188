//===- Device.cpp - What device the program runs on -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Device.h"
#include "Nvml.h"
#include <cctype>
#include <cstdio>
#include <fstream>

namespace optimas::collector {

/// The first word of the form 580.95 in the kernel module's banner.
static std::string versionFromProc() {
  std::ifstream File("/proc/driver/nvidia/version");
  std::string Word;
  while (File >> Word)
    if (Word.find('.') != std::string::npos && std::isdigit((unsigned char)Word[0]) &&
        Word.find_first_not_of("0123456789.") == std::string::npos)
      return Word;
  return "";
}

std::string driverVersion() {
  std::string Version = versionFromProc();
  if (!Version.empty())
    return Version;
  std::unique_ptr<Nvml> Library = Nvml::load();
  return Library ? Library->driverVersion() : "";
}

static unsigned attribute(CUdevice Device, CUdevice_attribute Which) {
  int Value = 0;
  if (Driver.cuDeviceGetAttribute(&Value, Which, Device) != CUDA_SUCCESS || Value < 0)
    return 0;
  return unsigned(Value);
}

static std::string uuidText(CUdevice Device) {
  CUuuid Uuid;
  if (Driver.cuDeviceGetUuid(&Uuid, Device) != CUDA_SUCCESS)
    return "";
  std::string Text = "GPU-";
  for (unsigned I = 0; I < 16; ++I) {
    char Two[3];
    std::snprintf(Two, sizeof(Two), "%02x", (unsigned char)Uuid.bytes[I]);
    if (I == 4 || I == 6 || I == 8 || I == 10)
      Text += '-';
    Text += Two;
  }
  return Text;
}

std::string deviceName(CUdevice Device) {
  char Name[256] = "";
  if (Driver.cuDeviceGetName(Name, sizeof(Name), Device) != CUDA_SUCCESS)
    return "";
  return Name;
}

DeviceFields deviceFields(CUdevice Device) {
  DeviceFields D;
  D.Name = deviceName(Device);
  D.Uuid = uuidText(Device);
  D.DriverVersion = driverVersion();
  D.CudaVersion = unsigned(Driver.Version);
  auto Get = [&](CUdevice_attribute Which) { return attribute(Device, Which); };
  D.CcMajor = Get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  D.CcMinor = Get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  D.Sms = Get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  D.WarpSize = Get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  D.MaxThreadsPerSm = Get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  D.MaxBlocksPerSm = Get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  D.RegistersPerSm = Get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  D.SharedPerSm = Get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  D.SharedPerBlockOptin = Get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  D.L2Bytes = Get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  size_t Memory = 0;
  if (Driver.cuDeviceTotalMem(&Memory, Device) == CUDA_SUCCESS)
    D.MemoryBytes = Memory;
  D.SmClockKHz = Get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  D.MemoryClockKHz = Get(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  D.MemoryBusBits = Get(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  return D;
}

} // namespace optimas::collector
