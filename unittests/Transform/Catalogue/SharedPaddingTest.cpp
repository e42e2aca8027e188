//===- SharedPaddingTest.cpp - Padding of shared arrays -------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CatalogueTest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace optimas {
using testing::HasSubstr;
using testing::IsEmpty;

static const char Padding[] = "optimas-shared-padding";

static const Snippet &tiles() {
  static const Snippet S(R"cu(
constexpr int kTile = 32;
#define ROWS 8
__global__ void transposes(const float *in, float *out, int n) {
  __shared__ float tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += ROWS)
    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  for (int j = 0; j < kTile; j += ROWS)
    out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j]; // hot:short_scoreboard
}
template <typename T, int N> __global__ void generic(T *out) {
  __shared__ T cube[2][N][1 << 4];
  int t = threadIdx.x % 16u;
  cube[0][t][threadIdx.y & 15] = T(t);
  __syncthreads();
  out[threadIdx.x] = cube[0][t][threadIdx.y & 15]; // hot:mio_throttle
}
__global__ void loose(float *out, int column) {
  __shared__ float tile[kTile][kTile];
  tile[threadIdx.x][column] = 1; // hot:short_scoreboard
  __syncthreads();
  out[threadIdx.x] = tile[0][0];
}
__global__ void tooLarge(float *out) {
  __shared__ float tile[kTile][kTile];
  tile[threadIdx.x][threadIdx.y] = 1; // hot:short_scoreboard
  out[threadIdx.x] = tile[0][0];
}
__global__ void escapes(float *out) {
  __shared__ float tile[kTile][kTile];
  float *flat = &tile[0][0];
  tile[threadIdx.x][threadIdx.y] = 1; // hot:short_scoreboard
  out[threadIdx.x] = flat[3];
}
__global__ void rowEscapes(float *out) {
  __shared__ float tile[kTile][kTile];
  float *row = tile[1];
  tile[threadIdx.x][threadIdx.y] = 1; // hot:short_scoreboard
  out[threadIdx.x] = row[3];
}
__global__ void sized(float *out) {
  __shared__ float tile[kTile][kTile];
  tile[threadIdx.x][threadIdx.y] = sizeof(tile); // hot:short_scoreboard
  out[threadIdx.x] = tile[0][0];
}
__global__ void odd(float *out) {
  __shared__ float tile[kTile][33];
  tile[threadIdx.x][threadIdx.y] = 1; // hot:short_scoreboard
  out[threadIdx.x] = tile[0][0];
}
__global__ void rowsOnly(float *out) {
  __shared__ float tile[kTile][kTile];
  tile[threadIdx.y][threadIdx.x] = 1; // hot:short_scoreboard
  out[threadIdx.x] = tile[0][0];
}
__global__ void full(float *out) {
  __shared__ float tile[kTile][kTile];
  __shared__ float rest[11240];
  rest[threadIdx.x] = 0;
  tile[threadIdx.x][threadIdx.y] = 1; // hot:short_scoreboard
  out[threadIdx.x] = tile[0][0] + rest[0];
}
__global__ void together(float *out) {
  __shared__ float tile[kTile][kTile], other[2];
  tile[threadIdx.x][threadIdx.y] = 1; // hot:short_scoreboard
  out[threadIdx.x] = tile[0][0] + other[0];
}
__global__ void dynamicToo(float *out) {
  __shared__ float tile[kTile][kTile];
  tile[threadIdx.x][threadIdx.y] = 1; // hot:short_scoreboard
  out[threadIdx.x] = tile[0][0];
}
__global__ void byAddress(float *out) {
  __shared__ float tile[kTile][kTile];
  tile[threadIdx.x][threadIdx.y] = 1; // hot:short_scoreboard
  out[threadIdx.x] = tile[0][0];
}
__global__ void waitsForGlobal(const float *in, float *out) {
  __shared__ float tile[kTile][kTile];
  tile[threadIdx.x][threadIdx.y] = in[0]; // hot:long_scoreboard
  out[threadIdx.x] = tile[0][0];
}
void host(const float *in, float *p, int bytes) {
  const dim3 block(kTile, ROWS);
  transposes<<<dim3(4, 4), block>>>(in, p, 128);
  dim3 square(kTile, kTile), wide(kTile * 2, kTile * 2);
  generic<double, 16><<<1, dim3(kTile, 16)>>>((double *)p);
  generic<float, 32><<<1, 64>>>(p);
  loose<<<1, square>>>(p, 3);
  tooLarge<<<1, wide>>>(p);
  escapes<<<1, square>>>(p);
  rowEscapes<<<1, square>>>(p);
  sized<<<1, square>>>(p);
  odd<<<1, square>>>(p);
  rowsOnly<<<1, square>>>(p);
  full<<<1, square>>>(p);
  together<<<1, square>>>(p);
  dynamicToo<<<1, square, bytes>>>(p);
  byAddress<<<1, square>>>(p);
  void *args[] = {&p};
  cudaLaunchKernel((const void *)byAddress, dim3(1), wide, args, 0, 0);
  waitsForGlobal<<<1, square>>>(in, p);
}
)cu");
  return S;
}

