// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc: -arch=sm_90
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

__global__ void stage(const float4 *from, float *to) {
  __shared__ float4 room[32];
  __pipeline_memcpy_async(&room[threadIdx.x], &from[threadIdx.x], sizeof(float4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, room, from, sizeof(room));
  cg::wait(block);
  to[threadIdx.x] = room[threadIdx.x].x;
}

int main() { stage<<<1, 32>>>(nullptr, nullptr); }
