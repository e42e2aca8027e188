//===- ValidateTest.cpp - Candidates against the unedited program -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FakeProgram.h"
#include "optimas/Evaluate/Validate.h"

using namespace optimas;

class ValidateTest : public FakeProject {
protected:
  ValidatorOptions options() {
    ValidatorOptions O;
    O.Directory = Layout.BuildDir;
    O.Kernels = {"kern"};
    O.RunTimeoutSeconds = 20;
    O.Inputs = {{"7", {"7"}, false}, {"9 x", {"9", "x"}, false}};
    return O;
  }
  ProgramVersion version(const ScratchView &V) {
    return {&V, Layout.BuildDir + "/prog"};
  }
  /// What prepare() says of a source; empty when it is fine.
  std::string baselineProblem(llvm::StringRef Source, ValidatorOptions O) {
    ScratchView V = built(Source);
    Validator Check(Run, O);
    llvm::Error E = Check.prepare(version(V), Deadline(100));
    if (!E)
      return "";
    EXPECT_EQ(exitCodeOf(E), ExitCode::EvidenceUnusable);
    return llvm::toString(std::move(E));
  }
  ValidationOutcome outcome(llvm::StringRef Source, ValidatorOptions O,
                            llvm::StringRef Before = "NS=1000\n") {
    ScratchView B = built(Before), C = built(Source);
    Validator Check(Run, O);
    llvm::Error E = Check.prepare(version(B), Deadline(100));
    EXPECT_FALSE(bool(E)) << llvm::toString(std::move(E));
    Notes = Check.notes().vec();
    llvm::Expected<ValidationOutcome> Out = Check.validate(version(C), Deadline(100));
    EXPECT_TRUE(bool(Out));
    return std::move(*Out);
  }

  Runner Run{"/fake/liboptimas_collector.so", {"out.txt"}};
  std::vector<std::string> Notes;
};

TEST_F(ValidateTest, TheSameResultIsExact) {
  ValidationOutcome V = outcome("NS=500\n", options());
  EXPECT_EQ(V.label(), "exact");
  EXPECT_TRUE(V.MemoryChecked && V.MemoryIdentical && V.OutputIdentical);
  EXPECT_EQ(V.Inputs, (std::vector<std::string>{"default", "7", "9 x"}));
  // Three inputs, two poisons, and the shuffled run; two launches each.
  EXPECT_EQ(V.LaunchesCompared, 14u);
  ASSERT_EQ(V.Masked.size(), 3u); // one an input
  EXPECT_EQ(llvm::StringRef(V.Masked[0]).take_back(3), " ms");
}

TEST_F(ValidateTest, MemoryThatTheProgramNeverPrints) {
  ValidationOutcome V = outcome("HASH=beef\n", options());
  EXPECT_TRUE(V.OutputIdentical);
  EXPECT_FALSE(V.MemoryIdentical);
  ASSERT_FALSE(V.Mismatches.empty());
  const Mismatch &M = V.Mismatches[0];
  EXPECT_EQ(M.What, "device memory");
  EXPECT_EQ(M.Launch, 1u);
  EXPECT_EQ(M.Allocation, 1u);
  EXPECT_EQ(M.Kernel, "kern");
  // From the dumps of both sides: `value 00aa` against `value beef`.
  EXPECT_EQ(M.Offset, 6u);
  EXPECT_NE(M.Baseline.find("65203030"), std::string::npos) << M.Baseline;
  EXPECT_EQ(V.label(), "wrong result: device memory differs");
}

TEST_F(ValidateTest, AnErrorAtOneInputOnly) {
  ValidationOutcome V = outcome("BADINPUT=9\n", options());
  ASSERT_FALSE(V.Mismatches.empty());
  EXPECT_EQ(V.Mismatches[0].Input, "9 x");
}

TEST_F(ValidateTest, ReadingPoisonIsFoundByTheSecondOne) {
  // With the first poison the hash is by chance the right one.
  ValidationOutcome V = outcome("READSPOISON=1\n", options(), "HASH=p165\n");
  ASSERT_FALSE(V.Mismatches.empty());
  EXPECT_EQ(V.Mismatches[0].Input, "default");
}

TEST_F(ValidateTest, OutputFilesAndExitStatus) {
  ValidationOutcome V = outcome("OUT=41\n", options());
  ASSERT_FALSE(V.Mismatches.empty());
  EXPECT_EQ(V.Mismatches[0].What, "stdout line 1");
  EXPECT_EQ(V.Mismatches[0].Baseline, "result 42");
  V = outcome("OUTFILE=b\n", options(), "OUTFILE=a\n");
  ASSERT_FALSE(V.Mismatches.empty());
  EXPECT_EQ(V.Mismatches[0].What, "file out.txt line 1");
  V = outcome("NS=1\n", options(), "OUTFILE=a\n");
  ASSERT_FALSE(V.Mismatches.empty());
  EXPECT_EQ(V.Mismatches[0].Candidate, "not written");
  V = outcome("CRASH=1\n", options());
  ASSERT_FALSE(V.Mismatches.empty());
  EXPECT_EQ(V.Mismatches[0].What, "exit status");
  EXPECT_NE(V.Mismatches[0].Candidate.find("signal 11"), std::string::npos);
}

TEST_F(ValidateTest, AHangIsCutOff) {
  ValidatorOptions O = options();
  O.RunTimeoutSeconds = 1;
  ValidationOutcome V = outcome("HANG=1\n", O);
  ASSERT_FALSE(V.Mismatches.empty());
  EXPECT_EQ(V.Mismatches[0].What, "time limit");
}

