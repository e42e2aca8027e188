// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// curand in device code
#include <curand_kernel.h>

__global__ void fill(float *x, unsigned long long seed) {
  curandState state;
  curand_init(seed, threadIdx.x, 0, &state);
  x[threadIdx.x] = curand_uniform(&state) + curand_normal(&state);
}

int main() { fill<<<1, 1>>>(nullptr, 1); }
