// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tolerated: initialization is not supported for __shared__ variables
#include <cuda/barrier>

__global__ void wait(int *x) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0)
    init(&barrier, blockDim.x);
  __syncthreads();
  x[threadIdx.x] = 1;
  barrier.arrive_and_wait();
}

int main() { wait<<<1, 32>>>(nullptr); }
