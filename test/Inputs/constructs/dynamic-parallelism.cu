// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc: -rdc=true
__global__ void child(int *x) { x[threadIdx.x] += 1; }

__global__ void parent(int *x) {
  if (threadIdx.x == 0)
    child<<<1, 32, 0, cudaStreamTailLaunch>>>(x);
}

int main() { parent<<<1, 1>>>(nullptr); }
