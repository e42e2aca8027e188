//===- PipelineTest.cpp - The whole evaluation, with a program that is a script -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FakeProgram.h"
#include "optimas/Evaluate/Measure.h"
#include "optimas/Evaluate/Pipeline.h"
#include "optimas/Evaluate/Replay.h"
#include "llvm/Support/Program.h"

using namespace optimas;

class PipelineTest : public FakeProject {
protected:
  void SetUp() override {
    FakeProject::SetUp();
    // Shell variables by lines, so that several candidates can be united.
    Text = "NS=1000\nA=1\nB=1\nC=1\n";
    put(Source(), Text);
    put(Root + "/nvcc", "#!/bin/sh\ngrep -q SYNTAX " + Source() +
                            " && { echo 'a.cu(1): error: no'; exit 1; }\n"
                            "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && cp " +
                            Source() + " \"$2\"; shift; done; exit 0\n");
    llvm::sys::fs::setPermissions(Root + "/nvcc", llvm::sys::fs::all_all);
    S.Command.Directory = Root;
    S.Command.File = Source();
    S.Command.Args = {Root + "/nvcc", "-O3", "-c", Source(), "-o", "a.o"};
    S.ProjectRoot = Root;
    S.Texts[Source()] = Text;
    O.RunCommand = "./prog";
    O.BuildDir = O.RunDir = Layout.BuildDir;
    O.BuildCommand = buildCommand();
    O.CollectorPath = Root + "/fake.sh"; // any file: the program itself writes traces
    O.RunTimeoutSeconds = 20;
    O.BudgetSeconds = 100;
    O.MinPairs = 4;
    O.MaxPairs = 5;
    O.CommandLine = {"optimas-rewrite", "a.cu", "--run=./prog", "--replay=rec"};
  }
  std::string Source() const { return Root + "/src/a.cu"; }

  /// A candidate that puts \p New in place of the line \p Old.
  void add(llvm::StringRef Title, llvm::StringRef Group, llvm::StringRef Old,
           llvm::StringRef New, llvm::StringRef Kernel = "kern") {
    SubjectEntry E;
    FileEdit F;
    F.Path = Source();
    F.Offset = unsigned(Text.find(Old.str()));
    F.Length = unsigned(Old.size());
    F.Replacement = New.str();
    F.Edit = unsigned(S.Entries.size()) + 1;
    Edit D;
    D.Id = F.Edit;
    D.Transformation = "optimas-test";
    E.C.Set.Proposal = F.Edit;
    E.C.Set.Accepted = {D};
    E.C.Set.FileEdits = {F};
    std::string Content = Text;
    Content.replace(F.Offset, F.Length, F.Replacement);
    E.C.Set.NewContents[Source()] = Content;
    E.C.Title = Title.str();
    E.C.Group = Group.str();
    E.Kernels = E.Touched = {Kernel.str()};
    S.Entries.push_back(E);
  }
  EvaluationResult evaluate(bool WithGpu = true) {
    GpuInfo Gpu;
    Gpu.Present = WithGpu;
    Gpu.Name = WithGpu ? "Fake GPU" : "";
    Gpu.Driver = "1.0";
    llvm::Expected<EvaluationResult> R =
        evaluateSubject(S, O, Gpu, [&](llvm::StringRef Step) { Steps += Step.str() + "\n"; });
    EXPECT_TRUE(bool(R));
    if (!R) {
      ADD_FAILURE() << llvm::toString(R.takeError());
      return {};
    }
    return std::move(*R);
  }
  std::string problem() {
    GpuInfo Gpu;
    Gpu.Present = true;
    llvm::Expected<EvaluationResult> R = evaluateSubject(S, O, Gpu, [](llvm::StringRef) {});
    if (R)
      return "";
    Code = ExitCode::Done;
    llvm::Error E = R.takeError();
    Code = exitCodeOf(E);
    return llvm::toString(std::move(E));
  }

  std::string Text, Steps;
  Subject S;
  EvaluationOptions O;
  ExitCode Code = ExitCode::Done;
};

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

