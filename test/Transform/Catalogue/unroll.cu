// RUN: %python %S/../Inputs/hot-profile.py %s %t.json
// RUN: %optimas-rewrite %s --profile=%t.json --hot=100 --evaluate=false --checks=-*,optimas-unroll -- -std=c++17 | FileCheck %s

extern "C" __global__ void counting(float *out, int n) {
  float x = 0;
  for (int i = 0; i < n; ++i)
    x = x * 0.5f + i; // hot: wait
  *out = x;
}
extern "C" __global__ void fetching(float *out, int n) {
  float y = 0;
  for (int i = 0; i < n; ++i)
    y = y * 0.5f + i; // hot: no_instructions
  *out = y;
}
extern "C" __global__ void marked(float *out, int n) {
  float x = 0;
  #pragma unroll 2
  for (int i = 0; i < n; ++i)
    x = x * 0.5f + i; // hot: wait
  *out = x;
}
extern "C" __global__ void alone(float *out, int n) {
  float x = 0;
  if (n > 3)
    for (int i = 0; i < n; ++i)
      x = x * 0.5f + i; // hot: wait
  *out = x;
}
extern "C" __global__ void open(float *out, int n) {
  float x = 0;
  while (x < n)
    x = x * 0.5f + 1; // hot: branch_resolving
  *out = x;
}
extern "C" __global__ void loads(const float *in, float *out, int n) {
  float x = 0;
  for (int i = 0; i < n; ++i)
    x += in[i]; // hot: long_scoreboard
  *out = x;
}
int main() {
  counting<<<1, 32>>>(nullptr, 0);
  fetching<<<1, 32>>>(nullptr, 0);
  marked<<<1, 32>>>(nullptr, 0);
  alone<<<1, 32>>>(nullptr, 0);
  open<<<1, 32>>>(nullptr, 0);
  loads<<<1, 32>>>(nullptr, nullptr, 0);
}

// CHECK: Called for by the evidence, but not proposed
// CHECK-DAG: optimas-unroll, line 18: holds-directive:
// CHECK-DAG: optimas-unroll, line 26: not-in-block:
// CHECK-DAG: optimas-unroll, line 32: loop-shape:
// CHECK: Candidates
// CHECK-DAG: * P{{[0-9]}} unroll by 4 [E{{[0-9]+}}]
// CHECK-DAG: * P{{[0-9]}} unroll by 1 [E{{[0-9]+}}]
// CHECK-NOT: P3
// CHECK: {{^}}+  #pragma unroll 4
// CHECK-NEXT: {{^   for \(int i = 0; i < n; \+\+i\)}}
// CHECK-NEXT: {{^     x = }}
// CHECK: {{^}}+  #pragma unroll 1
// CHECK-NEXT: {{^   for \(int i = 0; i < n; \+\+i\)}}
// CHECK-NEXT: {{^     y = }}
