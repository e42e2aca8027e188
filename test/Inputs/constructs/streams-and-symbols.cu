// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch forms, symbols, occupancy and error checks of ordinary programs
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                      \
  do {                                                                                   \
    cudaError_t e = (call);                                                              \
    if (e != cudaSuccess)                                                                \
      std::fprintf(stderr, "%s\n", cudaGetErrorString(e));                               \
  } while (0)

__constant__ float weights[8];
__device__ int total;
extern __shared__ char room[];

template <typename T, int N> __global__ void kernel(T *x) {
  T *shared = reinterpret_cast<T *>(room);
  shared[threadIdx.x] = x[threadIdx.x] * T(weights[N]);
  __syncthreads();
  atomicAdd(&total, int(shared[0]));
  unsigned mask = __ballot_sync(0xffffffffu, threadIdx.x & 1);
  x[threadIdx.x] += __shfl_xor_sync(mask, shared[threadIdx.x], 1);
}

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  float host[8] = {};
  CHECK(cudaMemcpyToSymbol(weights, host, sizeof(host)));
  void *address;
  CHECK(cudaGetSymbolAddress(&address, total));
  int blocks;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel<float, 1>, 128, 0));
  CHECK(cudaFuncSetAttribute(kernel<float, 1>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  dim3 grid(2, 2), block{32, 1, 1};
  kernel<float, 1><<<grid, block, 32 * sizeof(float), stream>>>(nullptr);
  kernel<int, 2><<<dim3(1), 32>>>((int *)nullptr);
  void *args[] = {&address};
  CHECK(cudaLaunchKernel((void *)kernel<float, 1>, grid, block, args, 0, stream));
}