TEST_F(PipelineTest, ARecordingIsReplayedAndLabelled) {
  add("half", "g", "A=1", "NS=500");
  add("quarter", "g", "A=1", "NS=250");
  O.RecordDir = Root + "/rec";
  EvaluationResult Real = evaluate();
  ASSERT_TRUE(Real.Final.has_value());
  O.RecordDir.clear();
  O.ReplayDir = Root + "/rec";
  Steps.clear();
  EvaluationResult R = evaluate(/*WithGpu=*/false);
  ASSERT_TRUE(R.Final.has_value());
  EXPECT_TRUE(R.Final->Recorded);
  EXPECT_NE(R.Final->RecordedOn.find("Fake GPU, driver 1.0, 20"), std::string::npos);
  EXPECT_EQ(R.Final->Verdict, VerdictKind::Faster);
  EXPECT_EQ(R.Final->Title, "quarter");
  EXPECT_EQ(R.Final->Kernels[0].BaselineSamples, Real.Final->Kernels[0].BaselineSamples);
  EXPECT_TRUE(R.Built);
  EXPECT_TRUE(R.Candidates[0].Recorded);
  EXPECT_NE(Steps.find("building 1 candidate"), std::string::npos) << Steps;
}

TEST_F(PipelineTest, ARecordingThatContradictsItselfIsRefused) {
  add("half", "g", "A=1", "NS=500");
  O.RecordDir = Root + "/rec";
  evaluate();
  O.RecordDir.clear();
  O.ReplayDir = Root + "/rec";
  std::string Path = Root + "/rec/a.evaluation.json";
  Recording True =
      llvm::cantFail(parseRecording(llvm::cantFail(readFile(Path, ExitCode::Usage)), Path));
  auto With = [&](llvm::function_ref<void(CandidateOutcome &)> Change) {
    Recording R = True;
    Change(R.Candidates[0]);
    Change(*R.Final);
    put(Path, toJson(R));
  };
  auto Says = [&](llvm::function_ref<void(CandidateOutcome &)> Change) {
    With(Change);
    std::string Text = problem();
    EXPECT_EQ(Code, ExitCode::EvidenceUnusable);
    return Text;
  };
  auto Has = [](const std::string &Text, const char *What) {
    return Text.find(What) != std::string::npos;
  };
  EXPECT_TRUE(Has(Says([](CandidateOutcome &C) { C.Kernels[0].Low = 1.01; }), "`low`"));
  EXPECT_TRUE(Has(Says([](CandidateOutcome &C) { C.Wall.NoiseHigh = 9; }), "`noise_high`"));
  EXPECT_TRUE(Has(Says([](CandidateOutcome &C) { C.Kernels[0].CandidateSamples.pop_back(); }),
                  "`candidate_samples`"));
  EXPECT_TRUE(Has(Says([](CandidateOutcome &C) { C.Validation.OutputIdentical = false; }),
                  "`validation.output_identical`"));
  EXPECT_TRUE(Has(Says([](CandidateOutcome &C) { C.Kernels.pop_back(); }), "`kernels`"));
  // Its own figures agree, but nobody would have believed them live.
  With([&](CandidateOutcome &C) {
    for (Comparison &K : C.Kernels) {
      std::vector<double> Quick = K.BaselineSamples;
      for (double &V : Quick)
        V /= 20;
      K = compareSamples(K.Name, K.BaselineSamples, Quick, O.Seed);
    }
  });
  EvaluationResult R = evaluate(/*WithGpu=*/false);
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::Ambiguous);
  EXPECT_TRUE(R.Candidates[0].Implausible);
  EXPECT_FALSE(R.Candidates[0].Kept);
  // A command's word counts only where this run takes it.
  With([](CandidateOutcome &C) {
    C.Validation.AcceptedByCommand = true;
    C.Validation.MemoryIdentical = false;
  });
  R = evaluate(/*WithGpu=*/false);
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::Ambiguous);
}

