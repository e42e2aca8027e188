//===- segmented.cu - Segmented sorts and reductions ------------------------===//
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

void segmented(Key *In, Key *Out, int N, int Segments, int *Ends, void *Space, size_t Bytes) {
  cub::DeviceSegmentedSort::SortKeys(Space, Bytes, In, Out, N, Segments, Ends, Ends + 1);
  cub::DeviceSegmentedSort::SortPairs(Space, Bytes, In, Out, In, Out, N, Segments, Ends,
                                      Ends + 1);
  cub::DeviceSegmentedReduce::Sum(Space, Bytes, In, Out, Segments, Ends, Ends + 1);
}
