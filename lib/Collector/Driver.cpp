//===- Driver.cpp - The CUDA driver's own functions -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Driver.h"
#include "Log.h"
#include <dlfcn.h>

namespace optimas::collector {

DriverApi Driver;

// Two steps, so that cuda.h's macros rename the function before it is quoted.
#define OPTIMAS_QUOTE_NOW(Name) #Name
#define OPTIMAS_QUOTE(Name) OPTIMAS_QUOTE_NOW(Name)

bool loadDriver(std::string &Error) {
  void *Library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!Library) {
    Error = "libcuda.so.1 cannot be opened: install the NVIDIA driver";
    return false;
  }
  DriverApi Api;
#define OPTIMAS_RESOLVE(Name)                                                            \
  Api.Name = reinterpret_cast<decltype(Api.Name)>(::dlsym(Library, OPTIMAS_QUOTE(Name)));
#define OPTIMAS_RESOLVE_NEEDED(Name)                                                     \
  OPTIMAS_RESOLVE(Name)                                                                  \
  if (!Api.Name && Error.empty())                                                        \
    Error = "the NVIDIA driver lacks " OPTIMAS_QUOTE(Name) ": update it";
  OPTIMAS_DRIVER_NEEDED(OPTIMAS_RESOLVE_NEEDED)
  OPTIMAS_DRIVER_OPTIONAL(OPTIMAS_RESOLVE)
  if (!Error.empty())
    return false;
  if (Api.cuDriverGetVersion(&Api.Version) != CUDA_SUCCESS)
    Api.Version = 0;
  Driver = Api;
  return true;
}

std::string describe(CUresult Result) {
  const char *Name = nullptr;
  if (!Driver.cuGetErrorName || Driver.cuGetErrorName(Result, &Name) != CUDA_SUCCESS ||
      !Name)
    Name = "unknown CUDA error";
  return std::string(Name) + " (" + std::to_string(int(Result)) + ")";
}

bool succeeded(CUresult Result, const char *What) {
  if (Result == CUDA_SUCCESS)
    return true;
  logError("%s failed: %s", What, describe(Result).c_str());
  return false;
}

ContextScope::ContextScope(CUcontext Context) {
  Driver.cuThreadExchangeStreamCaptureMode(&Mode);
  Pushed = Driver.cuCtxPushCurrent(Context) == CUDA_SUCCESS;
}

ContextScope::~ContextScope() {
  CUcontext Popped;
  if (Pushed)
    Driver.cuCtxPopCurrent(&Popped);
  Driver.cuThreadExchangeStreamCaptureMode(&Mode);
}

} // namespace optimas::collector
