// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc's global overloads, in kernels, in host code and behind extern "C"
__global__ void clampAll(int *x, unsigned *u, float *f, double *d, long n) {
  long i = threadIdx.x;
  x[i] = min(max(x[i], 0), 7);
  u[i] = max(u[i], x[i]);
  f[i] = min(f[i], 1.0f);
  d[i] = max(d[i], f[i]);
  n = min(n, 5l);
}

extern "C" int chunks(int n, int size) { return max(1, min(n, size)); }

static unsigned long total(unsigned a, int b, long c, unsigned long d, long long e,
                           unsigned long long f) {
  return min(a, b) + max(c, d) + min(e, f) + umin(a, 3u) + llmax(e, 2ll);
}

int main() {
  double a = max(1.0f, 2.0) + min(2.0, 1.0f) + max(1.0, 2.0);
  float b = min(1.0f, 2.0f);
  clampAll<<<1, chunks(int(a), int(b))>>>(nullptr, nullptr, nullptr, nullptr,
                                          long(total(1, 2, 3, 4, 5, 6)));
}
