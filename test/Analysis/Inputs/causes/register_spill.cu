// More live values than registers: a launch bound of 1,024 threads, two blocks.
#include "cause.h"

constexpr int kLive = 56;

__global__ void __launch_bounds__(1024, 2) live(const float *x, float *out, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value[kLive];
#pragma unroll
  for (int k = 0; k < kLive; ++k)
    value[k] = x[i + k];
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < kLive; ++k)
      value[k] = value[k] * value[(k + 1) % kLive] + 0.25f; // cause: long_scoreboard lg_throttle
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kLive; ++k)
    sum += value[k];
  out[i] = sum;
}

int main() {
  const int blocks = 264, threads = 1024;
  std::vector<float> x(blocks * threads + kLive, 0.5f);
  float *dX = onDevice(x), *out = onDevice(x);
  repeat(1000, [&] { live<<<blocks, threads>>>(dX, out, 200); });
  std::printf("%.6g\n", sumOf(out, blocks * threads));
}
