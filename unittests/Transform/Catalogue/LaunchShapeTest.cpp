//===- LaunchShapeTest.cpp - Blocks of another size ---===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CatalogueTest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace optimas {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

static const char Shape[] = "optimas-launch-shape";

static const Snippet &launches() {
  static const Snippet S(R"cu(
__global__ void plain(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i];
}
__global__ void sized(const float *a, float *c, int n) {
  __shared__ float x[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[threadIdx.x] = 0;
  if (i < n)
    c[i] = a[i] + x[threadIdx.x];
}
__global__ void __launch_bounds__(64) bounded(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i];
}
__global__ void variable(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i];
}
__global__ void uncovered(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i];
}
__global__ void odd(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i];
}
__global__ void perType(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i];
}
template <int Block> void launchIt(const float *a, float *c, int n) {
  perType<<<(n + Block - 1) / Block, Block>>>(a, c, n); // launch:perType:occupancy
}
__global__ void crowded(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i];
}
void host(const float *a, float *c, int n, int block) {
  launchIt<64>(a, c, n), launchIt<32>(a, c, n);
  odd<<<(n + 95) / 96, 96>>>(a, c, n); // launch:odd:occupancy
  const int blocks = (n - 1) / 512 + 1;
  crowded<<<blocks, 512>>>(a, c, n); // launch:crowded:tail
  plain<<<(n + 63) / 64, 64>>>(a, c, n); // launch:plain:occupancy
  sized<<<(n + 63) / 64, 64>>>(a, c, n); // launch:sized:occupancy
  bounded<<<(n + 63) / 64, 64>>>(a, c, n); // launch:bounded:occupancy
  variable<<<(n + block - 1) / block, block>>>(a, c, n); // launch:variable:tail
  uncovered<<<4, 64>>>(a, c, n); // launch:uncovered:occupancy
}
)cu");
  return S;
}

TEST(LaunchShapeTest, KeepsTheThreads) {
  auto Ps = launches().proposals("plain", Shape);
  ASSERT_EQ(Ps.size(), 2u);
  EXPECT_EQ(Ps[0].Title, "blocks of 256");
  std::string Code = launches().apply(Ps[0]);
  EXPECT_THAT(Code, HasSubstr("plain<<<(((n + 63) / 64) + 3) / 4, 256>>>(a, c, n);"));
  EXPECT_EQ(compileWithNvcc(Code), "");
  EXPECT_EQ(Ps[1].Title, "blocks of 512");
  // Fewer threads a block: as many blocks more, whatever `blocks` is for n = 0.
  Ps = launches().proposals("crowded", Shape);
  ASSERT_EQ(Ps.size(), 2u);
  Code = launches().apply(Ps[1]);
  EXPECT_THAT(Code, HasSubstr("crowded<<<blocks * 4, 128>>>(a, c, n);"));
  EXPECT_EQ(compileWithNvcc(Code), "");
}

TEST(LaunchShapeTest, DeclinesWithItsRule) {
  EXPECT_THAT(launches().declines("sized", Shape),
              ElementsAre(StartsWith("depends-on-block-size@")));
  EXPECT_THAT(launches().declines("bounded", Shape),
              ElementsAre(StartsWith("launch-bounds@")));
  EXPECT_THAT(launches().declines("variable", Shape),
              ElementsAre(StartsWith("block-not-constant@")));
  EXPECT_THAT(launches().declines("uncovered", Shape),
              ElementsAre(StartsWith("cannot-prove-coverage@")));
  EXPECT_THAT(launches().declines("odd", Shape),
              ElementsAre(StartsWith("block-not-divisible@")));
  EXPECT_THAT(launches().declines("perType", Shape),
              ElementsAre(StartsWith("block-not-constant@")));
  for (const char *Kernel :
       {"sized", "bounded", "variable", "uncovered", "odd", "perType"})
    EXPECT_THAT(launches().proposals(Kernel, Shape), IsEmpty());
}

/// With 130 registers a thread 512 threads need more than the 65,536 of an SM.
TEST(LaunchShapeTest, BlocksThatWouldNotBeLaunched) {
  Snippet S(R"cu(
__global__ void plain(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i];
}
void host(const float *a, float *c, int n) {
  plain<<<(n + 63) / 64, 64>>>(a, c, n); // launch:plain:occupancy
}
)cu");
  for (KernelDiagnosis &K : S.diagnosis().Kernels)
    K.Registers = 130;
  auto Ps = S.proposals("plain", Shape);
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_EQ(Ps[0].Title, "blocks of 256");
  EXPECT_THAT(S.declines("plain", Shape), ElementsAre(StartsWith("too-many-registers@")));
}

} // namespace optimas
