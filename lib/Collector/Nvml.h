//===- Nvml.h - Clocks, throttling, temperature and power -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// NVIDIA's management library, which a machine may lack: it is loaded at run time, and
/// each of its functions may be missing or refused. Its header is not part of every
/// toolkit, so the few functions are declared here as its reference describes them.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_NVML_H
#define OPTIMAS_LIB_COLLECTOR_NVML_H

#include "optimas/Collector/ProfileJson.h"
#include <memory>

namespace optimas::collector {

/// A loaded and initialised library.
class Nvml {
public:
  /// Null when the library is not there or does not start. \p Library is a name for the
  /// loader or a path.
  static std::unique_ptr<Nvml> load(const char *Library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml &) = delete;
  Nvml &operator=(const Nvml &) = delete;

  /// `580.95.05`; empty when it does not tell.
  std::string driverVersion() const;

  /// Every device that NVML lists (it knows nothing of CUDA_VISIBLE_DEVICES), by the UUID
  /// that CUDA gives it too, as it is now. A figure that is refused stays 0.
  std::map<std::string, DeviceState> states(const char *When) const;

private:
  Nvml() = default;
  struct Functions;
  void *Handle = nullptr;
  std::unique_ptr<Functions> F;
};

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_NVML_H
