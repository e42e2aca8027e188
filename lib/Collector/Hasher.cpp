//===- Hasher.cpp - Hashes device memory on the GPU -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Hasher.h"
#include "HashKernel.h"
#include "Log.h"
#include <algorithm>

extern "C" const char optimasHashImage[];

namespace optimas::collector {

static constexpr size_t FirstCapacity = 4096;
static constexpr unsigned Threads = 256, BlocksPerSm = 8;

CUresult Hasher::create(State &S) {
  CUmodule Module = nullptr;
  if (CUresult R = Driver.cuModuleLoadData(&Module, optimasHashImage))
    return R;
  if (CUresult R = Driver.cuModuleGetFunction(&S.Kernel, Module, "optimasHashRanges"))
    return R;
  if (CUresult R = Driver.cuModuleGetFunction(&S.FillSlack, Module, "optimasFillSlack"))
    return R;
  if (CUresult R = Driver.cuStreamCreate(&S.Stream, CU_STREAM_NON_BLOCKING))
    return R;
  CUdevice Device;
  int Sms = 0;
  if (CUresult R = Driver.cuCtxGetDevice(&Device))
    return R;
  if (CUresult R = Driver.cuDeviceGetAttribute(
          &Sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, Device))
    return R;
  S.Blocks = unsigned(std::max(Sms, 1)) * BlocksPerSm;
  return grow(S, FirstCapacity);
}

CUresult Hasher::grow(State &S, size_t Count) {
  if (Count <= S.Capacity)
    return CUDA_SUCCESS;
  Count = std::max(Count, S.Capacity * 2);
  CUdeviceptr Table = 0, Sums = 0;
  if (CUresult R = Driver.cuMemAlloc(&Table, Count * sizeof(HashRange)))
    return R;
  if (CUresult R = Driver.cuMemAlloc(&Sums, Count * sizeof(uint64_t))) {
    Driver.cuMemFree(Table);
    return R;
  }
  if (S.Table)
    Driver.cuMemFree(S.Table);
  if (S.Sums)
    Driver.cuMemFree(S.Sums);
  S.Table = Table;
  S.Sums = Sums;
  S.Capacity = Count;
  return CUDA_SUCCESS;
}

bool Hasher::prepare(CUcontext Context) {
  auto [At, New] = Contexts.try_emplace(Context);
  if (New)
    At->second.Usable = succeeded(create(At->second), "loading the hash kernel");
  return At->second.Usable;
}

CUstream Hasher::stream(CUcontext Context) const {
  auto At = Contexts.find(Context);
  return At == Contexts.end() ? nullptr : At->second.Stream;
}

CUresult Hasher::hash(CUcontext Context, const std::vector<MemoryRange> &Ranges,
                      std::vector<uint64_t> &Hashes) {
  Hashes.assign(Ranges.size(), 0);
  if (Ranges.empty())
    return CUDA_SUCCESS;
  if (!prepare(Context))
    return CUDA_ERROR_NOT_INITIALIZED;
  State &S = Contexts[Context];
  if (CUresult R = grow(S, Ranges.size()))
    return R;
  std::vector<HashRange> Table;
  unsigned long long Chunks = 0;
  uint64_t Bytes = 0;
  for (const MemoryRange &M : Ranges) {
    Table.push_back({M.Address, M.Bytes, Chunks});
    Chunks += (M.Bytes + HashChunkBytes - 1) / HashChunkBytes;
    Bytes += M.Bytes;
  }
  if (CUresult R = Driver.cuMemsetD8Async(S.Sums, 0, Ranges.size() * sizeof(uint64_t),
                                          S.Stream))
    return R;
  if (CUresult R = Driver.cuMemcpyHtoDAsync(S.Table, Table.data(),
                                            Table.size() * sizeof(HashRange), S.Stream))
    return R;
  unsigned Count = unsigned(Ranges.size());
  void *Arguments[] = {&S.Table, &Count, &Chunks, &S.Sums};
  unsigned Grid = unsigned(std::min<unsigned long long>(std::max(Chunks, 1ull), S.Blocks));
  if (CUresult R = Driver.cuLaunchKernel(S.Kernel, Grid, 1, 1, Threads, 1, 1, 0, S.Stream,
                                         Arguments, nullptr))
    return R;
  if (CUresult R = Driver.cuMemcpyDtoHAsync(Hashes.data(), S.Sums,
                                            Ranges.size() * sizeof(uint64_t), S.Stream))
    return R;
  if (CUresult R = Driver.cuStreamSynchronize(S.Stream))
    return R;
  for (size_t I = 0; I < Ranges.size(); ++I)
    Hashes[I] = hashFinish(Hashes[I], Ranges[I].Bytes);
  Hashed += Bytes;
  return CUDA_SUCCESS;
}

CUresult Hasher::fill(CUcontext Context, const MemoryRange &Range, uint8_t Byte,
                      unsigned Slack) {
  if (!prepare(Context))
    return CUDA_ERROR_NOT_INITIALIZED;
  CUstream Stream = Contexts[Context].Stream;
  if (CUresult R =
          Driver.cuMemsetD8Async(Range.Address, Byte, Range.Bytes, Stream))
    return R;
  if (Slack) {
    CUdeviceptr End = Range.Address + Range.Bytes;
    unsigned Value = Byte;
    void *Arguments[] = {&End, &Slack, &Value};
    if (CUresult R = Driver.cuLaunchKernel(Contexts[Context].FillSlack, 1, 1, 1, Threads, 1,
                                           1, 0, Stream, Arguments, nullptr))
      return R;
  }
  return Driver.cuStreamSynchronize(Stream);
}

} // namespace optimas::collector
