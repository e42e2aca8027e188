// A CUDA program on a machine without a GPU: said before the program runs.
// UNSUPPORTED: gpu
// RUN: rm -rf %t && mkdir %t && %nvcc -o %t/program %s
// RUN: sh -c '%optimas-profile -o %t/out.json -- %t/program; test $? = 3' 2>&1 | FileCheck %s
// CHECK-NOT: ran
// CHECK: error: {{.*}}program: this machine has no NVIDIA driver (libcuda.so.1 cannot be loaded), so the program was not run
// CHECK-NEXT: profile on a machine with a GPU
// RUN: test ! -e %t/out.json
// RUN: sh -c '%optimas-profile --check -- %t/program; test $? = 3' | FileCheck %s --check-prefix=SETUP
// SETUP: ok collector:
// SETUP: missing NVIDIA driver:
// SETUP-NEXT: install the NVIDIA driver
// SETUP: ok CUPTI:
// SETUP: ok program: {{.*}}program uses CUDA
#include <cstdio>
__global__ void kernel() {}
int main() {
  std::puts("ran");
  kernel<<<1, 1>>>();
}
