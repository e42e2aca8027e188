// Ways for a program to end: exit, _exit, abort, segv, quick_exit, reset, fork, hang,
// fault, launchfail.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t err_ = (call);                                                 \
    if (err_ != cudaSuccess) {                                                 \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                  \
                   cudaGetErrorString(err_));                                  \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

__global__ void fill(int *p, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = value + i;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "exit";
  const int n = 1000;
  int *p;
  CHECK(cudaMalloc(&p, n * sizeof(int)));
  fill<<<8, 128>>>(p, n, 1);
  CHECK(cudaDeviceSynchronize());
  std::puts("launched");
  std::fflush(stdout);
  if (!std::strcmp(how, "_exit"))
    _exit(0);
  if (!std::strcmp(how, "abort"))
    std::abort();
  if (!std::strcmp(how, "segv"))
    *(volatile int *)nullptr = 1;
  if (!std::strcmp(how, "quick_exit"))
    std::quick_exit(0);
  if (!std::strcmp(how, "reset")) {
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&p, 2 * n * sizeof(int)));
    fill<<<16, 128>>>(p, 2 * n, 2);
    CHECK(cudaDeviceSynchronize());
  }
  if (!std::strcmp(how, "fork")) {
    pid_t child = fork();
    if (child == 0)
      std::exit(0); // runs the exit handlers that it inherited
    int status;
    waitpid(child, &status, 0);
    std::printf("child %d\n", status);
  }
  if (!std::strcmp(how, "hang"))
    for (;;)
      sleep(1);
  if (!std::strcmp(how, "fault")) {
    fill<<<8, 128>>>((int *)16, n, 1);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  }
  if (!std::strcmp(how, "launchfail")) {
    fill<<<8, 4096>>>(p, n, 1);
    std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  }
  return 0; // without cudaFree: the memory lives to the end
}
