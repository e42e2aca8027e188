// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every cache operator on every built-in type
template <typename T> __device__ void each(T *p, const T *q) {
  T sum[5] = {__ldca(q), __ldcg(q), __ldcs(q), __ldlu(q), __ldcv(q)};
  __stwb(p, sum[0]);
  __stcg(p, sum[1]);
  __stcs(p, sum[2]);
  __stwt(p, sum[3]);
  p[1] = __ldg(q);
}

template <typename T> __global__ void copy(T *p, const T *q) { each(p, q); }

template <typename... T> void launchAll() { (copy<T><<<1, 1>>>(nullptr, nullptr), ...); }

int main() {
  launchAll<char, signed char, short, int, long, long long, unsigned char, unsigned short,
            unsigned, unsigned long, unsigned long long, float, double, char2, char4,
            short2, short4, int2, int4, longlong2, uchar2, uchar4, ushort2, ushort4, uint2,
            uint4, ulonglong2, float2, float4, double2>();
}
