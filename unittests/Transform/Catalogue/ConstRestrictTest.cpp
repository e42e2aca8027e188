//===- ConstRestrictTest.cpp - Pointers that do not alias ---===//
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

static const char Restrict[] = "optimas-const-restrict";

static const Snippet &pointers() {
  static const Snippet S(R"cu(
#define CHECK(call) do { if ((call) != cudaSuccess) return; } while (0)
#define LOOP                                                                           \
  for (int i = threadIdx.x; i < n; i += blockDim.x)
__global__ void scale(float *in, const float *factor, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i] * factor[0]; // hot
}
template <typename T>
__global__ void generic(const T *in, T* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
}
__global__ void sameTwice(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
}
__global__ void fromCaller(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
}
__global__ void reassigned(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
}
__global__ void swapped(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
}
__global__ void declared(const float *in, float *out, int n);
__global__ void declared(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
}
__global__ void marked(const float *__restrict__ in, float *__restrict__ out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
}
__global__ void readsOnly(const float *in, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    s += in[i]; // hot
  *out = s;
}
__global__ void arrayStyle(const float in[], float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
}
__global__ void throughTable(const float *const *table, float *in, float *out, int n) {
  const float *row = table[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i] + row[i]; // hot
}
void exchange(float *&a, float *&b) {
  float *t = a;
  a = b;
  b = t;
}
template <typename T> void run(int n) {
  T *a = nullptr, *b;
  CHECK(cudaMalloc(&a, n * sizeof(T)));
  CHECK(cudaMalloc((void **)&b, n * sizeof(T)));
  generic<<<1, 32>>>(a, b, n);
  for (T *p : {a, b})
    cudaFree(p);
}
void host(int n, float *given) {
  run<float>(n);
  run<double>(n);
  float *a, *b, *c, *d, *rows[1], **table;
  cudaMalloc(&a, 4 * n);
  cudaMalloc(&b, 4 * n);
  cudaMalloc(&c, 4 * n);
  cudaMalloc(&d, 4 * n);
  scale<<<1, 32>>>(a + 3, b, c, n);
  sameTwice<<<1, 32>>>(a, a, n);
  fromCaller<<<1, 32>>>(a, given, n);
  float *e;
  cudaMalloc(&e, 4 * n);
  e = a;
  reassigned<<<1, 32>>>(a, e, n);
  exchange(c, d);
  swapped<<<1, 32>>>(c, d, n);
  declared<<<1, 32>>>(a, b, n);
  marked<<<1, 32>>>(a, b, n);
  readsOnly<<<1, 32>>>(a, b, n);
  arrayStyle<<<1, 32>>>(a, b, n);
  cudaMalloc(&table, sizeof(rows));
  rows[0] = b;
  cudaMemcpy(table, rows, sizeof(rows), cudaMemcpyHostToDevice);
  throughTable<<<1, 32>>>(table, a, b, n);
}
)cu");
  return S;
}

TEST(ConstRestrictTest, MarksWhatTheLaunchesProve) {
  auto Ps = pointers().proposals("generic", Restrict);
  ASSERT_EQ(Ps.size(), 1u);
  std::string Code = pointers().apply(Ps[0]);
  EXPECT_THAT(Code, HasSubstr("template <typename T>\n__global__ void generic(const T "
                              "*__restrict__ in, T*__restrict__ out, int n) {"));
  EXPECT_EQ(compileWithNvcc(Code), "");
  EXPECT_EQ(Ps[0].Edits[0].Kind, EditKind::Signature);
}

TEST(ConstRestrictTest, DeclinesWithItsRule) {
  auto Rules = [](llvm::StringRef Kernel) {
    EXPECT_THAT(pointers().proposals(Kernel, Restrict), IsEmpty());
    return pointers().declines(Kernel, Restrict);
  };
  // c is handed to exchange() by reference.
  EXPECT_THAT(Rules("scale"), ElementsAre(StartsWith("cannot-prove-alias@")));
  EXPECT_THAT(Rules("sameTwice"), ElementsAre(StartsWith("cannot-prove-alias@")));
  EXPECT_THAT(Rules("fromCaller"), ElementsAre(StartsWith("cannot-prove-alias@")));
  EXPECT_THAT(Rules("reassigned"), ElementsAre(StartsWith("cannot-prove-alias@")));
  EXPECT_THAT(Rules("swapped"), ElementsAre(StartsWith("cannot-prove-alias@")));
  // Nobody sees that the table holds b.
  EXPECT_THAT(Rules("throughTable"), ElementsAre(StartsWith("cannot-prove-alias@")));
  EXPECT_THAT(Rules("declared"), ElementsAre(StartsWith("has-redeclarations@")));
  EXPECT_THAT(Rules("arrayStyle"), ElementsAre(StartsWith("signature-spelling@")));
}

