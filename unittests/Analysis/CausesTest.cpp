//===- CausesTest.cpp - The planted cause is the one that is named ---------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of test/Analysis/Inputs/causes, each with one cause by construction, marked
// at the line that must be named: `// cause: REASON…`. Their profiles were recorded on
// an H200.
//
//===----------------------------------------------------------------------===//

#include "AnalysisTest.h"
#include "optimas/Analysis/Blame.h"
#include "optimas/Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {

struct Planted {
  std::map<unsigned, std::set<std::string>> Reasons; ///< by marked line
};

Planted plantedIn(const SourceFile &F) {
  Planted P;
  for (unsigned Line = 1; Line <= F.lineCount(); ++Line) {
    llvm::StringRef Mark = F.line(Line).split("// cause: ").second.trim();
    llvm::SmallVector<llvm::StringRef, 4> Words;
    llvm::SplitString(Mark, Words);
    for (llvm::StringRef W : Words)
      P.Reasons[Line].insert(W.str());
  }
  return P;
}

/// Every kernel of the folder that has a recording.
std::vector<std::string> recordedCauses() {
  std::vector<std::string> Names;
  std::error_code E;
  for (llvm::sys::fs::directory_iterator I(OPTIMAS_CAUSES, E), End; I != End && !E;
       I.increment(E)) {
    llvm::StringRef Name = llvm::sys::path::filename(I->path());
    if (Name.consume_back(".optimas.json") || Name.consume_back(".optimas.json.zst"))
      Names.push_back(Name.str());
  }
  llvm::sort(Names);
  return Names;
}

const Evidence *topStall(const Diagnosis &D) {
  for (const Evidence &E : D.Items)
    if (E.Kind == EvidenceKind::Stall)
      return &E;
  return nullptr;
}

class Causes : public testing::TestWithParam<std::string> {};

TEST_P(Causes, TheTopStallIsThePlantedOne) {
  const SourceModel &M = causeModel(GetParam());
  Planted P = plantedIn(M.mainFile());
  ASSERT_FALSE(P.Reasons.empty());
  Diagnosis D = diagnose(M, causeProfile(GetParam()));
  const Evidence *E = topStall(D);
  ASSERT_NE(E, nullptr);
  auto Marked = P.Reasons.find(E->where().Line);
  ASSERT_NE(Marked, P.Reasons.end()) << E->Sentence;
  EXPECT_TRUE(llvm::any_of(Marked->second,
                           [&](llvm::StringRef R) { return llvm::StringRef(E->Reason).starts_with(R); }))
      << E->Sentence;
  EXPECT_FALSE(E->Producers.empty()) << E->Sentence;
  EXPECT_GE(E->Confidence, 0.8);
}

INSTANTIATE_TEST_SUITE_P(H200, Causes, testing::ValuesIn(recordedCauses()),
                         [](const auto &I) { return I.param; });

TEST(Cause, AllAreRecorded) { EXPECT_EQ(recordedCauses().size(), 13u); }

TEST(Cause, BothOfTwoEqualLoadsAreNamed) {
  const SourceModel &M = causeModel("two_loads");
  const Diagnosis D = diagnose(M, causeProfile("two_loads"));
  const Evidence &E = *topStall(D);
  std::vector<unsigned> Lines = producerLines(E);
  llvm::sort(Lines);
  EXPECT_EQ(Lines, (std::vector<unsigned>{7, 8}));
  for (const ProducerRef &P : E.Producers)
    EXPECT_GT(P.Share, 0.3);
}

