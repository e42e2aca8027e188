//===- GuardRulesTest.cpp - Every rule, and its nearest legal neighbour -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One program for all of them: parsing costs more than any rule. Legal neighbours are
// checked together, which one parse can do; each refusal stands alone.
//
//===----------------------------------------------------------------------===//
#include "GuardTest.h"
#include "optimas/Support/Files.h"

using namespace llvm;
using namespace optimas;

static const char *const Program = R"cu(
#include "shared.cuh"
#define SQUARE(x) ((x) * (x))
#define STORE(p, i, v) p[i] = (v)
#define WAIT() __syncthreads()
#define CHECK_LAUNCH(x) x

constexpr int kBlock = 128;
__device__ int counter;
__device__ float table[16];

__device__ float helper(float x) { return x * 2.0f; }
__device__ float stranger(float x) { return x + 1.0f; }

__global__ void hotCopy(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + 1.0f;
  STORE(out, i, 3.0f);
}

__global__ void cold(float *out) {
  out[7] = 7.0f;
}

__global__ void hotLoop(const float *__restrict__ in, float *out, double *sums, int n) {
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
#if 0
  out[0] = 1.0f;
#endif
  switch (threadIdx.x) {
  case 0:
    out[1] = 2.0f;
    break;
  default:
    break;
  }
  while (out[2] > 1.0f) {
    if (out[3] > 2.0f)
      break;
    out[2] = out[2] - 1.0f;
  }
  asm volatile("membar.gl;");
  out[5] = expf(in[5]);
}

template <typename T> __global__ void hotTemplate(const T *a, T *b, int n) {
  T value = a[0];
  b[0] = value * T(2);
  b[1] = value;
}
template <typename T> __global__ void hotTemplate(const T *a, T *b, int n);
template __global__ void hotTemplate<float>(const float *, float *, int);
template __global__ void hotTemplate<double>(const double *, double *, int);

__global__ void hotAddress(float *p) { p[0] = 1.0f; }

int main() {
  float *p = nullptr;
  double *d = nullptr;
  int grid = 4, shared = 64;
  cudaStream_t stream = 0;
  dim3 block(32, 4);
  hotCopy<<<grid, kBlock>>>(p, p, 1);
  hotCopy<<<grid + 1, kBlock>>>(p, p, 2);
  hotLoop<<<(grid + 3) / 4, block, shared, stream>>>(p, p, d, 3);
  CHECK_LAUNCH((hotTile<<<1, 32>>>(p, p, nullptr, 1)));
  hotAddress<<<2, 2>>>(p);
  void *address = (void *)hotAddress;
  return address == nullptr;
}
)cu";

static const char *const Header = R"cu(
#pragma once
__device__ inline float hotShared(float x) {
  float y = x * 3.0f;
  return y;
}
)cu";

static const GuardProgram &program() {
  static const GuardProgram P({{"a.cu", Program}, {"shared.cuh", Header}}, {"a.cu"});
  return P;
}

TEST(GuardRules, EveryRuleIsDocumented) {
  std::string Doc =
      cantFail(readFile(OPTIMAS_TEST_INPUTS "/../../docs/guard-rules.md", ExitCode::Usage));
  for (const GuardRule &R : guardRules()) {
    std::string Heading = ("\n### " + R.Id + "\n\n" + R.Summary + "\n").str();
    EXPECT_NE(Doc.find(Heading), std::string::npos) << Heading;
  }
  EXPECT_EQ(StringRef(Doc).count("\n### guard-"), guardRules().size());
  EXPECT_GE(guardRules().size(), 24u);
}

//===-- What the edit names, evidence, regions ----------------------------===//

