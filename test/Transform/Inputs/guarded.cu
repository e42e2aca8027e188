// A kernel for every rule of the guard: functions named hot… have samples (see profile.py),
// the others have none.
#define SQUARE(x) ((x) * (x))
#define STORE(p, i, v) p[i] = (v)

constexpr int kBlock = 128;
__device__ int counter;
__device__ float table[16];

__device__ float helper(float x) { return x * 2.0f; }
__device__ float stranger(float x) { return x + 1.0f; }

__global__ void hotCopy(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + 1.0f;
  if (n > 4)
    out[8] = 8.0f;
  else
    out[9] = 9.0f;
  STORE(out, i, 3.0f);
}

__global__ void cold(float *out) {
  out[7] = 7.0f;
}

__global__ void hotLoop(const float *in, float *out, double *sums, int n) {
  double total = 0.0;
  float last = 0.0f;
  for (int k = threadIdx.x; k < n; k += kBlock) {
    total += in[k] * 0.5;
    last = helper(in[k]);
  }
  out[threadIdx.x] = last;
  sums[threadIdx.x] = total;
}

__global__ void hotTile(const float *in, float *out, volatile int *flags, long long stride) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * stride + threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
  if (flags[0])
    atomicAdd(&counter, 1);
  out[4] = in[4] * 0.5f;
#if 0
  out[0] = 1.0f;
#endif
  out[6] = in[6] * 0.25f;
  while (out[2] > 1.0f) {
    if (out[3] > 2.0f)
      break;
    out[2] = out[2] - 1.0f;
  }
  asm volatile("membar.gl;");
  out[5] = expf(in[5]);
  out[11] = 11.0f; // the lightest tenth of a kernel's samples gives no evidence
}

int main() {
  float *p = nullptr;
  double *d = nullptr;
  int grid = 4;
  hotCopy<<<grid, kBlock>>>(p, p, 1);
  hotLoop<<<(grid + 3) / 4, kBlock>>>(p, p, d, 3);
  hotTile<<<1, dim3(32, 32)>>>(p, p, nullptr, 1);
}
