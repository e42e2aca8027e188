// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tolerated: no matching function for call to 'helper'
// tolerated: function 'helper' cannot overload __host__ function 'helper'
int helper(int x);

__global__ void use(int *x) { x[0] = helper(x[0]); }

__device__ __host__ int helper(int x) { return x + 1; }

int main() { use<<<1, 1>>>(nullptr); }
