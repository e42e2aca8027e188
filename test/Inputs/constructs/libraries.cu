// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// thrust, cub and libcu++
#include <cub/cub.cuh>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

__global__ void sum(const int *x, int *out) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage room;
  cuda::std::array<int, 2> pair{x[threadIdx.x], 1};
  int total = Reduce(room).Sum(pair[0] + pair[1]);
  if (threadIdx.x == 0)
    out[0] = total;
}

int main() {
  thrust::device_vector<int> v(128, 1);
  thrust::sort(v.begin(), v.end());
  sum<<<1, 128>>>(thrust::raw_pointer_cast(v.data()), nullptr);
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, v.begin(), v.begin(), 128);
  return thrust::reduce(v.begin(), v.end());
}
