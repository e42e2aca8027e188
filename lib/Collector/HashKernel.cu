//===- HashKernel.cu - Hashing device memory on the device -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Compiled by the build to one fat binary that is embedded into the collector.
/// HashKernel.h describes the hash; the unit tests hold a plain version of it.
///
//===----------------------------------------------------------------------===//
#include "HashKernel.h"

using optimas::collector::HashChunkBytes;
using optimas::collector::HashRange;

__device__ static unsigned long long loadTail(const unsigned char *Bytes, unsigned Count) {
  unsigned long long Word = 0;
  for (unsigned I = 0; I < Count; ++I)
    Word |= (unsigned long long)Bytes[I] << (8 * I);
  return Word;
}

/// This thread's share of the words [First, Last) of the range at \p Base.
__device__ static unsigned long long hashWords(const unsigned char *Base,
                                               unsigned long long First,
                                               unsigned long long Last) {
  unsigned long long Sum = 0;
  if ((unsigned long long)Base % 16 == 0 && First % 2 == 0) {
    const ulonglong2 *Pairs = (const ulonglong2 *)Base;
    for (unsigned long long I = First / 2 + threadIdx.x; I < Last / 2; I += blockDim.x) {
      ulonglong2 Pair = Pairs[I];
      Sum += optimas::collector::hashWord(Pair.x, 2 * I);
      Sum += optimas::collector::hashWord(Pair.y, 2 * I + 1);
    }
    if (Last % 2 && threadIdx.x == 0)
      Sum += optimas::collector::hashWord(((const unsigned long long *)Base)[Last - 1],
                                          Last - 1);
    return Sum;
  }
  for (unsigned long long I = First + threadIdx.x; I < Last; I += blockDim.x) {
    unsigned long long Word = (unsigned long long)Base % 8 == 0
                                  ? ((const unsigned long long *)Base)[I]
                                  : loadTail(Base + 8 * I, 8);
    Sum += optimas::collector::hashWord(Word, I);
  }
  return Sum;
}

__device__ static unsigned long long blockSum(unsigned long long Value) {
  __shared__ unsigned long long Warps[32];
  for (int Offset = 16; Offset > 0; Offset /= 2)
    Value += __shfl_down_sync(0xffffffffu, Value, Offset);
  if (threadIdx.x % 32 == 0)
    Warps[threadIdx.x / 32] = Value;
  __syncthreads();
  if (threadIdx.x == 0)
    for (unsigned I = 1; I < blockDim.x / 32; ++I)
      Value += Warps[I];
  __syncthreads();
  return Value;
}

/// Adds the hash of each range's words to its sum. Integer sums do not depend on
/// the order, so neither does the result on how blocks are scheduled.
extern "C" __global__ void __launch_bounds__(256)
    optimasHashRanges(const HashRange *Ranges, unsigned Count, unsigned long long Chunks,
                      unsigned long long *Sums) {
  for (unsigned long long Chunk = blockIdx.x; Chunk < Chunks; Chunk += gridDim.x) {
    unsigned Low = 0, High = Count; // the last range whose FirstChunk <= Chunk
    while (High - Low > 1) {
      unsigned Middle = (Low + High) / 2;
      (Ranges[Middle].FirstChunk <= Chunk ? Low : High) = Middle;
    }
    HashRange Range = Ranges[Low];
    const unsigned char *Base = (const unsigned char *)Range.Address;
    unsigned long long Words = Range.Bytes / 8;
    unsigned long long First = (Chunk - Range.FirstChunk) * (HashChunkBytes / 8);
    unsigned long long Last = First + HashChunkBytes / 8;
    bool Final = Last >= Words;
    unsigned long long Sum = hashWords(Base, First, Final ? Words : Last);
    if (Final && Range.Bytes % 8 && threadIdx.x == 0)
      Sum += optimas::collector::hashWord(
          loadTail(Base + 8 * Words, unsigned(Range.Bytes % 8)), Words);
    Sum = blockSum(Sum);
    if (threadIdx.x == 0)
      atomicAdd(&Sums[Low], Sum);
  }
}

/// Fills what lies between an allocation's end and the next multiple of its alignment,
/// which the driver's memset refuses to touch.
extern "C" __global__ void optimasFillSlack(unsigned char *Begin, unsigned Count,
                                            unsigned Byte) {
  if (threadIdx.x < Count)
    Begin[threadIdx.x] = (unsigned char)Byte;
}
