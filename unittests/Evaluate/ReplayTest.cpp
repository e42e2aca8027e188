//===- ReplayTest.cpp - Keys and the JSON of recordings -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Replay.h"
#include "optimas/Support/Subprocess.h"
#include "gtest/gtest.h"

using namespace optimas;

static CompileCommand command(std::vector<std::string> Args, std::string Dir,
                              std::string File) {
  CompileCommand C;
  C.Args = std::move(Args);
  C.Directory = std::move(Dir);
  C.File = std::move(File);
  return C;
}

TEST(RecordingKey, TheSameOnAnotherMachine) {
  std::string A = normalisedCommand(
      command({"/usr/bin/ccache", "/usr/local/cuda/bin/nvcc", "-I/home/a/p/inc", "-O3",
               "-MD", "-MF", "x.d", "-ccbin=/usr/bin/g++-12", "-x", "cu", "-c",
               "/home/a/p/k.cu", "-o", "CMakeFiles/k.o"},
              "/home/a/p/build", "/home/a/p/k.cu"),
      "/home/a/p", "/home/a/p/build", "/usr/local/cuda");
  std::string B = normalisedCommand(
      command({"/opt/cuda-13/bin/nvcc", "-I/data/p/inc", "-O3", "-x", "cu", "-c", "../k.cu",
               "--output-file", "k.o"},
              "/data/p/out", "/data/p/k.cu"),
      "/data/p", "/data/p/out", "/opt/cuda-13");
  EXPECT_EQ(A, B);
  EXPECT_EQ(A, quoteCommand({"nvcc", "-I<root>/inc", "-O3", "-x", "cu", "-c", "<root>/k.cu"}));
}

TEST(RecordingKey, FlagsAndSourcesMatter) {
  Subject S;
  S.Command = command({"nvcc", "-O3", "/p/k.cu"}, "/p", "/p/k.cu");
  S.ProjectRoot = "/p";
  EvaluationOptions O;
  EditSet Set;
  Set.NewContents["/p/k.cu"] = "a";
  std::string Key = candidateKey(S, O, Set);
  EXPECT_EQ(Key.size(), 64u);
  Set.NewContents["/p/k.cu"] = "b";
  EXPECT_NE(candidateKey(S, O, Set), Key);
  Set.NewContents["/p/k.cu"] = "a";
  EXPECT_EQ(candidateKey(S, O, Set), Key);
  S.Command.Args[1] = "-O2";
  EXPECT_NE(candidateKey(S, O, Set), Key);
}

TEST(Recording, SurvivesTheRoundTrip) {
  Recording R;
  R.Machine = "NVIDIA H200, driver 580.159";
  R.Date = "2026-01-31T10:00:00Z";
  R.Compiler = "Build cuda_13.0.r13.0/compiler.1_0";
  R.Command = "nvcc -c '<root>/k.cu'";
  R.Sources["k.cu"] = std::string(64, 'a');
  R.Ran = RunAsked{"app", {"10", "<build>/x"}, {{"1"}, {}, {"a b", "c"}}, {"out"}, {"m.*"}, "H200", "A100"};
  CandidateOutcome C;
  C.Key = std::string(64, 'f');
  C.Title = "load batching \xc3\x97 4";
  C.Verdict = VerdictKind::Faster;
  C.Why = "because";
  C.CodeHash = std::string(64, 'c');
  C.OtherKernelsIdentical = C.Kept = true;
  C.ResourcesAfter = {{"_Z1kv", 32, 4, 8, 16, 1024}};
  C.Validation.Ran = C.Validation.OutputIdentical = true;
  C.Validation.MemoryChecked = C.Validation.MemoryIdentical = true;
  C.Validation.Inputs = {"default", "1001 9999"};
  C.Validation.LaunchesCompared = 46;
  Mismatch M;
  M.What = "device memory";
  M.Offset = 1ull << 40;
  C.Validation.Mismatches = {M};
  Comparison K;
  K.Name = "k";
  K.Speedup = 1.625;
  K.High = std::numeric_limits<double>::infinity();
  K.BaselineSamples = {100, 101.5};
  C.Kernels = {K};
  R.Candidates = {C};
  R.Final = C;
  R.Ablations = {{3, "optimas-unroll", VerdictKind::Faster, 1.1, 1.6}};
  R.Agreed.Value = 0.75;
  MetricAgreement Up{0, "k", "dram_pct", {0.75, Direction::Up, 50, 51.5, 80}, true};
  MetricAgreement Unknown{0, "k", "latency_samples:wait@line3", {0.25}, std::nullopt};
  R.Agreed.Metrics = {Up, Unknown};
  llvm::Expected<Recording> Back = parseRecording(toJson(R), "r.json");
  ASSERT_TRUE(bool(Back));
  EXPECT_EQ(toJson(*Back), toJson(R));
  ASSERT_TRUE(Back->Ran.has_value());
  EXPECT_EQ(Back->Ran->Inputs, R.Ran->Inputs);
  EXPECT_EQ(Back->Ran->Args, R.Ran->Args);
  ASSERT_TRUE(Back->Final.has_value());
  EXPECT_EQ(Back->Final->Kernels[0].Speedup, 1.625);
  EXPECT_EQ(Back->Final->Validation.Mismatches[0].Offset, 1ull << 40);
  EXPECT_EQ(recordedOn(*Back), "NVIDIA H200, driver 580.159, 2026-01-31");
  EXPECT_EQ(Back->Agreed.Value, 0.75);
  ASSERT_EQ(Back->Agreed.Metrics.size(), 2u);
  EXPECT_EQ(Back->Agreed.Metrics[0].Change.Expected, Direction::Up);
  EXPECT_EQ(Back->Agreed.Metrics[0].Change.BeforeAgain, 51.5);
  EXPECT_EQ(Back->Agreed.Metrics[0].Agreed, true);
  EXPECT_FALSE(Back->Agreed.Metrics[1].Agreed.has_value());
}

