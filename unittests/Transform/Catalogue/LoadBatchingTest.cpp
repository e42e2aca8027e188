//===- LoadBatchingTest.cpp - Batches and accumulators in loops -----------===//
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
using testing::Not;

static const char Batching[] = "optimas-load-batching";
static const char Accumulating[] = "optimas-register-accumulator";

/// Parsing CUDA's headers costs a second, so the kernels share one unit.
static const Snippet &loops() {
  static const Snippet S(R"cu(
constexpr int kBlock = 128;
__device__ int helper(int x) { return x + (int)clock(); }

__global__ void sum(const float *in, float *out, int n) {
  float total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    // The user's comment stays.
    float x = in[i];
    if (x > 0)
      total += x * i;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = total; // cold
}
template <typename T> __global__ void gather(const T *in, const int *index, T *out, unsigned n) {
  T total = 0;
  for (unsigned i = threadIdx.x; n > i; i = i + blockDim.x)
    total += in[index[i]] * in[index[i]]; // hot
  out[threadIdx.x] = total;
}
template __global__ void gather<float>(const float *, const int *, float *, unsigned);
template __global__ void gather<double>(const double *, const int *, double *, unsigned);

__global__ void wide(const int *__restrict__ in, int *__restrict__ out, size_t n, size_t step) {
  int batch = 0, stride = 0;
  for (size_t i = threadIdx.x; i < n; i += step)
    out[i] = __ldg(&in[i]) + batch + stride; // hot
}
__global__ void mixed(const int *in, int *out, unsigned n) {
  int s = 0;
  for (unsigned i = threadIdx.x; i < (int)n; ++i)
    s += in[i]; // hot
  *out = s;
}
__global__ void storesMayAlias(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
}
__global__ void barrier(const float *in, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    s += in[i]; // hot
    __syncthreads();
  }
  *out = s;
}
__global__ void atomicInLoop(const int *in, int *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    atomicAdd(out, in[i]); // hot
}
__global__ void leaves(const float *in, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (in[i] < 0) // hot
      break;
    s += in[i];
  }
  *out = s;
}
__global__ void smooths(const float *in, float *out, int n, float d) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    s = (s + in[i]) * d; // hot
  *out = s;
}
__global__ void isVolatile(const volatile float *in, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    s += in[i]; // hot
  *out = s;
}
__global__ void calls(const int *in, int *out, int n) {
  int s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    s += helper(in[i]); // hot
  *out = s;
}
__global__ void conditionalLoad(const float *in, const int *take, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (i != 7)
      s += in[i]; // hot
  *out = s;
}
__global__ void whileLoop(const float *in, float *out, int n) {
  float s = 0;
  int i = threadIdx.x;
  while (i < n) {
    s += in[i]; // hot
    i += blockDim.x;
  }
  *out = s;
}
__global__ void outlives(const float *in, float *out, int n) {
  float s = 0;
  int i = threadIdx.x;
  for (; i < n; i += blockDim.x)
    s += in[i]; // hot
  *out = s + i;
}
__global__ void writesVariable(const float *in, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    s += in[i]; // hot
    if (s > 1)
      ++i;
  }
  *out = s;
}
__global__ void movingBound(const float *in, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    s += in[i]; // hot
    --n;
  }
  *out = s;
}
__global__ void signedToUnsigned(const float *in, float *out, size_t n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    s += in[i]; // hot
  *out = s;
}
__global__ void negativeUnsigned(const float *in, float *out, unsigned n, int step) {
  float s = 0;
  for (unsigned i = threadIdx.x; i < n; i += step)
    s += in[i]; // hot
  *out = s;
}
__global__ void signedStep(const float *in, float *out, int n, int step) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += step)
    s += in[i]; // hot
  *out = s;
}
__global__ void wideStep(const float *in, float *out, int n, size_t step) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += step)
    s += in[i]; // hot
  *out = s;
}
#define LOOP(n) for (int i = threadIdx.x; i < n; i += blockDim.x)
__global__ void fromMacro(const float *in, float *out, int n) {
  float s = 0;
  LOOP(n)
    s += in[i]; // hot
  *out = s;
}
#define SQUARE(x) ((x) * (x))
#define COUNT 1000
#define STEP (2 * kBlock)
__global__ void macroBounds(const float *in, float *out) {
  float s = 0;
  for (int i = threadIdx.x; i < COUNT; i += STEP)
    s += in[i]; // hot
  *out = s;
}
__global__ void macroArgument(const float *in, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    s += SQUARE(in[i]); // hot
  *out = s;
}
__global__ void nested(const float *in, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float x = in[i]; // hot
    for (int j = 0; j < 3; ++j)
      s += x * j;
  }
  *out = s;
}
__global__ void quiet(const float *in, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    s += in[i];
  *out = s;
}

