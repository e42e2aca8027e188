// long-kernels LAUNCHES ROUNDS: kernels that go over 768 MB of device memory ROUNDS times,
// for the overhead of sampling on long kernels. Prints the wall time of the launches.
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void triads(float *a, const float *b, const float *c, int n, int rounds) {
  for (int r = 0; r < rounds; ++r)
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
      a[i] = b[i] + 0.5f * c[(i + r) % n];
}

int main(int argc, char **argv) {
  int launches = argc > 1 ? std::atoi(argv[1]) : 1;
  int rounds = argc > 2 ? std::atoi(argv[2]) : 100;
  const int n = 1 << 26;
  float *a, *b, *c;
  if (cudaMalloc(&a, n * 4ull) || cudaMalloc(&b, n * 4ull) || cudaMalloc(&c, n * 4ull))
    return 1;
  cudaMemset(b, 0, n * 4ull);
  cudaMemset(c, 0, n * 4ull);
  triads<<<528, 512>>>(a, b, c, n, 1);
  cudaDeviceSynchronize();
  auto start = std::chrono::steady_clock::now();
  for (int l = 0; l < launches; ++l)
    triads<<<528, 512>>>(a, b, c, n, rounds);
  cudaError_t error = cudaDeviceSynchronize();
  double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                  .count();
  std::printf("{\"launches\":%d,\"loop_ms\":%.3f}\n", launches, ms);
  return error != cudaSuccess;
}
