// RUN: %optimas-rewrite %examples/stream/stream.cu --profile=%examples/stream/recorded/stream.optimas.json --hot=100 --evaluate=false --checks=-*,optimas-register-accumulator -- -std=c++17 | FileCheck %s --check-prefix=STREAM
// RUN: %python %S/../Inputs/hot-profile.py %s %t.json
// RUN: %optimas-rewrite %s --profile=%t.json --hot=100 --evaluate=false --checks=-*,optimas-register-accumulator -- -std=c++17 | FileCheck %s

// STREAM: * P1 register accumulator [E1]
// STREAM: {{^}}-    sums[t] += a[i] * b[i];
// STREAM: {{^}}+    T sumsAcc = sums[t];
// STREAM: {{^}}+      sumsAcc += a[i] * b[i];
// STREAM-NEXT: {{^}}+    sums[t] = sumsAcc;

extern "C" __global__ void sums(const float *__restrict__ in, float *out, int n) {
  __shared__ float part[256];
  part[threadIdx.x] = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    part[threadIdx.x] += in[i]; // hot: short_scoreboard
  out[threadIdx.x] = part[threadIdx.x];
}
extern "C" __global__ void neighbours(const float *__restrict__ in, float *out, int n) {
  __shared__ float shared[256];
  shared[threadIdx.x] = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    shared[threadIdx.x] += in[i] * shared[0]; // hot: short_scoreboard
  out[threadIdx.x] = shared[threadIdx.x];
}
extern "C" __global__ void unset(const float *__restrict__ in, float *out, int n) {
  __shared__ float raw[256];
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    raw[threadIdx.x] += in[i]; // hot: short_scoreboard
  out[threadIdx.x] = raw[threadIdx.x];
}
extern "C" __global__ void moves(const float *__restrict__ in, float *out, int n) {
  __shared__ float walk[256];
  walk[threadIdx.x] = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    walk[i % 256] += in[i]; // hot: short_scoreboard
  out[threadIdx.x] = walk[threadIdx.x];
}
int main() {
  sums<<<1, 256>>>(nullptr, nullptr, 0);
  neighbours<<<1, 256>>>(nullptr, nullptr, 0);
  unset<<<1, 256>>>(nullptr, nullptr, 0);
  moves<<<1, 256>>>(nullptr, nullptr, 0);
}

// CHECK: Called for by the evidence, but not proposed
// CHECK-DAG: other-element-used: the loop also uses
// CHECK-DAG: cannot-prove-initialised
// CHECK-DAG: not-invariant
// CHECK: Candidates
// CHECK: {{^}}-    part[threadIdx.x] += in[i];
// CHECK: {{^}}+ {{.*}}+= in[i];
