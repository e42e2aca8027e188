// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fp16, bf16, fp8 and packed arithmetic
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void scale(__half *h, __half2 *h2, __nv_bfloat16 *b, __nv_bfloat162 *b2,
                      __nv_fp8_e4m3 *e) {
  int i = threadIdx.x;
  h[i] = __hadd(h[i], __float2half(1.0f));
  h2[i] = __hfma2(h2[i], h2[i], __floats2half2_rn(1.0f, 2.0f));
  b[i] = __hmul(b[i], __float2bfloat16(0.5f));
  b2[i] = b2[i] + b2[i];
  e[i] = __nv_fp8_e4m3(float(e[i]) + 1.0f);
  h[i] += hsqrt(h[i]) * __half(2);
}

int main() { scale<<<1, 1>>>(nullptr, nullptr, nullptr, nullptr, nullptr); }
