// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc: -arch=sm_90
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int *out) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    mine = int(cluster.block_rank());
  cluster.sync();
  int *other = cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  out[threadIdx.x] = cg::reduce(tile, *other, cg::plus<int>());
  cg::this_grid().sync();
}

int main() { exchange<<<2, 32>>>(nullptr); }