TEST(GuardRules, Targets) {
  const GuardProgram &P = program();
  Edit E = P.replace("out[threadIdx.x] = last", "out[threadIdx.x] = last + 0.0f;");
  E.First = E.Last = 9999;
  expectRefused(P, {E}, "guard-unknown-target");
  E = P.launch("grid, kBlock", "grid, kBlock * 2");
  E.LaunchSiteId = 77;
  expectRefused(P, {E}, "guard-unknown-target");
  E = P.signature("hotTile", "");
  E.Function = NoId;
  expectRefused(P, {E}, "guard-unknown-target");
  expectRefused(P, {P.replace("STORE(out, i", "out[i] = 4.0f;")}, "guard-macro");
  expectRefused(P, {P.launch("1, 32", "1, 64")}, "guard-macro");
  expectRefused(P, {P.replace("int k = threadIdx.x", "int k = 0;")},
                "guard-header-statement");
  expectRefused(P, {P.replace("double total", "x = 1;", "last = helper")},
                "guard-not-siblings");
  expectRefused(P, {P.replace("sums[threadIdx.x]", "x = 1;", "out[threadIdx.x] = last")},
                "guard-not-siblings");
}

TEST(GuardRules, EvidenceAndRegions) {
  const GuardProgram &P = program();
  Edit Legal = P.replace("out[threadIdx.x] = last", "out[threadIdx.x] = last * 1.0f;");
  Edit E = Legal;
  E.Evidence.clear();
  expectRefused(P, {E}, "guard-no-evidence");
  E.Evidence = {1, 4711};
  expectRefused(P, {E}, "guard-unknown-evidence");
  E.Evidence = P.evidenceAt(P.function("hotCopy").Signature);
  expectRefused(P, {E}, "guard-evidence-elsewhere");
  expectRefused(P, {P.replace("out[7] = 7.0f", "out[7] = 8.0f;")}, "guard-out-of-region");
  expectRefused(P, {P.raw("return address == nullptr", "return 0")}, "guard-raw-range");
}

TEST(GuardRules, ARegionThatChangedIsRefused) {
  GuardProgram P("__global__ void hotK(float *p) {\n  p[0] = 1.0f;\n}\n");
  Edit E = P.replace("p[0]", "p[0] = 2.0f;");
  P.D.Regions[0].Sha256 = sha256("something else");
  expectRefused(P, {E}, "guard-region-changed");
}

TEST(GuardRules, ConditionalCode) {
  const GuardProgram &P = program();
  expectRefused(P, {P.replace("if (flags[0])", "out[0] = 0.0f;", "switch")},
                "guard-conditional-code");
}

//===-- Text and structure ------------------------------------------------===//

TEST(GuardRules, TextThatLeavesItsPlace) {
  const GuardProgram &P = program();
  auto Text = [&](StringRef T) {
    return std::vector<Edit>{P.replace("out[threadIdx.x] = last", T)};
  };
  expectRefused(P, Text("out[threadIdx.x] = last; } __global__ void extra() {"),
                "guard-unbalanced");
  expectRefused(P, Text("out[threadIdx.x] = last * 1.0f; /*"), "guard-unbalanced");
  expectRefused(P, Text("out[threadIdx.x] = last * 1.0f; // \\"), "guard-lexical-trick");
  expectRefused(P, Text("#include <cstdio>\nout[threadIdx.x] = last;"), "guard-directive");
  expectRefused(P, Text("#pragma clang fp contract(off)\nout[0] = last;"), "guard-pragma");
  expectRefused(P, Text(" out[threadIdx.x] =  last ; // same"), "guard-no-change");
  expectRefused(P, Text(""), "guard-no-change");
  expectRefused(P, Text("if (n)"), "guard-not-statements");
  expectRefused(P, Text("out[threadIdx.x] = ;"), "guard-parse");
  expectRefused(P, Text("out[threadIdx.x] = nobody;"), "guard-parse");
  expectRefused(P, Text(std::string(70000, ' ') + ";x;"), "guard-text-size");
  expectRefused(P, Text("out[threadIdx.x] = last * 1.0f; // \xFF"), "guard-text-encoding");
  expectRefused(P, Text("[[maybe_unused]] int x = 0;"), "guard-attribute");
  expectRefused(P, Text("out[__LINE__] = last;"), "guard-builtin-macro");
  expectRefused(P, {P.edit(EditKind::Wrap, "out[threadIdx.x] = last", "{ }")},
                "guard-wrap-body");
  expectRefused(P, {P.replace("out[i] = in[i]", "if (n) out[i] = 1.0f; else ;"),
                    P.replace("int i = blockIdx", "int i = 0, j = 0;")},
                "guard-declaration-leak");
}

