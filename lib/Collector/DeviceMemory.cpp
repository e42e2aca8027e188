//===- DeviceMemory.cpp - Following the program's device memory -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceMemory.h"
#include "Log.h"
#include "optimas/Collector/Permutation.h"
#include <algorithm>

namespace optimas::collector {

void DeviceMemory::notCovered(const std::string &What, uint64_t Bytes) {
  Count &C = Uncovered[What];
  if (!C.Calls++)
    logLine("not covered: %s", What.c_str());
  C.Bytes += Bytes;
}

std::vector<std::string> DeviceMemory::uncovered() const {
  std::vector<std::string> Sentences;
  for (const auto &[What, C] : Uncovered) {
    std::string Text = What + ": " + std::to_string(C.Calls) + " calls";
    if (C.Bytes)
      Text += ", " + std::to_string(C.Bytes) + " bytes";
    Sentences.push_back(std::move(Text));
  }
  return Sentences;
}

bool DeviceMemory::isCapturing(CUstream Stream) const {
  // The legacy stream (null) cannot be captured; asking for it may fail a capture.
  if (!Stream || !Captures)
    return false;
  CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
  return Driver.cuStreamIsCapturing(Stream, &Status) == CUDA_SUCCESS &&
         Status != CU_STREAM_CAPTURE_STATUS_NONE;
}

CUresult DeviceMemory::synchronize(CUcontext Context) {
  ContextScope Scope(Context);
  return Scope.ok() ? Driver.cuCtxSynchronize() : CUDA_ERROR_INVALID_CONTEXT;
}

void DeviceMemory::allocated(const MemoryCall &Call, const CUpti_CallbackData &Data) {
  if (!Call.Address || !Call.Bytes)
    return;
  if (Call.Ordered && isCapturing(Call.Stream))
    return notCovered(std::string(Data.functionName) + " (captured)", Call.Bytes);
  CUcontext Context = Data.context;
  if (!Context)
    return notCovered(std::string(Data.functionName) + " (no context)", Call.Bytes);
  const Allocation A = Table.add(Call.Address, Call.Bytes, Context);
  logLine("allocation %llu: %llu bytes at %llx by %s", (unsigned long long)A.Index,
          (unsigned long long)A.Bytes, (unsigned long long)A.Address, Data.functionName);
  ContextScope Scope(Context);
  if (!Scope.ok())
    return notCovered(std::string(Data.functionName) + " (dead context)", Call.Bytes);
  if (!Devices.count(Context)) {
    CUdevice Device = 0;
    Driver.cuCtxGetDevice(&Device);
    Devices[Context] = Device;
  }
  TheHasher.prepare(Context);
  if (!Poison)
    return;
  // Memory that is allocated in the order of a stream is ours when the stream gets
  // there.
  CUresult Result = Call.Ordered ? Driver.cuStreamSynchronize(Call.Stream) : CUDA_SUCCESS;
  if (Result == CUDA_SUCCESS)
    Result = TheHasher.fill(Context, {Call.Address, Call.Bytes}, *Poison, A.slack());
  if (!succeeded(Result, "poisoning an allocation"))
    notCovered(std::string(Data.functionName) + " (not poisoned)", Call.Bytes);
}

void DeviceMemory::releasing(const MemoryCall &Call, CUcontext Current) {
  auto A = Table.remove(Call.Address);
  if (!A || !BeforeRelease)
    return;
  CUcontext Context = static_cast<CUcontext>(const_cast<void *>(A->Context));
  if (Call.Ordered && isCapturing(Call.Stream))
    return notCovered("cuMemFreeAsync (captured)", A->Bytes);
  ContextScope Scope(Context ? Context : Current);
  if (Scope.ok())
    BeforeRelease(Context, {*A});
}

void DeviceMemory::resetting(const MemoryCall &Call) {
  for (const void *Pointer : Table.contexts()) {
    CUcontext Context = static_cast<CUcontext>(const_cast<void *>(Pointer));
    bool Ends = Call.Kind == MemoryCallKind::DestroyContext
                    ? Context == Call.Context
                    : Devices.count(Context) && Devices[Context] == Call.Device;
    if (!Ends)
      continue;
    std::vector<Allocation> Gone = Table.removeContext(Context);
    ContextScope Scope(Context);
    if (Scope.ok() && BeforeRelease)
      BeforeRelease(Context, Gone);
  }
}

void DeviceMemory::contextDestroyed(CUcontext Context) {
  std::vector<Allocation> Lost = Table.removeContext(Context);
  if (!Lost.empty() && BeforeRelease)
    notCovered("context destroyed with live allocations", 0);
  TheHasher.contextGone(Context);
  Devices.erase(Context);
}

/// Copies again, permuted, once the program's own copy is done.
void DeviceMemory::permute(const MemoryCall &Call, CUcontext Context) {
  std::vector<char> Staging(Call.Bytes);
  permuteElements(Staging.data(), Call.Host, Call.Bytes, O.PermuteElement,
                  *O.PermuteSeed + Copies);
  ContextScope Scope(Context);
  CUresult Result = Scope.ok() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  if (Result == CUDA_SUCCESS)
    Result = Driver.cuStreamSynchronize(Call.Stream);
  if (Result == CUDA_SUCCESS)
    Result = Driver.cuMemcpyHtoDAsync(Call.Address, Staging.data(), Call.Bytes, Call.Stream);
  if (Result == CUDA_SUCCESS)
    Result = Driver.cuStreamSynchronize(Call.Stream);
  if (succeeded(Result, "permuting a copy"))
    ++Permuted;
}

void DeviceMemory::copied(const MemoryCall &Call, CUcontext Context) {
  ++Copies;
  if (!O.PermuteSeed || !Call.Host || !Context ||
      Call.Bytes < 2 * uint64_t(O.PermuteElement) || isCapturing(Call.Stream) ||
      std::count(O.PermuteSkip.begin(), O.PermuteSkip.end(), Copies))
    return;
  logLine("copy %llu: %llu bytes permuted", (unsigned long long)Copies,
          (unsigned long long)Call.Bytes);
  permute(Call, Context);
}

void DeviceMemory::call(CUpti_CallbackId Id, const CUpti_CallbackData &Data) {
  bool AtExit = Data.callbackSite == CUPTI_API_EXIT;
  bool Good = AtExit && Data.functionReturnValue &&
              *static_cast<const CUresult *>(Data.functionReturnValue) == CUDA_SUCCESS;
  MemoryCall Call = readMemoryCall(Id, Data, AtExit);
  switch (Call.Kind) {
  case MemoryCallKind::Free:
  case MemoryCallKind::DestroyContext:
  case MemoryCallKind::ResetDevice:
    // At entry: afterwards another thread may already own the address.
    if (!AtExit)
      Call.Kind == MemoryCallKind::Free ? releasing(Call, Data.context)
                                        : resetting(Call);
    return;
  case MemoryCallKind::BeginCapture:
    Captures += Good;
    return;
  case MemoryCallKind::EndCapture:
    // A failed end ends the capture too.
    if (AtExit && Captures > 0)
      --Captures;
    return;
  default:
    break;
  }
  if (!Good)
    return;
  if (Call.Kind == MemoryCallKind::Allocate)
    allocated(Call, Data);
  else if (Call.Kind == MemoryCallKind::HostToDevice)
    copied(Call, Data.context);
  else if (Call.Kind == MemoryCallKind::Uncovered)
    notCovered(Data.functionName, Call.Bytes);
  else if (Call.Kind == MemoryCallKind::HostMemory) {
    ++Host.Calls;
    Host.Bytes += Call.Bytes;
  }
}

} // namespace optimas::collector