TEST(SharedPaddingTest, AddsAColumn) {
  auto Ps = tiles().proposals("transposes", Padding);
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_EQ(Ps[0].Title, "shared padding of tile");
  std::string Code = tiles().apply(Ps[0]);
  EXPECT_THAT(Code, HasSubstr(R"(
__global__ void transposes(const float *in, float *out, int n) {
  // optimas-shared-padding: one more column, so that a column's elements lie in different banks.
  __shared__ float tile[kTile][kTile + 1];
)"));
  EXPECT_EQ(compileWithNvcc(Code), "");
}

TEST(SharedPaddingTest, PadsTheLastExtentForEveryInstantiation) {
  auto Ps = tiles().proposals("generic", Padding);
  ASSERT_EQ(Ps.size(), 1u);
  std::string Code = tiles().apply(Ps[0]);
  EXPECT_THAT(Code, HasSubstr("__shared__ T cube[2][N][(1 << 4) + 1];"));
  EXPECT_EQ(compileWithNvcc(Code), "");
}

TEST(SharedPaddingTest, OnlyForStallsOfSharedMemory) {
  EXPECT_THAT(tiles().proposals("waitsForGlobal", Padding), IsEmpty());
  EXPECT_THAT(tiles().declines("waitsForGlobal", Padding), IsEmpty());
}

struct PaddingRefused {
  const char *Kernel, *Rule;
};
class PaddingDeclines : public testing::TestWithParam<PaddingRefused> {};

TEST_P(PaddingDeclines, WithItsRule) {
  EXPECT_THAT(tiles().proposals(GetParam().Kernel, Padding), IsEmpty());
  auto Rules = tiles().declines(GetParam().Kernel, Padding);
  ASSERT_EQ(Rules.size(), 1u);
  EXPECT_THAT(Rules[0], testing::StartsWith(std::string(GetParam().Rule) + "@"));
}

INSTANTIATE_TEST_SUITE_P(
    All, PaddingDeclines,
    testing::Values(PaddingRefused{"loose", "cannot-prove-index-in-row"},
                    PaddingRefused{"tooLarge", "cannot-prove-index-in-row"},
                    PaddingRefused{"byAddress", "cannot-prove-index-in-row"},
                    PaddingRefused{"escapes", "pointer-escapes"},
                    PaddingRefused{"rowEscapes", "pointer-escapes"},
                    PaddingRefused{"sized", "pointer-escapes"},
                    PaddingRefused{"odd", "no-conflict-expected"},
                    PaddingRefused{"rowsOnly", "no-column-access"},
                    PaddingRefused{"full", "shared-memory-full"},
                    PaddingRefused{"together", "several-declared"},
                    PaddingRefused{"dynamicToo", "cannot-prove-shared-fits"}),
    [](const auto &Info) { return std::string(Info.param.Kernel); });

} // namespace optimas
