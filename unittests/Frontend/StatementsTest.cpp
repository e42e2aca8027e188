//===- StatementsTest.cpp - Statements, loops and lines -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

/// `kind: text` of every statement but the function's own block, blanks squeezed.
static std::string listing(const SourceModel &M) {
  std::string Out;
  for (const Statement &S : M.statements()) {
    if (S.Parent == NoId)
      continue;
    SmallVector<StringRef> Words;
    SplitString(M.text(S.Range), Words);
    Out += (S.InMacro ? "macro " : "") + S.Kind + ": " + join(Words, " ") + "\n";
  }
  return Out;
}

static std::string onLine(const SourceModel &M, unsigned Line) {
  std::vector<std::string> Out;
  for (StatementId S : M.statementsOnLine(0, Line))
    Out.push_back("S" + std::to_string(S) + " " + M.statement(S)->Kind);
  return join(Out, ", ");
}

TEST(StatementsTest, EveryKindWithItsSemicolon) {
  SourceModel M = modelOf(R"cuda(
__global__ void k(int *p, int n) {
  int a = 1, b = 2 /* c */ ;
  ;
  p[0] = a // no semicolon; yet
    ;
  if (n) p[1] = b; else { p[2] = 3; }
  if (int c = n; c > 1) return;
  while (n-- > 0) continue;
  do { break; } while (n) ;
  switch (n) { case 1: case 2: p[3] = 1; break; default: p[4] = 2; }
again:
  if (n > 9) goto again;
  for (;;) break;
  int xs[2] = {1, 2};
  for (int x : xs) p[x] = 1;
  asm volatile("membar.gl;" ::: "memory");
  [[maybe_unused]] int unused = 0;
  {}
  static_assert(sizeof(int) == 4, "");
  p[5] = ({ int t = n; t + 1; });
  [&] { p[6] = 7; }();
}
)cuda");
  EXPECT_EQ(listing(M), R"(decl: int a = 1, b = 2 /* c */ ;
null: ;
expr: p[0] = a // no semicolon; yet ;
if: if (n) p[1] = b; else { p[2] = 3; }
expr: p[1] = b;
compound: { p[2] = 3; }
expr: p[2] = 3;
if: if (int c = n; c > 1) return;
decl: int c = n;
return: return;
while: while (n-- > 0) continue;
continue: continue;
do: do { break; } while (n) ;
compound: { break; }
break: break;
switch: switch (n) { case 1: case 2: p[3] = 1; break; default: p[4] = 2; }
compound: { case 1: case 2: p[3] = 1; break; default: p[4] = 2; }
case: case 1: case 2: p[3] = 1;
case: case 2: p[3] = 1;
expr: p[3] = 1;
break: break;
default: default: p[4] = 2;
expr: p[4] = 2;
label: again: if (n > 9) goto again;
if: if (n > 9) goto again;
goto: goto again;
for: for (;;) break;
break: break;
decl: int xs[2] = {1, 2};
range-for: for (int x : xs) p[x] = 1;
expr: p[x] = 1;
asm: asm volatile("membar.gl;" ::: "memory");
decl: [[maybe_unused]] int unused = 0;
compound: {}
decl: static_assert(sizeof(int) == 4, "");
expr: p[5] = ({ int t = n; t + 1; });
compound: { int t = n; t + 1; }
decl: int t = n;
expr: t + 1;
expr: [&] { p[6] = 7; }();
compound: { p[6] = 7; }
expr: p[6] = 7;
)");
  for (StatementId I = 1; I <= M.statements().size(); ++I)
    EXPECT_EQ(M.statement(I)->Id, I);
  EXPECT_EQ(M.statement(0), nullptr);
  EXPECT_EQ(M.statement(M.statements().size() + 1), nullptr);
  EXPECT_EQ(M.statement(NoId), nullptr);
}

TEST(StatementsTest, LoopsHeadersAndPragmas) {
  Annotated A(R"cuda(
__global__ void k(int *p, int n) {
  $pragma[[#pragma unroll 4
  $outer[[for (int i = 0; i < n; ++i)]]
    $whileLoop[[while (p[i] > 0)]] $body[[{
      p[i]--;
    }]]]]
  do p[0]++; $do[[while (p[0] < n)]];
  p[1] = 1;
}
)cuda");
  SourceModel M = modelOf(A.Code);
  ASSERT_EQ(M.loops().size(), 3u);
  auto Text = [&](const std::string &Mark) { return M.text(markedRange(M, A, Mark)); };
  const Loop &Outer = *M.loop(1), &While = *M.loop(2), &Do = *M.loop(3);
  EXPECT_EQ(M.text(Outer.Header), Text("outer"));
  EXPECT_EQ(M.text(M.statement(Outer.Stmt)->Range), Text("pragma"));
  EXPECT_EQ(M.text(While.Header), Text("whileLoop"));
  EXPECT_EQ(M.text(While.Body), Text("body"));
  EXPECT_EQ(While.Parent, 1u);
  EXPECT_EQ(While.Depth, 2u);
  EXPECT_EQ(M.text(Do.Header), Text("do"));
  EXPECT_EQ(M.text(Do.Body), "p[0]++;");
  EXPECT_EQ(Do.Parent, NoId);
  EXPECT_EQ(statementWith(M, "p[i]--;")->InnermostLoop, 2u);
  EXPECT_EQ(statementWith(M, "int i = 0;")->InnermostLoop, 1u);
  EXPECT_EQ(statementWith(M, "p[1] = 1;")->InnermostLoop, NoId);
  EXPECT_EQ(M.statement(Outer.Stmt)->InnermostLoop, 1u);
  EXPECT_EQ(M.loop(0), nullptr);
  EXPECT_EQ(M.loop(4), nullptr);
}

