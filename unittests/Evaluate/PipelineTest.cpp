//===- PipelineTest.cpp - The whole evaluation, with a program that is a script -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PipelineFixture.h"
#include "llvm/Support/Program.h"

using namespace optimas;

TEST_F(PipelineTest, TheMeasuredBestOfAGroupIsKept) {
  add("half", "g", "A=1", "NS=500");
  add("quarter", "g", "A=1", "NS=250");
  add("slower", "g", "A=1", "NS=1500");
  EvaluationResult R = evaluate();
  ASSERT_EQ(R.Candidates.size(), 3u);
  EXPECT_FALSE(R.Candidates[0].Kept);
  EXPECT_TRUE(R.Candidates[1].Kept);
  EXPECT_EQ(R.Candidates[1].Verdict, VerdictKind::Faster) << R.Candidates[1].Why;
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::Screened);
  EXPECT_TRUE(llvm::StringRef(R.Candidates[0].Why).starts_with("with ")) << R.Candidates[0].Why;
  EXPECT_NE(R.Candidates[0].Why.find("another variant was kept"), std::string::npos);
  EXPECT_EQ(R.Candidates[2].Verdict, VerdictKind::Screened) << R.Candidates[2].Why;
  ASSERT_TRUE(R.Final.has_value());
  EXPECT_EQ(R.Final->Title, "quarter");
  EXPECT_EQ(R.Final->Validation.label(), "exact");
  ASSERT_FALSE(R.Final->Kernels.empty());
  EXPECT_EQ(R.Final->Kernels.back().Name, "all kernels");
  EXPECT_NEAR(R.Final->Kernels[0].Speedup, 4, 0.2);
  EXPECT_TRUE(R.Built);
  // The user's tree.
  llvm::Expected<std::string> Now = readFile(Source(), ExitCode::Usage);
  ASSERT_TRUE(bool(Now));
  EXPECT_EQ(*Now, Text);
  EXPECT_FALSE(llvm::sys::fs::exists(Layout.BuildDir + "/prog"));
}

TEST_F(PipelineTest, AWrongWinnerGivesWayToTheNext) {
  // Right at the default arguments, wrong at one input: only full validation finds it.
  put(Root + "/inputs.txt", "7\n9\n");
  O.InputsFile = Root + "/inputs.txt";
  add("fast but wrong", "g", "A=1", "NS=200; BADINPUT=9");
  add("right", "g", "A=1", "NS=500");
  add("wrong everywhere", "g", "A=1", "NS=100; HASH=bad");
  EvaluationResult R = evaluate();
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::WrongResult);
  EXPECT_NE(R.Candidates[0].Why.find("input `9`"), std::string::npos) << R.Candidates[0].Why;
  EXPECT_EQ(R.Candidates[1].Verdict, VerdictKind::Faster) << R.Candidates[1].Why;
  EXPECT_EQ(R.Candidates[2].Verdict, VerdictKind::WrongResult);
  ASSERT_TRUE(R.Final.has_value());
  EXPECT_EQ(R.Final->Title, "right");
}

TEST_F(PipelineTest, GroupsAreUnitedAndEveryEditIsAblated) {
  add("first", "g1", "A=1", "NS=500");
  add("second", "g2", "B=1", "NS=$((NS / 2))");
  EvaluationResult R = evaluate();
  ASSERT_TRUE(R.Final.has_value());
  EXPECT_TRUE(R.Candidates[0].Kept && R.Candidates[1].Kept);
  EXPECT_EQ(R.Final->Set.Accepted.size(), 2u);
  EXPECT_NEAR(R.Final->Kernels[0].Speedup, 4, 0.2);
  ASSERT_EQ(R.Ablations.size(), 2u);
  EXPECT_NEAR(R.Ablations[0].SpeedupWithout, 2, 0.1);
  EXPECT_NEAR(R.Ablations[0].SpeedupWith, 4, 0.2);
  EXPECT_EQ(R.Ablations[0].Verdict, VerdictKind::Faster);
}

TEST_F(PipelineTest, AnEditThatOthersNeedSaysSo) {
  add("two edits", "g", "A=1", "FIXED=1; NS=500");
  // The second edit alone is wrong; the first alone is fine.
  Edit D;
  D.Id = 77;
  FileEdit F = S.Entries[0].C.Set.FileEdits[0];
  F.Edit = 77;
  F.Offset = unsigned(Text.find("B=1"));
  F.Replacement = "NS=250; HASH=${FIXED:+00aa}; HASH=${HASH:-bad}";
  S.Entries[0].C.Set.FileEdits.push_back(F);
  S.Entries[0].C.Set.Accepted.push_back(D);
  std::string &New = S.Entries[0].C.Set.NewContents[Source()];
  New.replace(New.find("B=1"), 3, F.Replacement);
  EvaluationResult R = evaluate();
  ASSERT_TRUE(R.Final.has_value()) << R.Candidates[0].Why;
  ASSERT_EQ(R.Ablations.size(), 2u);
  EXPECT_EQ(R.Ablations[0].Verdict, VerdictKind::WrongResult);
  EXPECT_EQ(R.Ablations[1].Verdict, VerdictKind::Faster);
  EXPECT_NEAR(R.Ablations[1].SpeedupWithout, 2, 0.1);
}

