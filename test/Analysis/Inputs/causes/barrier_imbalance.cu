// One warp of eight works; the others wait for it at the barrier.
#include "cause.h"

__global__ void uneven(float *out, int rounds, int work) {
  __shared__ float shared[32];
  float value = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    if (threadIdx.x < 32) {
      for (int w = 0; w < work; ++w)
        value = value * 0.999f + 1.0f;
      shared[threadIdx.x] = value;
    }
    __syncthreads(); // cause: barrier
    value += shared[threadIdx.x & 31];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
  const int blocks = 264, threads = 256;
  float *out = onDevice(std::vector<float>(blocks * threads));
  repeat(1000, [&] { uneven<<<blocks, threads>>>(out, 500, 400); });
  std::printf("%.6g\n", sumOf(out, blocks * threads));
}
