// Every device, each from two threads: device d launches its kernel 10 + d times a thread.
// Prints how many devices there are.
#include <cstdio>
#include <cstdlib>
#include <thread>
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

template <int device> __global__ void onDevice(float *p, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = p[i];
  for (int r = 0; r < rounds; ++r)
    v = v * 0.5f + 1.0f;
  p[i] = v;
}

static void work(int device) {
  const int n = 1 << 20, grid = n / 256;
  CHECK(cudaSetDevice(device));
  float *p;
  CHECK(cudaMalloc(&p, n * sizeof(float)));
  CHECK(cudaMemset(p, 0, n * sizeof(float)));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaDeviceSynchronize());
  for (int l = 0; l < 10 + device; ++l) {
    if (device == 0)
      onDevice<0><<<grid, 256, 0, stream>>>(p, n, 2000);
    else
      onDevice<1><<<grid, 256, 0, stream>>>(p, n, 2000);
  }
  CHECK(cudaStreamSynchronize(stream));
  float first;
  CHECK(cudaMemcpy(&first, p, 4, cudaMemcpyDeviceToHost));
  if (first != 2.0f)
    std::exit(1);
  CHECK(cudaFree(p));
}

int main() {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  std::vector<std::thread> threads;
  for (int device = 0; device < count; ++device)
    for (int t = 0; t < 2; ++t)
      threads.emplace_back(work, device);
  for (std::thread &t : threads)
    t.join();
  std::printf("%d\n", count);
}
