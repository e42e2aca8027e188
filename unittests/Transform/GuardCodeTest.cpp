//===- GuardCodeTest.cpp - Rules on what code does -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardTest.h"

using namespace llvm;
using namespace optimas;

TEST(GuardCode, DeclarationsStayInside) {
  const GuardProgram &P = ruleProgram();
  expectRefused(P,
                {P.edit(EditKind::InsertBefore, "out[threadIdx.x] = last",
                        "float extra = 1.0f;")},
                "guard-declaration-leak");
  expectRefused(P, {P.replace("float last", "double last = 0.0;")},
                "guard-declaration-lost");
  expectRefused(P, {P.replace("float last", "{ float last = 0.0f; }")},
                "guard-parse");
  // Still parses: the name would mean the parameter.
  GuardProgram Shadow(
      "__global__ void hotK(float *p, float v) {\n  {\n    float v = p[1];\n"
      "    p[0] = v;\n  }\n}\n");
  expectRefused(Shadow, {Shadow.edit(EditKind::Delete, "float v", "")},
                "guard-declaration-lost");
  expectRefused(Shadow,
                {Shadow.replace("float v", "{ float v = p[1]; p[2] = v; }")},
                "guard-declaration-lost");
  expectAccepted(Shadow,
                 {Shadow.replace("float v", "const float v = p[1] * 2.0f;")});
}

TEST(GuardCode, StateAndSideEffects) {
  const GuardProgram &P = ruleProgram();
  RefusalBatch(P)
      .slot("{ static int calls = 0; slots[0] = last; }", "guard-state")
      .slot("{ __shared__ float s[4]; slots[0] = last; }", "guard-state")
      .slot("{ extern __device__ int counter; counter = 1; }", "guard-state")
      .slot("{ counter = 1; slots[0] = last; }", "guard-global-access")
      .slot("slots[0] = table[0];", "guard-global-access")
      .slot("{ asm volatile(\"exit;\"); }", "guard-lexical-trick")
      .slot("{ asm volatile(); }", "guard-asm")
      .slot("printf(0);", "guard-side-effect")
      .slot("{ float *m = new float; slots[0] = *m; }", "guard-side-effect")
      .slot("slots[0] = clock64();", "guard-side-effect")
      .slot("cudaMalloc(&slots, 4);", "guard-host-api")
      .slot("cold<<<1, 1>>>(slots);", "guard-host-api")
      .slot("slots[0] = __fdividef(last, 2.0f);", "guard-fast-math")
      .slot("slots[0] = APPROXIMATE(last);", "guard-fast-math")
      .slot("{ HIDDEN_STATE; slots[0] = last; }", "guard-state")
      .slot("{ HIDDEN_ASM; slots[0] = last; }", "guard-asm")
      .slot("slots[0] = stranger(last);", "guard-call")
      .slot("slots[0] = min(last);", "guard-call")
      .slot("{ float (*f)(float) = stranger; slots[0] = f(last); }",
            "guard-call")
      .slot("{ auto f = [](float x) { return x; }; slots[0] = f(last); }",
            "guard-type-definition")
      .slot("{ struct S { float x; }; slots[0] = S{last}.x; }",
            "guard-type-definition")
      .slot("atomicAdd(&slots[0], last);", "guard-atomic")
      .slot("{ __syncthreads(); slots[0] = last; }", "guard-barrier")
      .slot("{ WAIT(); slots[0] = last; }", "guard-barrier")
      .slot("{ __threadfence(); slots[0] = last; }", "guard-barrier")
      .slot("if (n > 3) return;", "guard-control-flow")
      .slot("{ again: slots[0] = last; }", "guard-control-flow")
      .slot("*(float *)in = last;", "guard-cast-away")
      .add(P.edit(EditKind::Delete, "__syncthreads", ""), "guard-barrier")
      .add(P.replace("if (flags[0])", "atomicAdd(&counter, 1);"),
           "guard-volatile")
      .add(P.replace("asm volatile", "asm volatile(\"bar.sync 0;\");"),
           "guard-asm")
      .add(P.raw("    out[1] = 2.0f;\n    break;\n", "    out[1] = 2.0f;\n"),
           "guard-control-flow");
  expectRefused(P, {P.edit(EditKind::Delete, "if (flags[0])", "")},
                "guard-atomic");
}

