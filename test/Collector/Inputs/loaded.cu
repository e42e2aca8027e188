// loaded CUBIN: launches the kernel of a cubin file, which nothing of this program names:
// this file compiled with nvcc -cubin, with line information, without, or stripped.
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

extern "C" __global__ void loaded(float *out, int rounds) {
  float v = threadIdx.x;
  for (int r = 0; r < rounds; ++r)
    v = v * 0.99f + 0.5f;
  out[threadIdx.x] = v;
}

int main(int argc, char **argv) {
  float *out;
  if (argc < 2 || cudaMalloc(&out, 1024))
    return 1;
  CUmodule module;
  CUfunction kernel;
  CUresult result = cuModuleLoad(&module, argv[1]);
  if (result == CUDA_SUCCESS)
    result = cuModuleGetFunction(&kernel, module, "loaded");
  if (result != CUDA_SUCCESS) {
    const char *text = "";
    cuGetErrorString(result, &text);
    std::printf("%s: %s\n", argv[1], text);
    return 2;
  }
  int rounds = 200000;
  void *arguments[] = {&out, &rounds};
  for (int l = 0; l < 10; ++l)
    if (cuLaunchKernel(kernel, 132, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr))
      return 3;
  cudaError_t error = cudaDeviceSynchronize();
  std::puts(cudaGetErrorString(error));
  return error != cudaSuccess;
}
