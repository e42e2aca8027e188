//===- GuardLexicalTest.cpp - Rules on text -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../../lib/Transform/GuardLexical.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

static std::string rule(StringRef Text, StringRef Replaced = "", bool Trusted = false) {
  MaybeHit H = checkText(TextRole::Statements, Text, Replaced, Trusted);
  return H ? H->Rule.str() : "";
}

TEST(GuardLexical, PlainStatementsPass) {
  EXPECT_EQ(rule("x = a[i]; // why\nif (x > 0) { /* b */ y = 'c'; }"), "");
  EXPECT_EQ(rule("for (int i = 0; i < n; ++i)\n  s += a[i];"), "");
  EXPECT_EQ(rule(""), "");
  EXPECT_EQ(rule("/* only a comment */"), "");
}

TEST(GuardLexical, BracketsAndLiteralsMustClose) {
  EXPECT_EQ(rule("x = 1; }"), "guard-unbalanced");
  EXPECT_EQ(rule("if (x) { y = 1;"), "guard-unbalanced");
  EXPECT_EQ(rule("x = (1;"), "guard-unbalanced");
  EXPECT_EQ(rule("x = a[1);"), "guard-unbalanced");
  EXPECT_EQ(rule("x = 1; /* open"), "guard-unbalanced");
  EXPECT_EQ(rule("f(\"open);"), "guard-unbalanced");
  EXPECT_EQ(rule("c = 'x;"), "guard-unbalanced");
  EXPECT_EQ(rule("x = 1; } void g() { y = 1;"), "guard-unbalanced");
}

TEST(GuardLexical, TricksAreRefused) {
  EXPECT_EQ(rule("x = 1; // joined \\\ny = 1;"), "guard-lexical-trick");
  EXPECT_EQ(rule("x = 1; // joined \\ \t\ny = 1;"), "guard-lexical-trick");
  EXPECT_EQ(rule("x = 1; // at the end \\"), "guard-lexical-trick");
  EXPECT_EQ(rule("x = 1; // ?" "?/\ny = 1;"), "guard-lexical-trick");
  EXPECT_EQ(rule("x = a<:0:>;"), "guard-lexical-trick");
  EXPECT_EQ(rule("if (x) <% y = 1; %>"), "guard-lexical-trick");
  EXPECT_EQ(rule("f(R\"(x)\");", "f(\"x\");"), "guard-lexical-trick");
  EXPECT_EQ(rule("f(\"x\");"), "guard-lexical-trick");
  EXPECT_EQ(rule("f(\"x\");", "f(\"y\");"), "");
  EXPECT_EQ(rule("x = \xD0\xB0;"), "guard-lexical-trick");
  EXPECT_EQ(rule("\\u0061 = 1;"), "guard-lexical-trick");
  EXPECT_EQ(rule("x = 1; // \xE2\x80\xAE hidden"), "guard-lexical-trick");
  EXPECT_EQ(rule("x = 1; // caf\xC3\xA9"), "");
  EXPECT_EQ(rule("x = 1 @ 2;"), "guard-lexical-trick");
}

TEST(GuardLexical, EncodingAndSize) {
  EXPECT_EQ(rule(StringRef("x = 1;\0", 7)), "guard-text-encoding");
  EXPECT_EQ(rule("x = 1; // \xE9"), "guard-text-encoding");
  EXPECT_EQ(rule(std::string(65 * 1024, ' ') + "x = 1;"), "guard-text-size");
  EXPECT_EQ(rule(std::string(63 * 1024, ' ') + "x = 1;"), "");
}

TEST(GuardLexical, OnlyPragmaUnroll) {
  EXPECT_EQ(rule("#pragma unroll\nfor (;;) x = 1;"), "");
  EXPECT_EQ(rule("#pragma unroll 4\nfor (;;) x = 1;"), "");
  EXPECT_EQ(rule("# pragma unroll (kUnroll)\nfor (;;) x = 1;"), "");
  EXPECT_EQ(rule("#pragma unroll 4"), "");
  EXPECT_EQ(rule("#pragma nounroll\nfor (;;) x = 1;"), "guard-pragma");
  EXPECT_EQ(rule("#pragma unroll f()\nfor (;;) x = 1;"), "guard-pragma");
  EXPECT_EQ(rule("#pragma GCC optimize(\"O0\")\nx = 1;"), "guard-pragma");
  EXPECT_EQ(rule("_Pragma(\"unroll\") for (;;) x = 1;", "\"\""), "guard-pragma");
  EXPECT_EQ(rule("#define x y\nx = 1;"), "guard-directive");
  EXPECT_EQ(rule("#include \"x.h\"\nx = 1;"), "guard-directive");
  EXPECT_EQ(rule("#if 1\nx = 1;\n#endif"), "guard-directive");
  EXPECT_EQ(rule("#line 1\nx = 1;"), "guard-directive");
  EXPECT_EQ(rule("/* a */ #define x y\nx = 1;"), "guard-directive");
  EXPECT_EQ(rule("%:define x y\nx = 1;"), "guard-lexical-trick");
  EXPECT_EQ(rule("x = a ## b;"), "guard-directive");
}

