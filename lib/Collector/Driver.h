//===- Driver.h - The CUDA driver's own functions -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_DRIVER_H
#define OPTIMAS_LIB_COLLECTOR_DRIVER_H

#include <cuda.h>
#include <string>

/// Names as in cuda.h, whose macros turn them into the current versions.
#define OPTIMAS_DRIVER_NEEDED(X)                                                         \
  X(cuDriverGetVersion)                                                                  \
  X(cuGetErrorName)                                                                      \
  X(cuDeviceGetName)                                                                     \
  X(cuDeviceGetUuid)                                                                     \
  X(cuDeviceGetAttribute)                                                                \
  X(cuDeviceTotalMem)                                                                    \
  X(cuCtxGetCurrent)                                                                     \
  X(cuCtxPushCurrent)                                                                    \
  X(cuCtxPopCurrent)                                                                     \
  X(cuCtxGetDevice)                                                                      \
  X(cuCtxSynchronize)                                                                    \
  X(cuModuleLoadData)                                                                    \
  X(cuModuleGetFunction)                                                                 \
  X(cuModuleGetGlobal)                                                                   \
  X(cuMemAlloc)                                                                          \
  X(cuMemFree)                                                                           \
  X(cuMemsetD8Async)                                                                     \
  X(cuMemcpyDtoH)                                                                        \
  X(cuMemcpyHtoD)                                                                        \
  X(cuMemcpyHtoDAsync)                                                                   \
  X(cuMemcpyDtoHAsync)                                                                   \
  X(cuStreamCreate)                                                                      \
  X(cuStreamSynchronize)                                                                 \
  X(cuStreamIsCapturing)                                                                 \
  X(cuThreadExchangeStreamCaptureMode)                                                   \
  X(cuLaunchKernel)

/// Newer than the oldest driver that works; null there.
#define OPTIMAS_DRIVER_OPTIONAL(X)                                                       \
  X(cuFuncGetModule)                                                                     \
  X(cuKernelGetFunction)                                                                 \
  X(cuLibraryGetModule)

namespace optimas::collector {

struct DriverApi {
#define OPTIMAS_MEMBER(Name) decltype(&::Name) Name = nullptr;
  OPTIMAS_DRIVER_NEEDED(OPTIMAS_MEMBER)
  OPTIMAS_DRIVER_OPTIONAL(OPTIMAS_MEMBER)
#undef OPTIMAS_MEMBER
  int Version = 0; ///< the highest CUDA version it knows, 13000
};

extern DriverApi Driver;

/// Binds to the libcuda.so.1 that is in this process already.
bool loadDriver(std::string &Error);

/// `CUDA_ERROR_…`.
std::string describe(CUresult Result);

/// Whether \p Result is success; otherwise logs an error naming \p What.
bool succeeded(CUresult Result, const char *What);

/// Makes a context current for a scope. The thread's capture mode is relaxed
/// meanwhile, so that our calls do not invalidate a capture of the program's.
class ContextScope {
public:
  explicit ContextScope(CUcontext Context);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;
  bool ok() const { return Pushed; }

private:
  CUstreamCaptureMode Mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool Pushed = false;
};

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_DRIVER_H
