// many-launches LAUNCHES ROUNDS: short kernels one after the other, for the overhead of
// sampling and of kernel records on many launches. Prints the wall time of the launches.
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void spin(float *out, int rounds, float factor) {
  float v = threadIdx.x;
  for (int r = 0; r < rounds; ++r)
    v = v * factor + 0.5f;
  if (v == -1.5f)
    *out = v;
}

int main(int argc, char **argv) {
  int launches = argc > 1 ? std::atoi(argv[1]) : 1;
  int rounds = argc > 2 ? std::atoi(argv[2]) : 4000;
  float *out;
  if (cudaMalloc(&out, 4))
    return 1;
  spin<<<528, 256>>>(out, 1, 0.99f);
  cudaDeviceSynchronize();
  auto start = std::chrono::steady_clock::now();
  for (int l = 0; l < launches; ++l)
    spin<<<528, 256>>>(out, rounds, 0.99f);
  cudaError_t error = cudaDeviceSynchronize();
  double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                  .count();
  std::printf("{\"launches\":%d,\"loop_ms\":%.3f}\n", launches, ms);
  return error != cudaSuccess;
}
