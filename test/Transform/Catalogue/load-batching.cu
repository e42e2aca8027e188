// RUN: %optimas-rewrite %examples/topk/topk.cu --profile=%examples/topk/recorded/topk.optimas.json --evaluate=false --checks=-*,optimas-load-batching -- -std=c++17 | FileCheck %s --check-prefix=TOPK
// RUN: %python %S/../Inputs/hot-profile.py %s %t.json
// RUN: %optimas-rewrite %s --profile=%t.json --hot=100 --evaluate=false --checks=-*,optimas-load-batching -- -std=c++17 | FileCheck %s

// Several batch sizes are proposed; the loads stand before the work, which keeps its order.
// TOPK-DAG: load batching by 16 [E1]
// TOPK-DAG: load batching by 8 [E1]
// TOPK-DAG: load batching by 4 [E1]
// TOPK: {{^}}-    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
// TOPK: {{^}}+ {{.*}}= scores[row * cols + item];
// TOPK: {{^}}+ {{.*}}if (score > labelScore || (score == labelScore && item <= label))
// TOPK: Why each edit
// TOPK-NEXT: optimas-load-batching: {{.*}}line 40

extern "C" __global__ void plain(const float *__restrict__ in, float *out, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += in[i]; // hot: long_scoreboard
  out[threadIdx.x] = sum;
}
extern "C" __global__ void leaves(const float *__restrict__ in, float *out, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float v = in[i]; // hot: long_scoreboard
    if (v < 0)
      break;
    sum += v;
  }
  out[threadIdx.x] = sum;
}
extern "C" __global__ void aliases(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i] * 2; // hot: long_scoreboard
}
extern "C" __global__ void waits(const float *__restrict__ in, float *out, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    sum += in[i]; // hot: long_scoreboard
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
int main() {
  plain<<<1, 32>>>(nullptr, nullptr, 0);
  leaves<<<1, 32>>>(nullptr, nullptr, 0);
  aliases<<<1, 32>>>(nullptr, nullptr, 0);
  waits<<<1, 32>>>(nullptr, nullptr, 0);
}

// CHECK: Called for by the evidence, but not proposed
// CHECK-DAG: optimas-load-batching, line 26: early-exit:
// CHECK-DAG: optimas-load-batching, line 33: cannot-prove-alias:
// CHECK-DAG: optimas-load-batching, line 39: barrier:
// CHECK: Candidates
// CHECK-DAG: P1 load batching by 16
// CHECK-DAG: P3 load batching by 4
// CHECK: {{^}}-    sum += in[i];
// CHECK: {{^}}+    constexpr int batch = 16;
// CHECK: {{^}}+ {{.*}}inBatch[slot] = in[item];
// CHECK: {{^}}+ {{.*}}sum += inBatch[slot];
// CHECK: The iterations that do not fill a batch.
