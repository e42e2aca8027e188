//===- GuardPlaceTest.cpp - The bytes that an edit changes -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardTest.h"
#include "optimas/Transform/TextDiff.h"

using namespace llvm;
using namespace optimas;

static const char *const Program = R"cu(
__global__ void hotK(float *p, int n) {
  int i = threadIdx.x; // the index
  if (i < n)
    p[i] = 1.0f;
  for (int k = 0; k < n; ++k) {
    p[k] = 2.0f;
    p[k + 1] = 3.0f; p[k + 2] = 4.0f;
  }
#pragma unroll 2
  for (int m = 0; m < n; ++m)
    p[m] = 5.0f;
	p[9] = 9.0f;
  p[8] = 8.0f; /* block */ p[7] = 7.0f;
}
)cu";

/// What differs, as a diff without its headers.
static std::string changed(const GuardProgram &P, std::vector<Edit> Edits) {
  std::string New = expectAccepted(P, std::move(Edits));
  std::string Old = P.mainText(), Out;
  auto A = splitLinesKeepEnds(Old), B = splitLinesKeepEnds(New);
  for (const LineChange &C : diffLines(A, B)) {
    for (size_t I = C.OldBegin; I < C.OldEnd; ++I)
      Out += ("-" + A[I]).str();
    for (size_t I = C.NewBegin; I < C.NewEnd; ++I)
      Out += ("+" + B[I]).str();
  }
  return Out;
}

static const GuardProgram &program() {
  static const GuardProgram P{StringRef(Program)};
  return P;
}

TEST(GuardPlace, ReplacementsTakeTheIndentationOfTheirPlace) {
  const GuardProgram &P = program();
  // A relative text, one indented as in the file, and one whose last line is a
  // `}`.
  EXPECT_EQ(
      changed(P, {P.replace("p[k] = 2",
                            "if (k) {\n  p[k] = 2.0f;\n\n  p[0] = 1.0f;\n}"),
                  P.replace("p[9]", "if (n)\n  p[9] = 1.0f;")}),
      "-    p[k] = 2.0f;\n"
      "+    if (k) {\n+      p[k] = 2.0f;\n+\n+      p[0] = 1.0f;\n+    }\n"
      "-\tp[9] = 9.0f;\n"
      "+\tif (n)\n+\t  p[9] = 1.0f;\n");
  EXPECT_EQ(changed(P, {P.replace("p[k] = 2",
                                  "    if (k) {\n      p[k] = 2.0f;\n    }")}),
            "-    p[k] = 2.0f;\n+    if (k) {\n+      p[k] = 2.0f;\n+    }\n");
  EXPECT_EQ(changed(P, {P.replace("p[k] = 2",
                                  "if (k) {\n      p[k] = 2.0f;\n    }\n")}),
            "-    p[k] = 2.0f;\n+    if (k) {\n+      p[k] = 2.0f;\n+    }\n");
}

TEST(GuardPlace, Insertions) {
  const GuardProgram &P = program();
  EXPECT_EQ(
      changed(P,
              {P.edit(EditKind::InsertBefore, "p[k] = 2", "p[0] = 0.5f;"),
               P.edit(EditKind::InsertAfter, "int i", "p[1] = 0.5f; // why"),
               P.edit(EditKind::InsertAfter, "p[8]", "p[2] = 0.5f; // why")}),
      "+  p[1] = 0.5f; // why\n"
      "+    p[0] = 0.5f;\n"
      "-  p[8] = 8.0f; /* block */ p[7] = 7.0f;\n"
      "+  p[8] = 8.0f;\n+  p[2] = 0.5f; // why\n+   /* block */ p[7] = "
      "7.0f;\n");
  // A statement without a block of its own gets one.
  EXPECT_EQ(
      changed(P, {P.edit(EditKind::InsertAfter, "p[i] = 1", "p[3] = 0.5f;")}),
      "+    {\n+    p[3] = 0.5f;\n+    }\n");
  EXPECT_EQ(
      changed(P, {P.edit(EditKind::InsertBefore, "p[m] = 5", "p[3] = 0.5f;")}),
      "+    {\n+    p[3] = 0.5f;\n+    }\n");
}

