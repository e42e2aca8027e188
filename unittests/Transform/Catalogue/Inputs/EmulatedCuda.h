//===- EmulatedCuda.h - A CUDA program as one of the host's -----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs every thread of every block on the CPU, so that a rewritten kernel can be
// compared with its original bit by bit, for any size and alignment, under the address
// and undefined-behaviour sanitizers. Threads of a block are fibers that change places at
// __syncthreads(). After each launch the bytes of all allocations go into a digest, which
// the program prints at its end: its own output may hide a wrong element.
//
//===----------------------------------------------------------------------===//
#ifndef EMULATED_CUDA_H
#define EMULATED_CUDA_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __restrict__ __restrict
#define __CUDACC__ 1

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;

template <typename T> T __ldcs(const T *P) { return *P; }
template <typename T> T __ldg(const T *P) { return *P; }
template <typename T> void __stcs(T *P, T V) { *P = V; }
template <typename T> T atomicAdd(T *P, T V) {
  T Old = *P;
  *P += V;
  return Old;
}

namespace emulated {
struct Fiber {
  ucontext_t Context;
  std::vector<char> Stack;
  uint3 Id;
  bool Done = false;
};
inline std::vector<Fiber> Fibers;
inline size_t Current;
inline ucontext_t Scheduler;
inline void (*Body)(void *);
inline void *BodyData;

inline void entry() {
  Body(BodyData);
  Fibers[Current].Done = true;
  swapcontext(&Fibers[Current].Context, &Scheduler);
}

/// Each thread runs until the barrier or its end, then the next one.
template <typename F> void block(F &Kernel) {
  Body = [](void *Data) { (*static_cast<F *>(Data))(); };
  BodyData = &Kernel;
  size_t Count = size_t(blockDim.x) * blockDim.y * blockDim.z;
  if (Fibers.size() < Count)
    Fibers.resize(Count);
  for (size_t I = 0; I < Count; ++I) {
    Fiber &T = Fibers[I];
    T.Done = false;
    T.Id = {unsigned(I % blockDim.x), unsigned(I / blockDim.x % blockDim.y),
            unsigned(I / blockDim.x / blockDim.y)};
    T.Stack.resize(64 << 10);
    getcontext(&T.Context);
    T.Context.uc_stack.ss_sp = T.Stack.data();
    T.Context.uc_stack.ss_size = T.Stack.size();
    T.Context.uc_link = nullptr;
    makecontext(&T.Context, entry, 0);
  }
  for (bool Running = true; Running;) {
    Running = false;
    for (size_t I = 0; I < Count; ++I) {
      if (Fibers[I].Done)
        continue;
      Running = true;
      Current = I;
      threadIdx = Fibers[I].Id;
      swapcontext(&Scheduler, &Fibers[I].Context);
    }
  }
}

/// In the order of allocation: addresses differ from run to run.
inline std::vector<std::pair<char *, size_t>> Allocations;
inline uint64_t Digest = 1469598103934665603ull;
inline bool Failed = false;

inline void digest() {
  for (auto &[Begin, Size] : Allocations)
    for (size_t I = 0; I < Size; ++I)
      Digest = (Digest ^ (unsigned char)Begin[I]) * 1099511628211ull;
}

/// Threads one after the other: for kernels without a barrier.
template <typename F> void plainBlock(F &Kernel) {
  for (unsigned Z = 0; Z < blockDim.z; ++Z)
    for (unsigned Y = 0; Y < blockDim.y; ++Y)
      for (unsigned X = 0; X < blockDim.x; ++X) {
        threadIdx = {X, Y, Z};
        Kernel();
      }
}

template <bool Barriers, typename F> void launch(F Kernel, dim3 Grid, dim3 Block) {
  const unsigned Limit = 0x7fffffff;
  if (Grid.x == 0 || Grid.x > Limit || Grid.y == 0 || Block.x == 0) {
    Failed = true;
    return;
  }
  gridDim = Grid;
  blockDim = Block;
  for (unsigned Z = 0; Z < Grid.z; ++Z)
    for (unsigned Y = 0; Y < Grid.y; ++Y)
      for (unsigned X = 0; X < Grid.x; ++X) {
        blockIdx = {X, Y, Z};
        if (Barriers)
          block(Kernel);
        else
          plainBlock(Kernel);
      }
  digest();
}

struct AtExit {
  ~AtExit() { std::printf("digest %016llx\n", (unsigned long long)Digest); }
} inline PrintAtExit;
} // namespace emulated

static void __syncthreads() {
  using namespace emulated;
  Fiber &Self = Fibers[Current];
  swapcontext(&Self.Context, &Scheduler);
}

// The few calls that the programs make.
enum cudaError_t { cudaSuccess, cudaErrorInvalidConfiguration };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
inline const char *cudaGetErrorString(cudaError_t) { return "emulated error"; }
inline cudaError_t cudaGetLastError() {
  return emulated::Failed ? cudaErrorInvalidConfiguration : cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
template <typename T> cudaError_t cudaMalloc(T **P, size_t Size) {
  // The sanitizer's red zone begins where the allocation ends.
  *P = static_cast<T *>(std::malloc(Size));
  std::memset(*P, 0xA5, Size);
  emulated::Allocations.push_back({reinterpret_cast<char *>(*P), Size});
  return cudaSuccess;
}
inline cudaError_t cudaFree(void *P) {
  auto &All = emulated::Allocations;
  for (size_t I = 0; I < All.size(); ++I)
    if (All[I].first == P)
      All.erase(All.begin() + I);
  std::free(P);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void *To, const void *From, size_t Size, cudaMemcpyKind) {
  std::memcpy(To, From, Size);
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void *To, int Value, size_t Size) {
  std::memset(To, Value, Size);
  return cudaSuccess;
}

#endif // EMULATED_CUDA_H
