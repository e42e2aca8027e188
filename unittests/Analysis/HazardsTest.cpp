//===- HazardsTest.cpp - Every result is waited for ------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Hazards.h"
#include "AnalysisTest.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {

/// `LDG R<d>` that sets \p Barrier.
Instruction load(uint8_t D, unsigned Barrier, InstrClass Class = InstrClass::GlobalLoad) {
  Instruction I;
  I.Class = Class;
  I.Mnemonic = "LDG";
  I.WriteBarrier = Barrier;
  I.Defs = {D};
  return I;
}

Instruction use(uint8_t A, unsigned WaitMask = 0) {
  Instruction I;
  I.Mnemonic = "FADD";
  I.WaitMask = WaitMask;
  I.Defs = {99};
  I.Uses = {A};
  return I;
}

Instruction branch(uint64_t Target, unsigned Predicate) {
  Instruction I;
  I.Class = InstrClass::Branch;
  I.Opcode = 0x947;
  I.Mnemonic = "BRA";
  I.Predicate = Predicate;
  I.Target = Target;
  return I;
}

HazardCheck check(std::vector<Instruction> Code) {
  for (size_t I = 0; I != Code.size(); ++I)
    Code[I].Offset = 16 * I;
  return checkHazards(BlameGraph(Code));
}

TEST(Hazards, AWaitOnEveryPathIsEnough) {
  EXPECT_TRUE(check({load(4, 0), use(4, 1)}).Found.empty());
  EXPECT_TRUE(check({load(4, 0), branch(48, 0), use(5, 1), use(4, 1)}).Found.empty());
}

TEST(Hazards, APathWithoutAWaitIsFound) {
  // The branch over the wait.
  HazardCheck C = check({load(4, 0), branch(48, 0), use(5, 1), use(4)});
  ASSERT_EQ(C.Found.size(), 1u);
  EXPECT_EQ(C.Found[0].Producer, 0u);
  EXPECT_EQ(C.Found[0].Use, 3u);
  EXPECT_FALSE(C.Found[0].Overwrites);
  // Another barrier, and the register written again.
  EXPECT_EQ(check({load(4, 0), use(4, 2)}).Found.size(), 1u);
  EXPECT_TRUE(check({load(4, 0), load(4, 1), use(4, 2)}).Found.at(0).Overwrites);
}

TEST(Hazards, TheLastOfAGroupWaitsForAll) {
  const InstrClass S = InstrClass::SharedLoad;
  HazardCheck C = check({load(4, NoBarrier, S), load(5, 1, S), use(4, 2)});
  EXPECT_EQ(C.Grouped, 1u);
  EXPECT_TRUE(C.Found.empty());
  EXPECT_EQ(check({load(4, NoBarrier, S), use(4, 2)}).Found.size(), 1u);
  // Shuffles are in the queue of shared memory, global loads are not.
  EXPECT_TRUE(check({load(4, NoBarrier, InstrClass::Shuffle), load(5, 1, S), use(4, 2)}).Found.empty());
  EXPECT_EQ(check({load(4, NoBarrier, InstrClass::Shuffle), load(5, 1), use(4, 2)}).Found.size(), 1u);
}

Instruction guarded(Instruction I, unsigned Predicate, bool Negated) {
  I.Predicate = Predicate;
  I.PredicateNegated = Negated;
  return I;
}

TEST(Hazards, SharedLoadsReturnInOrder) {
  Instruction Wide = load(4, 0, InstrClass::SharedLoad);
  Wide.Defs = {4, 5, 6, 7};
  Instruction Part = load(6, 1, InstrClass::SharedLoad);
  HazardCheck C = check({Wide, Part, use(6, 2)});
  EXPECT_TRUE(C.Found.empty());
  EXPECT_EQ(C.Ordered, 1u);
  // What the second load leaves is still on the way, and so is all of it in the threads
  // that do not execute the second one.
  ASSERT_EQ(check({Wide, Part, use(5, 2)}).Found.size(), 1u);
  EXPECT_EQ(check({Wide, guarded(Part, 2, false), use(6, 2)}).Found.size(), 1u);
  EXPECT_EQ(check({load(4, 0), load(4, 1), use(4, 3)}).Found.size(), 1u); // global: not in order
}