TEST(GuardPlace, PragmasGetLinesOfTheirOwn) {
  const GuardProgram &P = program();
  EXPECT_EQ(changed(P, {P.edit(EditKind::InsertBefore, "for (int k",
                               "#pragma unroll 4")}),
            "+  #pragma unroll 4\n");
  // The loop's own pragma is part of it.
  EXPECT_EQ(changed(P, {P.replace("#pragma unroll 2",
                                  "#pragma unroll 8\nfor (int m = 0; m < n; "
                                  "++m)\n  p[m] = 5.0f;")}),
            "-#pragma unroll 2\n+#pragma unroll 8\n");
  EXPECT_EQ(
      changed(P, {P.replace("#pragma unroll 2",
                            "for (int m = 0; m < n; ++m)\n  p[m] = 5.0f;")}),
      "-#pragma unroll 2\n");
}

TEST(GuardPlace, DeletionsTakeTheirLine) {
  const GuardProgram &P = program();
  EXPECT_EQ(changed(P, {P.edit(EditKind::Delete, "p[k] = 2", ""),
                        P.edit(EditKind::Delete, "p[k + 2]", ""),
                        P.edit(EditKind::Delete, "p[i] = 1", "")}),
            "-    p[i] = 1.0f;\n+    ;\n"
            "-    p[k] = 2.0f;\n-    p[k + 1] = 3.0f; p[k + 2] = 4.0f;\n"
            "+    p[k + 1] = 3.0f; \n");
}

TEST(GuardPlace, WrapsLeaveTheBodyAlone) {
  const GuardProgram &P = program();
  EditSet Set =
      P.run({P.edit(EditKind::Wrap, "p[9]", "if (n > 9) {\n  $body\n}")});
  ASSERT_EQ(Set.FileEdits.size(), 2u);
  EXPECT_EQ(Set.FileEdits[0].Length + Set.FileEdits[1].Length, 0u);
  EXPECT_EQ(Set.FileEdits[0].Replacement, "if (n > 9) {\n\t  ");
  EXPECT_EQ(Set.FileEdits[1].Replacement, "\n\t}");
}

TEST(GuardPlace, InsertionAndReplacementAtOnePlaceBecomeOne) {
  const GuardProgram &P = program();
  EditSet Set = P.run({P.replace("p[9]", "p[9] = 1.5f;"),
                       P.edit(EditKind::InsertBefore, "p[9]", "p[3] = 0.5f;")});
  ASSERT_EQ(Set.FileEdits.size(), 1u);
  EXPECT_EQ(Set.FileEdits[0].Replacement, "p[3] = 0.5f;\n\tp[9] = 1.5f;");
  EXPECT_EQ(Set.Accepted.size(), 2u);
}

TEST(GuardPlace, RawRangesBecomeStatements) {
  const GuardProgram &P = program();
  // Whole lines, as a diff has them; an insertion between two statements.
  EXPECT_EQ(changed(P, {P.raw("    p[k] = 2.0f;\n",
                              "    p[k] = 2.5f;\n    p[3] = 0.5f;\n")}),
            "-    p[k] = 2.0f;\n+    p[k] = 2.5f;\n+    p[3] = 0.5f;\n");
  EditSet Set =
      P.run({P.raw("  p[8] = 8.0f;", "  p[2] = 0.5f;\n  p[8] = 8.0f;")});
  ASSERT_EQ(Set.Accepted.size(), 1u);
  EXPECT_EQ(Set.Accepted[0].Kind, EditKind::RawRange);
  EXPECT_EQ(Set.Accepted[0].First, P.statement("p[8]"));
  expectRefused(P, {P.raw("    p[k] = 2.0f;\n", "    p[k] = 2.0f; }\n")},
                "guard-unbalanced");
  expectRefused(P, {P.raw("9.0f;", "9.0f; // \\")}, "guard-lexical-trick");
  expectRefused(P, {P.raw("// the index", "// of the thread")},
                "guard-raw-range");
}

TEST(GuardPlace, CarriageReturnsByteOrderMarksAndOddBytesStay) {
  GuardProgram P(
      "\xEF\xBB\xBF// caf\xE9\r\n__global__ void hotK(float *p) {\r\n"
      "\tp[0] = 1.0f;\r\n\tp[1] = p[3];\r\n}");
  EXPECT_EQ(
      expectAccepted(
          P, {P.replace("p[0]", "if (p[2] > 0.0f) {\n  p[0] = 2.0f;\n}")}),
      "\xEF\xBB\xBF// caf\xE9\r\n__global__ void hotK(float *p) {\r\n"
      "\tif (p[2] > 0.0f) {\r\n\t  p[0] = 2.0f;\r\n\t}\r\n\tp[1] = p[3];\r\n}");
}
