// Eight processes as a job of eight ranks has them: forked before anyone uses CUDA, each
// with its number in RANK.
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

__global__ void work(float *out, int rounds) {
  float v = threadIdx.x;
  for (int r = 0; r < rounds; ++r)
    v = v * 0.99f + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

static int rank(int number) {
  char text[16];
  std::snprintf(text, sizeof(text), "%d", number);
  setenv("RANK", text, 1);
  float *out;
  if (cudaMalloc(&out, 132 * 256 * 4))
    return 1;
  for (int l = 0; l < number + 1; ++l)
    work<<<132, 256>>>(out, 100000);
  return cudaDeviceSynchronize() != cudaSuccess;
}

int main() {
  for (int r = 0; r < 8; ++r)
    if (fork() == 0)
      return rank(r);
  int failed = 0, status;
  while (wait(&status) > 0)
    failed += status != 0;
  std::printf("%d ranks failed\n", failed);
  return failed;
}
