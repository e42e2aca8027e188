//===- ApiCalls.cpp - Taking CUPTI's driver-API callbacks apart -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ApiCalls.h"
#include <algorithm>

namespace optimas::collector {

#define ID(Name) CUPTI_DRIVER_TRACE_CBID_##Name

const CUpti_CallbackId LaunchIds[] = {
    ID(cuLaunchKernel),          ID(cuLaunchKernel_ptsz),
    ID(cuLaunchKernelEx),        ID(cuLaunchKernelEx_ptsz),
    ID(cuLaunchCooperativeKernel), ID(cuLaunchCooperativeKernel_ptsz),
    ID(cuGraphLaunch),           ID(cuGraphLaunch_ptsz),
};
const unsigned LaunchIdCount = sizeof(LaunchIds) / sizeof(LaunchIds[0]);

const CUpti_CallbackId SyncIds[] = {
    ID(cuCtxSynchronize), ID(cuStreamSynchronize), ID(cuStreamSynchronize_ptsz),
    ID(cuEventSynchronize),
#if CUDA_VERSION >= 13000
    ID(cuCtxSynchronize_v2),
#endif
};
const unsigned SyncIdCount = sizeof(SyncIds) / sizeof(SyncIds[0]);

bool isSynchronization(CUpti_CallbackId Id) {
  return std::find(SyncIds, SyncIds + SyncIdCount, Id) != SyncIds + SyncIdCount;
}

const CUpti_CallbackId MemoryIds[] = {
    ID(cuMemAlloc_v2), ID(cuMemAllocPitch_v2), ID(cuMemAllocManaged), ID(cuMemFree_v2),
    ID(cuMemAllocAsync), ID(cuMemAllocAsync_ptsz), ID(cuMemAllocFromPoolAsync),
    ID(cuMemAllocFromPoolAsync_ptsz), ID(cuMemFreeAsync), ID(cuMemFreeAsync_ptsz),
    ID(cuMemcpyHtoD_v2), ID(cuMemcpyHtoD_v2_ptds), ID(cuMemcpyHtoDAsync_v2),
    ID(cuMemcpyHtoDAsync_v2_ptsz),
    // Memory that is not hashed. The trace says so, and a verdict can refuse.
    ID(cuMemAlloc), ID(cuMemAllocPitch), ID(cuMemCreate), ID(cuMemMap),
    ID(cuMemMapArrayAsync), ID(cuMemMapArrayAsync_ptsz), ID(cuArrayCreate_v2),
    ID(cuArray3DCreate_v2), ID(cuMipmappedArrayCreate), ID(cuIpcOpenMemHandle),
    ID(cuIpcOpenMemHandle_v2), ID(cuImportExternalMemory), ID(cuMemImportFromShareableHandle),
    ID(cuMulticastCreate), ID(cuLaunch), ID(cuLaunchGrid), ID(cuLaunchGridAsync),
    ID(cuLaunchCooperativeKernelMultiDevice),
    ID(cuMemHostAlloc), ID(cuMemHostAlloc_v2), ID(cuMemAllocHost_v2), ID(cuMemHostRegister_v2),
    ID(cuStreamBeginCapture), ID(cuStreamBeginCapture_ptsz), ID(cuStreamBeginCapture_v2),
    ID(cuStreamBeginCapture_v2_ptsz), ID(cuStreamBeginCaptureToGraph),
    ID(cuStreamBeginCaptureToGraph_ptsz), ID(cuStreamEndCapture), ID(cuStreamEndCapture_ptsz),
    ID(cuCtxDestroy), ID(cuCtxDestroy_v2), ID(cuDevicePrimaryCtxReset),
    ID(cuDevicePrimaryCtxReset_v2),
};
const unsigned MemoryIdCount = sizeof(MemoryIds) / sizeof(MemoryIds[0]);

static bool isPerThread(CUpti_CallbackId Id) {
  switch (Id) {
  case ID(cuLaunchKernel_ptsz):
  case ID(cuLaunchKernelEx_ptsz):
  case ID(cuLaunchCooperativeKernel_ptsz):
  case ID(cuGraphLaunch_ptsz):
  case ID(cuMemAllocAsync_ptsz):
  case ID(cuMemAllocFromPoolAsync_ptsz):
  case ID(cuMemFreeAsync_ptsz):
  case ID(cuMemcpyHtoD_v2_ptds):
  case ID(cuMemcpyHtoDAsync_v2_ptsz):
    return true;
  default:
    return false;
  }
}

/// The null stream means another stream in the functions for per-thread streams.
static CUstream streamOf(CUpti_CallbackId Id, CUstream Stream) {
  return !Stream && isPerThread(Id) ? CU_STREAM_PER_THREAD : Stream;
}

/// cuLaunchKernel's parameters, and with the same members cooperative launches'.
template <typename T> static void readShape(const T &P, LaunchCall &Call) {
  Call.Function = P.f;
  Call.Stream = P.hStream;
  const uint32_t Grid[3] = {P.gridDimX, P.gridDimY, P.gridDimZ};
  const uint32_t Block[3] = {P.blockDimX, P.blockDimY, P.blockDimZ};
  for (unsigned I = 0; I < 3; ++I) {
    Call.Grid[I] = Grid[I];
    Call.Block[I] = Block[I];
  }
}

bool readLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Data, LaunchCall &Call) {
  const void *P = Data.functionParams;
  if (!P)
    return false;
  switch (Id) {
  case ID(cuLaunchKernel):
  case ID(cuLaunchKernel_ptsz):
    readShape(*static_cast<const cuLaunchKernel_params *>(P), Call);
    break;
  case ID(cuLaunchCooperativeKernel):
  case ID(cuLaunchCooperativeKernel_ptsz):
    readShape(*static_cast<const cuLaunchCooperativeKernel_params *>(P), Call);
    break;
  case ID(cuLaunchKernelEx):
  case ID(cuLaunchKernelEx_ptsz): {
    const auto &Ex = *static_cast<const cuLaunchKernelEx_params *>(P);
    if (!Ex.config)
      return false;
    struct {
      CUfunction f;
      CUstream hStream;
      unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ;
    } Shape = {Ex.f, Ex.config->hStream,
               Ex.config->gridDimX, Ex.config->gridDimY, Ex.config->gridDimZ,
               Ex.config->blockDimX, Ex.config->blockDimY, Ex.config->blockDimZ};
    readShape(Shape, Call);
    break;
  }
  case ID(cuGraphLaunch):
  case ID(cuGraphLaunch_ptsz):
    Call.Stream = static_cast<const cuGraphLaunch_params *>(P)->hStream;
    Call.Graph = true;
    Call.Symbol = "<graph>";
    break;
  default:
    return false;
  }
  Call.Stream = streamOf(Id, Call.Stream);
  if (!Call.Graph)
    Call.Symbol = Data.symbolName ? Data.symbolName : "?";
  return true;
}

