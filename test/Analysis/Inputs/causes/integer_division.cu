// Divides 64-bit integers by a divisor that is known only at run time.
#include "cause.h"

__global__ void divide(const unsigned long long *x, unsigned long long *out,
                       unsigned long long divisor, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long value = x[i];
  for (int r = 0; r < rounds; ++r)
    value = value / divisor + 0x9e3779b97f4a7c15ull; // cause: wait math_pipe_throttle
  out[i] = value;
}

int main(int argc, char **) {
  const int count = 1056 * 256;
  std::vector<unsigned long long> x(count);
  for (int i = 0; i < count; ++i)
    x[i] = 0xfedcba9876543210ull - i * 1234567ull;
  unsigned long long *dX = onDevice(x), *out = onDevice(x);
  repeat(1000, [&] { divide<<<1056, 256>>>(dX, out, 3 + argc, 500); });
  std::printf("%.6g\n", sumOf(out, count));
}
