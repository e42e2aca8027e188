// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Support/Error.h"
#include "optimas/Support/Terminal.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace optimas;

TEST(Terminal, ControlCharactersAreShownNotObeyed) {
  EXPECT_EQ(visible("a\x1b]0;title\x07" "b\r\x7f"), "a\\x1b]0;title\\x07b\\x0d\\x7f");
  EXPECT_EQ(visible("line\n\tnext \xc3\x97 \xe2\x86\x92"), "line\n\tnext \xc3\x97 \xe2\x86\x92");
  EXPECT_EQ(visible("dos\r\nover\rwritten"), "dos\r\nover\\x0dwritten");
  EXPECT_EQ(visible("\xc2\x9b" "31m \xc2\xb5s"), "\\x9b31m \xc2\xb5s");
  EXPECT_EQ(visible(llvm::StringRef("a\0b", 3)), "a\\x00b");
}

TEST(Terminal, OnlyOurOwnColoursStay) {
  EXPECT_EQ(visible("\x1b[32mok\x1b[0m", true), "\x1b[32mok\x1b[0m");
  EXPECT_EQ(visible("\x1b[32mok\x1b[0m"), "\\x1b[32mok\\x1b[0m");
  EXPECT_EQ(visible("\x1b[2J\x1b[8m\x1b[3", true), "\\x1b[2J\\x1b[8m\\x1b[3");
}

TEST(Terminal, ErrorsShowThem) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  reportError(OS, makeError(ExitCode::Usage, "no such file", "a\x1b[2J.cu", "check"));
  EXPECT_EQ(Text, "error: a\\x1b[2J.cu: no such file\n  check\n");
}