TEST_F(PipelineTest, ComputeSanitizerHasTheLastWord) {
  std::string Bin = Root + "/bin";
  ASSERT_FALSE(llvm::sys::fs::create_directory(Bin));
  // The tool's part that matters here: exit status 97 for a program with a finding.
  put(Bin + "/compute-sanitizer",
      "#!/bin/sh\nfor A; do case $A in */prog|./prog) P=$A;; esac; done\n"
      "if grep -q '^OOB=1' $P && [ $2 = memcheck ]; then\n"
      "  echo '========= COMPUTE-SANITIZER'\n"
      "  echo '========= Invalid __global__ write of size 4 bytes'; exit 97; fi\n");
  llvm::sys::fs::setPermissions(Bin + "/compute-sanitizer", llvm::sys::fs::all_all);
  S.CudaPath = Root;
  add("past the end", "g", "A=1", "OOB=1\nNS=250");
  add("fine", "g", "A=1", "NS=500");
  EvaluationResult R = evaluate();
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::WrongResult) << R.Candidates[0].Why;
  EXPECT_NE(R.Candidates[0].Why.find("Invalid __global__ write"), std::string::npos);
  ASSERT_TRUE(R.Final.has_value());
  EXPECT_EQ(R.Final->Title, "fine");
}

TEST_F(PipelineTest, AMemberThatDoesNotPayIsLeftOut) {
  add("useful", "g1", "A=1", "NS=500");
  add("useless", "g2", "B=1", "NOTHING=1", "other");
  EvaluationResult R = evaluate();
  ASSERT_TRUE(R.Final.has_value());
  EXPECT_TRUE(R.Candidates[0].Kept);
  EXPECT_FALSE(R.Candidates[1].Kept);
  EXPECT_EQ(R.Final->Title, "useful");
}

TEST_F(PipelineTest, BuildErrorsAreKeptForTheNextAttempt) {
  add("broken", "g", "A=1", "SYNTAX");
  add("fine", "g", "A=1", "NS=500");
  EvaluationResult R = evaluate();
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::BuildFailed);
  EXPECT_NE(R.Candidates[0].BuildLog.find("error: no"), std::string::npos);
  EXPECT_TRUE(R.Candidates[1].Kept);
  S.Entries.pop_back();
  EXPECT_EQ(exitCodeOf(evaluate()), ExitCode::BuildFailed);
}

TEST_F(PipelineTest, AnEditThatTheBuildDoesNotPickUp) {
  O.BuildCommand = "{ echo '#!/bin/sh'; cat " + Root + "/fake.sh; } > prog && chmod +x prog";
  add("never built", "g", "A=1", "NS=500");
  EvaluationResult R = evaluate();
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::BuildFailed);
  EXPECT_NE(R.Candidates[0].Why.find("did not pick the edit up"), std::string::npos);
  EXPECT_FALSE(R.Final.has_value());
}

TEST_F(PipelineTest, WrongOnlyWhenTimed) {
  add("behaves when checked", "g", "A=1",
      "[ \"$OPTIMAS_COLLECT\" = time ] && { HASH=bad; NS=100; }");
  EvaluationResult R = evaluate();
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::WrongResult) << R.Candidates[0].Why;
  EXPECT_NE(R.Candidates[0].Why.find("timed run"), std::string::npos);
  EXPECT_FALSE(R.Final.has_value());
  EXPECT_EQ(exitCodeOf(R), ExitCode::WrongResult);
}

TEST_F(PipelineTest, UncheckedMemoryIsNeverAccepted) {
  O.CollectorPath.clear();
  O.ToolDir = Root;
  add("half", "g", "A=1", "NS=500");
  EvaluationResult R = evaluate();
  EXPECT_NE(R.Candidates[0].Verdict, VerdictKind::Faster);
  EXPECT_FALSE(R.Final.has_value());
}

TEST_F(PipelineTest, MoreThanTenfoldIsHeld) {
  add("too good", "g", "A=1", "NS=50");
  EvaluationResult R = evaluate();
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::Ambiguous);
  EXPECT_TRUE(R.Candidates[0].Implausible);
  EXPECT_NE(R.Candidates[0].Why.find("implausible"), std::string::npos);
}

TEST_F(PipelineTest, WithoutAGpuItIsBuiltAndNotMeasured) {
  add("half", "g", "A=1", "NS=500");
  add("other variant", "g", "A=1", "NS=400");
  EvaluationResult R = evaluate(/*WithGpu=*/false);
  EXPECT_EQ(R.Machine, "no GPU");
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::NotMeasured);
  EXPECT_EQ(R.Candidates[0].HowToMeasure, "optimas-rewrite a.cu --run=./prog");
  EXPECT_TRUE(R.Candidates[0].Kept);
  EXPECT_FALSE(R.Candidates[1].Kept);
  ASSERT_TRUE(R.Final.has_value());
  EXPECT_TRUE(R.Built);
  EXPECT_EQ(Steps.find("running"), std::string::npos);
}

