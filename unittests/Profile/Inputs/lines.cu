// Kernels whose line tables have something to get wrong: inlining two deep, from two
// call sites and from a header, templates, macros, a function that is not inlined,
// several kernels in one unit.
#include "lines.h"

__device__ float square(float x) {
  return x * x;
}

__device__ float norm(float x, float y) {
  float a = square(x);
  float b = square(y);
  return sqrtf(a + b);
}

__device__ __noinline__ float slow(float x, int n) {
  for (int i = 0; i < n; ++i)
    x = x * 1.5f + norm(x, 2.0f);
  return x;
}

#define UPDATE(p, i, v)                                                        \
  do {                                                                         \
    (p)[i] += (v);                                                             \
  } while (0)

__global__ void nested(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = norm(p[i], p[i + n]) +
           norm(p[i + 2 * n], fromHeader(p[i]));
}

template <typename T>
__global__ void stride(const T *in, T *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    UPDATE(out, i, in[i]);
}

template __global__ void stride<float>(const float *, float *, int);
template __global__ void stride<double>(const double *, double *, int);

__global__ void shared(float *p) {
  __shared__ float tile[256];
  tile[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s)
      tile[threadIdx.x] += fromHeader(tile[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(p, tile[0]);
}

__global__ void calls(float *p, int n) {
  p[threadIdx.x] = slow(p[threadIdx.x], n);
}
