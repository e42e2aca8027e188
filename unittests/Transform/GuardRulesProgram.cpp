//===- GuardRulesProgram.cpp - The program that the rules are tested on -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardTest.h"

namespace optimas {

static const char *const ProgramText = R"cu(
#include "shared.cuh"
#define SQUARE(x) ((x) * (x))
#define STORE(p, i, v) p[i] = (v)
#define WAIT() __syncthreads()
#define CHECK_LAUNCH(x) x
#define APPROXIMATE(x) __expf(x)
#define HIDDEN_STATE static int hidden
#define HIDDEN_ASM asm volatile("exit;")

constexpr int kBlock = 128;
__device__ int counter;
__device__ float table[16];

__device__ float helper(float x) { return x * 2.0f; }
__device__ float min(float x) { return x; }
__device__ float stranger(float x) { return x + 1.0f; }

__global__ void hotCopy(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + 1.0f;
  STORE(out, i, 3.0f);
}

__global__ void cold(float *out) {
  out[7] = 7.0f;
}

__global__ void hotLoop(const float *__restrict__ in, float *out, double *sums, int n) {
  double total = 0.0;
  float last = 0.0f;
  for (int k = threadIdx.x; k < n; k += kBlock) {
    total += in[k] * 0.5;
    last = helper(in[k]);
  }
  out[threadIdx.x] = last;
  sums[threadIdx.x] = total;
}

__global__ void hotTile(const float *in, float *out, volatile int *flags, long long stride) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * stride + threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
  if (flags[0])
    atomicAdd(&counter, 1);
#if 0
  out[0] = 1.0f;
#endif
  switch (threadIdx.x) {
  case 0:
    out[1] = 2.0f;
    break;
  default:
    break;
  }
  while (out[2] > 1.0f) {
    if (out[3] > 2.0f)
      break;
    out[2] = out[2] - 1.0f;
  }
  asm volatile("membar.gl;");
  out[5] = expf(in[5]);
}

template <typename T> __global__ void hotTemplate(const T *a, T *b, int n) {
  T value = a[0];
  b[0] = value * T(2);
  b[1] = value;
}
template <typename T> __global__ void hotTemplate(const T *a, T *b, int n);
template __global__ void hotTemplate<float>(const float *, float *, int);
template __global__ void hotTemplate<double>(const double *, double *, int);

__global__ void hotSlots(const float *in, float *slots, int n, float last) {
@SLOTS@}

__global__ void hotAddress(float *p) { p[0] = 1.0f; }

int main() {
  float *p = nullptr;
  double *d = nullptr;
  int grid = 4, shared = 64;
  cudaStream_t stream = 0;
  dim3 block(32, 4);
  hotCopy<<<grid, kBlock>>>(p, p, 1);
  hotCopy<<<grid + 1, kBlock>>>(p, p, 2);
  hotLoop<<<(grid + 3) / 4, block, shared, stream>>>(p, p, d, 3);
  CHECK_LAUNCH((hotTile<<<1, 32>>>(p, p, nullptr, 1)));
  hotAddress<<<2, 2>>>(p);
  void *address = (void *)hotAddress;
  return address == nullptr;
}
)cu";

static const char *const Header = R"cu(
#pragma once
__device__ inline float hotShared(float x) {
  float y = x * 3.0f;
  return y;
}
)cu";

const GuardProgram &ruleProgram() {
  static const GuardProgram P = [] {
    std::string Slots, Text = ProgramText;
    for (int I = 0; I < 40; ++I)
      Slots += "  slots[" + std::to_string(I) + "] = last;\n";
    Text.replace(Text.find("@SLOTS@"), 7, Slots);
    return GuardProgram({{"a.cu", Text}, {"shared.cuh", Header}}, {"a.cu"});
  }();
  return P;
}

} // namespace optimas
