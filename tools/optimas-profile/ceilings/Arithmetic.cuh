//===- Arithmetic.cuh - Kernels that only compute -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_CEILINGS_ARITHMETIC_CUH
#define OPTIMAS_TOOLS_PROFILE_CEILINGS_ARITHMETIC_CUH

#include "Kernels.cuh"
#include <cuda_fp16.h>

namespace ceilings {

/// Independent chains of arithmetic a thread.
constexpr int Chains = 8;

/// Every thread stores the sum of its chains, so none of them can be left out.
template <typename T, typename Step, typename Value>
__device__ inline void chains(float *Out, unsigned Rounds, Step Next, Value Number) {
  T V[Chains];
#pragma unroll
  for (int C = 0; C < Chains; ++C)
    V[C] = T(int(threadIdx.x % 8) + C);
  for (unsigned R = 0; R < Rounds; ++R)
#pragma unroll
    for (int U = 0; U < Unroll; ++U)
#pragma unroll
      for (int C = 0; C < Chains; ++C)
        V[C] = Next(V[C]);
  float Sum = 0;
#pragma unroll
  for (int C = 0; C < Chains; ++C)
    Sum += Number(V[C]);
  Out[threadNumber()] = Sum;
}

__global__ void fma32(float *Out, unsigned Rounds, float Factor) {
  chains<float>(
      Out, Rounds, [=](float V) { return fmaf(V, Factor, 0.5f); },
      [](float V) { return V; });
}

__global__ void fma64(float *Out, unsigned Rounds, float Factor) {
  double F = Factor;
  chains<double>(
      Out, Rounds, [=](double V) { return fma(V, F, 0.5); },
      [](double V) { return float(V); });
}

__global__ void mad32(float *Out, unsigned Rounds, float Factor) {
  int F = __float_as_int(Factor);
  chains<int>(
      Out, Rounds, [=](int V) { return V * F + 3; }, [](int V) { return float(V); });
}

__global__ void fma16(float *Out, unsigned Rounds, float Factor) {
  // Two unlike halves, known at run time: with a constant, or one half twice, ptxas keeps
  // to one of the two pipes that run these (HFMA2, never HFMA2.MMA), at half the rate.
  __half2 F = __floats2half2_rn(Factor, Factor + 0.25f);
  __half2 G = __floats2half2_rn(Factor - 0.5f, Factor - 1.0f);
  struct Half2 {
    __half2 V;
    __device__ Half2(int X) : V(__float2half2_rn(float(X))) {}
    __device__ Half2(__half2 X) : V(X) {}
    Half2() = default;
  };
  chains<Half2>(
      Out, Rounds, [=](Half2 X) { return Half2(__hfma2(X.V, F, G)); },
      [](Half2 X) { return __low2float(X.V) + __high2float(X.V); });
}

} // namespace ceilings

#endif // OPTIMAS_TOOLS_PROFILE_CEILINGS_ARITHMETIC_CUH