TEST(Hazards, NoThreadExecutesOppositeGuards) {
  Instruction First = guarded(load(4, NoBarrier, InstrClass::SharedLoad), 1, true);
  Instruction Other = guarded(load(5, 1, InstrClass::SharedLoad), 1, false);
  Instruction Move = guarded(use(7), 1, false);
  Move.Defs = {4};
  HazardCheck C = check({First, Other, Move, use(4, 2)});
  EXPECT_TRUE(C.Found.empty());
  EXPECT_EQ(C.Exclusive, 1u);
  // The same guard, another one, and one that was computed anew in between.
  EXPECT_EQ(check({First, Other, guarded(Move, 1, true), use(4, 2)}).Found.size(), 1u);
  EXPECT_EQ(check({First, Other, guarded(Move, 2, false), use(4, 2)}).Found.size(), 1u);
  Instruction Compare = use(9);
  Compare.Mnemonic = "ISETP";
  Compare.Hi = uint64_t(1) << 17 | uint64_t(7) << 20; // writes P1
  EXPECT_EQ(check({First, Other, Compare, Move, use(4, 2)}).Found.size(), 1u);
  // Other fields stand where a comparison has its results.
  Instruction Special = use(9);
  Special.Mnemonic = "S2R";
  Special.Hi = uint64_t(1) << 17;
  EXPECT_TRUE(check({First, Other, Special, Move, use(4, 2)}).Found.empty());
  Instruction Multiply = use(9);
  Multiply.Mnemonic = "IMAD";
  Multiply.Hi = uint64_t(7) << 17 | uint64_t(1) << 20; // no carry; a multiplication has one at most
  EXPECT_TRUE(check({First, Other, Multiply, Move, use(4, 2)}).Found.empty());
  Multiply.Mnemonic = "LEA";
  EXPECT_TRUE(check({First, Other, Multiply, Move, use(4, 2)}).Found.empty());
  Multiply.Hi = uint64_t(1) << 17 | uint64_t(7) << 20; // its carry is P1
  EXPECT_EQ(check({First, Other, Multiply, Move, use(4, 2)}).Found.size(), 1u);
  Compare.Mnemonic = "UISETP"; // writes UP1
  EXPECT_TRUE(check({First, Other, Compare, Move, use(4, 2)}).Found.empty());
}

// Calls, several wide and slow instructions, shared memory, atomics, jump tables.
const char *Source = R"(
__device__ __noinline__ float helper(float x, int n) {
  for (int i = 0; i < n; ++i)
    x = x * x + 1;
  return x;
}
__global__ void routines(const double *d, const float *f, const long long *l, double *od,
                         float *of, long long *ol, int n) {
  int i = threadIdx.x;
  od[i] = d[i] / d[i + 1];
  of[i] = f[i] / f[i + 1];
  ol[i] = l[i] / l[i + 1] + l[i + 2] % l[i + 1];
  of[i + 64] = sqrtf(f[i + 2]) + helper(f[i], n);
  od[i + 64] = sqrt(d[i + 2]) + sin(d[i + 3]) + helper(f[i], n + 1);
}
__global__ void block(const float4 *in, float *out, int *bins, int n) {
  __shared__ float tile[1024];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float4 v = in[i];
    tile[i & 1023] = v.x + __shfl_xor_sync(~0u, v.y, 1);
    __syncthreads();
    switch (n & 7) {
    case 0: sum += tile[(i + 1) & 1023]; break;
    case 1: sum -= tile[(i + 2) & 1023] * v.z; break;
    case 2: sum *= rsqrtf(v.w); break;
    case 3: sum += __popc(i) + __ldg(out + i); break;
    case 4: sum = fmaxf(sum, v.z); break;
    default: sum += atomicAdd(bins + (i & 15), 1); break;
    }
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
)";

class HazardsArch : public testing::TestWithParam<unsigned> {};

TEST_P(HazardsArch, CompiledCodeWaitsForEveryResult) {
  std::string Bytes = compileCubin(modelOf({{"hazards.cu", Source}}, "hazards.cu"), GetParam());
  Cubin C = llvm::cantFail(Cubin::parse(Bytes, "hazards.cubin"));
  size_t Results = 0;
  for (const CubinFunction &F : C.functions()) {
    if (!F.IsKernel)
      continue;
    BlameGraph G(C.instructions(F));
    HazardCheck H = checkHazards(G);
    Results += H.Results;
    EXPECT_EQ(H.GaveUp, 0u);
    for (const Hazard &X : H.Found)
      ADD_FAILURE() << F.Symbol << ": " << G.instructions()[X.Producer].Mnemonic << " "
                    << G.instructions()[X.Producer].Offset << " -> "
                    << G.instructions()[X.Use].Mnemonic << " "
                    << G.instructions()[X.Use].Offset;
  }
  EXPECT_GT(Results, 50u);
}

INSTANTIATE_TEST_SUITE_P(Nvcc, HazardsArch, testing::Values(75u, 80u, 90u, 100u, 120u),
                         [](const auto &I) { return "sm_" + std::to_string(I.param); });

} // namespace