TEST(GuardCode, JumpsThatLeaveTheEdit) {
  const GuardProgram &P = ruleProgram();
  RefusalBatch(P)
      .add(P.replace("out[2] = out[2]", "{ out[2] = 0.0f; break; }"),
           "guard-control-flow")
      .add(P.replace("if (out[3] > 2.0f)", "out[2] = out[3];"),
           "guard-control-flow");
}

TEST(GuardCode, TypesGetNoNarrower) {
  const GuardProgram &P = ruleProgram();
  RefusalBatch(P)
      .add(P.replace("total += in[k]", "total += (float)(in[k] * 0.5);"),
           "guard-type-narrowing")
      .add(P.replace("tile[threadIdx.y]",
                     "tile[threadIdx.y][threadIdx.x] = "
                     "in[(int)(threadIdx.y * stride) + threadIdx.x];"),
           "guard-type-narrowing")
      .add(P.replace("b[0] = value * T(2)", "b[0] = (float)value * T(2);"),
           "guard-type-narrowing")
      .add(P.replace("b[1] = value", "{ float f = value; b[1] = f; }"),
           "guard-type-narrowing")
      .slot("slots[0] = float(double(last) * 0.1);", "guard-type-narrowing");
  expectRefused(P, {P.replace("total += in[k]", "total += in[k] * 0.5f;")},
                "guard-type-narrowing");
}

TEST(GuardCode, SharedMemoryMayOnlyBePadded) {
  const GuardProgram &P = ruleProgram();
  auto Tile = [&](StringRef Text) {
    return std::vector<Edit>{P.replace("__shared__ float tile", Text)};
  };
  expectRefused(P, Tile("__shared__ double tile[32][32];"),
                "guard-shared-memory");
  expectRefused(P, Tile("__shared__ float tile[32][16];"),
                "guard-shared-memory");
  expectRefused(
      P, Tile("__shared__ float tile[32][33]; __shared__ float more[4];"),
      "guard-state");
}

