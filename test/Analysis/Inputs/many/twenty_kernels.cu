// Twenty kernels and no header: what a source costs that is all our own text.

__global__ void scale(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] * 2.0f;
  }
}

__global__ void shift(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] + 1.0f;
  }
}

__global__ void square(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] * x[i];
  }
}

__global__ void negate(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = -x[i];
  }
}

__global__ void addTo(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] += x[i];
  }
}

__global__ void maxOf(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] > y[i] ? x[i] : y[i];
  }
}

__global__ void clampOf(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = x[i];
    v = v < 0 ? 0 : v;
    y[i] = v > 1 ? 1 : v;
  }
}

__global__ void reverse(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[n - 1 - i];
  }
}

__global__ void stencil(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (i > 0 && i < n - 1)
      y[i] = 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1];
  }
}

__global__ void interleave(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[(i & 1) ? i / 2 + n / 2 : i / 2];
  }
}

__global__ void rowSum(float *y, const float *x, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0;
    for (int c = 0; c < columns; ++c)
      sum += x[row * columns + c];
    y[row] = sum;
  }
}

__global__ void rowMax(float *y, const float *x, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float best = x[row * columns];
    for (int c = 1; c < columns; ++c)
      best = x[row * columns + c] > best ? x[row * columns + c] : best;
    y[row] = best;
  }
}

__global__ void rowCount(float *y, const float *x, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    int count = 0;
    for (int c = 0; c < columns; ++c)
      if (x[row * columns + c] > 0.5f)
        ++count;
    y[row] = count;
  }
}

__global__ void rowScale(float *y, const float *x, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    for (int c = 0; c < columns; ++c)
      y[row * columns + c] = x[row * columns + c] * 0.5f;
  }
}

__global__ void rowDot(float *y, const float *x, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0;
    for (int c = 0; c < columns; ++c)
      sum += x[row * columns + c] * y[c];
    y[rows * columns - 1 - row] = sum;
  }
}

__global__ void columnSum(float *y, const float *x, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0;
    for (int c = 0; c < columns; ++c)
      sum += x[c * rows + row];
    y[row] = sum;
  }
}

__global__ void rowAccumulate(float *y, const float *x, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    for (int c = 0; c < columns; ++c)
      y[row] += x[row * columns + c];
  }
}

__global__ void rowPolynomial(float *y, const float *x, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float value = 0;
    for (int c = 0; c < columns; ++c)
      value = value * x[row] + 0.5f;
    y[row] = value;
  }
}

__global__ void tileCopy(float *y, const float *x, int n) {
  __shared__ float tile[32][32];
  int column = blockIdx.x * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += 8)
    if (column < n && blockIdx.y * 32 + r < n)
      tile[r][threadIdx.x] = x[(blockIdx.y * 32 + r) * n + column];
  __syncthreads();
  int other = blockIdx.y * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += 8)
    if (other < n && blockIdx.x * 32 + r < n)
      y[(blockIdx.x * 32 + r) * n + other] = tile[threadIdx.x][r];
}

__global__ void blockSum(float *y, const float *x, int n) {
  __shared__ float slots[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  slots[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half)
      slots[threadIdx.x] += slots[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    y[blockIdx.x] = slots[0];
}

int main() {
  const int n = 1 << 24, rows = 1 << 14, columns = n / rows;
  float *x = nullptr, *y = nullptr;
  if (cudaMalloc(&x, n * sizeof(float)) || cudaMalloc(&y, n * sizeof(float)))
    return 1;
  cudaMemset(x, 0x3e, n * sizeof(float));
  cudaMemset(y, 0, n * sizeof(float));
  for (int round = 0; round < 200; ++round) {
    scale<<<n / 256, 256>>>(y, x, n);
    shift<<<n / 256, 256>>>(y, x, n);
    square<<<n / 256, 256>>>(y, x, n);
    negate<<<n / 256, 256>>>(y, x, n);
    addTo<<<n / 256, 256>>>(y, x, n);
    maxOf<<<n / 256, 256>>>(y, x, n);
    clampOf<<<n / 256, 256>>>(y, x, n);
    reverse<<<n / 256, 256>>>(y, x, n);
    stencil<<<n / 256, 256>>>(y, x, n);
    interleave<<<n / 256, 256>>>(y, x, n);
    rowSum<<<rows / 256, 256>>>(y, x, rows, columns);
    rowMax<<<rows / 256, 256>>>(y, x, rows, columns);
    rowCount<<<rows / 256, 256>>>(y, x, rows, columns);
    rowScale<<<rows / 256, 256>>>(y, x, rows, columns);
    rowDot<<<rows / 256, 256>>>(y, x, rows, columns);
    columnSum<<<rows / 256, 256>>>(y, x, rows, columns);
    rowAccumulate<<<rows / 256, 256>>>(y, x, rows, columns);
    rowPolynomial<<<rows / 256, 256>>>(y, x, rows, columns);
    tileCopy<<<dim3(128, 128), dim3(32, 8)>>>(y, x, 4096);
    blockSum<<<n / 256, 256>>>(y, x, n);
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
