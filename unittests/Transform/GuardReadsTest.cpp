//===- GuardReadsTest.cpp - Memory that the function only wrote -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardTest.h"

using namespace llvm;
using namespace optimas;

/// `out`, `args.out`, `log` and `kept` are only stored through, the others are read.
static const GuardProgram &writes() {
  static const GuardProgram P(R"cu(
struct Args { const float *in; float *out; };
struct Pair { float x, y; };
__device__ float kept[64];
__device__ float scale;
constexpr float kWeights[2] = {0.25f, 0.75f};

__global__ void hotWrites(const float *in, float *out, Args args, Pair *pairs, int *bins,
                          float &log) {
  int i = threadIdx.x;
  float *row = out + 4 * i;
  row[0] = in[i];
  out[i] = 1.0f;
  args.out[i] = args.in[i] * scale;
  kept[i] = 2.0f;
  pairs[i].x = 3.0f;
  atomicAdd(&bins[i], 1);
  log = 4.0f;
  __stcs(&out[i + 1], 5.0f);
}

template <typename T> __global__ void hotGeneric(const T *a, T *b) {
  T value = a[0];
  b[0] = value;
}
template __global__ void hotGeneric<float>(const float *, float *);
template __global__ void hotGeneric<double>(const double *, double *);
)cu");
  return P;
}

static const char Rule[] = "guard-output-read";

TEST(GuardReads, WhatWasOnlyWrittenStaysUnread) {
  const GuardProgram &P = writes();
  for (const char *Text :
       {"out[i] = out[i] + 1.0f;", "out[i] += 1.0f;", "out[i]++;", "out[i] = *(out + i);",
        "{ float *q = out; out[i] = q[i]; }", "{ float *q; q = out + 1; out[i] = *q; }",
        "{ const float &r = out[i + 1]; out[i] = r; }", "out[i] = __ldg(out + i);",
        "out[i] = fmaxf(1.0f, out[0]);", "out[i] = (i > 2 ? out : in)[i];",
        "out[i] = row[1];", "out[i] = args.out[i];", "out[i] = kept[3];",
        "out[i] = pairs[i].x;", "{ Pair *q = &pairs[i]; out[i] = q->y; }",
        "{ Args local = args; out[i] = local.out[i]; }", "out[i] = log;",
        "{ float *both[2] = {row, row}; out[i] = both[1][0]; }",
        "{ const float4 v = *reinterpret_cast<const float4 *>(out); out[i] = v.x; }"})
    expectRefused(P, {P.replace("out[i] = 1.0f", Text)}, Rule);
  expectRefused(P, {P.replace("log = 4.0f", "log += 4.0f;")}, Rule);
  expectRefused(P, {P.replace("b[0] = value", "b[0] += value;")}, Rule);
  expectRefused(P, {P.replace("b[0] = value", "{ T *p = b; b[0] = p[0]; }")}, Rule);
}

TEST(GuardReads, WritingOtherwiseAndReadingWhatWasRead) {
  const GuardProgram &P = writes();
  for (const char *Text :
       {"out[i] = in[i + 1] * scale;", "out[i] = args.in[0];", "*(out + i) = 1.0f;",
        "{ float *q = out + i; *q = 1.0f; q[0] = 2.0f; }", "__stcs(out + i, 1.0f);",
        "{ float local[2] = {1.0f, 2.0f}; float *q = local; out[i] = q[1]; }",
        "out[i] = kWeights[1];", "kept[i] = in[i];", "pairs[i].y = in[0];",
        "{ Pair p; p.x = 1.0f; p.y = p.x; pairs[i] = p; }",
        "{ float4 v = make_float4(1.0f, 1.0f, 1.0f, 1.0f); "
        "*reinterpret_cast<float4 *>(out + 4 * i) = v; }",
        "out[i] = bins[i];", "out[i] = sizeof(out[0]);"})
    expectAccepted(P, {P.replace("out[i] = 1.0f", Text)});
  expectAccepted(P, {P.replace("b[0] = value", "{ T *p = b; p[0] = value * a[1]; }")});
}
