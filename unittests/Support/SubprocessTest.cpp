// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Support/Subprocess.h"
#include "gtest/gtest.h"

using namespace optimas;

static SubprocessResult run(std::vector<std::string> Args, std::string Input = "",
                            double Timeout = 20) {
  SubprocessOptions O;
  O.Args = std::move(Args);
  O.Input = std::move(Input);
  O.TimeoutSeconds = Timeout;
  return llvm::cantFail(runSubprocess(O));
}

TEST(Subprocess, KeepsOutputErrorAndStatusApart) {
  SubprocessResult R = run({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(R.Output, "out\n");
  EXPECT_EQ(R.Error, "err\n");
  EXPECT_EQ(R.ExitStatus, 3);
  EXPECT_FALSE(R.ok());
}

TEST(Subprocess, FeedsLargeInputWithoutDeadlock) {
  std::string Big(3 << 20, 'x');
  EXPECT_EQ(run({"cat"}, Big).Output, Big);
}

TEST(Subprocess, SurvivesAChildThatReadsNothing) {
  EXPECT_EQ(run({"true"}, std::string(1 << 20, 'x')).ExitStatus, 0);
}

TEST(Subprocess, KillsTheWholeGroupAtTheLimit) {
  SubprocessResult R = run({"sh", "-c", "sleep 30 & sleep 30"}, "", 0.3);
  EXPECT_TRUE(R.TimedOut);
  EXPECT_LT(R.WallNs, 5000000000ull);
}

TEST(Subprocess, ReportsTheSignal) {
  SubprocessResult R = run({"sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(R.Signal, SIGSEGV);
  EXPECT_EQ(R.ExitStatus, 128 + SIGSEGV);
}

TEST(Subprocess, NamesAProgramThatDoesNotExist) {
  SubprocessOptions O;
  O.Args = {"optimas-no-such-program"};
  auto R = runSubprocess(O);
  ASSERT_FALSE(static_cast<bool>(R));
  EXPECT_NE(llvm::toString(R.takeError()).find("optimas-no-such-program"),
            std::string::npos);
}

TEST(Subprocess, SplitsAndQuotesLikeAShell) {
  auto Words = llvm::cantFail(splitCommand("a 'b c' \"d\\\"e\" f\\ g ''"));
  EXPECT_EQ(Words, (std::vector<std::string>{"a", "b c", "d\"e", "f g", ""}));
  EXPECT_EQ(llvm::cantFail(splitCommand(quoteCommand(Words))), Words);
  EXPECT_TRUE(llvm::errorToBool(splitCommand("a 'b").takeError()));
}
