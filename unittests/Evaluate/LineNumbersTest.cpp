//===- LineNumbersTest.cpp - Keeping line numbers below an edit -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/LineNumbers.h"
#include "gtest/gtest.h"

using namespace optimas;

/// Replaces the first \p Old in \p Text.
static FileEdit edit(llvm::StringRef Text, llvm::StringRef Old, llvm::StringRef New) {
  FileEdit E;
  E.Offset = unsigned(Text.find(Old));
  E.Length = unsigned(Old.size());
  E.Replacement = New.str();
  return E;
}

static std::string apply(llvm::StringRef Text, std::vector<FileEdit> Edits) {
  llvm::Expected<std::string> Out = applyKeepingLines(Text, Edits);
  EXPECT_TRUE(bool(Out));
  return Out ? *Out : llvm::toString(Out.takeError());
}

TEST(LineNumbers, NoDirectiveWhenTheCountStays) {
  llvm::StringRef T = "a;\nb;\nc;\n";
  EXPECT_EQ(apply(T, {edit(T, "b;", "B();")}), "a;\nB();\nc;\n");
}

TEST(LineNumbers, DirectiveRightBelowTheEdit) {
  llvm::StringRef T = "a;\nb;\nc;\n";
  EXPECT_EQ(apply(T, {edit(T, "b;", "b1;\nb2;\nb3;")}),
            "a;\nb1;\nb2;\nb3;\n#line 3\nc;\n");
  EXPECT_EQ(apply(T, {edit(T, "a;\nb;\n", "x;\n")}), "x;\n#line 3\nc;\n");
  // A replacement that swallows the line end still leaves the directive its own line.
  EXPECT_EQ(apply(T, {edit(T, "a;\nb;\n", "x;")}), "x;\n#line 3\nc;\n");
}

TEST(LineNumbers, SeveralEditsCountOriginalLines) {
  llvm::StringRef T = "a;\nb;\nc;\nd;\n";
  EXPECT_EQ(apply(T, {edit(T, "a;", "a;\na;"), edit(T, "c;", "c;\nc;")}),
            "a;\na;\n#line 2\nb;\nc;\nc;\n#line 4\nd;\n");
}

TEST(LineNumbers, NotInsideParenthesesCommentsLiteralsOrContinuations) {
  llvm::StringRef Call = "a;\nCHECK(f(x,\n  y));\nz;\n";
  EXPECT_EQ(apply(Call, {edit(Call, "x,", "x,\n w,")}),
            "a;\nCHECK(f(x,\n w,\n  y));\n#line 4\nz;\n");
  llvm::StringRef Comment = "a; /* one\n two */\nz;\n";
  EXPECT_EQ(apply(Comment, {edit(Comment, "a;", "a;\nb;")}),
            "a;\nb; /* one\n two */\n#line 3\nz;\n");
  llvm::StringRef Macro = "a;\n#define M \\\n  1\nz;\n";
  EXPECT_EQ(apply(Macro, {edit(Macro, "M \\", "M \\\n 0+ \\")}),
            "a;\n#define M \\\n 0+ \\\n  1\n#line 4\nz;\n");
  llvm::StringRef Raw = "a; s = R\"x(\n(((\n)x\";\nz;\n";
  EXPECT_EQ(apply(Raw, {edit(Raw, "a;", "a;\nb;")}),
            "a;\nb; s = R\"x(\n(((\n)x\";\n#line 4\nz;\n");
}

TEST(LineNumbers, QuotesAndDigitSeparatorsDoNotConfuse) {
  llvm::StringRef T = "a; n = 1'000; c = '('; s = \"/*(\";\nz;\n";
  EXPECT_EQ(apply(T, {edit(T, "a;", "a;\n")}),
            "a;\n n = 1'000; c = '('; s = \"/*(\";\n#line 2\nz;\n");
}

TEST(LineNumbers, RespectsLineDirectivesOfTheText) {
  llvm::StringRef T = "a;\n#line 100 \"x.h\"\nb;\nc;\n";
  EXPECT_EQ(apply(T, {edit(T, "b;", "b;\nb;")}),
            "a;\n#line 100 \"x.h\"\nb;\nb;\n#line 101\nc;\n");
}

TEST(LineNumbers, KeepsCrLfAndAFileWithoutFinalNewline) {
  llvm::StringRef T = "a;\r\nb;\r\nc;";
  EXPECT_EQ(apply(T, {edit(T, "a;", "a;\r\na;")}),
            "a;\r\na;\r\n#line 2\r\nb;\r\nc;");
  llvm::StringRef Last = "a;\nb;";
  EXPECT_EQ(apply(Last, {edit(Last, "b;", "b;\nb;")}), "a;\nb;\nb;");
}

TEST(LineNumbers, OverlapIsAnError) {
  llvm::StringRef T = "abc";
  for (FileEdit Second : {edit(T, "bc", "x"), FileEdit{"", NoId, 2, 9, "", 0}}) {
    llvm::Expected<std::string> Out = applyKeepingLines(T, {edit(T, "ab", "y"), Second});
    EXPECT_FALSE(bool(Out));
    llvm::consumeError(Out.takeError());
  }
}
