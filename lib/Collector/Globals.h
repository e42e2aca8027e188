//===- Globals.h - The program's __device__ variables -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_GLOBALS_H
#define OPTIMAS_LIB_COLLECTOR_GLOBALS_H

#include "Driver.h"
#include "Hasher.h"
#include <set>
#include <string>
#include <vector>

namespace optimas::collector {

/// A `__device__` variable of a loaded module.
struct GlobalVariable {
  std::string Symbol; ///< as in the cubin
  MemoryRange Range;
  CUcontext Context = nullptr;
};

/// Finds the addresses of variables: their names come from the loaded cubins, the
/// modules from the kernels that are launched. Not thread-safe.
class Globals {
public:
  /// Takes in the module of a launched function and looks for \p Names in it. Every
  /// name is looked up in a module once.
  void launched(CUfunction Function, CUcontext Context,
                const std::vector<std::string> &Names);
  /// A module goes away: addresses are not valid any more. What is still loaded is
  /// found again at its next launch.
  void forget();
  const std::vector<GlobalVariable> &variables() const { return Found; }
  /// The \p Names that were not found in any module.
  std::vector<std::string> missing(const std::vector<std::string> &Names) const;

private:
  struct Module {
    CUmodule Handle;
    CUcontext Context;
    size_t Looked; ///< names looked up so far
  };
  void look(Module &M, const std::vector<std::string> &Names);

  std::set<std::pair<CUcontext, CUfunction>> Functions;
  std::vector<Module> Modules;
  std::vector<GlobalVariable> Found;
  std::set<CUdeviceptr> Addresses;
  std::set<std::string> Resolved;
};

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_GLOBALS_H
