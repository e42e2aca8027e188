//===- TraceTest.cpp - Reading and comparing traces -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Trace.h"
#include "gtest/gtest.h"

using namespace optimas;

TEST(KernelLabel, SurvivesEditsOfTheParameterList) {
  EXPECT_EQ(kernelLabel("_Z4copyIfEvPKT_PS0_i"), "copy<float>");
  EXPECT_EQ(kernelLabel("_Z14transposeNaivePKfPfii"), "transposeNaive");
  EXPECT_EQ(kernelLabel("_ZN2ns4kernEPf"), "ns::kern");
  EXPECT_EQ(kernelLabel("void ns::copy<float>(float const*, float*, int)"),
            "ns::copy<float>");
  EXPECT_EQ(kernelBase("_Z4copyIfEvPKT_PS0_i"), "copy");
  EXPECT_EQ(kernelLabel("_ZN12_GLOBAL__N_14kernEPf"), "(anonymous namespace)::kern");
  EXPECT_EQ(kernelLabel("_ZN32_GLOBAL__N__a1b2c3d4_7_main_cu_x4kernEPf"),
            "(anonymous namespace)::kern");
  EXPECT_EQ(kernelLabel("saxpy"), "saxpy");
}

static const char *const Good =
    "{\"optimas_memory\":1,\"poison\":165,\"device\":\"NVIDIA H200\",\"driver\":\"580\"}\n"
    "{\"launch\":1,\"kernel\":\"_Z3addPf\",\"grid\":[4,1,1],\"block\":[256,1,1],"
    "\"status\":0,\"allocs\":[[1,64,\"00aa\"],[2,4,\"00bb\"]],\"globals\":[[\"g\",8,\"01\"]]}\n"
    "{\"launch\":2,\"kernel\":\"_Z3addPf\",\"grid\":[4,1,1],\"block\":[256,1,1],"
    "\"status\":0,\"allocs\":[[1,64,\"00ac\"],[2,4,\"00bb\"]],\"globals\":[]}\n"
    "{\"end\":true,\"launches\":2,\"bytes_hashed\":144,\"status\":0}\n";

static MemoryTrace good() {
  llvm::Expected<MemoryTrace> T = parseMemoryTrace(Good, "t");
  EXPECT_TRUE(bool(T));
  return std::move(*T);
}

TEST(MemoryTrace, Reads) {
  MemoryTrace T = good();
  EXPECT_EQ(T.Poison, 165u);
  EXPECT_EQ(T.Device, "NVIDIA H200");
  ASSERT_EQ(T.Launches.size(), 2u);
  EXPECT_EQ(T.Launches[0].Label, "add");
  EXPECT_EQ(T.Launches[0].Block[0], 256u);
  ASSERT_EQ(T.Launches[0].Allocations.size(), 2u);
  EXPECT_EQ(T.Launches[0].Allocations[1].Hash, "00bb");
  EXPECT_EQ(T.Launches[0].Globals[0].Symbol, "g");
  EXPECT_EQ(T.BytesHashed, 144u);
  EXPECT_TRUE(T.Complete);
}

TEST(MemoryTrace, CutAndEmptyAreIncomplete) {
  llvm::StringRef Text(Good);
  for (size_t N : {size_t(0), Text.find("{\"launch\":2") + 30, Text.find("{\"end\"")}) {
    llvm::Expected<MemoryTrace> T = parseMemoryTrace(Text.take_front(N), "t");
    ASSERT_TRUE(bool(T)) << N;
    EXPECT_FALSE(T->Complete);
  }
}

TEST(MemoryTrace, JunkAndOtherVersionsAreErrorsThatNameTheLine) {
  auto Fails = [](llvm::StringRef Text) -> std::string {
    llvm::Expected<MemoryTrace> T = parseMemoryTrace(Text, "trace.jsonl");
    if (T)
      return "";
    return llvm::toString(T.takeError());
  };
  EXPECT_NE(Fails("\x7f\x45\x4c\x46\x01\n{}\n").find("line 1"), std::string::npos);
  EXPECT_NE(Fails("{\"optimas_memory\":2}\n").find("version 2"), std::string::npos);
  EXPECT_NE(Fails("{\"optimas_time\":1}\n").find("optimas_memory"), std::string::npos);
  EXPECT_NE(Fails("{\"optimas_memory\":1}\n{\"launch\":1,\"kernel\":\"k\",\"allocs\":[[1]]}\n{}\n")
                .find("line 2"), std::string::npos);
  EXPECT_NE(Fails("{\"optimas_memory\":1}\n{\"launch\":0,\"kernel\":\"k\"}\n").find("launch"),
            std::string::npos);
}

TEST(CompareMemory, EqualTraces) {
  MemoryComparison C = compareMemory(good(), good(), "default");
  EXPECT_TRUE(C.Mismatches.empty());
  EXPECT_EQ(C.LaunchesCompared, 2u);
  EXPECT_EQ(C.BytesCompared, 64u + 4 + 8 + 64 + 4);
}

