// RUN: %optimas-rewrite %examples/transpose/transpose.cu --profile=%examples/transpose/recorded/transpose.optimas.json --hot=100 --evaluate=false --checks=-*,optimas-shared-padding -- -std=c++17 | FileCheck %s --check-prefix=TRANSPOSE
// RUN: %python %S/../Inputs/hot-profile.py %s %t.json
// RUN: %optimas-rewrite %s --profile=%t.json --hot=100 --evaluate=false --checks=-*,optimas-shared-padding -- -std=c++17 | FileCheck %s

// TRANSPOSE: {{^}}-  __shared__ float tile[kTile][kTile];
// TRANSPOSE-NEXT: {{^}}+  // optimas-shared-padding:
// TRANSPOSE-NEXT: {{^}}+  __shared__ float tile[kTile][kTile + 1];

extern "C" __global__ void columns(const float *in, float *out) {
  __shared__ float board[32][32];
  board[threadIdx.y % 32u][threadIdx.x % 32u] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = board[threadIdx.x % 32u][threadIdx.y % 32u]; // hot: short_scoreboard
}
extern "C" __global__ void oddRows(const float *in, float *out) {
  __shared__ float odd[32][33];
  odd[threadIdx.y % 32u][threadIdx.x % 32u] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = odd[threadIdx.x % 32u][threadIdx.y % 32u]; // hot: short_scoreboard
}
extern "C" __global__ void rowsOnly(const float *in, float *out) {
  __shared__ float straight[32][32];
  straight[threadIdx.y % 32u][threadIdx.x % 32u] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = straight[threadIdx.y % 32u][threadIdx.x % 32u]; // hot: short_scoreboard
}
extern "C" __global__ void escapes(const float *in, float *out) {
  __shared__ float flat[32][32];
  const float *p = &flat[0][0];
  flat[threadIdx.y % 32u][threadIdx.x % 32u] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = flat[threadIdx.x % 32u][threadIdx.y % 32u] + p[33]; // hot: short_scoreboard
}
extern "C" __global__ void wanders(const float *in, float *out, int column) {
  __shared__ float open[32][32];
  open[threadIdx.y % 32u][column] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = open[threadIdx.x % 32u][threadIdx.y % 32u]; // hot: short_scoreboard
}
int main() {
  dim3 block(32, 8);
  columns<<<1, block>>>(nullptr, nullptr);
  oddRows<<<1, block>>>(nullptr, nullptr);
  rowsOnly<<<1, block>>>(nullptr, nullptr);
  escapes<<<1, block>>>(nullptr, nullptr);
  wanders<<<1, block>>>(nullptr, nullptr, 3);
}

// CHECK: Called for by the evidence, but not proposed
// CHECK-DAG: optimas-shared-padding, line {{[0-9]+}}: no-conflict-expected: the rows of `odd` have
// CHECK-DAG: no-column-access: {{.*}}`straight`
// CHECK-DAG: pointer-escapes: {{.*}}`flat`
// CHECK-DAG: cannot-prove-index-in-row: {{.*}}`open`
// CHECK: Candidates
// CHECK: {{^}}-  __shared__ float board[32][32];
// CHECK-NEXT: {{^}}+  // optimas-shared-padding:
// CHECK-NEXT: {{^}}+  __shared__ float board[32][32 + 1];
// CHECK-NOT: {{^[-+] .*(odd|straight|flat|open)}}
