// Neighbouring threads store a row of 4 KB apart.
#include "cause.h"

__global__ void scatter(float *out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows)
    for (int c = 0; c < columns; ++c)
      out[size_t(row) * columns + c] = float(c); // cause: lg_throttle drain
}

int main() {
  const int rows = 1 << 16, columns = 1024;
  float *out = onDevice(std::vector<float>(size_t(rows) * columns));
  repeat(1000, [&] { scatter<<<rows / 256, 256>>>(out, rows, columns); });
  std::printf("%.6g\n", sumOf(out, size_t(rows) * columns));
}