TEST(CompareMemory, NamesLaunchAllocationAndKernel) {
  MemoryTrace C = good();
  C.Launches[1].Allocations[0].Hash = "ffff";
  MemoryComparison R = compareMemory(good(), C, "1001 9999");
  ASSERT_EQ(R.Mismatches.size(), 1u);
  const Mismatch &M = R.Mismatches[0];
  EXPECT_EQ(M.Input, "1001 9999");
  EXPECT_EQ(M.What, "device memory");
  EXPECT_EQ(M.Launch, 2u);
  EXPECT_EQ(M.Allocation, 1u);
  EXPECT_EQ(M.AllocationBytes, 64u);
  EXPECT_EQ(M.Kernel, "add");
}

TEST(CompareMemory, EveryOtherWayToDiffer) {
  auto First = [](const MemoryTrace &C) -> std::string {
    MemoryComparison R = compareMemory(good(), C, "default", 1);
    return R.Mismatches.empty() ? "none" : R.Mismatches[0].What;
  };
  MemoryTrace T = good();
  T.Launches.pop_back();
  EXPECT_EQ(First(T), "number of launches");
  T = good();
  T.Launches[0].Status = 716;
  EXPECT_EQ(First(T), "launch status");
  T = good();
  T.Launches[1].Label = "mul";
  EXPECT_EQ(First(T), "order of launches");
  T = good();
  T.Launches[0].Allocations.pop_back();
  EXPECT_EQ(First(T), "device memory");
  T = good();
  T.Launches[0].Allocations.push_back({3, 16, "01"});
  EXPECT_EQ(First(T), "device memory");
  T = good();
  T.Launches[0].Globals[0].Hash = "02";
  EXPECT_EQ(First(T), "device global g");
  T = good();
  T.Complete = false;
  EXPECT_EQ(First(T), "end of the run");
  T = good();
  T.Status = 700;
  EXPECT_EQ(First(T), "device status at the end");
  // Another launch shape and another parameter list are what an edit may change.
  T = good();
  T.Launches[0].Grid = {1, 1, 1};
  T.Launches[0].Kernel = "_Z3addPKf";
  EXPECT_EQ(First(T), "none");
}

TEST(CompareMemory, StopsAtTheLimit) {
  MemoryTrace C = good();
  for (HashedLaunch &L : C.Launches)
    for (AllocationHash &A : L.Allocations)
      A.Hash = "dead";
  EXPECT_EQ(compareMemory(good(), C, "default", 3).Mismatches.size(), 3u);
}

TEST(RefineMismatch, FirstByteAndBothWords) {
  Mismatch M;
  std::string A(64, '\0'), B = A;
  float One = 1.0f;
  memcpy(&B[40], &One, 4);
  ASSERT_TRUE(refineMismatch(M, A, B));
  EXPECT_EQ(M.Offset, 42u); // the first byte of 00 00 80 3f that is not zero
  EXPECT_EQ(M.Baseline, "bytes 00000000 (int 0, float 0)");
  EXPECT_EQ(M.Candidate, "bytes 0000803f (int 1065353216, float 1)");
  EXPECT_FALSE(refineMismatch(M, A, A));
  // The last, partial word counts too.
  EXPECT_TRUE(refineMismatch(M, "abcde", "abcdf"));
  EXPECT_EQ(M.Offset, 4u);
  EXPECT_EQ(M.Candidate, "bytes 66");
}

TEST(TimeTrace, ReadsAndRejectsJunk) {
  llvm::Expected<TimeTrace> T = parseTimeTrace(
      "{\"optimas_time\":1,\"device\":\"NVIDIA H200\"}\n"
      "{\"kernel\":\"_Z3addPf\",\"ns\":[100,90,95]}\n"
      "{\"total_kernel_ns\":285}\n{\"final\":[[1,64,\"aa\"],[2,4,\"bb\"]]}\n"
      "{\"note\":\"a graph was launched\"}\n{\"end\":true}\n", "t");
  ASSERT_TRUE(bool(T));
  ASSERT_EQ(T->Kernels.size(), 1u);
  EXPECT_EQ(T->Kernels[0].total(), 285u);
  EXPECT_EQ(T->TotalKernelNs, 285u);
  EXPECT_EQ(T->Final.size(), 2u);
  EXPECT_EQ(T->Uncovered.size(), 1u);
  EXPECT_TRUE(T->Complete);
  llvm::Expected<TimeTrace> Bad = parseTimeTrace(
      "{\"optimas_time\":1}\n{\"kernel\":\"k\",\"ns\":[-3]}\n", "t");
  EXPECT_FALSE(bool(Bad));
  llvm::consumeError(Bad.takeError());
}

TEST(Finals, OnlyWhatTheBaselineRepeatsIsCompared) {
  TimeTrace A, B;
  A.Final = {{1, 64, "aa"}, {2, 4, "11"}};
  B.Final = {{1, 64, "aa"}, {2, 4, "22"}};
  auto Stable = stableFinals({A, B});
  ASSERT_EQ(Stable.size(), 1u);
  EXPECT_FALSE(compareFinals(Stable, B, "default"));
  TimeTrace C;
  C.Final = {{1, 64, "ab"}};
  std::optional<Mismatch> M = compareFinals(Stable, C, "default");
  ASSERT_TRUE(bool(M));
  EXPECT_EQ(M->Allocation, 1u);
  EXPECT_TRUE(stableFinals({A}).empty());
}