TEST(ConstRestrictTest, OnlyWhereAStoreCanForceAReload) {
  for (const char *Kernel : {"marked", "readsOnly"}) {
    EXPECT_THAT(pointers().proposals(Kernel, Restrict), IsEmpty());
    EXPECT_THAT(pointers().declines(Kernel, Restrict), IsEmpty());
  }
}

TEST(ConstRestrictTest, AddsConstToWhatIsOnlyRead) {
  Snippet S(R"cu(
__global__ void plain(float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
}
void host(int n) {
  float *a, *b;
  cudaMalloc(&a, 4 * n);
  cudaMalloc(&b, 4 * n);
  plain<<<1, 32>>>(a, b, n);
}
)cu");
  auto Ps = S.proposals("plain", Restrict);
  ASSERT_EQ(Ps.size(), 1u);
  EXPECT_THAT(S.apply(Ps[0]),
              HasSubstr("plain(const float *__restrict__ in, float *__restrict__ out, "
                        "int n) {"));
  EXPECT_EQ(compileWithNvcc(S.apply(Ps[0])), "");
}

/// An offset made of addresses leads anywhere.
TEST(ConstRestrictTest, DistancesBetweenAllocations) {
  auto With = [](const std::string &Launch) {
    return Snippet(R"cu(
__global__ void plain(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
}
void host(int n) {
  float *a, *b;
  cudaMalloc(&a, 4 * n);
  cudaMalloc(&b, 4 * n);
)cu" + Launch + "\n}\n");
  };
  EXPECT_EQ(With("plain<<<1, 32>>>(a, b + 1, n);").proposals("plain", Restrict).size(), 1u);
  for (const char *Launch : {"plain<<<1, 32>>>(a, b + (a - b) + 1, n);",
                             "long d = a - b; plain<<<1, 32>>>(a, b + d, n);",
                             "size_t d = (size_t)a / 4; plain<<<1, 32>>>(a, b + d, n);"})
    EXPECT_THAT(With(Launch).declines("plain", Restrict),
                ElementsAre(StartsWith("cannot-prove-alias@")))
        << Launch;
}

/// What a kernel does besides may forbid what its launches allow.
TEST(ConstRestrictTest, NeedsMoreThanDistinctMemory) {
  static const Snippet S(R"cu(
// Each thread reads what its neighbour wrote before the barrier.
__global__ void relax(float *data, const float *w, int n) {
  for (int k = 0; k < n; ++k) {
    float x = data[threadIdx.x + 1] * w[threadIdx.x]; // hot
    __syncthreads();
    data[threadIdx.x] = x;
    __syncthreads();
  }
}
__global__ void counted(const float *in, float *out, unsigned *count, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
  if (atomicInc(count, 99) == 3)
    out[0] = out[1];
}
__global__ void barrierOnly(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i]; // hot
  __syncthreads();
}
__global__ void product(const float *in, const float *f, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i] + f[0] * f[1]; // hot
}
void host(int n) {
  float *a, *b, *c;
  unsigned *d;
  cudaMalloc(&a, 4 * n);
  cudaMalloc(&b, 4 * n);
  cudaMalloc(&c, 4 * n);
  cudaMalloc(&d, 4);
  relax<<<1, 32>>>(a, b, n);
  counted<<<4, 32>>>(a, b, d, n);
  barrierOnly<<<1, 32>>>(a, b, n);
  product<<<1, 32>>>(a, b, c, n);
}
)cu");
  auto Rules = [](llvm::StringRef Kernel) {
    EXPECT_THAT(S.proposals(Kernel, Restrict), IsEmpty());
    return S.declines(Kernel, Restrict);
  };
  EXPECT_THAT(Rules("relax"), ElementsAre(StartsWith("exchanges-values@")));
  EXPECT_THAT(Rules("counted"), ElementsAre(StartsWith("exchanges-values@")));
  EXPECT_THAT(Rules("product"), ElementsAre(StartsWith("may-round-otherwise@")));
  EXPECT_EQ(S.proposals("barrierOnly", Restrict).size(), 1u);
}

} // namespace optimas
