//===- Matrix.cuh - Kernels of matrix multiply-adds -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// One multiply-add a warp (mma.sync) or warp group (wgmma), chain and round. The operands
/// come from the thread's number and a kernel argument: zeros would draw less power than
/// real work and leave the clock higher. Every thread stores the sum of its results.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_CEILINGS_MATRIX_CUH
#define OPTIMAS_TOOLS_PROFILE_CEILINGS_MATRIX_CUH

#include "Arithmetic.cuh"

namespace ceilings {

/// Two small numbers in half precision (and harmless ones in every other type).
__device__ inline unsigned operand(unsigned Number, float Seed) {
  return 0x2c002c00u + (Number % 31) * 0x00080010u + (__float_as_int(Seed) & 0x00010001);
}

template <typename T, int Count>
__device__ inline void storeSum(float *Out, const T (&D)[Chains][Count]) {
  float Sum = 0;
#pragma unroll
  for (int C = 0; C < Chains; ++C)
#pragma unroll
    for (int I = 0; I < Count; ++I)
      Sum += float(D[C][I]);
  Out[threadNumber()] = Sum;
}

/// A kernel of an mma.sync whose operands are four registers and two, whose results are
/// four of type T, letter L in the assembler's constraints.
#define OPTIMAS_MMA(Name, T, L, Instruction)                                              \
  __device__ inline void Name##Rounds(float *Out, unsigned Rounds, float Seed) {          \
    unsigned A[4], B[2];                                                                  \
    for (int I = 0; I < 4; ++I)                                                           \
      A[I] = operand(threadIdx.x + I, Seed);                                              \
    for (int I = 0; I < 2; ++I)                                                           \
      B[I] = operand(threadIdx.x + 5 + I, Seed);                                          \
    T D[Chains][4] = {};                                                                  \
    for (unsigned R = 0; R < Rounds; ++R)                                                 \
      _Pragma("unroll") for (int C = 0; C < Chains; ++C)                                  \
        asm volatile(Instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "        \
                     "{%0, %1, %2, %3};"                                                  \
                     : "+" L(D[C][0]), "+" L(D[C][1]), "+" L(D[C][2]), "+" L(D[C][3])     \
                     : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1])); \
    storeSum(Out, D);                                                                     \
  }

#if __CUDA_ARCH__ >= 800
OPTIMAS_MMA(mmaFp16, float, "f", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
OPTIMAS_MMA(mmaBf16, float, "f", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
OPTIMAS_MMA(mmaTf32, float, "f", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
OPTIMAS_MMA(mmaInt8, int, "r", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")
#elif __CUDA_ARCH__ >= 750
/// k8: twice for the work of one k16.
__device__ inline void mmaFp16Rounds(float *Out, unsigned Rounds, float Seed) {
  unsigned A[2] = {operand(threadIdx.x, Seed), operand(threadIdx.x + 3, Seed)};
  unsigned B = operand(threadIdx.x + 5, Seed);
  float D[Chains][4] = {};
  for (unsigned R = 0; R < Rounds; ++R)
#pragma unroll
    for (int C = 0; C < 2 * Chains; ++C)
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                   "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                   : "+f"(D[C % Chains][0]), "+f"(D[C % Chains][1]),
                     "+f"(D[C % Chains][2]), "+f"(D[C % Chains][3])
                   : "r"(A[0]), "r"(A[1]), "r"(B));
  storeSum(Out, D);
}
#endif

__global__ void mmaFp16(float *Out, unsigned Rounds, float Seed) {
#if __CUDA_ARCH__ >= 750
  mmaFp16Rounds(Out, Rounds, Seed);
#endif
}
__global__ void mmaBf16(float *Out, unsigned Rounds, float Seed) {
#if __CUDA_ARCH__ >= 800
  mmaBf16Rounds(Out, Rounds, Seed);
#endif
}
__global__ void mmaTf32(float *Out, unsigned Rounds, float Seed) {
#if __CUDA_ARCH__ >= 800
  mmaTf32Rounds(Out, Rounds, Seed);
#endif
}
__global__ void mmaInt8(float *Out, unsigned Rounds, float Seed) {
#if __CUDA_ARCH__ >= 800
  mmaInt8Rounds(Out, Rounds, Seed);
#endif
}

__global__ void mmaFp64(float *Out, unsigned Rounds, float Seed) {
#if __CUDA_ARCH__ >= 800
  double A = 1.0 + threadIdx.x % 7 * 0.125, B = Seed * 0.5;
  double D[Chains][2] = {};
  for (unsigned R = 0; R < Rounds; ++R)
#pragma unroll
    for (int C = 0; C < Chains; ++C)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                   "{%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(D[C][0]), "+d"(D[C][1])
                   : "d"(A), "d"(B));
  storeSum(Out, D);
#endif
}

/// Hopper's larger shape, at twice the rate of the one above. Half the chains: of two
/// dozen registers each.
__global__ void mmaFp64Large(float *Out, unsigned Rounds, float Seed) {
#if __CUDA_ARCH__ >= 900
  double A[8], B[4], D[Chains / 2][4] = {};
#pragma unroll
  for (int I = 0; I < 8; ++I)
    A[I] = 1.0 + (threadIdx.x + I) % 7 * 0.125;
#pragma unroll
  for (int I = 0; I < 4; ++I)
    B[I] = Seed * (0.5 + I);
  for (unsigned R = 0; R < Rounds; ++R)
#pragma unroll
    for (int C = 0; C < Chains / 2; ++C)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
                   "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
                   "{%0, %1, %2, %3};"
                   : "+d"(D[C][0]), "+d"(D[C][1]), "+d"(D[C][2]), "+d"(D[C][3])
                   : "d"(A[0]), "d"(A[1]), "d"(A[2]), "d"(A[3]), "d"(A[4]), "d"(A[5]),
                     "d"(A[6]), "d"(A[7]), "d"(B[0]), "d"(B[1]), "d"(B[2]), "d"(B[3]));
  float Sum = 0;
#pragma unroll
  for (int C = 0; C < Chains / 2; ++C)
    for (int I = 0; I < 4; ++I)
      Sum += float(D[C][I]);
  Out[threadNumber()] = Sum;
#endif
}

} // namespace ceilings

#endif // OPTIMAS_TOOLS_PROFILE_CEILINGS_MATRIX_CUH