static MemoryCall allocation(const CUdeviceptr *Address, uint64_t Bytes, bool AtExit) {
  MemoryCall Call;
  Call.Kind = MemoryCallKind::Allocate;
  Call.Bytes = Bytes;
  if (AtExit && Address)
    Call.Address = *Address;
  return Call;
}

static MemoryCall orderedAllocation(const CUdeviceptr *Address, uint64_t Bytes,
                                    CUstream Stream, bool AtExit) {
  MemoryCall Call = allocation(Address, Bytes, AtExit);
  Call.Stream = Stream;
  Call.Ordered = true;
  return Call;
}

static MemoryCall kind(MemoryCallKind Kind, uint64_t Bytes = 0) {
  MemoryCall Call;
  Call.Kind = Kind;
  Call.Bytes = Bytes;
  return Call;
}

static MemoryCall pitched(const cuMemAllocPitch_v2_params &P, bool AtExit) {
  uint64_t Pitch = AtExit && P.pPitch ? *P.pPitch : 0;
  return allocation(P.dptr, Pitch * P.Height, AtExit);
}

/// Allocations and frees; None for anything else.
static MemoryCall readAllocation(CUpti_CallbackId Id, const void *P, bool AtExit) {
  MemoryCall Call;
  switch (Id) {
  case ID(cuMemAlloc_v2): {
    const auto &A = *static_cast<const cuMemAlloc_v2_params *>(P);
    return allocation(A.dptr, A.bytesize, AtExit);
  }
  case ID(cuMemAllocPitch_v2):
    return pitched(*static_cast<const cuMemAllocPitch_v2_params *>(P), AtExit);
  case ID(cuMemAllocManaged): {
    const auto &A = *static_cast<const cuMemAllocManaged_params *>(P);
    return allocation(A.dptr, A.bytesize, AtExit);
  }
  case ID(cuMemAllocAsync):
  case ID(cuMemAllocAsync_ptsz): {
    const auto &A = *static_cast<const cuMemAllocAsync_params *>(P);
    return orderedAllocation(A.dptr, A.bytesize, streamOf(Id, A.hStream), AtExit);
  }
  case ID(cuMemAllocFromPoolAsync):
  case ID(cuMemAllocFromPoolAsync_ptsz): {
    const auto &A = *static_cast<const cuMemAllocFromPoolAsync_params *>(P);
    return orderedAllocation(A.dptr, A.bytesize, streamOf(Id, A.hStream), AtExit);
  }
  case ID(cuMemFree_v2):
    Call.Kind = MemoryCallKind::Free;
    Call.Address = static_cast<const cuMemFree_v2_params *>(P)->dptr;
    return Call;
  case ID(cuMemFreeAsync):
  case ID(cuMemFreeAsync_ptsz): {
    const auto &F = *static_cast<const cuMemFreeAsync_params *>(P);
    Call.Kind = MemoryCallKind::Free;
    Call.Address = F.dptr;
    Call.Stream = streamOf(Id, F.hStream);
    Call.Ordered = true;
    return Call;
  }
  default:
    return Call;
  }
}