TEST_F(PipelineTest, ProgramsThatCannotBeJudged) {
  add("half", "g", "A=1", "NS=500");
  auto With = [&](llvm::StringRef Line) {
    S.Texts[Source()] = Line.str() + "\n" + Text;
    put(Source(), S.Texts[Source()]);
    SubjectEntry &E = S.Entries[0];
    E.C.Set.FileEdits[0].Offset = unsigned(S.Texts[Source()].find("A=1"));
    std::string P = problem();
    return P;
  };
  EXPECT_NE(With("CRASH=1").find("signal 11"), std::string::npos);
  EXPECT_EQ(Code, ExitCode::EvidenceUnusable);
  EXPECT_NE(With("NOGPU=1").find("uses no GPU"), std::string::npos);
  EXPECT_NE(With("SYNTAX").find("error: no"), std::string::npos);
  EXPECT_EQ(Code, ExitCode::BuildFailed);
  O.RunCommand = "./other";
  EXPECT_NE(With("X=1").find("does not exist after it"), std::string::npos);
  EXPECT_EQ(Code, ExitCode::Usage);
}

/// The transpose example with the real compiler and no GPU: a padded tile.
TEST(PipelineRealCompiler, PaddingIsBuiltAndReported) {
  std::string Source = canonicalPath(OPTIMAS_EXAMPLES "/transpose/transpose.cu");
  llvm::Expected<std::string> Text = readFile(Source, ExitCode::Usage);
  ASSERT_TRUE(bool(Text));
  auto Nvcc = llvm::sys::findProgramByName("nvcc");
  if (!Nvcc)
    Nvcc = llvm::sys::findProgramByName("nvcc", {"/usr/local/cuda/bin"});
  ASSERT_TRUE(bool(Nvcc)) << "nvcc is needed by the build as well";
  llvm::Expected<ScratchDir> Dir = ScratchDir::create("optimas-test");
  ASSERT_TRUE(bool(Dir));
  Subject S;
  S.Command.Directory = Dir->path();
  S.Command.File = Source;
  S.Command.Args = {*Nvcc, "-arch=sm_90", "-O3", "-lineinfo", "-c", Source, "-o", "t.o"};
  S.Sm = 90;
  S.ProjectRoot = llvm::sys::path::parent_path(Source).str();
  S.Texts[Source] = *Text;
  SubjectEntry E;
  FileEdit F;
  F.Path = Source;
  F.Offset = unsigned(Text->find("tile[kTile][kTile]"));
  F.Length = unsigned(strlen("tile[kTile][kTile]"));
  F.Replacement = "tile[kTile]\n                       [kTile + 1]";
  F.Edit = 1;
  E.C.Set.FileEdits = {F};
  E.C.Set.Accepted.resize(1);
  E.C.Set.Accepted[0].Id = 1;
  std::string New = *Text;
  New.replace(F.Offset, F.Length, F.Replacement);
  E.C.Set.NewContents[Source] = New;
  E.C.Title = "padding";
  E.Kernels = E.Touched = {"transposeTiled"};
  S.Entries = {E};
  EvaluationOptions O;
  O.RunCommand = "./transpose";
  llvm::Expected<EvaluationResult> R =
      evaluateSubject(S, O, GpuInfo(), [](llvm::StringRef) {});
  ASSERT_TRUE(bool(R)) << llvm::toString(R.takeError());
  ASSERT_TRUE(R->Final.has_value());
  const CandidateOutcome &C = *R->Final;
  EXPECT_EQ(C.Verdict, VerdictKind::NotMeasured);
  EXPECT_NE(C.Why.find("no GPU"), std::string::npos);
  EXPECT_TRUE(R->Built);
  // The inserted line changes no other kernel.
  EXPECT_TRUE(C.OtherKernelsIdentical);
  auto Shared = [](const std::vector<ResourceUsage> &List) {
    for (const ResourceUsage &U : List)
      if (llvm::StringRef(U.Symbol).contains("transposeTiled"))
        return U.StaticShared;
    return uint64_t(0);
  };
  EXPECT_EQ(Shared(C.ResourcesBefore), 32u * 32 * 4);
  EXPECT_EQ(Shared(C.ResourcesAfter), 32u * 33 * 4);
  EXPECT_EQ(C.CodeHash.size(), 64u);
  llvm::Expected<std::string> Now = readFile(Source, ExitCode::Usage);
  ASSERT_TRUE(bool(Now));
  EXPECT_EQ(*Now, *Text);
  // With another kernel's name the same edit is refused: it touches what it may not.
  S.Entries[0].Kernels = S.Entries[0].Touched = {"transposeNaive"};
  R = evaluateSubject(S, O, GpuInfo(), [](llvm::StringRef) {});
  ASSERT_TRUE(bool(R));
  EXPECT_FALSE(R->Final.has_value());
  EXPECT_EQ(R->Candidates[0].ChangedOtherKernels, std::vector<std::string>{"transposeTiled"});
  EXPECT_NE(R->Candidates[0].Why.find("refused"), std::string::npos);
}
