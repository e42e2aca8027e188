// Independent reciprocal square roots: the special-function units are the limit.
#include "cause.h"

__global__ void roots(float *out, int rounds) {
  float a = threadIdx.x + 1, b = a + 1, c = a + 2, d = a + 3;
  for (int r = 0; r < rounds; ++r) {
    a = rsqrtf(a);                  // cause: math_pipe_throttle mio_throttle short_scoreboard
    b = rsqrtf(b);                  // cause: math_pipe_throttle mio_throttle short_scoreboard
    c = rsqrtf(c);                  // cause: math_pipe_throttle mio_throttle short_scoreboard
    d = rsqrtf(d);                  // cause: math_pipe_throttle mio_throttle short_scoreboard
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

int main() {
  const int blocks = 1056, threads = 256;
  float *out = onDevice(std::vector<float>(blocks * threads));
  repeat(1000, [&] { roots<<<blocks, threads>>>(out, 5000); });
  std::printf("%.6g\n", sumOf(out, blocks * threads));
}
