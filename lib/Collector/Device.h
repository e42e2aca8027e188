//===- Device.h - What device the program runs on -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_DEVICE_H
#define OPTIMAS_LIB_COLLECTOR_DEVICE_H

#include "Driver.h"
#include "optimas/Collector/ProfileJson.h"

namespace optimas::collector {

/// The driver's version as users know it (`580.95.05`), from NVML or /proc; empty
/// when neither tells.
std::string driverVersion();

/// The device's name; empty when the driver does not tell. Safe in any callback.
std::string deviceName(CUdevice Device);

/// Fills the fields from the driver's attributes; what it does not tell stays 0. Not for callbacks
/// in which the driver may hold its locks.
DeviceFields deviceFields(CUdevice Device);

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_DEVICE_H