TEST(GuardRules, StructureOutsideStays) {
  GuardProgram P("__global__ void hotK(float *p, int n) {\n"
                 "  if (n)\n    p[0] = 1.0f;\n  else\n    p[1] = 2.0f;\n"
                 "  { p[2] = 3.0f; }\n"
                 "}\n");
  // The dangling else would move to the new if.
  expectRefused(P, {P.replace("p[0]", "if (n > 1) p[0] = 4.0f;")}, "guard-outside-changed");
  expectAccepted(P, {P.replace("p[0]", "{ if (n > 1) p[0] = 4.0f; }")});
}

//===-- What the code does ------------------------------------------------===//

TEST(GuardRules, DeclarationsStayInside) {
  const GuardProgram &P = program();
  expectRefused(P, {P.edit(EditKind::InsertBefore, "out[threadIdx.x] = last", "float extra = 1.0f;")},
                "guard-declaration-leak");
  expectRefused(P, {P.replace("float last", "double last = 0.0;")}, "guard-declaration-lost");
  expectRefused(P, {P.replace("float last", "{ float last = 0.0f; }")}, "guard-parse");
  // Still parses: the name would mean the parameter.
  GuardProgram Shadow("__global__ void hotK(float *p, float v) {\n  {\n    float v = p[1];\n"
                      "    p[0] = v;\n  }\n}\n");
  expectRefused(Shadow, {Shadow.edit(EditKind::Delete, "float v", "")}, "guard-declaration-lost");
  expectRefused(Shadow, {Shadow.replace("float v", "{ float v = p[1]; p[2] = v; }")},
                "guard-declaration-lost");
  expectAccepted(Shadow, {Shadow.replace("float v", "const float v = p[1] * 2.0f;")});
}

TEST(GuardRules, StateAndSideEffects) {
  const GuardProgram &P = program();
  auto Text = [&](StringRef T) {
    return std::vector<Edit>{P.replace("out[threadIdx.x] = last", T)};
  };
  expectRefused(P, Text("{ static int calls = 0; out[threadIdx.x] = last; }"), "guard-state");
  expectRefused(P, Text("{ __shared__ float s[4]; out[threadIdx.x] = last; }"), "guard-state");
  expectRefused(P, Text("{ extern __device__ int counter; counter = 1; }"), "guard-state");
  expectRefused(P, Text("{ counter = 1; out[threadIdx.x] = last; }"), "guard-global-access");
  expectRefused(P, Text("out[threadIdx.x] = table[0];"), "guard-global-access");
  expectRefused(P, Text("{ asm volatile(\"exit;\"); }"), "guard-lexical-trick");
  expectRefused(P, Text("{ asm volatile(); }"), "guard-asm");
  expectRefused(P, Text("printf(0);"), "guard-side-effect");
  expectRefused(P, Text("{ float *m = new float; out[0] = *m; }"), "guard-side-effect");
  expectRefused(P, Text("out[threadIdx.x] = clock64();"), "guard-side-effect");
  expectRefused(P, Text("cudaMalloc(&out, 4);"), "guard-host-api");
  expectRefused(P, Text("cold<<<1, 1>>>(out);"), "guard-host-api");
  expectRefused(P, Text("out[threadIdx.x] = __fdividef(last, 2.0f);"), "guard-fast-math");
  expectRefused(P, Text("out[threadIdx.x] = stranger(last);"), "guard-call");
  expectRefused(P, Text("{ float (*f)(float) = stranger; out[threadIdx.x] = f(last); }"),
                "guard-call");
  expectRefused(P, Text("{ auto f = [](float x) { return x; }; out[0] = f(last); }"),
                "guard-type-definition");
  expectRefused(P, Text("{ struct S { float x; }; out[0] = S{last}.x; }"),
                "guard-type-definition");
  expectRefused(P, Text("atomicAdd(&out[0], last);"), "guard-atomic");
  expectRefused(P, Text("{ __syncthreads(); out[threadIdx.x] = last; }"), "guard-barrier");
  expectRefused(P, Text("{ WAIT(); out[threadIdx.x] = last; }"), "guard-barrier");
  expectRefused(P, Text("{ __threadfence(); out[threadIdx.x] = last; }"), "guard-barrier");
  expectRefused(P, Text("if (n > 3) return;"), "guard-control-flow");
  expectRefused(P, Text("{ again: out[threadIdx.x] = last; }"), "guard-control-flow");
  expectRefused(P, Text("*(float *)in = last;"), "guard-cast-away");
  expectRefused(P, {P.edit(EditKind::Delete, "__syncthreads", "")}, "guard-barrier");
  expectRefused(P, {P.edit(EditKind::Delete, "if (flags[0])", "")}, "guard-atomic");
  expectRefused(P, {P.replace("if (flags[0])", "atomicAdd(&counter, 1);")}, "guard-volatile");
  expectRefused(P, {P.replace("asm volatile", "asm volatile(\"bar.sync 0;\");")}, "guard-asm");
  expectRefused(P, {P.raw("    out[1] = 2.0f;\n    break;\n", "    out[1] = 2.0f;\n")}, "guard-control-flow");
}

