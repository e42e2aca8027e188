// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A managed variable, from both sides
__managed__ int counter = 3;
__device__ __managed__ float table[16];
struct Box {
  int width;
};
static __managed__ Box box;

__global__ void use() {
  counter += box.width;
  table[threadIdx.x] = float(counter);
}

int main() {
  box.width = 2;
  counter = 1;
  use<<<1, 16>>>();
  cudaDeviceSynchronize();
  return counter + int(table[0]);
}
