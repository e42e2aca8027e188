// copy-after [ROUNDS]: one copy kernel after four things that may change how long it takes:
// what the L2 cache holds that memory does not have yet, and that the device stood idle.
// scripts/measure-collector times its kernels by CUPTI's activity records.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

enum { Itself, Reads, Pause, ReadsAndPause };

template <int what> __global__ void copyAfter(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i];
}

// Reads memory that nothing writes: what the L2 cache was to write back is written then.
__global__ void readOnly(const float *a, float *out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += a[i];
  if (sum == -1.5f)
    *out = sum;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 40;
  const int n = 1 << 25, block = 256, grid = n / block;
  float *a, *c, *other;
  if (cudaMalloc(&a, n * sizeof(float)) || cudaMalloc(&c, n * sizeof(float)) ||
      cudaMalloc(&other, 2 * n * sizeof(float)))
    return 1;
  cudaMemset(a, 0, n * sizeof(float));
  cudaMemset(other, 0, 2 * n * sizeof(float));
  cudaDeviceSynchronize();
  auto idle = [] {
    cudaDeviceSynchronize();
    usleep(2000);
  };
  for (int r = 0; r < rounds; ++r)
    copyAfter<Itself><<<grid, block>>>(a, c, n);
  for (int r = 0; r < rounds; ++r) {
    readOnly<<<1024, block>>>(other, c, 2 * n);
    copyAfter<Reads><<<grid, block>>>(a, c, n);
  }
  for (int r = 0; r < rounds; ++r) {
    idle();
    copyAfter<Pause><<<grid, block>>>(a, c, n);
  }
  for (int r = 0; r < rounds; ++r) {
    readOnly<<<1024, block>>>(other, c, 2 * n);
    idle();
    copyAfter<ReadsAndPause><<<grid, block>>>(a, c, n);
  }
  cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