// Accumulators.
__global__ void inShared(const float *a, const float *b, float *out, int n) {
  __shared__ float sums[kBlock];
  int t = threadIdx.x;
  sums[t] = 0;
  for (int i = t; i < n; i += blockDim.x)
    sums[t] = sums[t] + a[i] * b[i]; // hot
  out[t] = sums[t];
}
__global__ void neighbour(const float *a, float *out, int n) {
  __shared__ float sums[kBlock + 1];
  int t = threadIdx.x;
  sums[t] = 0;
  for (int i = t; i < n; i += blockDim.x)
    sums[t] += a[i] + sums[t + 1]; // hot
  out[t] = sums[t];
}
__global__ void notAssigned(const float *a, float *out, int n) {
  __shared__ float sums[kBlock];
  int t = threadIdx.x;
  for (int i = t; i < n; i += blockDim.x)
    sums[t] += a[i]; // hot
  out[t] = sums[t];
}
__global__ void movingElement(const float *a, float *out, int n) {
  __shared__ float sums[kBlock];
  sums[threadIdx.x] = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sums[i % kBlock] += a[i]; // hot
  out[threadIdx.x] = sums[threadIdx.x];
}
__global__ void globalSum(const float *a, float *out, int n) {
  out[threadIdx.x] = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[threadIdx.x] += a[i]; // hot
}
__global__ void restrictSum(const float *__restrict__ a, float *__restrict__ out, int n) {
  out[threadIdx.x] = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[threadIdx.x] += a[i]; // hot
}
void host(const float *a, float *out) { inShared<<<1, kBlock>>>(a, a, out, 3); }
)cu");
  return S;
}

static std::vector<std::string> titles(const std::vector<Proposal> &Ps) {
  std::vector<std::string> Out;
  for (const Proposal &P : Ps)
    Out.push_back(P.Title);
  return Out;
}

static const Proposal &named(const std::vector<Proposal> &Ps, llvm::StringRef Title) {
  for (const Proposal &P : Ps)
    if (P.Title == Title)
      return P;
  ADD_FAILURE() << "no proposal " << Title.str();
  static const Proposal None;
  return None;
}

TEST(LoadBatchingTest, NothingWithoutEvidence) {
  EXPECT_THAT(loops().proposals("sum", "*"), IsEmpty());
  EXPECT_THAT(loops().proposals("quiet", "*"), IsEmpty());
  EXPECT_THAT(loops().declines("quiet", "*"), IsEmpty());
}

TEST(LoadBatchingTest, LoadsFirstInnerBeforeOuterOncePerText) {
  auto Ps = loops().proposals("gather", Batching);
  ASSERT_THAT(titles(Ps), ElementsAre("load batching by 16", "load batching by 8",
                                      "load batching by 4"));
  EXPECT_EQ(Ps[0].Edits[0].Factor, 16u);
  EXPECT_EQ(Ps[2].Edits[0].Factor, 4u);
  EXPECT_EQ(loops().text(Ps[2]),
            R"({ // optimas-load-batching: the loads of 4 iterations, then their work in order.
    unsigned i = threadIdx.x;
    constexpr int batch = 4;
    const unsigned stride = blockDim.x;
    const long long span = stride;
    for (; i + (batch - 1) * span < n; i += batch * stride) {
      int indexBatch[batch];
      T inBatch[batch];
      #pragma unroll
      for (int slot = 0; slot < batch; ++slot) {
        const unsigned int item = i + slot * stride;
        indexBatch[slot] = index[item];
        inBatch[slot] = in[indexBatch[slot]];
      }
      #pragma unroll
      for (int slot = 0; slot < batch; ++slot) {
        total += inBatch[slot] * inBatch[slot];
      }
    }
    // The iterations that do not fill a batch.
    if (i < n) {
      const long long left = n - static_cast<long long>(i);
      int indexBatch[batch];
      T inBatch[batch];
      #pragma unroll
      for (int slot = 0; slot < batch; ++slot)
        if (slot * span < left) {
          const unsigned int item = i + slot * stride;
          indexBatch[slot] = index[item];
          inBatch[slot] = in[indexBatch[slot]];
        }
      #pragma unroll
      for (int slot = 0; slot < batch; ++slot)
        if (slot * span < left) {
          total += inBatch[slot] * inBatch[slot];
        }
    }
  })");
  EXPECT_EQ(compileWithNvcc(loops().apply(Ps[0])), "");
}

