// RUN: %python %S/../Inputs/hot-profile.py %s %t.json
// RUN: %optimas-rewrite %s --profile=%t.json --hot=100 --evaluate=false --checks=-*,optimas-invariant-load-hoisting -- -std=c++17 | FileCheck %s

extern "C" __global__ void scale(const float *__restrict__ in, const float *__restrict__ factor,
                                 float *__restrict__ out, int n, int k) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i] * factor[k]; // hot: long_scoreboard
}
extern "C" __global__ void aliases(const float *first, float *all, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    all[i] = first[0]; // hot: long_scoreboard
}
extern "C" __global__ void waits(const float *__restrict__ in, float *__restrict__ out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    __syncthreads();
    out[i] = in[0]; // hot: long_scoreboard
  }
}
extern "C" __global__ void varies(const float *__restrict__ in, float *__restrict__ out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot: long_scoreboard
}
int main() {
  scale<<<1, 32>>>(nullptr, nullptr, nullptr, 0, 0);
  aliases<<<1, 32>>>(nullptr, nullptr, 0);
  waits<<<1, 32>>>(nullptr, nullptr, 0);
  varies<<<1, 32>>>(nullptr, nullptr, 0);
}

// A loop without an invariant load gives nothing to do, which is no refusal.
// CHECK: Called for by the evidence, but not proposed
// CHECK-DAG: optimas-invariant-load-hoisting, line {{[0-9]+}}: cannot-prove-alias:
// CHECK-DAG: optimas-invariant-load-hoisting, line {{[0-9]+}}: barrier:
// CHECK: Candidates
// CHECK-NEXT: * P1 invariant load hoisting [E{{[0-9]+}}]
// CHECK-NOT: P2
// Nothing is loaded that was not: without an iteration the load is left out.
// CHECK: {{^}}-    out[i] = in[i] * factor[k];
// CHECK: {{^}}+    int i = threadIdx.x;
// CHECK-NEXT: {{^}}+    if (i < n) {
// CHECK-NEXT: {{^}}+      const float factorValue = factor[k];
// CHECK-NEXT: {{^}}+      for (; i < n; i += blockDim.x)
// CHECK-NEXT: {{^}}+        out[i] = in[i] * factorValue;