TEST(GuardRules, JumpsThatLeaveTheEdit) {
  const GuardProgram &P = program();
  expectRefused(P, {P.replace("out[2] = out[2]", "{ out[2] = 0.0f; break; }")},
                "guard-control-flow");
  expectRefused(P, {P.replace("if (out[3] > 2.0f)", "out[2] = out[3];")},
                "guard-control-flow");
}

TEST(GuardRules, TypesGetNoNarrower) {
  const GuardProgram &P = program();
  expectRefused(P, {P.replace("total += in[k]", "total += (float)(in[k] * 0.5);")},
                "guard-type-narrowing");
  expectRefused(P, {P.replace("total += in[k]", "total += in[k] * 0.5f;")},
                "guard-type-narrowing");
  expectRefused(P, {P.replace("tile[threadIdx.y]",
                              "tile[threadIdx.y][threadIdx.x] = "
                              "in[(int)(threadIdx.y * stride) + threadIdx.x];")},
                "guard-type-narrowing");
  expectRefused(P, {P.replace("b[0] = value * T(2)", "b[0] = (float)value * T(2);")},
                "guard-type-narrowing");
  expectRefused(P, {P.replace("b[0] = value * T(2)", "{ float f = value; b[0] = f * T(2); }")},
                "guard-type-narrowing");
}

TEST(GuardRules, SharedMemoryMayOnlyBePadded) {
  const GuardProgram &P = program();
  expectRefused(P, {P.replace("__shared__ float tile", "__shared__ double tile[32][32];")},
                "guard-shared-memory");
  expectRefused(P, {P.replace("__shared__ float tile", "__shared__ float tile[32][16];")},
                "guard-shared-memory");
  expectRefused(P, {P.replace("__shared__ float tile",
                              "__shared__ float tile[32][33]; __shared__ float more[4];")},
                "guard-state");
}

//===-- Signatures and launches -------------------------------------------===//

