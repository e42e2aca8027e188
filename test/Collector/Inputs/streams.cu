// Work on three streams of two threads, and a graph captured from a fourth.
#include <cstdio>
#include <cstdlib>
#include <thread>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t err_ = (call);                                                 \
    if (err_ != cudaSuccess) {                                                 \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                  \
                   cudaGetErrorString(err_));                                  \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

__global__ void scale(float *p, int n, float f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = p[i] * f + 1.0f;
}

static void work(float *p, int n) {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < 20; ++i)
    scale<<<(n + 255) / 256, 256, 0, stream>>>(p, n, 0.5f);
  CHECK(cudaStreamSynchronize(stream));
}

int main() {
  const int n = 1 << 18;
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, n * sizeof(float)));
  CHECK(cudaMalloc(&b, n * sizeof(float)));
  CHECK(cudaMalloc(&c, n * sizeof(float)));
  CHECK(cudaMemset(a, 0, n * sizeof(float)));
  CHECK(cudaMemset(b, 0, n * sizeof(float)));
  CHECK(cudaMemset(c, 0, n * sizeof(float)));
  CHECK(cudaDeviceSynchronize());
  std::thread first(work, a, n), second(work, b, n);
  first.join();
  second.join();
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  scale<<<(n + 255) / 256, 256, 0, stream>>>(c, n, 2.0f);
  scale<<<(n + 255) / 256, 256, 0, stream>>>(c, n, 3.0f);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i)
    CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  float x, y, z;
  CHECK(cudaMemcpy(&x, a, 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&y, b, 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&z, c, 4, cudaMemcpyDeviceToHost));
  std::printf("%g %g %g\n", x, y, z);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(c));
}