TEST(GuardCode, LegalNeighboursAreAccepted) {
  const GuardProgram &P = ruleProgram();
  std::string New = expectAccepted(
      P,
      {
          // state, calls, control, types: what the replaced text had, or braces
          P.replace("out[i] = in[i]",
                    "{ float v = __ldg(&in[i]); __stcs(&out[i], v + 1.0f); }"),
          P.replace("total += in[k]",
                    "{ const float x = in[k]; total += x * 0.5; }"),
          P.replace("last = helper",
                    "last = helper(fmaxf(in[k], 0.0f) + SQUARE(1.0f));"),
          P.edit(EditKind::InsertBefore, "for (int k", "#pragma unroll 4"),
          P.edit(EditKind::Wrap, "out[threadIdx.x] = last",
                 "if (n > 0) {\n  $body\n}"),
          P.edit(EditKind::InsertAfter, "sums[threadIdx.x]",
                 "if (n < 0) {\n  float extra = last;\n  out[0] = extra;\n}"),
          P.replace("__shared__ float tile", "__shared__ float tile[32][33];"),
          P.replace(
              "tile[threadIdx.y]",
              "{\n  const long long row = threadIdx.y * stride;\n  "
              "tile[threadIdx.y][threadIdx.x] = in[row + threadIdx.x];\n}"),
          P.replace("__syncthreads", "{ WAIT(); }"),
          P.replace("if (flags[0])",
                    "if (flags[0] != 0) {\n  atomicAdd(&counter, 1);\n}"),
          P.replace("if (out[3] > 2.0f)",
                    "if (2.0f < out[3]) {\n  out[4] = 1.0f;\n  break;\n}"),
          P.edit(EditKind::Delete, "out[1] = 2.0f", ""),
          P.replace("asm volatile", "{ asm volatile(\"membar.gl;\"); }"),
          P.raw("expf(in[5])", "expf(in[5]) + 0.0f"),
          P.replace("b[0] = value * T(2)",
                    "{ const T twice = value * T(2); b[0] = twice; }"),
          P.signature("hotTile",
                      "__global__ void __launch_bounds__(1024) hotTile(const "
                      "float *__restrict__ in, float *out, volatile int "
                      "*flags, const long long stride)"),
          P.signature("hotTemplate",
                      "template <typename T> __global__ void hotTemplate(const "
                      "T *__restrict__ a, T *__restrict__ b, int n)"),
          P.launch("grid, kBlock", "(grid + 1) / 2, dim3(kBlock * 2)"),
          P.launch("grid + 1, kBlock", "std::max(grid / 2, 1), kBlock * 2"),
          P.launch(
              "(grid + 3) / 4, block, shared, stream",
              "(grid + 7) / 8, dim3(block.x, block.y * 2), shared, stream"),
      });
  EXPECT_NE(New.find("template <typename T> __global__ void hotTemplate(const "
                     "T *__restrict__ a, T *__restrict__ b, int n);"),
            std::string::npos);
  EXPECT_NE(New.find("hotTemplate<float>(const float *__restrict__, float "
                     "*__restrict__, int);"),
            std::string::npos);
  EXPECT_NE(New.find("  case 0:\n    ;\n    break;"), std::string::npos);
  EXPECT_NE(New.find("  #pragma unroll 4\n  for (int k"), std::string::npos);
}

TEST(GuardCode, TheCatalogueMayDeclareFreshNames) {
  const GuardProgram &P = ruleProgram();
  std::vector<Edit> Edits = {
      P.edit(EditKind::InsertBefore, "for (int k", "double acc = total;"),
      P.replace("total += in[k]", "acc += in[k] * 0.5;"),
      P.edit(EditKind::InsertAfter, "for (int k", "total = acc;")};
  expectAccepted(P, Edits, /*Trusted=*/true);
  expectRefused(P, Edits, "guard-declaration-leak");
  // A name of the function's own would come to mean something else.
  Edits[0].Text = "double k = total;";
  expectRefused(P, {Edits[0]}, "guard-declaration-leak", /*Trusted=*/true);
}

static const char *const HiddenCode = R"cu(
#include <cuda_fp16.h>
__device__ int counter;
__device__ float counted() { return counter++; }
struct Probe { float t = counted(); };
struct Bomb { float x; __device__ ~Bomb() { counter = 1; } };
struct Holder { Bomb b; };
struct Num { float v; __device__ operator float() const { return counter++; } };
struct Other { float v; __device__ operator float() const { return v; } };
struct Sink { float v; __device__ Sink &operator=(float x) { counter = 1; v = x; return *this; } };
struct Tracked {
  float v;
  __device__ Tracked &operator=(const Tracked &o) { counter = 1; v = o.v; return *this; }
};
struct Pair { Tracked first; };
struct Range {
  float *p;
  __device__ float *begin() const { counter = 1; return p; }
  __device__ float *end() const { return p + 1; }
};
__device__ float late(float x, float y = counted()) { return x + y; }
__device__ float helper(float x) { return x; }
__global__ void hotK(const float *in, float *out, const Num *nums, const Other *others,
                     const __half *halves, Sink *sinks, Pair *pairs) {
  out[0] = late(in[0], 1.0f);
  out[1] = others[0];
  out[2] = in[2];
  out[3] = in[3];
  out[4] = in[4];
  out[5] = in[5];
  out[6] = in[6];
  out[7] = nums[0];
  out[8] = in[8];
  out[9] = in[9];
  out[10] = Probe{}.t;
  out[11] = in[11];
  out[12] = helper(in[12]);
  out[13] = (float)halves[0];
}
)cu";

