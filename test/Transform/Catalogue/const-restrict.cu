// RUN: %python %S/../Inputs/hot-profile.py %s %t.json
// RUN: %optimas-rewrite %s --profile=%t.json --hot=100 --evaluate=false --checks=-*,optimas-const-restrict -- -std=c++17 | FileCheck %s

extern "C" __global__ void scale(float *in, const float *factor, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i] * factor[0]; // hot: long_scoreboard
}
extern "C" __global__ void inPlace(const float *from, float *to, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    to[i] = from[i]; // hot: long_scoreboard
}
extern "C" __global__ void handed(const float *given, float *made, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    made[i] = given[i]; // hot: long_scoreboard
}
extern "C" __global__ void declared(const float *a, float *b, int n);
extern "C" __global__ void declared(const float *a, float *b, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    b[i] = a[i]; // hot: long_scoreboard
}
extern "C" __global__ void marked(const float *__restrict__ x, float *__restrict__ y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = x[i]; // hot: long_scoreboard
}
void run(const float *other, int n) {
  float *a, *b, *c;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMalloc(&c, n * sizeof(float));
  scale<<<1, 32>>>(a, b, c, n);
  inPlace<<<1, 32>>>(a, a, n);
  handed<<<1, 32>>>(other, b, n);
  declared<<<1, 32>>>(a, b, n);
  marked<<<1, 32>>>(a, b, n);
}
int main() { run(nullptr, 0); }

// A loop whose pointers are all marked gives nothing to do, which is no refusal.
// CHECK: Called for by the evidence, but not proposed
// CHECK-NOT: line 22:
// CHECK-DAG: optimas-const-restrict, line 8: cannot-prove-alias: {{.*}}`to`
// CHECK-DAG: optimas-const-restrict, line 12: cannot-prove-alias: {{.*}}`made`
// CHECK-DAG: optimas-const-restrict, line 16: has-redeclarations:
// CHECK-NOT: line 22:
// CHECK: Candidates
// CHECK-NEXT: * P1 const __restrict__ [E{{[0-9]+}}]
// CHECK-NOT: P2
// CHECK: {{^}}-extern "C" __global__ void scale(float *in, const float *factor, float *out, int n) {
// CHECK-NEXT: {{^}}+extern "C" __global__ void scale(const float *__restrict__ in, const float *__restrict__ factor, float *__restrict__ out, int n) {
// CHECK-NOT: {{^[-+].*(inPlace|handed|declared|marked)}}
