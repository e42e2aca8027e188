// Device variables of several sizes and linkages, for the reader of cubin symbols.
__device__ int counter;
__device__ unsigned char odd[3];
static __device__ float table[10] = {1.0f};
__constant__ int constants[4];
namespace {
__device__ double hidden;
}

__global__ void use(unsigned long long i, int *out) {
  odd[i % 3] += 1;
  table[i % 10] += constants[i % 4];
  hidden += table[(i + 1) % 10];
  *out = atomicAdd(&counter, 1) + odd[0];
}
