//===- sort.cu - Device-wide sorts ------------------------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUB's algorithms for one type, OPTIMAS_KEY: code to read for scripts/measure-hazards.
//
//===----------------------------------------------------------------------===//

#include <cub/cub.cuh>

using Key = OPTIMAS_KEY;

void sort(Key *In, Key *Out, int N, void *Space, size_t Bytes) {
  cub::DeviceRadixSort::SortKeys(Space, Bytes, In, Out, N);
  cub::DeviceRadixSort::SortPairsDescending(Space, Bytes, In, Out, In, Out, N);
  cub::DeviceMergeSort::SortKeys(Space, Bytes, Out, N,
                                 [] __device__(Key A, Key B) { return A < B; });
}
