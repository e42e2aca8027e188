//===- Modules.h - The cubins that the program loads -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_MODULES_H
#define OPTIMAS_LIB_COLLECTOR_MODULES_H

#include "Cupti.h"
#include "optimas/Collector/CubinSymbols.h"
#include "optimas/Collector/ProfileJson.h"

namespace optimas::collector {

/// Keeps a copy of every loaded cubin. Not thread-safe: callers hold their lock.
class Modules {
public:
  /// Takes in what a MODULE_LOADED callback brings. Returns its SHA-256 when the
  /// cubin was not seen before, else an empty string.
  std::string loaded(const CUpti_ModuleResourceData &Data);

  /// CRC (as PC samples name a cubin) → module.
  const std::map<uint64_t, std::shared_ptr<const LoadedModule>> &byCrc() const {
    return ByCrc;
  }
  /// Every `__device__` variable's symbol of every cubin so far. Grows only, so
  /// that a caller can remember how many it has seen.
  const std::vector<std::string> &variables() const { return Variables; }

private:
  std::map<uint64_t, std::shared_ptr<const LoadedModule>> ByCrc;
  std::set<std::string> Ids, KnownVariables;
  std::vector<std::string> Variables;
};

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_MODULES_H
