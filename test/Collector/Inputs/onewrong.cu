// A transpose. Given "wrong", launch 1 leaves one element of the output as it was; a
// second, right launch hides that from the program's own output.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t err_ = (call);                                                 \
    if (err_ != cudaSuccess) {                                                 \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                  \
                   cudaGetErrorString(err_));                                  \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

__global__ void transposeNaive(const float *in, float *out, int n, int skip) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  if (x < n && y < n && y * n + x != skip)
    out[x * n + y] = in[y * n + x];
}

int main(int argc, char **argv) {
  bool wrong = argc > 1 && !std::strcmp(argv[1], "wrong");
  int n = 1001;
  std::vector<float> host(n * n);
  for (int i = 0; i < n * n; ++i)
    host[i] = float(i);
  float *in, *out;
  CHECK(cudaMalloc(&in, n * n * sizeof(float)));
  CHECK(cudaMalloc(&out, n * n * sizeof(float)));
  CHECK(cudaMemcpy(in, host.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
  dim3 grid(32, 32), block(32, 32);
  transposeNaive<<<grid, block>>>(in, out, n, wrong ? 5 * n + 7 : -1);
  transposeNaive<<<grid, block>>>(in, out, n, -1);
  CHECK(cudaMemcpy(host.data(), out, n * n * sizeof(float), cudaMemcpyDeviceToHost));
  std::printf("%g\n", host[7 * n + 5]);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}
