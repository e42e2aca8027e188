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
#include "optimas/Support/Subprocess.h"
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

std::string compile(const SourceModel &M, unsigned Sm) {
  ScratchDir Scratch = llvm::cantFail(ScratchDir::create("optimas-arch"));
  std::string File = Scratch.file("k.cu"), Out = Scratch.file("k.cubin");
  llvm::cantFail(writeFileAtomically(File, M.mainFile().Text));
  SubprocessOptions O;
  O.Args = {OPTIMAS_NVCC, "-arch=sm_" + std::to_string(Sm), "-O3", "-lineinfo", "-cubin",
            "-o",         Out,  File};
  O.TimeoutSeconds = 120;
  SubprocessResult R = llvm::cantFail(runSubprocess(O));
  EXPECT_TRUE(R.ok()) << R.Error;
  return llvm::cantFail(readFile(Out, ExitCode::Usage));
}

TEST_P(Arch, NamesTheLoadsThroughBothCalls) {
  const SourceModel &M = modelOf({{"k.cu", Source}});
  ProfileBuilder B(&M);
  std::string Bytes = compile(M, GetParam());
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

INSTANTIATE_TEST_SUITE_P(Nvcc, Arch, testing::Values(75u, 80u, 90u, 100u, 120u),
                         [](const auto &I) { return "sm_" + std::to_string(I.param); });

} // namespace
