// The shapes of kernel that the catalogue rewrites, launched over many sizes and
// misalignments. Lines that a profile would find hot are marked for the test.
#include <cstdio>
#include <cstdlib>

constexpr int kBlock = 32;
constexpr int kDotBlocks = 3;
constexpr int kTile = 8;

template <typename T> __global__ void copy(const T *a, T *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i]; // hot
}

template <typename T> __global__ void triad(T *a, const T *b, const T *c, T s, int n) {
  const int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  if (i >= n)
    return;
  T x = b[i] + s * c[i];
  a[i] += x; // hot
}

template <typename T> __global__ void dot(const T *a, const T *b, T *partial, int n) {
  __shared__ T sums[kBlock];
  int t = threadIdx.x;
  sums[t] = T(0);
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)
    sums[t] += a[i] * b[i]; // hot
  for (int offset = blockDim.x / 2; offset > 0; offset /= 2) {
    __syncthreads();
    if (t < offset)
      sums[t] += sums[t + offset];
  }
  if (t == 0)
    partial[blockIdx.x] = sums[0];
}

template <typename T>
__global__ void gather(const T *in, const T *scale, T *__restrict__ out, unsigned n) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    T x = in[n - 1 - i] * scale[0]; // hot
    if (x > T(3))
      x = x - T(i);
    out[i] = x;
  }
}

template <typename T> __global__ void transpose(const T *in, T *out, int width, int height) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < width && y < height)
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < height && y < width)
    out[y * height + x] = tile[threadIdx.x][threadIdx.y]; // hot:short_scoreboard
}

template <typename T> void run(const char *name, int n, int skip) {
  T *a, *b, *c, *partial;
  // Exactly what is needed, so that a read or write past the end is seen.
  cudaMalloc(&a, (n + skip) * sizeof(T));
  cudaMalloc(&b, (n + skip) * sizeof(T));
  cudaMalloc(&c, (n + skip) * sizeof(T));
  cudaMalloc(&partial, kDotBlocks * sizeof(T));
  T *host = new T[n + skip];
  for (int i = 0; i < n + skip; ++i)
    host[i] = T(i % 97) / T(64) + T(1) / T(8);
  cudaMemcpy(a, host, (n + skip) * sizeof(T), cudaMemcpyHostToDevice);
  cudaMemcpy(b, host, (n + skip) * sizeof(T), cudaMemcpyHostToDevice);
  int grid = (n + kBlock - 1) / kBlock;
  copy<<<grid, kBlock>>>(a + skip, c + skip, n);
  triad<<<grid, kBlock>>>(b, a + skip, c + skip, T(3), n);
  dot<<<kDotBlocks, kBlock>>>(a + skip, b + skip, partial, n);
  gather<<<1, kBlock>>>(a + skip, b, c, n);
  dim3 block(kTile, kTile);
  int width = n > 9 ? 9 : n, height = n / width;
  dim3 tiles((width + kTile - 1) / kTile, (height + kTile - 1) / kTile);
  transpose<<<tiles, block>>>(a + skip, c, width, height);
  cudaMemcpy(host, c, n * sizeof(T), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += double(host[i]);
  std::printf("%s %d %d %.17g\n", name, n, skip, sum);
  delete[] host;
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  cudaFree(partial);
}

int main() {
  for (int n : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 65, 127, 200, 511, 1537, 1539})
    for (int skip : {0, 1, 2, 3, 4}) {
      run<float>("float", n, skip);
      run<double>("double", n, skip);
      run<unsigned char>("byte", n, skip);
    }
}
