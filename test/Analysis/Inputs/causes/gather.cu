// Reads through an index that scatters over more than the L2 cache.
#include "cause.h"

__global__ void gather(const float *x, const int *index, float *out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = x[index[i]]; // cause: long_scoreboard
}

int main() {
  const int count = 1 << 26;
  std::vector<int> index(count);
  unsigned state = 1;
  for (int i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    index[i] = state >> 6;
  }
  float *x = onDevice(std::vector<float>(count, 1.5f)), *out = onDevice(std::vector<float>(count));
  int *dIndex = onDevice(index);
  repeat(1000, [&] { gather<<<count / 256, 256>>>(x, dIndex, out, count); });
  std::printf("%.6g\n", sumOf(out, count));
}