TEST_F(ValidateTest, AFailedLaunchIsADifference) {
  ValidationOutcome V = outcome("STATUS=716\n", options());
  ASSERT_FALSE(V.Mismatches.empty());
  EXPECT_EQ(V.Mismatches[0].What, "launch status");
}

TEST_F(ValidateTest, UncoveredMemoryIsNeverExact) {
  llvm::StringRef Graph = "UNCOVERED='{\"what\":\"cuMemCreate\",\"calls\":1,\"bytes\":8}'\n";
  ValidationOutcome V = outcome(Graph, options(), Graph);
  EXPECT_FALSE(V.MemoryChecked);
  EXPECT_EQ(V.label(), "program output identical");
  EXPECT_NE(V.MemoryWhyNot.find("cuMemCreate"), std::string::npos);
}

TEST_F(ValidateTest, WithoutTheCollectorOutputOnly) {
  Run = Runner("", {});
  ValidationOutcome V = outcome("HASH=beef\n", options());
  EXPECT_EQ(V.label(), "program output identical");
  EXPECT_NE(V.MemoryWhyNot.find("liboptimas_collector.so"), std::string::npos);
}

TEST_F(ValidateTest, ABaselineThatCannotBeJudged) {
  ValidatorOptions O = options();
  EXPECT_NE(baselineProblem("CRASH=1\n", O).find("signal 11"), std::string::npos);
  EXPECT_NE(baselineProblem("OUT=$(date +%N)\n", O).find("--mask"), std::string::npos);
  EXPECT_NE(baselineProblem("FLAKYHASH=1\n", O).find("nondeterministic"), std::string::npos);
  EXPECT_NE(baselineProblem("NOGPU=1\n", O).find("uses no GPU"), std::string::npos);
  EXPECT_NE(baselineProblem("STATUS=700\n", O).find("status 700"), std::string::npos);
  EXPECT_NE(baselineProblem("OUT=$OPTIMAS_COLLECT_POISON\n", O).find("uninitialized"),
            std::string::npos);
  O.RunTimeoutSeconds = 1;
  EXPECT_NE(baselineProblem("HANG=1\n", O).find("did not end within 1 s"),
            std::string::npos);
}

TEST_F(ValidateTest, AnInputTheBaselineFailsOnIsLeftOut) {
  ValidationOutcome V = outcome("FAILINPUT=7\nNS=1\n", options(), "FAILINPUT=7\n");
  EXPECT_EQ(V.label(), "exact");
  EXPECT_EQ(V.Inputs, (std::vector<std::string>{"default", "9 x"}));
  ASSERT_FALSE(Notes.empty());
  EXPECT_NE(Notes[0].find("exit status 3"), std::string::npos);
}

TEST_F(ValidateTest, TheUsersCommandDecides) {
  ValidatorOptions O = options();
  O.Mode = ValidateMode::Command;
  O.Command = "grep -q 'result 4' \"$OPTIMAS_CANDIDATE_OUTPUT\"";
  ValidationOutcome V = outcome("OUT=43\n", O);
  EXPECT_EQ(V.label(), "accepted by the validation command");
  EXPECT_TRUE(V.Mismatches.empty());
  V = outcome("OUT=53\n", O);
  EXPECT_FALSE(V.AcceptedByCommand);
  ASSERT_FALSE(V.Mismatches.empty());
  // Float atomics: memory differs from run to run, and the command is the user's choice.
  V = outcome("FLAKYHASH=1\n", O, "FLAKYHASH=1\n");
  EXPECT_EQ(V.label(), "accepted by the validation command");
}

TEST_F(ValidateTest, AnEndedBudgetIsNoExactness) {
  ScratchView B = built("NS=1\n");
  Validator Check(Run, options());
  ASSERT_FALSE(bool(Check.prepare(version(B), Deadline(100))));
  llvm::Expected<ValidationOutcome> V = Check.validate(version(B), Deadline(0));
  ASSERT_TRUE(bool(V));
  EXPECT_FALSE(V->MemoryChecked);
  EXPECT_NE(V->MemoryWhyNot.find("budget"), std::string::npos);
}

TEST_F(ValidateTest, TheTreeStaysAsItWas) {
  outcome("OUTFILE=b\n", options(), "OUTFILE=b\n");
  EXPECT_FALSE(llvm::sys::fs::exists(Layout.BuildDir + "/prog"));
  EXPECT_FALSE(llvm::sys::fs::exists(Layout.BuildDir + "/out.txt"));
}

TEST(Inputs, OneListALine) {
  llvm::Expected<ScratchDir> D = ScratchDir::create("optimas-test");
  ASSERT_TRUE(bool(D));
  std::string Path = D->file("inputs.txt");
  ASSERT_FALSE(bool(writeFileAtomically(Path, "# odd sizes\n1001 9999\n\n 'a b' 3 \n")));
  llvm::Expected<std::vector<InputSet>> S = readInputs(Path);
  ASSERT_TRUE(bool(S));
  ASSERT_EQ(S->size(), 2u);
  EXPECT_EQ((*S)[0].Name, "1001 9999");
  EXPECT_EQ((*S)[1].Args, (std::vector<std::string>{"a b", "3"}));
  for (const char *Bad : {"1 'x\n", "# nothing\n", ""}) {
    ASSERT_FALSE(bool(writeFileAtomically(Path, Bad)));
    llvm::Expected<std::vector<InputSet>> R = readInputs(Path);
    ASSERT_FALSE(bool(R)) << Bad;
    llvm::Error E = R.takeError();
    EXPECT_EQ(exitCodeOf(E), ExitCode::Usage);
    llvm::consumeError(std::move(E));
  }
}
