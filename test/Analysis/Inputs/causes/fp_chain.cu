// Every operation waits for the one before: a chain of fused multiply-adds.
#include "cause.h"

__global__ void horner(const float *x, float *out, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = x[i], sum = 0;
  for (int r = 0; r < rounds; ++r)
    sum = sum * value + 0.5f; // cause: wait
  out[i] = sum;
}

int main() {
  const int blocks = 132, threads = 32;
  std::vector<float> x(blocks * threads, 0.75f);
  float *dX = onDevice(x), *out = onDevice(x);
  repeat(1000, [&] { horner<<<blocks, threads>>>(dX, out, 1000000); });
  std::printf("%.6g\n", sumOf(out, blocks * threads));
}
