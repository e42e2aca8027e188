//===- reduce.cu - Reductions, scans and selections -------------------------===//
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
#include <cuda/std/functional>

using Key = OPTIMAS_KEY;
void reduce(Key *In, Key *Out, int N, int *Count, void *Space, size_t Bytes) {
  cub::DeviceReduce::Sum(Space, Bytes, In, Out, N);
  cub::DeviceReduce::Min(Space, Bytes, In, Out, N);
  cub::DeviceReduce::ReduceByKey(Space, Bytes, In, Out, In, Out, Count, cuda::std::plus<>(), N);
  cub::DeviceScan::InclusiveSum(Space, Bytes, In, Out, N);
  cub::DeviceScan::ExclusiveSum(Space, Bytes, In, Out, N);
  cub::DeviceSelect::Unique(Space, Bytes, In, Out, Count, N);
  cub::DeviceSelect::If(Space, Bytes, In, Out, Count, N,
                        [] __device__(Key A) { return A > Key(3); });
  cub::DeviceRunLengthEncode::Encode(Space, Bytes, In, Out, Count, Count, N);
}