TEST(LoadBatchingTest, CitesTheEvidenceOfTheLoop) {
  auto Ps = loops().proposals("gather", Batching);
  const Edit &E = Ps.at(0).Edits.at(0);
  const Evidence *Item = loops().diagnosis().evidence(E.Evidence.at(0));
  EXPECT_EQ(E.Evidence.size(), 1u);
  EXPECT_EQ(Item->KernelName, "gather");
  EXPECT_EQ(E.Metric, Item->Metric);
  EXPECT_EQ(E.Move, Direction::Down);
  EXPECT_EQ(E.Transformation, Batching);
  EXPECT_THAT(E.Reason, HasSubstr("line " + std::to_string(Item->Consumer.Line)));
  EXPECT_EQ(Ps[0].Proposer, "catalogue");
  EXPECT_GT(Ps[0].Expected, 1);
}

TEST(LoadBatchingTest, TakesNamesThatAreFree) {
  auto Ps = loops().proposals("wide", Batching);
  std::string Text = loops().text(named(Ps, "load batching by 8"));
  EXPECT_THAT(Text, HasSubstr("constexpr int batch2 = 8;"));
  EXPECT_THAT(Text, HasSubstr("const unsigned long long stride2 = step;"));
  EXPECT_THAT(Text, HasSubstr("inBatch[slot] = __ldg(&in[item]);"));
  EXPECT_THAT(Text, HasSubstr("out[item] = inBatch[slot] + batch + stride;"));
  EXPECT_THAT(Text, HasSubstr("i += batch2 * stride2)"));
  EXPECT_EQ(compileWithNvcc(loops().apply(Ps[0])), "");
}

TEST(LoadBatchingTest, GuardsOddSigns) {
  auto Mixed = loops().proposals("mixed", Batching);
  ASSERT_FALSE(Mixed.empty());
  EXPECT_THAT(loops().text(Mixed[0]), HasSubstr("left = (static_cast<unsigned int>((int)n)) - static_cast<long long>(i)"));
  auto Signed = loops().proposals("signedStep", Batching);
  ASSERT_FALSE(Signed.empty());
  EXPECT_THAT(loops().text(Signed[0]), HasSubstr("for (; i < n && i + (batch - 1)"));
  EXPECT_EQ(compileWithNvcc(loops().apply(Signed[0])), "");
}

TEST(LoadBatchingTest, KeepsMacroNamesOfBounds) {
  auto Ps = loops().proposals("macroBounds", Batching);
  ASSERT_FALSE(Ps.empty());
  EXPECT_THAT(loops().text(Ps[0]), HasSubstr("const int stride = STEP;"));
  EXPECT_THAT(loops().text(Ps[0]), HasSubstr("if (i < COUNT) {"));
  EXPECT_EQ(compileWithNvcc(loops().apply(Ps[0])), "");
}

struct Refused {
  const char *Kernel, *Rule;
};
class LoadBatchingDeclines : public testing::TestWithParam<Refused> {};

