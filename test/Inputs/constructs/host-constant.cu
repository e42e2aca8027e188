// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host constant in device code
static const int Width = 16;
static constexpr float Scale = 2.0f;
const double Half = 0.5;

__global__ void use(float *x) {
  __shared__ float tile[Width][Width + 1];
  tile[threadIdx.x][0] = x[threadIdx.x] * Scale * float(Half);
  x[threadIdx.x] = tile[threadIdx.x][0] + Width;
}

int main() { use<<<1, Width>>>(nullptr); }