TEST(StatementsTest, Macros) {
  SourceModel M = modelOf(R"cuda(
#define N 4
#define P p
#define CHECK(x) do { if (!(x)) p[9] = 1; } while (0)
#define WRAP(x) x
#define FOR(i, n) for (int i = 0; i < n; ++i)
#define DECL(t) t d
#define TWO p[7] = 1; p[8] = 2
#define EVIL p[3] = 1; p[4]
__global__ void k(int *p, int n) {
  p[0] = N;
  P[1] = 2;
  p[N] = n;
  CHECK(n > 0);
  WRAP(p[2] = 3;)
  FOR(i, n) p[i] = N;
  if (n) CHECK(n);
  DECL(int);
  __shared__ int s[N];
  TWO;
  EVIL = 5;
  s[0] = WRAP(p[5]);
}
)cuda");
  EXPECT_EQ(listing(M), R"(expr: p[0] = N;
expr: P[1] = 2;
expr: p[N] = n;
macro do: CHECK(n > 0);
macro compound: CHECK(n > 0)
macro if: CHECK(n > 0)
macro expr: CHECK(n > 0)
macro expr: p[2] = 3;
macro for: FOR(i, n) p[i] = N;
macro decl: FOR(i, n)
expr: p[i] = N;
if: if (n) CHECK(n);
macro do: CHECK(n);
macro compound: CHECK(n)
macro if: CHECK(n)
macro expr: CHECK(n)
macro decl: DECL(int);
decl: __shared__ int s[N];
macro expr: TWO;
macro expr: TWO;
macro expr: EVIL
macro expr: EVIL = 5;
expr: s[0] = WRAP(p[5]);
)");
}

TEST(StatementsTest, Lines) {
  SourceModel M = modelOf("__global__ void k(int *p, int n) {\n" // 1
                          "  for (int i = 0;\n"                  // 2
                          "       i < n;\n"                      // 3
                          "       ++i) {\n"                      // 4
                          "    if (p[i])\n"                      // 5
                          "      p[i] =\n"                       // 6
                          "          n;\n"                       // 7
                          "    else { p[0] = 1; }\n"             // 8
                          "  }\n"                                // 9
                          "  p[1] = 1; p[2] = 2;\n"              // 10
                          "\n"                                   // 11
                          "  {\n"                                // 12
                          "    p[3] = 3;\n"                      // 13
                          "  }\n"                                // 14
                          "}\n");                                // 15
  EXPECT_EQ(onLine(M, 1), "S1 compound");
  EXPECT_EQ(onLine(M, 2), "S2 for");
  EXPECT_EQ(onLine(M, 3), "S2 for");
  EXPECT_EQ(onLine(M, 4), "S2 for");
  EXPECT_EQ(onLine(M, 5), "S5 if");
  EXPECT_EQ(onLine(M, 6), "S6 expr");
  EXPECT_EQ(onLine(M, 7), "S6 expr");
  EXPECT_EQ(onLine(M, 8), "S8 expr");
  EXPECT_EQ(onLine(M, 9), "S2 for");
  EXPECT_EQ(onLine(M, 10), "S9 expr, S10 expr");
  EXPECT_EQ(onLine(M, 11), "S1 compound");
  EXPECT_EQ(onLine(M, 12), "S11 compound");
  EXPECT_EQ(onLine(M, 13), "S12 expr");
  EXPECT_EQ(onLine(M, 14), "S11 compound");
  EXPECT_EQ(onLine(M, 15), "S1 compound");
  EXPECT_EQ(onLine(M, 16), "");
  EXPECT_EQ(M.functionAt(0, 15)->Name, "k");
  EXPECT_EQ(M.functionAt(0, 16), nullptr);
}

TEST(StatementsTest, RangesOfNodes) {
  SourceModel M = modelOf("#define G p[1] = 2\n"
                          "__global__ void k(int *p) { p[0] = 1; G; }\n");
  const Statement *S = statementWith(M, "p[0] = 1;");
  ASSERT_TRUE(S);
  auto R = M.rangeOf(S->Node);
  ASSERT_TRUE(R);
  EXPECT_EQ(M.text(*R), "p[0] = 1");
  EXPECT_FALSE(M.rangeOf(statementWith(M, "G;")->Node));
  EXPECT_FALSE(M.rangeOf(nullptr));
}
