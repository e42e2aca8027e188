//===- CeilingsCodeTest.cpp - The ceilings program does its work ----------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Recorded.h"
#include "optimas/Support/Subprocess.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

static const Cubin &program() {
  static const Cubin Built = [] {
    ScratchDir Scratch = cantFail(ScratchDir::create("optimas-ceilings"));
    SubprocessOptions Run;
    Run.Args = {OPTIMAS_NVCC, "-std=c++17", "-O3", "-arch=sm_90a", "-cubin",
                OPTIMAS_CEILINGS_SOURCE, "-o", Scratch.file("a.cubin")};
    SubprocessResult Result = cantFail(runSubprocess(Run));
    EXPECT_TRUE(Result.ok()) << Result.Error;
    std::string Bytes =
        cantFail(readFile(Scratch.file("a.cubin"), ExitCode::Internal));
    return cantFail(Cubin::parse(Bytes, "ceilings"));
  }();
  return Built;
}

/// How often each instruction is in the longest loop of the kernel whose name has \p Part.
static std::map<std::string, unsigned> longestLoop(StringRef Part) {
  std::map<std::string, unsigned> Counts;
  uint64_t Longest = 0;
  for (const CubinFunction &F : program().functions()) {
    if (!StringRef(F.Symbol).contains(Part))
      continue;
    std::vector<Instruction> Code = program().instructions(F);
    for (const Instruction &End : Code) {
      if (!End.Target || *End.Target >= End.Offset || End.Offset - *End.Target <= Longest)
        continue;
      Longest = End.Offset - *End.Target;
      Counts.clear();
      for (const Instruction &I : Code)
        if (I.Offset >= *End.Target && I.Offset <= End.Offset)
          ++Counts[I.Mnemonic];
    }
  }
  return Counts;
}

static bool stores(StringRef Part) {
  for (const CubinFunction &F : program().functions())
    if (StringRef(F.Symbol).contains(Part))
      for (const Instruction &I : program().instructions(F))
        if (I.Class == InstrClass::GlobalStore)
          return true;
  return false;
}

namespace {
struct Work {
  const char *Kernel, *Instruction;
  unsigned PerRound; ///< as the host counts them
};
} // namespace

TEST(CeilingsCode, EveryOperationThatIsCountedIsThere) {
  for (const Work &E : std::vector<Work>{{"5fma32", "FFMA", 32},
                                                 {"5fma64", "DFMA", 32},
                                                 {"5mad32", "IMAD", 32},
                                                 {"10readShared", "LDS", 4},
                                                 {"6readL2", "LDG", 4},
                                                 {"7writeL2", "STG", 4},
                                                 {"6copyL2", "LDG", 2},
                                                 {"7mmaFp16", "HMMA", 8},
                                                 {"7mmaBf16", "HMMA", 8},
                                                 {"7mmaTf32", "HMMA", 8},
                                                 {"7mmaInt8", "IMMA", 8},
                                                 {"7mmaFp64E", "DMMA", 8},
                                                 {"12mmaFp64Large", "DMMA", 16},
                                                 {"WgmmaE0", "HGMMA", 4},
                                                 {"WgmmaE1", "HGMMA", 4},
                                                 {"WgmmaE2", "HGMMA", 4},
                                                 {"WgmmaE3", "QGMMA", 4},
                                                 {"WgmmaE4", "IGMMA", 4}}) {
    unsigned Count = longestLoop(E.Kernel)[E.Instruction];
    EXPECT_GE(Count, E.PerRound) << E.Kernel;
    EXPECT_EQ(Count % E.PerRound, 0u) << E.Kernel;
    EXPECT_TRUE(stores(E.Kernel)) << E.Kernel;
  }
}

TEST(CeilingsCode, HalfPrecisionUsesBothPipes) {
  std::map<std::string, unsigned> Loop = longestLoop("5fma16");
  EXPECT_GE(Loop["HFMA2"], 16u);
  EXPECT_EQ(Loop["HFMA2"], Loop["HFMA2.MMA"]);
}