TEST(Recording, OlderOnesCalledScreenedVariantsAmbiguous) {
  auto Read = [](CandidateOutcome C) {
    C.Key = std::string(64, 'f');
    return llvm::cantFail(outcomeFrom(outcomeJson(C)));
  };
  CandidateOutcome C;
  C.Verdict = VerdictKind::Ambiguous;
  C.Why = "screened with 4 runs: 1.45\xc3\x97; another variant was kept";
  EXPECT_EQ(Read(C).Verdict, VerdictKind::Screened);
  EXPECT_EQ(Read(C).Why, "with 4 runs: 1.45\xc3\x97; another variant was kept");
  C.Verdict = VerdictKind::Slower;
  C.Why = "it does not build together with the other kept candidates (screened with 3 runs: "
          "1.10\xc3\x97)";
  EXPECT_EQ(Read(C).Verdict, VerdictKind::Screened);
  EXPECT_EQ(Read(C).Why, C.Why);
  // What was measured keeps its verdict, and so does what failed.
  C.Kernels.resize(1);
  EXPECT_EQ(Read(C).Verdict, VerdictKind::Slower);
  C.Kernels.clear();
  C.Verdict = VerdictKind::WrongResult;
  EXPECT_EQ(Read(C).Verdict, VerdictKind::WrongResult);
}

TEST(Recording, JunkIsRefused) {
  for (const char *Bad :
       {"", "\x7f""ELF", "[]", "{}", "{\"optimas_evaluation\":0}", "{\"optimas_evaluation\":2}",
        "{\"optimas_evaluation\":1,\"candidates\":[7]}",
        "{\"optimas_evaluation\":1,\"candidates\":[{\"key\":\"x\",\"verdict\":\"faster\"}]}",
        "{\"optimas_evaluation\":1,\"final\":{\"verdict\":\"great\"}}"}) {
    llvm::Expected<Recording> R = parseRecording(Bad, "r.json");
    ASSERT_FALSE(bool(R)) << Bad;
    llvm::Error E = R.takeError();
    EXPECT_EQ(exitCodeOf(E), ExitCode::EvidenceUnusable) << Bad;
    llvm::consumeError(std::move(E));
  }
}

TEST(RecordingKey, FoldersWithACommonBeginningAreOthers) {
  CompileCommand C = command({"nvcc", "-I/p2/inc", "-I/x/p/inc", "-L=/p/lib", "/p/k.cu"},
                             "/p", "/p/k.cu");
  EXPECT_EQ(normalisedCommand(C, "/p", "", ""),
            quoteCommand({"nvcc", "-I/p2/inc", "-I/x/p/inc", "-L=<root>/lib", "<root>/k.cu"}));
}
