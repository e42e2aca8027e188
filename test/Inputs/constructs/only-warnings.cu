// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nvcc and GCC warn about at most and Clang calls an error
#include <cinttypes>
#include <cstdio>

__global__ void old(float *x, int n, float *y) {
  register float sum = 0;
  for (register int i = 0; i < n; ++i)
    sum += x[i];
  int4 v = {n, n + 1, int(threadIdx.x), 0};
  float2 pair{float(n), sum};
  unsigned u[2] = {threadIdx.x, blockIdx.x * blockDim.x};
  float2 mixed = {n, sum};
  y[0] = sum + float(v.x) + pair.x + u[0] + mixed.x;
}

template <typename T> struct Holder {
  T value;
  static const float Scale;
  template <typename U> T as() const { return T(U(value)); }
};

int main() {
  uint64_t n = 3;
  printf("%"PRIu64"\n", n);
  dim3 grid = {unsigned(n), 1, 1};
  old<<<grid, 1>>>(nullptr, int(n), nullptr);
}
