// RUN: %python %S/../Inputs/hot-profile.py %s %t.json
// RUN: %optimas-rewrite %s --profile=%t.json --hot=100 --evaluate=false --checks=-*,optimas-launch-shape -- -std=c++17 | FileCheck %s

extern "C" __global__ void copy(const float *a, float *c, int n) { // grid: 4x256
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i]; // hot: long_scoreboard
}
extern "C" __global__ void shares(const float *a, float *c, int n) { // grid: 4x256
  __shared__ float all[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  all[threadIdx.x] = 0;
  if (i < n)
    c[i] = a[i] + all[threadIdx.x]; // hot: long_scoreboard
}
extern "C" __global__ void __launch_bounds__(256) bounded(const float *a, float *c, int n) { // grid: 4x256
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i]; // hot: long_scoreboard
}
extern "C" __global__ void partial(const float *a, float *c, int n) { // grid: 4x256
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i]; // hot: long_scoreboard
}
extern "C" __global__ void any(const float *a, float *c, int n) { // grid: 4x256
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i]; // hot: long_scoreboard
}
void run(const float *a, float *c, int n, int block) {
  copy<<<(n + 255) / 256, 256>>>(a, c, n);
  shares<<<(n + 255) / 256, 256>>>(a, c, n);
  bounded<<<(n + 255) / 256, 256>>>(a, c, n);
  partial<<<4, 256>>>(a, c, n);
  any<<<(n + block - 1) / block, block>>>(a, c, n);
}
void twice(const float *a, float *c, int n) {
  copy<<<(2 * n + 255) / 256, 256>>>(a, c, 2 * n);
}
int main() { run(nullptr, nullptr, 0, 256), twice(nullptr, nullptr, 0); }

// CHECK: launch partial_wave copy
// CHECK: Called for by the evidence, but not proposed
// CHECK-DAG: depends-on-block-size:
// CHECK-DAG: launch-bounds:
// CHECK-DAG: cannot-prove-coverage:
// CHECK-DAG: block-not-constant:
// CHECK: Candidates
// CHECK-NEXT: * P1 blocks of 64 [
// CHECK: P2 blocks of 128 [
// CHECK-NOT: P3
// Every launch of the kernel changes; each has as many threads as before.
// CHECK: {{^}}-  copy<<<(n + 255) / 256, 256>>>(a, c, n);
// CHECK-NEXT: {{^}}+  copy<<<((n + 255) / 256) * 4, 64>>>(a, c, n);
// CHECK: {{^}}-  copy<<<(2 * n + 255) / 256, 256>>>(a, c, 2 * n);
// CHECK-NEXT: {{^}}+  copy<<<((2 * n + 255) / 256) * 4, 64>>>(a, c, 2 * n);
// CHECK-NOT: {{^[-+] .*(shares|bounded|partial|any)}}
