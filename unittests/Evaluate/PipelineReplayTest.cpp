//===- PipelineReplayTest.cpp - Recorded evaluations, replayed -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PipelineFixture.h"
#include "optimas/Evaluate/Measure.h"
#include "optimas/Evaluate/Replay.h"

using namespace optimas;

using PipelineReplayTest = PipelineTest;

TEST_F(PipelineReplayTest, ARecordingIsReplayedAndLabelled) {
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

TEST_F(PipelineReplayTest, ARecordingOfAnotherRunIsRefused) {
  put(Root + "/inputs.txt", "7\n9 '" + Layout.BuildDir + "/data'\n");
  add("half", "g", "A=1", "NS=500");
  O.RunCommand = "./prog 5 '" + Root + "/src/a'";
  O.InputsFile = Root + "/inputs.txt";
  O.Masks = {"noise"};
  O.OutputFiles = {"out.txt"};
  S.Device = "NVIDIA A100";
  O.RecordDir = Root + "/rec";
  ASSERT_TRUE(evaluate().Final.has_value());
  O.RecordDir.clear();
  O.ReplayDir = Root + "/rec";
  EXPECT_EQ(problem(), "");
  auto Refused = [&](const char *What) {
    std::string Text = problem();
    EXPECT_NE(Text.find("is the recording of another run"), std::string::npos) << Text;
    EXPECT_NE(Text.find(What), std::string::npos) << Text;
    EXPECT_EQ(Code, ExitCode::EvidenceUnusable);
  };
  const EvaluationOptions Same = O;
  O.RunCommand = "./prog 6";
  Refused("the program was run with `5 '<root>/src/a'`, not with `6`");
  O.RunCommand = "./other 5 '" + Root + "/src/a'";
  Refused("`prog` was run, not `other`");
  O = Same;
  put(Root + "/inputs.txt", "7\n10\n");
  Refused("nothing was validated with the input `10`");
  put(Root + "/inputs.txt", "7\n");
  EXPECT_EQ(problem(), ""); // fewer than were validated
  O.OutputFiles = {"out.txt", "more.txt"};
  Refused("`more.txt` was not compared");
  O = Same;
  O.Masks.clear();
  Refused("`noise` was not compared");
  O = Same;
  S.Device = "NVIDIA Other GPU";
  Refused("measured on Fake GPU, and the profile is of NVIDIA Other GPU");
  for (const char *Fine : {"NVIDIA Fake GPU", // another program's way to write the name
                           "nvidia a100"}) {  // the profile that the edits came from
    S.Device = Fine;
    EXPECT_EQ(problem(), "") << Fine;
  }
  // Nothing is asked for that the recording could contradict.
  O.RunCommand.clear();
  O.InputsFile.clear();
  EXPECT_EQ(problem(), "");
}

TEST_F(PipelineReplayTest, AnOlderRecordingSaysWhatCannotBeCompared) {
  put(Root + "/inputs.txt", "7\n");
  add("half", "g", "A=1", "NS=500");
  O.InputsFile = Root + "/inputs.txt";
  O.RecordDir = Root + "/rec";
  evaluate();
  std::string Path = Root + "/rec/a.evaluation.json";
  Recording R =
      llvm::cantFail(parseRecording(llvm::cantFail(readFile(Path, ExitCode::Usage)), Path));
  R.Ran.reset();
  put(Path, toJson(R));
  O.RecordDir.clear();
  O.ReplayDir = Root + "/rec";
  EvaluationResult Out = evaluate(/*WithGpu=*/false);
  EXPECT_TRUE(Out.Final && Out.Final->Recorded);
  EXPECT_TRUE(llvm::any_of(Out.Notes, [](const std::string &N) {
    return N.find("not compared: its arguments with those of --run") != std::string::npos;
  }));
  // What such a recording does say counts.
  put(Root + "/inputs.txt", "8\n");
  EXPECT_NE(problem().find("nothing was validated with the input `8`"), std::string::npos);
  put(Root + "/inputs.txt", "7\n");
  S.Device = "Other GPU";
  EXPECT_NE(problem().find("the profile is of Other GPU"), std::string::npos);
}

TEST_F(PipelineReplayTest, ARecordingThatContradictsItselfIsRefused) {
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

TEST_F(PipelineReplayTest, TheResultIsProfiledAgainWhereItLies) {
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

TEST_F(PipelineReplayTest, WhatDoesNotBuildHereHasNoRecordedFigures) {
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

TEST_F(PipelineReplayTest, ARecordingWithoutANewProfileSaysSo) {
  add("half", "g", "A=1", "NS=500");
  O.RecordDir = Root + "/rec";
  evaluate();
  O.RecordDir.clear();
  O.ReplayDir = Root + "/rec";
  EvaluationResult R = evaluate(/*WithGpu=*/false);
  EXPECT_FALSE(R.Ear.ResultAgreement.has_value());
  EXPECT_EQ(R.Ear.ResultAgreementWhyNot, "the recorded result was not profiled again");
}

TEST_F(PipelineReplayTest, AMismatchIsNotMeasured) {
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