TEST(GuardRules, Signatures) {
  const GuardProgram &P = program();
  auto Copy = [&](StringRef Text) { return std::vector<Edit>{P.signature("hotCopy", Text)}; };
  expectRefused(P, Copy("__global__ void hotCopy(const float *in, float *out, long n)"),
                "guard-signature");
  expectRefused(P, Copy("__global__ void hotCopy(const float *in, float *out)"),
                "guard-signature");
  expectRefused(P, Copy("__global__ void hotCopy(float *in, float *out, int n)"),
                "guard-signature");
  expectRefused(P, Copy("static __global__ void hotCopy(const float *in, float *out, int n)"),
                "guard-signature");
  expectRefused(P, Copy("__global__ void other(const float *in, float *out, int n)"),
                "guard-signature");
  expectRefused(P, Copy("__global__ void hotCopy(const float *in, float *out, int n) {"),
                "guard-unbalanced");
  expectRefused(P, Copy("__global__ void hotCopy(const float *in, float *out, int n = 3;)"),
                "guard-signature");
  expectRefused(P, Copy("__global__ void hotCopy(const float *in, const float *out, int n)"),
                "guard-parse");
}

TEST(GuardRules, Launches) {
  const GuardProgram &P = program();
  auto Both = [&](StringRef A, StringRef B) {
    return std::vector<Edit>{P.launch("grid, kBlock", A), P.launch("grid + 1, kBlock", B)};
  };
  expectRefused(P, {P.launch("grid, kBlock", "grid * 2, kBlock / 2")}, "guard-launch-sites");
  expectRefused(P, Both("grid = 2, kBlock", "grid, kBlock"), "guard-launch-text");
  expectRefused(P, Both("grid++, kBlock", "grid, kBlock"), "guard-launch-text");
  expectRefused(P, Both("main(), kBlock", "grid, kBlock"), "guard-launch-text");
  expectRefused(P, Both("[&] { return 1; }(), kBlock", "grid, kBlock"), "guard-launch-text");
  expectRefused(P, Both("grid, cudaDeviceSynchronize()", "grid, kBlock"), "guard-host-api");
  expectRefused(P, Both("grid, kBlock, 0", "grid, kBlock"), "guard-launch-arguments");
  expectRefused(P, Both("grid", "grid, kBlock"), "guard-launch-arguments");
  expectRefused(P, Both("grid, kBlock>>>(p, p, 1); cold<<<1, 1", "grid, kBlock"),
                "guard-launch-text");
  expectRefused(P, {P.launch("(grid + 3) / 4, block, shared, stream",
                             "grid, block, shared * 2, stream")},
                "guard-launch-arguments");
  expectRefused(P, {P.launch("(grid + 3) / 4, block, shared, stream",
                             "grid, block, shared, 0")},
                "guard-launch-arguments");
  expectRefused(P, {P.launch("2, 2", "4, 1")}, "guard-launch-sites");
}

TEST(GuardRules, ALaunchThatClangDoesNotUnderstand) {
  GuardProgram P("__global__ void hotFill(int *p) { p[blockIdx.x] = 1; }\n"
                 "__global__ void other(int *p) { p[0] = 1; }\n"
                 "void run(int *p) {\n"
                 "  hotFill<<<2, 1>>>(p);\n"
                 "  other<<<1, {32}>>>(p);\n"
                 "}\n");
  expectRefused(P, {P.launch("2, 1", "4, 1")}, "guard-launch-sites");
}

//===-- Several edits -----------------------------------------------------===//

TEST(GuardRules, EditsThatMeet) {
  const GuardProgram &P = program();
  Edit A = P.replace("out[threadIdx.x] = last", "out[threadIdx.x] = last * 1.0f;");
  Edit B = P.replace("out[threadIdx.x] = last", "out[threadIdx.x] = last * 2.0f;");
  expectRefused(P, {A, A}, "guard-duplicate");
  expectRefused(P, {A, B}, "guard-overlap");
  expectRefused(P, {P.replace("for (int k", "out[0] = 1.0f;"),
                    P.replace("last = helper", "last = 0.0f;")},
                "guard-overlap");
}

