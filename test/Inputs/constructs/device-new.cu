// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc: --extended-lambda
// new, delete and malloc in a kernel
#include <new>
struct Node {
  int value;
  Node *next;
};

__global__ void build(Node **out) {
  Node *n = new Node{int(threadIdx.x), nullptr};
  out[threadIdx.x] = n;
  int *p = (int *)malloc(16);
  free(p);
  delete n;
  alignas(Node) char room[sizeof(Node)];
  new (room) Node{1, nullptr};
}

int main() { build<<<1, 1>>>(nullptr); }
