//===- WarpGroup.cuh - Hopper's warp-group matrix multiply-adds -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_CEILINGS_WARPGROUP_CUH
#define OPTIMAS_TOOLS_PROFILE_CEILINGS_WARPGROUP_CUH

#include "Matrix.cuh"

namespace ceilings {

/// Steps along k that one round takes, 32 bytes each whatever the type.
constexpr int WgmmaDepth = 4;
/// 64 × 128 bytes of A and 128 × 128 of B, and room to align them.
constexpr unsigned WgmmaShared = 64 * 128 + 128 * 128 + 1024;

/// A shared-memory matrix in rows of 128 bytes with the 128-byte swizzle: the start and
/// the stride between groups of eight rows, in units of 16 bytes.
__device__ inline uint64_t matrixDescriptor(unsigned Address) {
  return uint64_t((Address & 0x3ffff) >> 4) | uint64_t(1) << 16 |
         uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

/// The 64 results of a thread, as the assembler wants them.
#define OPTIMAS_RESULTS(L)                                                                \
    "+" L(D[0]), "+" L(D[1]), "+" L(D[2]), "+" L(D[3]), "+" L(D[4]), "+" L(D[5]), "+" L(D[6]), "+" L(D[7]),  \
    "+" L(D[8]), "+" L(D[9]), "+" L(D[10]), "+" L(D[11]), "+" L(D[12]), "+" L(D[13]), "+" L(D[14]), "+" L(D[15]),  \
    "+" L(D[16]), "+" L(D[17]), "+" L(D[18]), "+" L(D[19]), "+" L(D[20]), "+" L(D[21]), "+" L(D[22]), "+" L(D[23]),  \
    "+" L(D[24]), "+" L(D[25]), "+" L(D[26]), "+" L(D[27]), "+" L(D[28]), "+" L(D[29]), "+" L(D[30]), "+" L(D[31]),  \
    "+" L(D[32]), "+" L(D[33]), "+" L(D[34]), "+" L(D[35]), "+" L(D[36]), "+" L(D[37]), "+" L(D[38]), "+" L(D[39]),  \
    "+" L(D[40]), "+" L(D[41]), "+" L(D[42]), "+" L(D[43]), "+" L(D[44]), "+" L(D[45]), "+" L(D[46]), "+" L(D[47]),  \
    "+" L(D[48]), "+" L(D[49]), "+" L(D[50]), "+" L(D[51]), "+" L(D[52]), "+" L(D[53]), "+" L(D[54]), "+" L(D[55]),  \
    "+" L(D[56]), "+" L(D[57]), "+" L(D[58]), "+" L(D[59]), "+" L(D[60]), "+" L(D[61]), "+" L(D[62]), "+" L(D[63])

/// One m64n128 step; Scales is what stands behind the descriptors.
#define OPTIMAS_WGMMA(L, Instruction, Scales)                                             \
  asm volatile("wgmma.mma_async.sync.aligned." Instruction                                \
               " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                   \
               "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                   \
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "   \
               "%64, %65, " Scales ";"                                                    \
               : OPTIMAS_RESULTS(L)                                                       \
               : "l"(A), "l"(B))

enum class Wgmma { Fp16, Bf16, Tf32, Fp8, Int8 };

template <Wgmma Kind, typename T>
__device__ inline void wgmmaStep(T (&D)[64], uint64_t A, uint64_t B) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  if constexpr (Kind == Wgmma::Fp16)
    OPTIMAS_WGMMA("f", "m64n128k16.f32.f16.f16", "1, 1, 1, 0, 0");
  else if constexpr (Kind == Wgmma::Bf16)
    OPTIMAS_WGMMA("f", "m64n128k16.f32.bf16.bf16", "1, 1, 1, 0, 0");
  else if constexpr (Kind == Wgmma::Tf32)
    OPTIMAS_WGMMA("f", "m64n128k8.f32.tf32.tf32", "1, 1, 1");
  else if constexpr (Kind == Wgmma::Fp8)
    OPTIMAS_WGMMA("f", "m64n128k32.f32.e4m3.e4m3", "1, 1, 1");
  else
    OPTIMAS_WGMMA("r", "m64n128k32.s32.s8.s8", "1");
#endif
}

/// Both operands from shared memory; each warp group has its own result.
template <Wgmma Kind, typename T>
__global__ void wgmma(float *Out, unsigned Rounds, float Seed) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char Raw[];
  unsigned Start = (unsigned(__cvta_generic_to_shared(Raw)) + 1023) & ~1023u;
  for (unsigned I = threadIdx.x; I < (64 * 128 + 128 * 128) / 4; I += blockDim.x)
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(Start + 4 * I), "r"(operand(I, Seed)));
  __syncthreads();
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  uint64_t A = matrixDescriptor(Start), B = matrixDescriptor(Start + 64 * 128);
  T D[64];
#pragma unroll
  for (T &X : D)
    X = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int K = 0; K < WgmmaDepth; ++K) // 32 bytes further in each row
      wgmmaStep<Kind>(D, A + 2 * K, B + 2 * K);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float Sum = 0;
#pragma unroll
  for (T X : D)
    Sum += float(X);
  Out[threadNumber()] = Sum;
#endif
}

} // namespace ceilings

#endif // OPTIMAS_TOOLS_PROFILE_CEILINGS_WARPGROUP_CUH
