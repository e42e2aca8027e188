// Counts into sixteen counters of global memory.
#include "cause.h"

__global__ void histogram(const unsigned *keys, unsigned *bins, unsigned *seen, int count) {
  unsigned last = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x)
    last += atomicAdd(&bins[keys[i] & 15], 1u); // cause: long_scoreboard lg_throttle
  seen[blockIdx.x * blockDim.x + threadIdx.x] = last != 0;
}

int main() {
  const int count = 1 << 22;
  std::vector<unsigned> keys(count);
  unsigned state = 1;
  for (unsigned &key : keys)
    key = (state = state * 1664525u + 1013904223u) >> 20;
  unsigned *dKeys = onDevice(keys), *bins = onDevice(std::vector<unsigned>(16));
  unsigned *seen = onDevice(std::vector<unsigned>(264 * 256));
  repeat(1000, [&] { histogram<<<264, 256>>>(dKeys, bins, seen, count); });
  std::printf("%.0f\n", sumOf(bins, 16));
}
