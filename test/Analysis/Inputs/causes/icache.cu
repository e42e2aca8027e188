// A loop body of more instructions than the instruction caches hold.
#include "cause.h"

template <int N> __device__ __forceinline__ float step(float value, int lane) {
  if constexpr (N == 0)
    return value;
  else if constexpr (N == 1)
    return __int_as_float((__float_as_int(value) ^ lane) & 0x3fffffff) * 1.0001f; // cause: no_instruction
  else
    return step<N - N / 2>(step<N / 2>(value, lane + N * 7), lane ^ (N * 131));
}

__global__ void straight(float *out, int rounds) {
  float value = threadIdx.x;
  for (int r = 0; r < rounds; ++r)
    value = step<3000>(value, r);
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
  const int blocks = 132, threads = 64;
  float *out = onDevice(std::vector<float>(blocks * threads));
  repeat(1000, [&] { straight<<<blocks, threads>>>(out, 100); });
  std::printf("%.6g\n", sumOf(out, blocks * threads));
}
