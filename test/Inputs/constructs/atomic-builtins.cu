// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc: -arch=sm_90
#include <cuda_runtime.h>

__global__ void count(int *counter, float *sum, unsigned long long *wide, int *flag) {
  int seen = __nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
  int old = __nv_atomic_fetch_add(counter, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_add(sum, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_fetch_max(wide, 7, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
  __nv_atomic_or(counter, 8, __NV_ATOMIC_RELAXED);
  int expected = old + seen, wanted = 2, before;
  if (__nv_atomic_compare_exchange_n(flag, &expected, 3, false, __NV_ATOMIC_ACQ_REL,
                                     __NV_ATOMIC_RELAXED))
    __nv_atomic_store_n(flag, 4, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_CLUSTER);
  __nv_atomic_exchange(counter, &wanted, &before, __NV_ATOMIC_RELAXED);
  *wide = __nv_atomic_exchange_n(wide, 9, __NV_ATOMIC_CONSUME);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
}

int main() { count<<<1, 32>>>(nullptr, nullptr, nullptr, nullptr); }
