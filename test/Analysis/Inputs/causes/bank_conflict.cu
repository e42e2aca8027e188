// All lanes of a warp read one bank of shared memory.
#include "cause.h"

__global__ void column(float *out, int rounds) {
  __shared__ float tile[32 * 32];
  for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x)
    tile[i] = float(i);
  __syncthreads();
  float sum = 0;
  int lane = threadIdx.x & 31, row = threadIdx.x >> 5;
  for (int i = 0; i < rounds; ++i)
    sum += tile[lane * 32 + ((row + i) & 31)]; // cause: short_scoreboard mio_throttle
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  const int blocks = 1056, threads = 256;
  float *out = onDevice(std::vector<float>(blocks * threads));
  repeat(1000, [&] { column<<<blocks, threads>>>(out, 4000); });
  std::printf("%.6g\n", sumOf(out, blocks * threads));
}