// The 64-bit division is a routine behind the kernel whose instructions carry the line
// of the closing brace.
TEST(Cause, TheCompilersRoutineCountsForItsCall) {
  const SourceModel &M = causeModel("integer_division");
  Diagnosis D = diagnose(M, causeProfile("integer_division"));
  uint64_t AtCall = 0, AtBrace = 0;
  for (const Evidence &E : D.Items) {
    if (E.Kind != EvidenceKind::Stall)
      continue;
    if (E.Routine.empty())
      continue;
    (E.where().Line == 11 ? AtBrace : AtCall) += E.Samples;
    // The compiler gives the first of the unrolled divisions the loop's own line.
    EXPECT_TRUE(E.Consumer.Line == 8 || E.Consumer.Line == 9);
    EXPECT_NE(E.Sentence.find("in the 64-bit division routine called at line " +
                              std::to_string(E.Consumer.Line)),
              std::string::npos)
        << E.Sentence;
  }
  EXPECT_EQ(topStall(D)->Routine, "__cuda_sm20_div_u64");
  EXPECT_EQ(AtBrace, 0u);
  EXPECT_GT(AtCall, 0u);
}

TEST(Cause, ARegisterSpillIsNamedAsOne) {
  const SourceModel &M = causeModel("register_spill");
  const Diagnosis D = diagnose(M, causeProfile("register_spill"));
  const Evidence &E = *topStall(D);
  EXPECT_TRUE(E.Producers.front().Spill);
  EXPECT_EQ(E.Sentence.find("register spill: "), 0u) << E.Sentence;
  EXPECT_NE(E.Sentence.find("register-spill store"), std::string::npos) << E.Sentence;
}

TEST(Cause, TheTensorPipeIsFedByMatrixInstructions) {
  const SourceModel &M = causeModel("tensor_pipe");
  bool Any = false;
  for (const Evidence &E : diagnose(M, causeProfile("tensor_pipe")).Items)
    if (E.Reason == "math_pipe_throttle" && E.ConsumerOpcode == "HMMA") {
      Any = true;
      for (const ProducerRef &P : E.Producers)
        EXPECT_EQ(P.Opcode, "HMMA") << E.Sentence;
      EXPECT_NE(E.Sentence.find("busy tensor pipe"), std::string::npos) << E.Sentence;
    }
  EXPECT_TRUE(Any);
}

// Samples on every instruction of a body of thousands, none of which has a share worth
// naming.
TEST(Cause, CodeThatDoesNotFitTheInstructionCacheIsOneItem) {
  const SourceModel &M = causeModel("icache");
  std::string Bytes = compileCubin(M, 90);
  ProfileBuilder B(&M);
  B.P.Modules.push_back({sha256(Bytes), Bytes, 90});
  Cubin C = llvm::cantFail(Cubin::parse(Bytes, "k.cubin"));
  const std::string Symbol = "_Z8straightPfi";
  const CubinFunction *F = C.function(Symbol);
  ASSERT_NE(F, nullptr);
  B.function(Symbol);
  B.P.Functions[0].ModuleId = B.P.Modules[0].Id;
  uint64_t InLoop = 0;
  BlameGraph G(C.instructions(*F));
  for (size_t I = 0; I != G.instructions().size(); ++I) {
    if (G.loopBytes(I) <= 16)
      continue; // the branch to itself behind the exit is a loop too
    PcSample Pc;
    Pc.Offset = G.instructions()[I].Offset;
    Pc.Stalls.push_back(stall("no_instructions", 10));
    B.P.Functions[0].Pcs.push_back(Pc);
    InLoop += 10;
    EXPECT_GT(G.loopBytes(I), 64u << 10);
  }
  Diagnosis D = diagnose(M, B.P);
  std::vector<const Evidence *> Stalls;
  for (const Evidence &E : D.Items)
    if (E.Kind == EvidenceKind::Stall)
      Stalls.push_back(&E);
  ASSERT_EQ(Stalls.size(), 1u);
  const Evidence &E = *Stalls.front();
  EXPECT_EQ(E.Samples, InLoop);
  EXPECT_EQ(E.where().Line, plantedIn(M.mainFile()).Reasons.begin()->first) << E.Sentence;
  EXPECT_EQ(E.Sentence.find("warps wait for instructions to be fetched at line 8"), 0u)
      << E.Sentence;
  EXPECT_NE(E.Sentence.find("the loop around line 16 is "), std::string::npos) << E.Sentence;
  EXPECT_NE(E.Sentence.find("128 KB a multiprocessor"), std::string::npos) << E.Sentence;
}

} // namespace
