// Five hundred kernels, each launched once.
#include <cstdio>
#include <utility>

template <int N> __global__ void kernel(int *out) {
  int v = threadIdx.x;
  for (int r = 0; r < 2000; ++r)
    v = v * (2 * N + 3) + N;
  out[threadIdx.x] = v;
}

template <int... N> static void launchAll(int *out, std::integer_sequence<int, N...>) {
  (kernel<N><<<132, 256>>>(out), ...);
}

int main() {
  int *out;
  if (cudaMalloc(&out, 1024))
    return 1;
  launchAll(out, std::make_integer_sequence<int, 500>());
  cudaError_t error = cudaDeviceSynchronize();
  std::puts(cudaGetErrorString(error));
  return error != cudaSuccess;
}
