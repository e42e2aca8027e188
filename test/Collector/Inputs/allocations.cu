// Every way of allocating that the collector follows, with sizes that do not fill words,
// and device variables. Prints one number that depends on all of them.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t err_ = (call);                                                 \
    if (err_ != cudaSuccess) {                                                 \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                  \
                   cudaGetErrorString(err_));                                  \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

__device__ int counter;
__device__ unsigned char odd[3];
static __device__ float table[10] = {1.0f};
__managed__ int managedCounter;

__global__ void fill(unsigned char *p, int n, int seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = (unsigned char)(i * 31 + seed);
}

__global__ void touch(int add) {
  counter += add;
  odd[2] += 1;
  table[3] += 0.5f;
  managedCounter += 1;
}

static int checksum(const unsigned char *device, int n) {
  unsigned char *host = (unsigned char *)std::malloc(n);
  CHECK(cudaMemcpy(host, device, n, cudaMemcpyDeviceToHost));
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum = sum * 7 + host[i];
  std::free(host);
  return sum;
}

int main() {
  unsigned char *plain, *pitched, *managed, *ordered, *tiny;
  size_t pitch;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&plain, 1000003));
  CHECK(cudaMalloc(&tiny, 4));
  CHECK(cudaMallocPitch(&pitched, &pitch, 301, 5));
  CHECK(cudaMallocManaged(&managed, 77));
  CHECK(cudaMallocAsync(&ordered, 12345, stream));
  fill<<<4000, 256>>>(plain, 1000003, 1);
  fill<<<1, 256>>>(tiny, 4, 2);
  fill<<<2, 256>>>(pitched, 301, 3);
  fill<<<1, 256>>>(managed, 77, 4);
  fill<<<64, 256, 0, stream>>>(ordered, 12345, 5);
  CHECK(cudaStreamSynchronize(stream));
  touch<<<1, 1>>>(41);
  CHECK(cudaDeviceSynchronize());
  int sum = checksum(plain, 1000003) ^ checksum(tiny, 4) ^ checksum(pitched, 301) ^
            checksum(managed, 77) ^ checksum(ordered, 12345);
  CHECK(cudaFreeAsync(ordered, stream));
  CHECK(cudaMallocAsync(&ordered, 12345, stream)); // the same memory again, very likely
  fill<<<64, 256, 0, stream>>>(ordered, 12345, 6);
  CHECK(cudaStreamSynchronize(stream));
  sum ^= checksum(ordered, 12345);
  CHECK(cudaFreeAsync(ordered, stream));
  CHECK(cudaFree(managed));
  CHECK(cudaFree(pitched));
  CHECK(cudaFree(tiny));
  CHECK(cudaFree(plain));
  std::printf("sum %d\n", sum);
}