TEST(GuardRules, TheRestIsKeptWhenAsked) {
  const GuardProgram &P = program();
  std::vector<Edit> Edits = {
      P.replace("out[threadIdx.x] = last", "out[threadIdx.x] = stranger(last);"),
      P.replace("b[1] = value", "{ T w = value; b[1] = w; }"),
      P.replace("out[7] = 7.0f", "out[7] = 8.0f;"),
      P.replace("out[5] = expf", "out[5] = expf(in[5]) + nobody;"),
  };
  EditSet Set = P.run(Edits, /*AllOrNothing=*/false);
  ASSERT_EQ(Set.Accepted.size(), 1u);
  EXPECT_EQ(Set.Accepted[0].Id, 2u);
  std::vector<std::string> Rules;
  for (const Refusal &R : Set.Refusals)
    Rules.push_back(R.Rule);
  EXPECT_EQ(Rules, (std::vector<std::string>{"guard-out-of-region", "guard-parse", "guard-call"}));
  EXPECT_TRUE(P.run(Edits, /*AllOrNothing=*/true).empty());
}

//===-- The legal neighbours ----------------------------------------------===//

TEST(GuardRules, LegalNeighboursAreAccepted) {
  const GuardProgram &P = program();
  std::string New = expectAccepted(P, {
      // state, calls, control, types: what the replaced text had, or braces
      P.replace("out[i] = in[i]", "{ float v = __ldg(&in[i]); __stcs(&out[i], v + 1.0f); }"),
      P.replace("total += in[k]", "{ const float x = in[k]; total += x * 0.5; }"),
      P.replace("last = helper", "last = helper(fmaxf(in[k], 0.0f) + SQUARE(1.0f));"),
      P.edit(EditKind::InsertBefore, "for (int k", "#pragma unroll 4"),
      P.edit(EditKind::Wrap, "out[threadIdx.x] = last", "if (n > 0) {\n  $body\n}"),
      P.edit(EditKind::InsertAfter, "sums[threadIdx.x]", "if (n < 0) {\n  float extra = last;\n  out[0] = extra;\n}"),
      P.replace("__shared__ float tile", "__shared__ float tile[32][33];"),
      P.replace("tile[threadIdx.y]", "{\n  const long long row = threadIdx.y * stride;\n  tile[threadIdx.y][threadIdx.x] = in[row + threadIdx.x];\n}"),
      P.replace("__syncthreads", "{ WAIT(); }"),
      P.replace("if (flags[0])", "if (flags[0] != 0) {\n  atomicAdd(&counter, 1);\n}"),
      P.replace("if (out[3] > 2.0f)", "if (2.0f < out[3]) {\n  out[4] = 1.0f;\n  break;\n}"),
      P.edit(EditKind::Delete, "out[1] = 2.0f", ""),
      P.replace("asm volatile", "{ asm volatile(\"membar.gl;\"); }"),
      P.raw("expf(in[5])", "expf(in[5]) + 0.0f"),
      P.replace("b[0] = value * T(2)", "{ const T twice = value * T(2); b[0] = twice; }"),
      P.signature("hotTile", "__global__ void __launch_bounds__(1024) hotTile(const float *__restrict__ in, float *out, volatile int *flags, const long long stride)"),
      P.signature("hotTemplate", "template <typename T> __global__ void hotTemplate(const T *__restrict__ a, T *__restrict__ b, int n)"),
      P.launch("grid, kBlock", "(grid + 1) / 2, dim3(kBlock * 2)"),
      P.launch("grid + 1, kBlock", "std::max(grid / 2, 1), kBlock * 2"),
      P.launch("(grid + 3) / 4, block, shared, stream", "(grid + 7) / 8, dim3(block.x, block.y * 2), shared, stream"),
  });
  EXPECT_NE(New.find("template <typename T> __global__ void hotTemplate(const T *__restrict__ a, T *__restrict__ b, int n);"),
            std::string::npos);
  EXPECT_NE(New.find("hotTemplate<float>(const float *__restrict__, float *__restrict__, int);"),
            std::string::npos);
  EXPECT_NE(New.find("  case 0:\n    ;\n    break;"), std::string::npos);
  EXPECT_NE(New.find("  #pragma unroll 4\n  for (int k"), std::string::npos);
}

TEST(GuardRules, TheCatalogueMayDeclareFreshNames) {
  const GuardProgram &P = program();
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
