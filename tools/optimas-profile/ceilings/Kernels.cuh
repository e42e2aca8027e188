//===- Kernels.cuh - Kernels that move bytes as fast as they can -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_CEILINGS_KERNELS_CUH
#define OPTIMAS_TOOLS_PROFILE_CEILINGS_KERNELS_CUH

#include <cstdint>

namespace ceilings {

/// Accesses or operations of one chain that are in flight at once.
constexpr int Unroll = 4;

// What a loop computes must be needed and must depend on what is known at run time alone
// (kernel arguments, what memory holds), or the compiler leaves it out. The unit test
// CeilingsCodeTest counts the instructions that are left.

__device__ inline uint4 combine(uint4 A, uint4 B) {
  return {A.x ^ B.x, A.y ^ B.y, A.z ^ B.z, A.w ^ B.w};
}

__device__ inline unsigned threadNumber() { return blockIdx.x * blockDim.x + threadIdx.x; }

/// Keeps \p Value alive without a store: the comparison is never true for what the arrays
/// hold, which no compiler knows.
__device__ inline void keep(uint4 *Out, uint4 Value) {
  if (Value.x == 0x12345678u && Value.y == 0x9abcdef0u && Value.z == 0x0fedcba9u)
    *Out = Value;
}

__global__ void copyOnce(uint4 *To, const uint4 *From, size_t N) {
  size_t First = size_t(blockIdx.x) * blockDim.x * Unroll + threadIdx.x;
  uint4 V[Unroll];
#pragma unroll
  for (int I = 0; I < Unroll; ++I)
    if (First + I * blockDim.x < N)
      V[I] = __ldcs(From + First + I * blockDim.x);
#pragma unroll
  for (int I = 0; I < Unroll; ++I)
    if (First + I * blockDim.x < N)
      __stcs(To + First + I * blockDim.x, V[I]);
}

__global__ void readOnce(uint4 *Out, const uint4 *From, size_t N) {
  size_t First = size_t(blockIdx.x) * blockDim.x * Unroll + threadIdx.x;
  uint4 Sum = {0, 0, 0, 0};
#pragma unroll
  for (int I = 0; I < Unroll; ++I)
    if (First + I * blockDim.x < N)
      Sum = combine(Sum, __ldcs(From + First + I * blockDim.x));
  keep(Out, Sum);
}

__global__ void writeOnce(uint4 *To, size_t N) {
  size_t First = size_t(blockIdx.x) * blockDim.x * Unroll + threadIdx.x;
#pragma unroll
  for (int I = 0; I < Unroll; ++I)
    if (First + I * blockDim.x < N)
      __stcs(To + First + I * blockDim.x, uint4{1, 2, 3, threadIdx.x});
}

__global__ void copyStrided(uint4 *To, const uint4 *From, size_t N) {
  size_t Stride = size_t(gridDim.x) * blockDim.x;
  size_t At = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; At + (Unroll - 1) * Stride < N; At += Unroll * Stride) {
    uint4 V[Unroll];
#pragma unroll
    for (int I = 0; I < Unroll; ++I)
      V[I] = __ldcs(From + At + I * Stride);
#pragma unroll
    for (int I = 0; I < Unroll; ++I)
      __stcs(To + At + I * Stride, V[I]);
  }
  for (; At < N; At += Stride)
    To[At] = From[At];
}

__global__ void readStrided(uint4 *Out, const uint4 *From, size_t N) {
  size_t Stride = size_t(gridDim.x) * blockDim.x;
  uint4 Sum = {0, 0, 0, 0};
#pragma unroll 8
  for (size_t At = size_t(blockIdx.x) * blockDim.x + threadIdx.x; At < N; At += Stride)
    Sum = combine(Sum, __ldcs(From + At));
  keep(Out, Sum);
}

__global__ void writeStrided(uint4 *To, size_t N) {
  size_t Stride = size_t(gridDim.x) * blockDim.x;
  for (size_t At = size_t(blockIdx.x) * blockDim.x + threadIdx.x; At < N; At += Stride)
    __stcs(To + At, uint4{1, 2, 3, threadIdx.x});
}

// Each block goes over a piece of the array of its own, \p Slice elements, a multiple of
// blockDim.x * Unroll. Were blocks to follow one another over one array, the unit before
// the L2 cache that joins reads (LRC in Nsight Compute's counters) would fetch once what
// several SMs ask for at a time, and the blocks behind catch up with those before: more
// arrives than the cache sends. .cg passes by the L1 cache: it is LDG.STRONG.GPU, which
// may not take an L1 cache's line.

__global__ void readL2(uint4 *Data, unsigned Slice, unsigned Rounds) {
  const uint4 *Own = Data + size_t(blockIdx.x) * Slice + threadIdx.x;
  unsigned At = 0;
  uint4 Sum = {0, 0, 0, 0};
  for (unsigned R = 0; R < Rounds; ++R) {
#pragma unroll
    for (int I = 0; I < Unroll; ++I)
      Sum = combine(Sum, __ldcg(Own + At + I * blockDim.x));
    At += blockDim.x * Unroll;
    At = At == Slice ? 0 : At;
  }
  keep(Data, Sum);
}

__global__ void writeL2(uint4 *Data, unsigned Slice, unsigned Rounds) {
  uint4 *Own = Data + size_t(blockIdx.x) * Slice + threadIdx.x;
  unsigned At = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
#pragma unroll
    for (int I = 0; I < Unroll; ++I)
      __stcg(Own + At + I * blockDim.x, uint4{R, 2, 3, threadIdx.x});
    At += blockDim.x * Unroll;
    At = At == Slice ? 0 : At;
  }
}

/// Half of the accesses read, half write.
__global__ void copyL2(uint4 *Data, unsigned Slice, unsigned Rounds) {
  uint4 *Own = Data + size_t(blockIdx.x) * Slice + threadIdx.x;
  unsigned At = 0, Half = Unroll / 2 * blockDim.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    uint4 V[Unroll / 2];
#pragma unroll
    for (int I = 0; I < Unroll / 2; ++I)
      V[I] = __ldcg(Own + At + I * blockDim.x);
#pragma unroll
    for (int I = 0; I < Unroll / 2; ++I)
      __stcg(Own + At + Half + I * blockDim.x, V[I]);
    At += blockDim.x * Unroll;
    At = At == Slice ? 0 : At;
  }
}

/// 16 bytes a thread and load, neighbours side by side: no bank conflicts.
__global__ void readShared(float *Out, unsigned Rounds, float Seed) {
  __shared__ float4 Tile[1024];
  Tile[threadIdx.x] = make_float4(threadIdx.x, Seed, 2, 3);
  __syncthreads();
  unsigned Address = unsigned(__cvta_generic_to_shared(&Tile[threadIdx.x]));
  float Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
#pragma unroll
    for (int I = 0; I < Unroll; ++I) {
      float A, B, C, D;
      // ld.volatile: ptxas makes one load of several plain ones from one place.
      asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(A), "=f"(B), "=f"(C), "=f"(D)
                   : "r"(Address));
      Sum += A + B + C + D;
    }
  }
  Out[threadNumber()] = Sum;
}

} // namespace ceilings

#endif // OPTIMAS_TOOLS_PROFILE_CEILINGS_KERNELS_CUH
