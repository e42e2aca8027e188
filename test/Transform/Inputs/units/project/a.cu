// A unit that shares a header with another (b.cu) and uses one from outside the project.
#include "h.cuh"
#include "../outside/o.cuh"

__global__ void hotHere(const float *in, float *out) {
  float v = hotTwice(in[threadIdx.x]);
  out[threadIdx.x] = v + thrice(in[threadIdx.x + 1]);
}

__global__ void hotThere(const float *in, float *out) {
  out[threadIdx.x] = in[threadIdx.x] * 2.0f;
}

int main() {
  hotHere<<<1, 32>>>(nullptr, nullptr);
  hotThere<<<1, 32>>>(nullptr, nullptr);
}