static MemoryCall readCopy(CUpti_CallbackId Id, const void *P) {
  MemoryCall Call = kind(MemoryCallKind::HostToDevice);
  if (Id == ID(cuMemcpyHtoD_v2) || Id == ID(cuMemcpyHtoD_v2_ptds)) {
    const auto &C = *static_cast<const cuMemcpyHtoD_v2_params *>(P);
    Call.Address = C.dstDevice;
    Call.Host = C.srcHost;
    Call.Bytes = C.ByteCount;
    Call.Stream = streamOf(Id, nullptr);
    return Call;
  }
  const auto &C = *static_cast<const cuMemcpyHtoDAsync_v2_params *>(P);
  Call.Address = C.dstDevice;
  Call.Host = C.srcHost;
  Call.Bytes = C.ByteCount;
  Call.Stream = streamOf(Id, C.hStream);
  Call.Ordered = true;
  return Call;
}

MemoryCall readMemoryCall(CUpti_CallbackId Id, const CUpti_CallbackData &Data,
                          bool AtExit) {
  const void *P = Data.functionParams;
  MemoryCall Call;
  if (!P)
    return Call;
  Call = readAllocation(Id, P, AtExit);
  if (Call.Kind != MemoryCallKind::None)
    return Call;
  switch (Id) {
  case ID(cuMemcpyHtoD_v2):
  case ID(cuMemcpyHtoD_v2_ptds):
  case ID(cuMemcpyHtoDAsync_v2):
  case ID(cuMemcpyHtoDAsync_v2_ptsz):
    return readCopy(Id, P);
  case ID(cuMemCreate):
    return kind(MemoryCallKind::Uncovered,
                static_cast<const cuMemCreate_params *>(P)->size);
  case ID(cuMemAlloc):
  case ID(cuMemAllocPitch):
  case ID(cuMemMap):
  case ID(cuMemMapArrayAsync):
  case ID(cuMemMapArrayAsync_ptsz):
  case ID(cuArrayCreate_v2):
  case ID(cuArray3DCreate_v2):
  case ID(cuMipmappedArrayCreate):
  case ID(cuIpcOpenMemHandle):
  case ID(cuIpcOpenMemHandle_v2):
  case ID(cuImportExternalMemory):
  case ID(cuMemImportFromShareableHandle):
  case ID(cuMulticastCreate):
  case ID(cuLaunch):
  case ID(cuLaunchGrid):
  case ID(cuLaunchGridAsync):
  case ID(cuLaunchCooperativeKernelMultiDevice):
    return kind(MemoryCallKind::Uncovered);
  case ID(cuMemHostAlloc):
  case ID(cuMemHostAlloc_v2):
    return kind(MemoryCallKind::HostMemory,
                static_cast<const cuMemHostAlloc_params *>(P)->bytesize);
  case ID(cuMemAllocHost_v2):
    return kind(MemoryCallKind::HostMemory,
                static_cast<const cuMemAllocHost_v2_params *>(P)->bytesize);
  case ID(cuMemHostRegister_v2):
    return kind(MemoryCallKind::HostMemory,
                static_cast<const cuMemHostRegister_v2_params *>(P)->bytesize);
  case ID(cuStreamBeginCapture):
  case ID(cuStreamBeginCapture_ptsz):
  case ID(cuStreamBeginCapture_v2):
  case ID(cuStreamBeginCapture_v2_ptsz):
  case ID(cuStreamBeginCaptureToGraph):
  case ID(cuStreamBeginCaptureToGraph_ptsz):
    return kind(MemoryCallKind::BeginCapture);
  case ID(cuStreamEndCapture):
  case ID(cuStreamEndCapture_ptsz):
    return kind(MemoryCallKind::EndCapture);
  case ID(cuCtxDestroy):
  case ID(cuCtxDestroy_v2):
    Call.Kind = MemoryCallKind::DestroyContext;
    Call.Context = static_cast<const cuCtxDestroy_v2_params *>(P)->ctx;
    return Call;
  case ID(cuDevicePrimaryCtxReset):
  case ID(cuDevicePrimaryCtxReset_v2):
    Call.Kind = MemoryCallKind::ResetDevice;
    Call.Device = static_cast<const cuDevicePrimaryCtxReset_v2_params *>(P)->dev;
    return Call;
  default:
    return Call;
  }
}

} // namespace optimas::collector