TEST_P(LoadBatchingDeclines, WithItsRule) {
  EXPECT_THAT(loops().proposals(GetParam().Kernel, Batching), IsEmpty());
  auto Rules = loops().declines(GetParam().Kernel, Batching);
  ASSERT_EQ(Rules.size(), 1u);
  EXPECT_THAT(Rules[0], testing::StartsWith(std::string(GetParam().Rule) + "@"));
}

INSTANTIATE_TEST_SUITE_P(
    All, LoadBatchingDeclines,
    testing::Values(Refused{"storesMayAlias", "cannot-prove-alias"},
                    Refused{"barrier", "barrier"}, Refused{"atomicInLoop", "atomic"},
                    Refused{"leaves", "early-exit"}, Refused{"smooths", "may-round-otherwise"}, Refused{"isVolatile", "volatile"},
                    Refused{"calls", "unknown-call"},
                    Refused{"conditionalLoad", "no-load-to-batch"},
                    Refused{"whileLoop", "loop-shape"}, Refused{"outlives", "loop-shape"},
                    Refused{"writesVariable", "loop-variable-written"},
                    Refused{"movingBound", "bound-not-invariant"},
                    Refused{"signedToUnsigned", "mixed-signedness"},
                    Refused{"negativeUnsigned", "cannot-prove-stride"},
                    Refused{"wideStep", "cannot-prove-stride"},
                    Refused{"fromMacro", "in-macro"},
                    Refused{"macroArgument", "in-macro"}, Refused{"nested", "nested-loop"}),
    [](const auto &Info) { return std::string(Info.param.Kernel); });

TEST(RegisterAccumulatorTest, KeepsTheSumInARegister) {
  auto Ps = loops().proposals("inShared", Accumulating);
  ASSERT_THAT(titles(Ps), ElementsAre("register accumulator"));
  EXPECT_EQ(loops().text(Ps[0]),
            R"({ // optimas-register-accumulator: `sums[t]` is read and written once.
    float sumsAcc = sums[t];
    for (int i = t; i < n; i += blockDim.x)
      sumsAcc = sumsAcc + a[i] * b[i];
    sums[t] = sumsAcc;
  })");
  EXPECT_EQ(compileWithNvcc(loops().apply(Ps[0])), "");
  EXPECT_THAT(titles(loops().proposals("restrictSum", Accumulating)),
              ElementsAre("register accumulator"));
}

TEST(RegisterAccumulatorTest, ComposesWithBatching) {
  auto Ps = loops().proposals("inShared", "*");
  EXPECT_EQ(Ps.size(), 4u);
  EXPECT_EQ(Ps[0].Title, "register accumulator + load batching by 16");
  EXPECT_EQ(Ps[0].Edits[0].Factor, 16u);
  std::string Text = loops().text(Ps[0]);
  EXPECT_THAT(Text, HasSubstr("sumsAcc = sumsAcc + aBatch[slot] * bBatch[slot];"));
  EXPECT_THAT(Text, Not(HasSubstr("sums[t] = sums[t]")));
  EXPECT_EQ(compileWithNvcc(loops().apply(Ps[0])), "");
  // One of the two alone does not compose.
  for (const Proposal &P : loops().proposals("inShared", "*,-optimas-register-accumulator"))
    EXPECT_THAT(P.Title, Not(HasSubstr("register")));
}

class AccumulatorDeclines : public testing::TestWithParam<Refused> {};

TEST_P(AccumulatorDeclines, WithItsRule) {
  EXPECT_THAT(loops().proposals(GetParam().Kernel, Accumulating), IsEmpty());
  auto Rules = loops().declines(GetParam().Kernel, Accumulating);
  ASSERT_EQ(Rules.size(), 1u);
  EXPECT_THAT(Rules[0], testing::StartsWith(std::string(GetParam().Rule) + "@"));
}

INSTANTIATE_TEST_SUITE_P(
    All, AccumulatorDeclines,
    testing::Values(Refused{"neighbour", "other-element-used"},
                    Refused{"notAssigned", "cannot-prove-initialised"},
                    Refused{"movingElement", "not-invariant"},
                    Refused{"globalSum", "cannot-prove-alias"},
                    Refused{"wide", "not-invariant"}),
    [](const auto &Info) { return std::string(Info.param.Kernel); });

} // namespace optimas