TEST(GuardCode, CodeThatNoCallSpells) {
  GuardProgram P(HiddenCode);
  RefusalBatch(P)
      .add(P.replace("out[0] =", "out[0] = late(in[0]);"), "guard-call")
      .add(P.replace("out[1] =", "out[1] = nums[0];"), "guard-call")
      .add(P.replace("out[2] =", "out[2] = Probe{}.t;"), "guard-call")
      .add(P.replace("out[3] =", "{ Bomb b; out[3] = in[3]; }"), "guard-call")
      .add(P.replace("out[4] =", "{ Holder h{}; out[4] = in[4]; }"), "guard-call")
      .add(P.replace("out[5] =", "out[5] = Bomb{in[5]}.x;"), "guard-call")
      .add(P.replace("out[6] =", "((Bomb *)out)->~Bomb();"), "guard-call")
      .add(P.replace("out[8] =", "sinks[0] = in[8];"), "guard-call")
      .add(P.replace("out[9] =", "pairs[0] = pairs[1];"), "guard-call")
      .add(P.replace("out[11] =", "for (float &x : Range{out}) x = in[11];"),
           "guard-call");
  expectAccepted(P, {P.replace("out[0] =", "out[0] = late(in[0], 2.0f);"),
                     P.replace("out[1] =", "out[1] = others[0] + 0.0f;"),
                     P.replace("out[2] =", "out[2] = (float)halves[2];"),
                     P.replace("out[7] =", "out[7] = 0.0f + nums[0];"),
                     P.replace("out[10] =", "out[10] = Probe{}.t + 1.0f;"),
                     P.replace("out[12] =", "out[12] = helper(in[12] + 1.0f);")});
}

TEST(GuardCode, AddressesAreNotMadeOfNumbers) {
  const GuardProgram &P = ruleProgram();
  RefusalBatch(P)
      .slot("{ float *w = (float *)(size_t)in; w[0] = last; }", "guard-cast-away")
      .slot("*(float *)4096 = last;", "guard-cast-away")
      .slot("*(float *)((char *)slots + (in - slots) * 4) = last;",
            "guard-cast-away")
      .slot("slots[((size_t)in - (size_t)slots) / 4] = last;", "guard-cast-away")
      .slot("{ size_t a = (size_t)in; slots[a] = last; }", "guard-cast-away")
      .slot("**(float **)&in = last;", "guard-cast-away")
      .slot("{ float *w = slots; *(size_t *)&w = 4096; w[0] = last; }",
            "guard-cast-away")
      .slot("{ float *w = slots; (size_t &)w = 4096; w[0] = last; }",
            "guard-cast-away")
      .slot("*__builtin_bit_cast(float *, in) = last;", "guard-cast-away");
  expectAccepted(
      P, {P.replace("slots[0] =", "slots[0] = (size_t)in % 16 == 0 ? last : last;"),
          P.replace("slots[1] =", "if ((((size_t)in | (size_t)slots) & 15) == 0) "
                                  "slots[1] = last; else slots[1] = last;"),
          P.replace("slots[2] =", "*(float2 *)(slots + 2) = make_float2(last, last);"),
          P.replace("slots[4] =", "{ float *end = slots + 4; end[0] = last; }")});
}

TEST(GuardCode, AtomicsOfEverySpelling) {
  const GuardProgram &P = ruleProgram();
  RefusalBatch(P)
      .slot("slots[0] = __atomic_load_n((int *)slots, 0);", "guard-atomic")
      .slot("__scoped_atomic_fetch_add((int *)slots, 0, 0, 0);", "guard-atomic")
      .slot("__hip_atomic_fetch_add((int *)slots, 1, 0, 1);", "guard-atomic")
      .slot("__sync_fetch_and_add((int *)slots, 1);", "guard-atomic");
}
