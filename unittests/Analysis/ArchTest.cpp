//===- ArchTest.cpp - Blame on the code of every architecture ---*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles one source for each architecture and puts samples on every instruction
// that waits for a scoreboard: the evidence must name the loads, through the helper
// that is inlined twice.
//
//===----------------------------------------------------------------------===//

#include "AnalysisTest.h"
#include "optimas/Analysis/Blame.h"
#include "optimas/Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {
const char *Source = R"(__device__ float fetch(const float *p, int i) {
  return p[i + threadIdx.x];
}
__global__ void use(const float *a, const float *b, float *out, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum +=
        fetch(a, i)
        * fetch(b, 2 * i);
  out[threadIdx.x] = sum;
}
void run(float *a, float *b, float *c, int n) { use<<<1, 32>>>(a, b, c, n); }
)";

class Arch : public testing::TestWithParam<unsigned> {};

TEST_P(Arch, NamesTheLoadsThroughBothCalls) {
  const SourceModel &M = modelOf({{"k.cu", Source}});
  ProfileBuilder B(&M);
  std::string Bytes = compileCubin(M, GetParam());
  B.P.Modules.push_back({sha256(Bytes), Bytes, GetParam()});
  const std::string Symbol = "_Z3usePKfS0_Pfi";
  Cubin C = llvm::cantFail(Cubin::parse(Bytes, "k.cubin"));
  ASSERT_NE(C.function(Symbol), nullptr);
  BlameGraph G(C.instructions(*C.function(Symbol)));
  B.function(Symbol);
  B.P.Functions[0].ModuleId = B.P.Modules[0].Id;
  size_t Waits = 0, Resolved = 0;
  for (size_t I = 0; I != G.instructions().size(); ++I) {
    const Instruction &Instr = G.instructions()[I];
    if (!Instr.WaitMask)
      continue;
    ++Waits;
    bool Found = false;
    for (const char *Reason : {"long_scoreboard", "short_scoreboard"})
      Found |= !G.blame(I, Reason).Producers.empty();
    Resolved += Found;
    llvm::SmallVector<size_t, 4> Loads;
    for (const BlamedInstruction &P : G.blame(I, "long_scoreboard").Producers)
      if (G.instructions()[P.Index].Class == InstrClass::GlobalLoad)
        Loads.push_back(P.Index);
    if (Loads.empty())
      continue;
    PcSample Pc;
    Pc.Offset = Instr.Offset;
    Pc.Stalls.push_back(stall("long_scoreboard", G.inLoop(I) ? 1000 : 10));
    B.P.Functions[0].Pcs.push_back(Pc);
  }
  EXPECT_GT(Waits, 3u);
  EXPECT_EQ(Resolved, Waits); // every wait has somebody who set its barrier
  Diagnosis D = diagnose(M, B.P);
  const Evidence &E = topOf(D, "use");
  EXPECT_EQ(E.where().Line, 2u);
  EXPECT_EQ(E.where().Function, "fetch");
  EXPECT_EQ(E.Producers.front().Opcode, "LDG");
  EXPECT_EQ(E.Producers.front().AccessBytes, 4u);
  EXPECT_TRUE(implicates(E, 2));
  EXPECT_TRUE(implicates(E, 8) || implicates(E, 9));
  EXPECT_GE(E.Confidence, 0.8);
}

// A local array under an index that is not known, and more live values than the
// registers that a launch bound leaves: both lie in local memory.
const char *LocalSource = R"(__global__ void indexed(const float *x, float *out, const int *k, int n) {
  float a[64], s = 0;
  for (int i = 0; i < 64; ++i)
    a[i] = x[i + threadIdx.x];
  for (int i = 0; i < n; ++i)
    a[k[i] & 63] += s, s += a[k[i + 1] & 63];
  out[threadIdx.x] = s;
}
__global__ void __launch_bounds__(1024) spilled(const float *x, float *out, int n) {
  float v[90], s = 0;
#pragma unroll
  for (int k = 0; k < 90; ++k)
    v[k] = x[threadIdx.x + k];
  for (int r = 0; r < n; ++r)
#pragma unroll
    for (int k = 0; k < 90; ++k)
      v[k] = v[k] * v[(k + 1) % 90] + 0.25f;
#pragma unroll
  for (int k = 0; k < 90; ++k)
    s += v[k];
  out[threadIdx.x] = s;
}
)";

TEST_P(Arch, OnlySpillsAreSpills) {
  std::string Bytes = compileCubin(modelOf({{"local.cu", LocalSource}}, "local.cu"), GetParam());
  Cubin C = llvm::cantFail(Cubin::parse(Bytes, "local.cubin"));
  auto LocalOf = [&](const CubinFunction &F) {
    std::vector<uint64_t> Offsets;
    for (const Instruction &I : C.instructions(F))
      if (I.Class == InstrClass::LocalLoad || I.Class == InstrClass::LocalStore)
        Offsets.push_back(I.Offset);
    return Offsets;
  };
  const CubinFunction *Indexed = C.function("_Z7indexedPKfPfPKii");
  const CubinFunction *Spilled = C.function("_Z7spilledPKfPfi");
  ASSERT_TRUE(Indexed && Spilled);
  EXPECT_FALSE(LocalOf(*Indexed).empty());
  EXPECT_TRUE(Indexed->Spills.empty());
  EXPECT_FALSE(Spilled->Spills.empty());
  EXPECT_EQ(Spilled->Spills, LocalOf(*Spilled));
}

INSTANTIATE_TEST_SUITE_P(Nvcc, Arch, testing::Values(75u, 80u, 90u, 100u, 120u),
                         [](const auto &I) { return "sm_" + std::to_string(I.param); });

} // namespace
