// The sum waits for two loads that left one after the other.
#include "cause.h"

__global__ void addPairs(const float *a, const float *b, float *out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    float left = a[i];  // cause: long_scoreboard
    float right = b[i]; // cause: long_scoreboard
    out[i] = left + right;
  }
}

int main() {
  const int count = 1 << 27;
  float *a = onDevice(std::vector<float>(count, 1.0f)), *b = onDevice(std::vector<float>(count, 2.0f));
  float *out = onDevice(std::vector<float>(count));
  repeat(1000, [&] { addPairs<<<count / 256, 256>>>(a, b, out, count); });
  std::printf("%.6g\n", sumOf(out, count));
}
