// RUN: %optimas-rewrite %examples/stream/stream.cu --profile=%examples/stream/recorded/stream.optimas.json --hot=100 --evaluate=false --checks=-*,optimas-vectorized-access -- -std=c++17 | FileCheck %s --check-prefix=STREAM
// RUN: %python %S/../Inputs/hot-profile.py %s %t.json
// RUN: %optimas-rewrite %s --profile=%t.json --hot=100 --evaluate=false --checks=-*,optimas-vectorized-access -- -std=c++17 | FileCheck %s

// The width follows the element's size, which differs between the instantiations; alignment
// and the last elements have their own path, and the launches get fewer threads.
// STREAM: * P1 vectorized access
// STREAM: * P4 vectorized access
// STREAM: {{^}}-    c[i] = a[i];
// STREAM: {{^}}+ {{.*}}constexpr size_t width = 16 / sizeof(T);
// STREAM: {{^}}+ {{.*}}bool aligned = {{.*}} % 16 == 0;
// STREAM: {{^}}+ {{.*}}if (aligned && first + width <= n) {
// STREAM: {{^}}+ {{.*}}} else { // a misaligned array, or the last elements
// STREAM: {{^}}+ {{.*}}triad<<<

extern "C" __global__ void everyOther(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    b[i] = a[2 * i]; // hot: long_scoreboard
}
extern "C" __global__ void sometimes(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    b[i] = n > 7 ? a[i] : 0.0f; // hot: long_scoreboard
}
extern "C" __global__ void numbered(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    b[i] = a[i] + i; // hot: long_scoreboard
}
extern "C" __global__ void mixed(const float *a, double *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    b[i] = a[i]; // hot: long_scoreboard
}
extern "C" __global__ void shifted(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i < n)
    b[i] = a[i]; // hot: long_scoreboard
}
int main() {
  everyOther<<<1, 32>>>(nullptr, nullptr, 0);
  sometimes<<<1, 32>>>(nullptr, nullptr, 0);
  numbered<<<1, 32>>>(nullptr, nullptr, 0);
  mixed<<<1, 32>>>(nullptr, nullptr, 0);
  shifted<<<1, 32>>>(nullptr, nullptr, 0);
}

// CHECK: Called for by the evidence, but not proposed
// CHECK-DAG: not-stride-1
// CHECK-DAG: conditional-access
// CHECK-DAG: index-used-as-value
// CHECK-DAG: mixed-element-types
// CHECK-DAG: not-thread-index
// CHECK: Result: no edit
