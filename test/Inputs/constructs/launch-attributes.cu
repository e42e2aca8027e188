// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc: -arch=sm_90
__global__ void __maxnreg__(64) limited(int *x) { x[0] = 1; }
__global__ void __launch_bounds__(128, 4) bounded(int *x) { x[0] = 2; }
__global__ void __launch_bounds__(128, 4, 2) clustered(int *x) { x[0] = 3; }
__global__ void __cluster_dims__(2, 1, 1) pairs(int *x) { x[0] = 4; }
__global__ void __block_size__((32, 1, 1), (2, 1, 1)) blocks(int *x) { x[0] = 5; }
__global__ void constant(const __grid_constant__ int x, int *y) { y[0] = x; }

int main() {
  limited<<<1, 1>>>(nullptr);
  bounded<<<1, 1>>>(nullptr);
  clustered<<<2, 1>>>(nullptr);
  pairs<<<2, 1>>>(nullptr);
  blocks<<<1, 1>>>(nullptr);
  constant<<<1, 1>>>(1, nullptr);
}
