// RUN: %optimas-rewrite %examples/stream/stream.cu --profile=%examples/stream/recorded/stream.optimas.json --profile=%examples/stream/recorded/raw.csv --hot=100 --evaluate=false --checks=-*,optimas-streaming-hints -- -std=c++17 | FileCheck %s --check-prefix=STREAM
// RUN: %optimas-rewrite %examples/stream/stream.cu --profile=%examples/stream/recorded/stream.optimas.json --hot=100 --evaluate=false --checks=-*,optimas-streaming-hints -- -std=c++17 | FileCheck %s --check-prefix=STALLS
// RUN: %python %S/../Inputs/hot-profile.py %s %t.json
// RUN: %optimas-rewrite %s --profile=%t.json --hot=100 --evaluate=false --checks=-*,optimas-streaming-hints -- -std=c++17 | FileCheck %s

// Only the counters say what the kernels are bound by; stalls alone call for nothing here.
// STREAM: * P4 streaming hints [
// STREAM-NOT: P5
// STREAM: {{^}}+    __stcs(&c[i], __ldcs(&a[i]));
// STREAM: {{^}}+    __stcs(&a[i], __ldcs(&b[i]) + s * __ldcs(&c[i]));
// STALLS-NOT: streaming hints
// STALLS-NOT: optimas-streaming-hints
// STALLS: Result: no edit

extern "C" __global__ void add(const float *a, const float *b, float *c, int n) { // dram: 80
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = a[i]; // hot: long_scoreboard
    c[i] = x + b[i]; // hot: long_scoreboard
  }
}
extern "C" __global__ void compound(const float *a, float *c, int n) { // dram: 80
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] += a[i]; // hot: long_scoreboard
}
extern "C" __global__ void flags(const bool *a, bool *c, int n) { // dram: 80
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = !a[i]; // hot: long_scoreboard
}
extern "C" __global__ void reused(const float *a, float *c, int n) { // dram: 80
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i / 2]; // hot: long_scoreboard
}
int main() {
  add<<<1, 32>>>(nullptr, nullptr, nullptr, 0);
  compound<<<1, 32>>>(nullptr, nullptr, 0);
  flags<<<1, 32>>>(nullptr, nullptr, 0);
  reused<<<1, 32>>>(nullptr, nullptr, 0);
}

// CHECK: roofline dram
// CHECK: Called for by the evidence, but not proposed
// CHECK-DAG: compound-assignment:
// CHECK-DAG: unsupported-element-type:
// CHECK-DAG: not-stride-1:
// CHECK: Candidates
// CHECK-NEXT: * P1 streaming hints [
// CHECK-NOT: P2
// CHECK: {{^}}-    float x = a[i];
// CHECK: {{^}}+    float x = __ldcs(&a[i]);
// CHECK: {{^}}+    __stcs(&c[i], x + __ldcs(&b[i]));
