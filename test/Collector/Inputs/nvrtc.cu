// A kernel that exists only at run time, compiled by NVRTC with line information.
#include <cstdio>
#include <cuda.h>
#include <nvrtc.h>
#include <string>

static const char source[] = R"(extern "C" __global__ void compiledLater(float *out, int rounds) {
  float v = threadIdx.x;
  for (int r = 0; r < rounds; ++r)
    v = v * 0.99f + 0.5f;
  out[threadIdx.x] = v;
}
)";

int main() {
  float *out;
  if (cudaMalloc(&out, 1024))
    return 1;
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  std::string arch = "-arch=sm_" + std::to_string(p.major * 10 + p.minor);
  const char *options[] = {arch.c_str(), "-lineinfo"};
  nvrtcProgram program;
  if (nvrtcCreateProgram(&program, source, "later.cu", 0, nullptr, nullptr) ||
      nvrtcCompileProgram(program, 2, options))
    return 2;
  size_t bytes = 0;
  nvrtcGetCUBINSize(program, &bytes);
  std::string cubin(bytes, 0);
  nvrtcGetCUBIN(program, &cubin[0]);
  CUmodule module;
  CUfunction kernel;
  if (cuModuleLoadData(&module, cubin.data()) ||
      cuModuleGetFunction(&kernel, module, "compiledLater"))
    return 3;
  int rounds = 200000;
  void *arguments[] = {&out, &rounds};
  for (int l = 0; l < 10; ++l)
    if (cuLaunchKernel(kernel, 132, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr))
      return 4;
  cudaError_t error = cudaDeviceSynchronize();
  std::puts(cudaGetErrorString(error));
  return error != cudaSuccess;
}
