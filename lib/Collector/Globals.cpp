//===- Globals.cpp - The program's __device__ variables -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Globals.h"
#include "Log.h"
#include <algorithm>

namespace optimas::collector {

/// The runtime launches CUkernel handles cast to CUfunction, which cuFuncGetModule
/// need not accept.
static CUmodule moduleOf(CUfunction Function) {
  CUmodule Module = nullptr;
  if (!Driver.cuFuncGetModule)
    return nullptr;
  CUresult Result = Driver.cuFuncGetModule(&Module, Function);
  if (Result == CUDA_SUCCESS)
    return Module;
  CUfunction Real = nullptr;
  if (Driver.cuKernelGetFunction &&
      Driver.cuKernelGetFunction(&Real, reinterpret_cast<CUkernel>(Function)) ==
          CUDA_SUCCESS &&
      Driver.cuFuncGetModule(&Module, Real) == CUDA_SUCCESS)
    return Module;
  logLine("the module of a launched function is not known: %s",
          describe(Result).c_str());
  return nullptr;
}

void Globals::look(Module &M, const std::vector<std::string> &Names) {
  for (; M.Looked < Names.size(); ++M.Looked) {
    const std::string &Name = Names[M.Looked];
    CUdeviceptr Address = 0;
    size_t Bytes = 0;
    CUresult Result = Driver.cuModuleGetGlobal(&Address, &Bytes, M.Handle, Name.c_str());
    if (Result != CUDA_SUCCESS || !Address || !Bytes) {
      logLine("variable %s: %s", Name.c_str(), describe(Result).c_str());
      continue;
    }
    Resolved.insert(Name);
    if (!Addresses.insert(Address).second)
      continue;
    Found.push_back({Name, {Address, Bytes}, M.Context});
    logLine("variable %s: %zu bytes at %llx", Name.c_str(), Bytes,
            (unsigned long long)Address);
  }
}

void Globals::launched(CUfunction Function, CUcontext Context,
                       const std::vector<std::string> &Names) {
  if (Names.empty() || !Function || !Context)
    return;
  if (Functions.insert({Context, Function}).second) {
    CUmodule Handle = moduleOf(Function);
    bool Known = std::any_of(Modules.begin(), Modules.end(), [&](const Module &M) {
      return M.Handle == Handle && M.Context == Context;
    });
    if (Handle && !Known)
      Modules.push_back({Handle, Context, 0});
  }
  for (Module &M : Modules)
    if (M.Context == Context)
      look(M, Names);
}

void Globals::forget() {
  Functions.clear();
  Modules.clear();
  Found.clear();
  Addresses.clear();
}

std::vector<std::string> Globals::missing(const std::vector<std::string> &Names) const {
  std::vector<std::string> Result;
  for (const std::string &Name : Names)
    if (!Resolved.count(Name) && Name[0] != '$')
      Result.push_back(Name);
  return Result;
}

} // namespace optimas::collector
