// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nvcc declares for the host too
__host__ __device__ bool usable(float x, double y) {
  return isfinite(x) && isfinite(y) && !isnan(x) && !isinf(y) && !signbit(x);
}

__global__ void mark(const float *x, bool *good) {
  good[threadIdx.x] = usable(x[threadIdx.x], 1.0);
}

int main() {
  float s, c;
  sincosf(1.0f, &s, &c);
  sincos(1.0f, &s, &c);
  double d = rsqrt(2.0) + rsqrtf(2.0f) + sinpi(0.5) + normcdf(0.1) + exp10(1.0f) +
             erfinv(0.5f) + j0(1.0f) + jn(2, 1.0f) + copysign(1.0, -1.0f) + rcbrt(8.0) +
             cos(1.0f) + pow(2.0, 3) + abs(-1.5f) + floor(1.5f);
  mark<<<1, 1>>>(nullptr, nullptr);
  return usable(float(d), s * c);
}
