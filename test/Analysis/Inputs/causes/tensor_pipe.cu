// Tensor-core multiplications from registers: their pipe is the limit.
#include "cause.h"
#include <mma.h>

using namespace nvcuda;

__global__ void multiply(float *out, int rounds) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[4];
  wmma::fill_fragment(a, __float2half(0.5f));
  wmma::fill_fragment(b, __float2half(0.25f));
  for (int k = 0; k < 4; ++k)
    wmma::fill_fragment(c[k], float(k));
  for (int r = 0; r < rounds; ++r)
    for (int k = 0; k < 4; ++k)
      wmma::mma_sync(c[k], a, b, c[k]); // cause: math_pipe_throttle wait
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int k = 0; k < 4; ++k)
    wmma::store_matrix_sync(out + (warp * 4 + k) * 256, c[k], 16, wmma::mem_row_major);
}

int main() {
  const int blocks = 264, threads = 256, tiles = blocks * threads / 32 * 4;
  float *out = onDevice(std::vector<float>(tiles * 256));
  repeat(1000, [&] { multiply<<<blocks, threads>>>(out, 20000); });
  std::printf("%.6g\n", sumOf(out, tiles * 256));
}
