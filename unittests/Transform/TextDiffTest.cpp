//===- TextDiffTest.cpp - Unified diffs that patch and git take -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Transform/TextDiff.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

/// Runs a diff through a tool in a folder that holds the old text as `dir/a file.cu`.
static std::string patchedBy(std::vector<std::string> Tool, StringRef Old,
                             StringRef Diff, StringRef Name) {
  ScratchDir Dir = cantFail(ScratchDir::create("optimas-diff"));
  std::string File = Dir.file(Name);
  EXPECT_FALSE(sys::fs::create_directories(sys::path::parent_path(File)));
  cantFail(writeFileAtomically(File, Old));
  SubprocessOptions O;
  O.Args = std::move(Tool);
  O.Directory = Dir.path();
  O.Input = Diff.str();
  // git must not find a repository around the scratch folder.
  O.Environment = {{"GIT_DIR", "/nonexistent"}};
  O.MergeError = true;
  SubprocessResult R = cantFail(runSubprocess(O));
  EXPECT_TRUE(R.ok()) << R.Output << Diff.str();
  return cantFail(readFile(File, ExitCode::Internal));
}

static void expectRoundTrip(StringRef Old, StringRef New, StringRef Name = "dir/a file.cu") {
  std::string Diff = unifiedTextDiff(Name, Old, New);
  EXPECT_EQ(patchedBy({"patch", "-p1", "--binary"}, Old, Diff, Name), New);
  EXPECT_EQ(patchedBy({"git", "apply", "--whitespace=nowarn", "-"}, Old, Diff, Name), New);
}

TEST(TextDiff, QuotesOddNamesAsGitDoes) {
  for (StringRef Name : {"a\"b.cu", "we ird\n\t/x\x01.cu", "back\\slash.cu", "\xc3\xa9.cu"})
    expectRoundTrip("a\nb\n", "a\nc\n", Name);
  EXPECT_TRUE(StringRef(unifiedTextDiff("q\"\n\x7f.cu", "a\n", "b\n"))
                  .starts_with("--- \"a/q\\\"\\n\\177.cu\"\n+++ \"b/q\\\"\\n\\177.cu\"\n@@"));
}

TEST(TextDiff, PrintsWhatDiffPrints) {
  EXPECT_EQ(unifiedTextDiff("k.cu", "a\nb\nc\nd\ne\nf\n", "a\nb\nc\nX\nY\ne\nf\n"),
            "--- a/k.cu\n+++ b/k.cu\n@@ -1,6 +1,7 @@\n a\n b\n c\n-d\n+X\n+Y\n e\n f\n");
}

TEST(TextDiff, EqualTextsGiveNothing) {
  EXPECT_EQ(unifiedTextDiff("k.cu", "a\n", "a\n"), "");
}

TEST(TextDiff, InsertionAndDeletionHaveEmptyRanges) {
  EXPECT_EQ(unifiedTextDiff("k.cu", "", "a\n"),
            "--- a/k.cu\n+++ b/k.cu\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(unifiedTextDiff("k.cu", "a\n", ""),
            "--- a/k.cu\n+++ b/k.cu\n@@ -1 +0,0 @@\n-a\n");
}

TEST(TextDiff, FarChangesAreSeparateHunks) {
  std::string Old, New;
  for (int I = 0; I < 40; ++I) {
    Old += std::to_string(I) + "\n";
    New += (I == 5 || I == 30 ? "x\n" : std::to_string(I) + "\n");
  }
  std::string Diff = unifiedTextDiff("k.cu", Old, New);
  EXPECT_EQ(StringRef(Diff).count("\n@@ "), 2u) << Diff;
  expectRoundTrip(Old, New);
}

TEST(TextDiff, MissingNewlineAtTheEndIsMarked) {
  std::string Diff = unifiedTextDiff("k.cu", "a\nb", "a\nc\n");
  EXPECT_EQ(Diff, "--- a/k.cu\n+++ b/k.cu\n@@ -1,2 +1,2 @@\n a\n-b\n"
                  "\\ No newline at end of file\n+c\n");
  expectRoundTrip("a\nb", "a\nc\n");
  expectRoundTrip("a\nb\n", "a\nc");
  expectRoundTrip("a\nb", "x\nb");
}

TEST(TextDiff, CarriageReturnsAndTabsStay) {
  expectRoundTrip("a\r\n\tb\r\nc\r\n", "a\r\n\tB\r\n\tB2\r\nc\r\n");
  expectRoundTrip("\xEF\xBB\xBFx\n\xE9\n", "\xEF\xBB\xBFx\ny\n\xE9\n");
}

TEST(TextDiff, ShortestScriptKeepsCommonLines) {
  std::vector<StringRef> A = {"for", "a", "b", "}"}, B = {"for", "x", "a", "b", "c", "}"};
  std::vector<LineChange> C = diffLines(A, B);
  ASSERT_EQ(C.size(), 2u);
  EXPECT_EQ(C[0].OldBegin, C[0].OldEnd);
  EXPECT_EQ(C[0].NewEnd - C[0].NewBegin, 1u);
  EXPECT_EQ(C[1].NewBegin, 4u);
}

/// Every change list must turn the old lines into the new ones.
static void expectReplays(ArrayRef<StringRef> A, ArrayRef<StringRef> B) {
  std::vector<StringRef> Out;
  size_t Old = 0;
  for (const LineChange &C : diffLines(A, B)) {
    for (; Old < C.OldBegin; ++Old)
      Out.push_back(A[Old]);
    ASSERT_EQ(Out.size(), C.NewBegin);
    Out.insert(Out.end(), B.begin() + C.NewBegin, B.begin() + C.NewEnd);
    Old = C.OldEnd;
  }
  for (; Old < A.size(); ++Old)
    Out.push_back(A[Old]);
  EXPECT_EQ(Out, B.vec());
}

TEST(TextDiff, RandomTextsReplay) {
  unsigned State = 7;
  auto Next = [&State](unsigned N) {
    State = State * 1664525u + 1013904223u;
    return (State >> 8) % N;
  };
  const char *Words[] = {"a", "b", "c", "d"};
  for (int Round = 0; Round < 500; ++Round) {
    std::vector<StringRef> A(Next(20)), B(Next(20));
    for (StringRef &S : A)
      S = Words[Next(4)];
    for (StringRef &S : B)
      S = Words[Next(4)];
    expectReplays(A, B);
  }
  // More changed lines than the search follows.
  std::vector<std::string> Many;
  for (int I = 0; I < 3000; ++I)
    Many.push_back(std::to_string(I));
  std::vector<StringRef> A(Many.begin(), Many.end()), B(A.rbegin(), A.rend());
  expectReplays(A, B);
}
