// A program that has a CUPTI subscriber of its own: `client before` from before CUDA is
// initialised, `client after` once it is.
#include <cstdio>
#include <cstring>
#include <cupti.h>

__global__ void work(float *out) { out[threadIdx.x] = threadIdx.x; }

static void CUPTIAPI callback(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *) {}

static void subscribe() {
  CUpti_SubscriberHandle subscriber;
  CUptiResult result = cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)callback, nullptr);
  std::printf("subscribed %d\n", int(result));
}

int main(int argc, char **argv) {
  bool before = argc > 1 && !std::strcmp(argv[1], "before");
  if (before)
    subscribe();
  float *out;
  if (cudaMalloc(&out, 1024))
    return 1;
  if (!before)
    subscribe();
  work<<<1, 256>>>(out);
  cudaError_t error = cudaDeviceSynchronize();
  std::puts(cudaGetErrorString(error));
  return error != cudaSuccess;
}
