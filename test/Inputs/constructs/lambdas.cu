// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc: --extended-lambda --expt-relaxed-constexpr
constexpr int square(int x) { return x * x; }

template <typename F> __global__ void apply(F f, int *x) {
  x[threadIdx.x] = f(x[threadIdx.x]) + square(3);
}

int main() {
  int k = 4;
  apply<<<1, 1>>>([=] __device__(int v) { return v * k; }, nullptr);
  apply<<<1, 1>>>([=] __host__ __device__(int v) { return v + k; }, nullptr);
#ifndef __CUDACC_RELAXED_CONSTEXPR__
#error --expt-relaxed-constexpr was not passed on
#endif
#ifndef __CUDACC_EXTENDED_LAMBDA__
#error --extended-lambda was not passed on
#endif
}
