//===- InvariantLoadHoistingTest.cpp - Loads moved out of loops ---===//
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

static const char Hoist[] = "optimas-invariant-load-hoisting";

static const Snippet &invariants() {
  static const Snippet S(R"cu(
template <typename T>
__global__ void scale(const T *__restrict__ in, const T *factor, T *__restrict__ out, int n, int k) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i] * factor[2 * k]; // hot
}
template __global__ void scale<float>(const float *, const float *, float *, int, int);
template __global__ void scale<double>(const double *, const double *, double *, int, int);
__global__ void chained(const int *__restrict__ where, const float *__restrict__ in, float *__restrict__ out, unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    float x = in[where[0]]; // hot
    out[i] = x;
  }
}
__global__ void aliases(const float *in, const float *factor, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = factor[0]; // hot
}
__global__ void varies(const float *__restrict__ in, float *__restrict__ out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
}
__global__ void sometimes(const float *__restrict__ in, float *__restrict__ out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (i != 3)
      out[i] = in[0]; // hot
}
__constant__ float fixed[4];
__device__ const float *table = fixed; // the host may have it point to what `out` does
__global__ void throughGlobal(float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = table[0]; // hot
}
__global__ void throughLocal(float *out, int n) {
  const float *const place = fixed;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = place[0]; // hot
}
__global__ void product(const float *__restrict__ in, const float *__restrict__ f, float *__restrict__ out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i] + f[0] * f[1]; // hot
}
__global__ void parameterProduct(const float *__restrict__ f, float *__restrict__ out, int n, float a, float b) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = f[0] + a * b; // hot
}
__global__ void productInSteps(const float *__restrict__ in, const float *__restrict__ f, float *__restrict__ out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float s = in[i], p;
    p = f[0];
    p *= f[1]; // hot
    out[i] = s - p;
  }
}
__global__ void productOfBoth(const float *__restrict__ in, const float *__restrict__ f, float *__restrict__ out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i] * f[0] + f[1]; // hot
}
__global__ void waitsForOthers(const float *__restrict__ in, float *__restrict__ out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    __syncthreads();
    out[i] = in[0]; // hot
  }
}
)cu");
  return S;
}

TEST(InvariantLoadHoistingTest, LoadsOnceWhenThereIsAnIteration) {
  auto Ps = invariants().proposals("scale", Hoist);
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_EQ(invariants().text(Ps[0]),
            R"({ // optimas-invariant-load-hoisting: loaded once, when there is an iteration at all.
    int i = threadIdx.x;
    if (i < n) {
      const T factorValue = factor[2 * k];
      for (; i < n; i += blockDim.x)
        out[i] = in[i] * factorValue;
    }
  })");
  EXPECT_EQ(compileWithNvcc(invariants().apply(Ps[0])), "");
}

TEST(InvariantLoadHoistingTest, InnerLoadsFirst) {
  auto Ps = invariants().proposals("chained", Hoist);
  ASSERT_EQ(Ps.size(), 1u);
  std::string Text = invariants().text(Ps[0]);
  EXPECT_THAT(Text, HasSubstr("const int whereValue = where[0];\n      const float inValue = "
                              "in[whereValue];\n"));
  EXPECT_THAT(Text, HasSubstr("for (; i < n; ++i) {\n        float x = inValue; // hot\n"));
  EXPECT_EQ(compileWithNvcc(invariants().apply(Ps[0])), "");
}

TEST(InvariantLoadHoistingTest, DeclinesWithItsRule) {
  EXPECT_THAT(invariants().declines("aliases", Hoist),
              ElementsAre(StartsWith("cannot-prove-alias@")));
  EXPECT_THAT(invariants().declines("waitsForOthers", Hoist),
              ElementsAre(StartsWith("barrier@")));
  for (const char *Kernel : {"aliases", "varies", "sometimes", "waitsForOthers"})
    EXPECT_THAT(invariants().proposals(Kernel, Hoist), IsEmpty());
}

/// A global's initialiser is not its value at run time.
TEST(InvariantLoadHoistingTest, GlobalsMayHaveChanged) {
  EXPECT_THAT(invariants().declines("throughGlobal", Hoist),
              ElementsAre(StartsWith("cannot-prove-alias@")));
  EXPECT_THAT(invariants().proposals("throughGlobal", Hoist), IsEmpty());
  // A local pointer that is never written leads where it was made to.
  EXPECT_EQ(invariants().proposals("throughLocal", Hoist).size(), 1u);
}

/// nvcc fuses `in[i] + f[0] * f[1]` in the loop; once f's loads are out of it, the product
/// is, too, and is rounded by itself.
TEST(InvariantLoadHoistingTest, ProductsThatWouldLeaveTheLoop) {
  for (const char *Kernel : {"product", "parameterProduct", "productInSteps"}) {
    EXPECT_THAT(invariants().declines(Kernel, Hoist),
                IsEmpty()) << Kernel; // not planned at all
    EXPECT_THAT(invariants().proposals(Kernel, Hoist), IsEmpty()) << Kernel;
  }
  EXPECT_EQ(invariants().proposals("productOfBoth", Hoist).size(), 1u);
}

} // namespace optimas
