// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc: -arch=sm_90
__global__ void pick(int *x) {
#if __CUDA_ARCH__ == 900
  x[0] = 90;
#elif defined(__CUDA_ARCH__)
#error parsed for another architecture than the command's
#endif
}

#if defined(__CUDA_ARCH__)
#define SIDE device
#else
#define SIDE host
#endif

#if !defined(__CUDACC__) || __CUDACC_VER_MAJOR__ < 11
#error the toolkit's version is not passed on
#endif

#if !__CUDACC__
#error not CUDA
#endif

int main() { pick<<<1, 1>>>(nullptr); }