TEST(GuardLexical, WordsNeedAReasonInTheReplacedText) {
  EXPECT_EQ(rule("asm(\"\");", "\"\""), "guard-asm");
  EXPECT_EQ(rule("goto out;"), "guard-control-flow");
  EXPECT_EQ(rule("static int x = 0;"), "guard-state");
  EXPECT_EQ(rule("__shared__ int x[4];"), "guard-state");
  EXPECT_EQ(rule("__shared__ int x[5];", "__shared__ int x[4];"), "");
  EXPECT_EQ(rule("int *p = new int;"), "guard-side-effect");
  EXPECT_EQ(rule("printf(x);"), "guard-side-effect");
  EXPECT_EQ(rule("int clock = 0;"), "");
  EXPECT_EQ(rule("x = clock64();"), "guard-side-effect");
  EXPECT_EQ(rule("x = __expf(y);"), "guard-fast-math");
  EXPECT_EQ(rule("x = __expf(y);", "x = __expf(z);"), "");
  EXPECT_EQ(rule("x = expf(y);"), "");
  EXPECT_EQ(rule("cudaDeviceSynchronize();"), "guard-host-api");
  EXPECT_EQ(rule("k<<<1, 1>>>();"), "guard-host-api");
  EXPECT_EQ(rule("float custom(1); cudax = 1;"), "");
  EXPECT_EQ(rule("[[likely]] x = 1;"), "guard-attribute");
  EXPECT_EQ(rule("__attribute__((unused)) int x;"), "guard-attribute");
  EXPECT_EQ(rule("x = __LINE__;"), "guard-builtin-macro");
  EXPECT_EQ(rule("*const_cast<float *>(p) = 1;"), "guard-cast-away");
  EXPECT_EQ(rule("{ struct S { int x; }; }"), "guard-type-definition");
  EXPECT_EQ(rule("{ struct S { int x; }; }", "", /*Trusted=*/true), "");
}

TEST(GuardLexical, ControlCharactersAreRefused) {
  // One tool's line end is another's blank: `y = 2;` is code for one of them.
  EXPECT_EQ(rule("x = 1; // why\r y = 2;"), "guard-lexical-trick");
  EXPECT_EQ(rule("x = 1;\r"), "guard-lexical-trick");
  EXPECT_EQ(rule("x = 1; // \x1b[8m hidden"), "guard-lexical-trick");
  EXPECT_EQ(rule("x = 1; // \x08\x08"), "guard-lexical-trick");
  EXPECT_EQ(rule("x =\f1;"), "guard-lexical-trick");
  EXPECT_EQ(rule("x = 1; // \x7f"), "guard-lexical-trick");
  EXPECT_EQ(rule("x = 1; // \xC2\x9B" "8m"), "guard-lexical-trick"); // C1's CSI
  EXPECT_EQ(rule("x = 1;\r\n\ty = 2; // \xC2\xB5s, \xC3\xA9\n"), "");
}

TEST(GuardLexical, WholeStatements) {
  EXPECT_EQ(rule("x = 1"), "guard-not-statements");
  EXPECT_EQ(rule("if (x)"), "guard-not-statements");
  EXPECT_EQ(rule("else x = 1;"), "guard-not-statements");
  EXPECT_EQ(rule("case 1: x = 1;"), "guard-not-statements");
  EXPECT_EQ(rule("x = 1;"), "");
}

TEST(GuardLexical, WrapHoldsItsBodyOnce) {
  auto Wrap = [](StringRef Text) {
    MaybeHit H = checkWrapText(Text, "x = 1;", false);
    return H ? H->Rule.str() : "";
  };
  EXPECT_EQ(Wrap("if (c) { $body }"), "");
  EXPECT_EQ(Wrap("if (c) { }"), "guard-wrap-body");
  EXPECT_EQ(Wrap("{ $body $body }"), "guard-wrap-body");
  EXPECT_EQ(Wrap("{ // $body\n }"), "guard-wrap-body");
  EXPECT_EQ(Wrap("{ /* $body */ }"), "guard-unbalanced");
  EXPECT_EQ(Wrap("{ $body"), "guard-unbalanced");
  EXPECT_EQ(Wrap("goto x; $body"), "guard-control-flow");
}

TEST(GuardLexical, SplitsAtCommasOutsideBrackets) {
  LexedText L = lexSource("dim3(a, b), f(x, y[1, 2]), 0");
  auto Parts = splitAtCommas(L.Tokens);
  ASSERT_EQ(Parts.size(), 3u);
  EXPECT_EQ(spelled(Parts[0]), "dim3 ( a , b )");
  EXPECT_EQ(spelled(Parts[2]), "0");
  EXPECT_TRUE(splitAtCommas({}).empty());
}
