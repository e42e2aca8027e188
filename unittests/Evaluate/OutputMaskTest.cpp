//===- OutputMaskTest.cpp - The mask rule -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/OutputMask.h"
#include "gtest/gtest.h"

using namespace optimas;

static OutputMask mask(std::vector<std::string> Patterns = {}) {
  llvm::Expected<OutputMask> M = OutputMask::create(Patterns);
  EXPECT_TRUE(bool(M));
  return std::move(*M);
}

TEST(OutputMask, TimesThatVaryAreMaskedAndShown) {
  OutputMask M = mask();
  EXPECT_FALSE(M.learn("result 42\ntook 0.81 ms, 2560 GB/s\n"));
  EXPECT_FALSE(M.learn("result 42\ntook 0.79 ms, 2612 GB/s\n"));
  EXPECT_EQ(M.masked(), (std::vector<std::string>{"0.81 ms", "2560 GB/s"}));
  EXPECT_FALSE(M.compare("result 42\ntook 0.40 ms, 5200 GB/s\n"));
  std::optional<TextDifference> D = M.compare("result 43\ntook 0.40 ms, 5200 GB/s\n");
  ASSERT_TRUE(bool(D));
  EXPECT_EQ(D->Line, 1u);
  EXPECT_EQ(D->Actual, "result 43");
}

TEST(OutputMask, EveryFormOfATime) {
  for (const char *Form : {"% ms", "%ms", "% (us)", "% [s]", "%\xc2\xb5s", "time (ms): %",
                           "time_ms=%", "Elapsed [s] = %", "% GFLOP/s", "% GiB/s",
                           "% seconds", "% TFLOPS", "avg % us."}) {
    auto With = [&](const char *Number) {
      std::string T = Form;
      return T.replace(T.find('%'), 1, Number) + "\n";
    };
    OutputMask M = mask();
    EXPECT_FALSE(M.learn(With("1.25"))) << Form;
    EXPECT_FALSE(M.learn(With("3e-2"))) << Form;
    EXPECT_FALSE(M.compare(With("77"))) << Form;
  }
}

TEST(OutputMask, WhatIsNoTimeIsNondeterminism) {
  for (auto [A, B] : {std::pair{"sum 1.0\n", "sum 1.1\n"},
                      {"12 items\n", "13 items\n"},
                      {"Results: 5\n", "Results: 6\n"},
                      {"s: 5\n", "s: 6\n"},
                      {"x3 ms\n", "x4 ms\n"}, // part of a name
                      {"5 msgs\n", "6 msgs\n"},
                      {"a\n", "a\nb\n"}}) {
    OutputMask M = mask();
    EXPECT_FALSE(M.learn(A));
    EXPECT_TRUE(M.learn(B)) << A;
  }
}

TEST(OutputMask, ATimeThatNeverVariedIsAResult) {
  // Simulated time is a result: masking it would pass a wrong program.
  OutputMask M = mask();
  EXPECT_FALSE(M.learn("t = 3.5 s, took 1 ms\n"));
  EXPECT_FALSE(M.learn("t = 3.5 s, took 2 ms\n"));
  EXPECT_FALSE(M.compare("t = 3.5 s, took 9 ms\n"));
  std::optional<TextDifference> D = M.compare("t = 3.6 s, took 9 ms\n");
  ASSERT_TRUE(bool(D));
  EXPECT_EQ(D->Line, 1u);
}

TEST(OutputMask, TheUsersMaskCoversMore) {
  OutputMask M = mask({"residual [0-9.e-]+"});
  EXPECT_FALSE(M.learn("residual 1.5e-7 ok\n"));
  EXPECT_FALSE(M.learn("residual 2.5e-7 ok\n"));
  EXPECT_FALSE(M.compare("residual 9 ok\n"));
  EXPECT_TRUE(M.compare("residual 9 bad\n"));
  EXPECT_EQ(M.masked().front(), "residual 1.5e-7");
}

TEST(OutputMask, BadPatternsAreUsageErrors) {
  for (const char *P : {"(", "", "[a"}) {
    llvm::Expected<OutputMask> M = OutputMask::create({P});
    ASSERT_FALSE(bool(M)) << P;
    llvm::Error E = M.takeError();
    EXPECT_EQ(exitCodeOf(E), ExitCode::Usage);
    llvm::consumeError(std::move(E));
  }
}

TEST(OutputMask, MissingAndBinaryLines) {
  OutputMask M = mask();
  EXPECT_FALSE(M.learn("a\nb\n"));
  std::optional<TextDifference> D = M.compare("a\n");
  ASSERT_TRUE(bool(D));
  EXPECT_EQ(D->Line, 2u);
  EXPECT_EQ(D->Actual, "(no such line)");
  OutputMask B = mask();
  std::string Binary("\x00\x01\xff 5 ms", 8);
  EXPECT_FALSE(B.learn(Binary));
  EXPECT_FALSE(B.compare(Binary));
  Binary[2] = 'x';
  EXPECT_TRUE(B.compare(Binary));
}
