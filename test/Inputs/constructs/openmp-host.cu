// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc: -Xcompiler -fopenmp
// Host threads around kernels; omp.h is GCC's.
#include <omp.h>

__global__ void scale(float *x) { x[threadIdx.x] *= 2.0f; }

int main() {
  int n = 0;
#pragma omp parallel for reduction(+ : n)
  for (int i = 0; i < 4; ++i) {
    cudaSetDevice(omp_get_thread_num());
    scale<<<1, 32>>>(nullptr);
    ++n;
  }
#if !defined(_OPENMP) && !defined(__CUDA_ARCH__)
#error -fopenmp was not passed on
#endif
  return n;
}
