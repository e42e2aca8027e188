// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What cuda_runtime.h brings in under nvcc
__global__ void check(const int *x, char *to, const char *from) {
  memcpy(to, from, 4);
#ifdef __CUDA_ARCH__
  assert(x[0] == 1);
  printf("%d %ld\n", x[0], long(clock()));
#endif
}

int main() {
  size_t n = strlen("four");
  void *p = malloc(n);
  memset(p, 0, n);
  free(p);
  check<<<1, 1>>>(nullptr, nullptr, nullptr);
  return sqrt(2.0) > 1;
}
