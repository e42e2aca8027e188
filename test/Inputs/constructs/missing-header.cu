// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tolerated: 'optimas_no_such_library.h' file not found
#if __has_include(<optimas_no_such_library.h>) || defined(__clang__)
#include <optimas_no_such_library.h>
#endif

__global__ void add(float *x) { x[threadIdx.x] += 1.0f; }

int main() { add<<<1, 1>>>(nullptr); }