TEST_F(PipelineTest, TheResultIsProfiledAgainWhereItLies) {
  add("half", "g", "A=1", "NS=500");
  // Which program does the request run?
  auto Holds = [&](const ReprofileRequest &R, llvm::StringRef Line) {
    SubprocessOptions P;
    P.Args = R.ViewPrefix;
    P.Args.insert(P.Args.end(), {"grep", "-qx", Line.str(), R.Args.front()});
    P.Directory = R.Directory;
    llvm::Expected<SubprocessResult> Out = runSubprocess(P);
    return Out && Out->ok();
  };
  unsigned Calls = 0;
  S.Profile = [&](const ReprofileRequest &Before, const ReprofileRequest &After,
                  const EditSet &Final) -> Agreement {
    ++Calls;
    EXPECT_TRUE(Holds(Before, "A=1") && !Holds(Before, "NS=500"));
    EXPECT_TRUE(Holds(After, "NS=500") && !Holds(After, "A=1"));
    EXPECT_EQ(Final.Accepted.size(), 1u);
    MetricAgreement M{7, "kern", "latency_samples:wait@line2", {0.5}, true};
    return {0.5, "", {M}};
  };
  O.RecordDir = Root + "/rec";
  EvaluationResult R = evaluate();
  EXPECT_EQ(Calls, 1u);
  EXPECT_EQ(R.Ear.ResultAgreement, 0.5);
  EXPECT_FALSE(R.Ear.ResultAgreementRecorded);
  // Replayed without a GPU: shown as recorded, nothing is profiled.
  O.RecordDir.clear();
  O.ReplayDir = Root + "/rec";
  R = evaluate(/*WithGpu=*/false);
  EXPECT_EQ(Calls, 1u);
  EXPECT_EQ(R.Ear.ResultAgreement, 0.5);
  EXPECT_TRUE(R.Ear.ResultAgreementRecorded);
  ASSERT_EQ(R.Ear.Metrics.size(), 1u);
  EXPECT_EQ(R.Ear.Metrics[0].Metric, "latency_samples:wait@line2");
  EXPECT_EQ(R.Ear.Metrics[0].Evidence, 0u);
}

TEST_F(PipelineTest, WhatDoesNotBuildHereHasNoRecordedFigures) {
  add("half", "g", "A=1", "NS=500");
  O.RecordDir = Root + "/rec";
  ASSERT_TRUE(evaluate().Final.has_value());
  O.RecordDir.clear();
  O.ReplayDir = Root + "/rec";
  O.BuildCommand = "grep -q NS=500 " + Source() + " && exit 1; " + O.BuildCommand;
  EvaluationResult R = evaluate(/*WithGpu=*/false);
  ASSERT_TRUE(R.Final.has_value());
  EXPECT_EQ(R.Final->Verdict, VerdictKind::BuildFailed);
  EXPECT_FALSE(R.Final->Recorded);
  EXPECT_TRUE(R.Final->Kernels.empty());
  EXPECT_FALSE(R.Final->Validation.Ran);
}

TEST_F(PipelineTest, ARecordingWithoutANewProfileSaysSo) {
  add("half", "g", "A=1", "NS=500");
  O.RecordDir = Root + "/rec";
  evaluate();
  O.RecordDir.clear();
  O.ReplayDir = Root + "/rec";
  EvaluationResult R = evaluate(/*WithGpu=*/false);
  EXPECT_FALSE(R.Ear.ResultAgreement.has_value());
  EXPECT_EQ(R.Ear.ResultAgreementWhyNot, "the recorded result was not profiled again");
}

TEST_F(PipelineTest, AMismatchIsNotMeasured) {
  add("half", "g", "A=1", "NS=500");
  O.RecordDir = Root + "/rec";
  evaluate();
  O.RecordDir.clear();
  O.ReplayDir = Root + "/rec";
  // Another edit.
  S.Entries.clear();
  add("another", "g", "A=1", "NS=501");
  EvaluationResult R = evaluate(false);
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::NotMeasured);
  EXPECT_FALSE(R.Candidates[0].Recorded);
  EXPECT_NE(R.Candidates[0].Why.find("no candidate with these edits"), std::string::npos);
  // Another command.
  S.Entries.clear();
  add("half", "g", "A=1", "NS=500");
  S.Command.Args[1] = "-O1";
  R = evaluate(false);
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::NotMeasured);
  EXPECT_NE(R.Candidates[0].Why.find("another compile command"), std::string::npos);
  S.Command.Args[1] = "-O3";
  // Another source.
  S.Texts[Source()] += "D=1\n";
  R = evaluate(false);
  EXPECT_EQ(R.Candidates[0].Verdict, VerdictKind::NotMeasured);
  EXPECT_NE(R.Candidates[0].Why.find("has changed since"), std::string::npos);
  // No recording, and one that is none.
  put(Root + "/rec/a.evaluation.json", "{\"optimas_evaluation\":99}");
  EXPECT_NE(problem().find("version 99"), std::string::npos);
  EXPECT_EQ(Code, ExitCode::EvidenceUnusable);
  O.ReplayDir = Root + "/nothing";
  EXPECT_NE(problem().find("cannot be read"), std::string::npos);
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
