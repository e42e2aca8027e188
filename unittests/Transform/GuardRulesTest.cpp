//===- GuardRulesTest.cpp - Every rule, and its nearest legal neighbour -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One program for all of them: parsing costs more than any rule. Legal
// neighbours are checked together, which one parse can do; each refusal stands
// alone.
//
//===----------------------------------------------------------------------===//
#include "GuardTest.h"
#include "optimas/Support/Files.h"

using namespace llvm;
using namespace optimas;

TEST(GuardRules, EveryRuleIsDocumented) {
  std::string Doc = cantFail(readFile(
      OPTIMAS_TEST_INPUTS "/../../docs/guard-rules.md", ExitCode::Usage));
  for (const GuardRule &R : guardRules()) {
    std::string Heading = ("\n### " + R.Id + "\n\n" + R.Summary + "\n").str();
    EXPECT_NE(Doc.find(Heading), std::string::npos) << Heading;
  }
  EXPECT_EQ(StringRef(Doc).count("\n### guard-"), guardRules().size());
  EXPECT_GE(guardRules().size(), 24u);
}

//===-- What the edit names, evidence, regions ----------------------------===//

TEST(GuardRules, Targets) {
  const GuardProgram &P = ruleProgram();
  Edit E =
      P.replace("out[threadIdx.x] = last", "out[threadIdx.x] = last + 0.0f;");
  E.First = E.Last = 9999;
  expectRefused(P, {E}, "guard-unknown-target");
  E = P.launch("grid, kBlock", "grid, kBlock * 2");
  E.LaunchSiteId = 77;
  expectRefused(P, {E}, "guard-unknown-target");
  E = P.signature("hotTile", "");
  E.Function = NoId;
  expectRefused(P, {E}, "guard-unknown-target");
  expectRefused(P, {P.replace("STORE(out, i", "out[i] = 4.0f;")},
                "guard-macro");
  expectRefused(P, {P.launch("1, 32", "1, 64")}, "guard-macro");
  expectRefused(P, {P.replace("int k = threadIdx.x", "int k = 0;")},
                "guard-header-statement");
  expectRefused(P, {P.replace("double total", "x = 1;", "last = helper")},
                "guard-not-siblings");
  expectRefused(
      P, {P.replace("sums[threadIdx.x]", "x = 1;", "out[threadIdx.x] = last")},
      "guard-not-siblings");
}

TEST(GuardRules, EvidenceAndRegions) {
  const GuardProgram &P = ruleProgram();
  Edit Legal =
      P.replace("out[threadIdx.x] = last", "out[threadIdx.x] = last * 1.0f;");
  Edit E = Legal;
  E.Evidence.clear();
  expectRefused(P, {E}, "guard-no-evidence");
  E.Evidence = {1, 4711};
  expectRefused(P, {E}, "guard-unknown-evidence");
  E.Evidence = P.evidenceAt(P.function("hotCopy").Signature);
  expectRefused(P, {E}, "guard-evidence-elsewhere");
  expectRefused(P, {P.replace("out[7] = 7.0f", "out[7] = 8.0f;")},
                "guard-out-of-region");
  expectRefused(P, {P.raw("return address == nullptr", "return 0")},
                "guard-raw-range");
}

TEST(GuardRules, ARegionThatChangedIsRefused) {
  GuardProgram P("__global__ void hotK(float *p) {\n  p[0] = 1.0f;\n}\n");
  Edit E = P.replace("p[0]", "p[0] = 2.0f;");
  P.D.Regions[0].Sha256 = sha256("something else");
  expectRefused(P, {E}, "guard-region-changed");
}

TEST(GuardRules, ConditionalCode) {
  const GuardProgram &P = ruleProgram();
  expectRefused(P, {P.replace("if (flags[0])", "out[0] = 0.0f;", "switch")},
                "guard-conditional-code");
}

TEST(GuardRules, ACandidateIsParsedLikeItsSource) {
  // Without nvcc's macro the statement would be gone, and with it the error.
  GuardProgram P("__global__ void hot(float *out) {\n"
                 "#ifdef __NVCC__\n"
                 "  out[threadIdx.x] = 1;\n"
                 "#endif\n"
                 "}\n");
  expectRefused(P, {P.replace("out[threadIdx.x]", "out[threadIdx.x] = nobody;")},
                "guard-parse");
  // Nor may a candidate look right that Clang reads in nvcc's view alone.
  GuardProgram Q("__global__ void hot(float *out) {\n"
                 "#ifdef __NVCC__\n"
                 "  __nvcc_alone(out);\n"
                 "#endif\n"
                 "  out[threadIdx.x] = 1;\n"
                 "}\n");
  expectRefused(Q, {Q.replace("out[threadIdx.x]", "out[threadIdx.x] = nobody;")},
                "guard-parse");
}

//===-- Text and structure ------------------------------------------------===//

TEST(GuardRules, TextThatLeavesItsPlace) {
  const GuardProgram &P = ruleProgram();
  auto Text = [&](StringRef T) {
    return std::vector<Edit>{P.replace("out[threadIdx.x] = last", T)};
  };
  expectRefused(P, Text("out[threadIdx.x] = last; } __global__ void extra() {"),
                "guard-unbalanced");
  expectRefused(P, Text("out[threadIdx.x] = last * 1.0f; /*"),
                "guard-unbalanced");
  expectRefused(P, Text("out[threadIdx.x] = last * 1.0f; // \\"),
                "guard-lexical-trick");
  expectRefused(P, Text("#include <cstdio>\nout[threadIdx.x] = last;"),
                "guard-directive");
  expectRefused(P, Text("#pragma clang fp contract(off)\nout[0] = last;"),
                "guard-pragma");
  expectRefused(P, Text(" out[threadIdx.x] =  last ; // same"),
                "guard-no-change");
  expectRefused(P, Text(""), "guard-no-change");
  expectRefused(P, Text("if (n)"), "guard-not-statements");
  expectRefused(P, Text("out[threadIdx.x] = ;"), "guard-parse");
  expectRefused(P, Text("out[threadIdx.x] = nobody;"), "guard-parse");
  expectRefused(P, Text(std::string(70000, ' ') + ";x;"), "guard-text-size");
  expectRefused(P, Text("out[threadIdx.x] = last * 1.0f; // \xFF"),
                "guard-text-encoding");
  expectRefused(P, Text("[[maybe_unused]] int x = 0;"), "guard-attribute");
  expectRefused(P, Text("out[__LINE__] = last;"), "guard-builtin-macro");
  expectRefused(P, {P.edit(EditKind::Wrap, "out[threadIdx.x] = last", "{ }")},
                "guard-wrap-body");
  expectRefused(P,
                {P.replace("out[i] = in[i]", "if (n) out[i] = 1.0f; else ;"),
                 P.replace("int i = blockIdx", "int i = 0, j = 0;")},
                "guard-declaration-leak");
}

TEST(GuardRules, StructureOutsideStays) {
  GuardProgram P("__global__ void hotK(float *p, int n) {\n"
                 "  if (n)\n    p[0] = 1.0f;\n  else\n    p[1] = 2.0f;\n"
                 "  { p[2] = 3.0f; }\n"
                 "}\n");
  // The dangling else would move to the new if.
  expectRefused(P, {P.replace("p[0]", "if (n > 1) p[0] = 4.0f;")},
                "guard-outside-changed");
  expectAccepted(P, {P.replace("p[0]", "{ if (n > 1) p[0] = 4.0f; }")});
}

//===-- Signatures and launches -------------------------------------------===//

TEST(GuardRules, Signatures) {
  const GuardProgram &P = ruleProgram();
  auto Copy = [&](StringRef Text) {
    return std::vector<Edit>{P.signature("hotCopy", Text)};
  };
  expectRefused(
      P, Copy("__global__ void hotCopy(const float *in, float *out, long n)"),
      "guard-signature");
  expectRefused(P, Copy("__global__ void hotCopy(const float *in, float *out)"),
                "guard-signature");
  expectRefused(P,
                Copy("__global__ void hotCopy(float *in, float *out, int n)"),
                "guard-signature");
  expectRefused(
      P,
      Copy(
          "static __global__ void hotCopy(const float *in, float *out, int n)"),
      "guard-signature");
  expectRefused(
      P, Copy("__global__ void other(const float *in, float *out, int n)"),
      "guard-signature");
  expectRefused(
      P, Copy("__global__ void hotCopy(const float *in, float *out, int n) {"),
      "guard-unbalanced");
  expectRefused(
      P,
      Copy("__global__ void hotCopy(const float *in, float *out, int n = 3;)"),
      "guard-signature");
  expectRefused(
      P,
      Copy("__global__ void hotCopy(const float *in, const float *out, int n)"),
      "guard-parse");
  expectRefused(P,
                Copy("extern \"C\" __global__ void hotCopy(const float *in, "
                     "float *out, int n)"),
                "guard-signature");
}

TEST(GuardRules, Launches) {
  const GuardProgram &P = ruleProgram();
  auto Both = [&](StringRef A, StringRef B) {
    return std::vector<Edit>{P.launch("grid, kBlock", A),
                             P.launch("grid + 1, kBlock", B)};
  };
  expectRefused(P, {P.launch("grid, kBlock", "grid * 2, kBlock / 2")},
                "guard-launch-sites");
  expectRefused(P, Both("grid = 2, kBlock", "grid, kBlock"),
                "guard-launch-text");
  expectRefused(P, Both("grid++, kBlock", "grid, kBlock"), "guard-launch-text");
  expectRefused(P, Both("main(), kBlock", "grid, kBlock"), "guard-launch-text");
  expectRefused(P, Both("[&] { return 1; }(), kBlock", "grid, kBlock"),
                "guard-launch-text");
  expectRefused(P, Both("grid, cudaDeviceSynchronize()", "grid, kBlock"),
                "guard-host-api");
  expectRefused(P, Both("grid, kBlock, 0", "grid, kBlock"),
                "guard-launch-arguments");
  expectRefused(P, Both("grid", "grid, kBlock"), "guard-launch-arguments");
  expectRefused(P,
                Both("grid, kBlock>>>(p, p, 1); cold<<<1, 1", "grid, kBlock"),
                "guard-launch-text");
  expectRefused(P,
                {P.launch("(grid + 3) / 4, block, shared, stream",
                          "grid, block, shared * 2, stream")},
                "guard-launch-arguments");
  expectRefused(P,
                {P.launch("(grid + 3) / 4, block, shared, stream",
                          "grid, block, shared, 0")},
                "guard-launch-arguments");
  expectRefused(P, {P.launch("2, 2", "4, 1")}, "guard-launch-sites");
}

TEST(GuardRules, ALaunchThatClangDoesNotUnderstand) {
  GuardProgram P("__global__ void hotFill(int *p) { p[blockIdx.x] = 1; }\n"
                 "__global__ void other(int *p) { p[0] = 1; }\n"
                 "void run(int *p) {\n"
                 "  hotFill<<<2, 1>>>(p);\n"
                 "  other<<<1, {32}>>>(p);\n"
                 "}\n");
  expectRefused(P, {P.launch("2, 1", "4, 1")}, "guard-launch-sites");
}

//===-- Several edits -----------------------------------------------------===//

TEST(GuardRules, EditsThatMeet) {
  const GuardProgram &P = ruleProgram();
  Edit A =
      P.replace("out[threadIdx.x] = last", "out[threadIdx.x] = last * 1.0f;");
  Edit B =
      P.replace("out[threadIdx.x] = last", "out[threadIdx.x] = last * 2.0f;");
  expectRefused(P, {A, A}, "guard-duplicate");
  expectRefused(P, {A, B}, "guard-overlap");
  expectRefused(P,
                {P.edit(EditKind::Wrap, "out[threadIdx.x] = last", "{ $body }"),
                 P.edit(EditKind::InsertBefore, "out[threadIdx.x] = last",
                        "out[0] = 1.0f;")},
                "guard-overlap");
  expectRefused(P,
                {P.replace("for (int k", "out[0] = 1.0f;"),
                 P.replace("last = helper", "last = 0.0f;")},
                "guard-overlap");
}

TEST(GuardRules, TheRestIsKeptWhenAsked) {
  const GuardProgram &P = ruleProgram();
  std::vector<Edit> Edits = {
      P.replace("out[threadIdx.x] = last",
                "out[threadIdx.x] = stranger(last);"),
      P.replace("b[1] = value", "{ T w = value; b[1] = w; }"),
      P.replace("out[7] = 7.0f", "out[7] = 8.0f;"),
      P.replace("out[5] = expf", "out[5] = expf(in[5]) + nobody;"),
  };
  EditSet Set = P.run(Edits, /*AllOrNothing=*/false);
  ASSERT_EQ(Set.Accepted.size(), 1u);
  EXPECT_EQ(Set.Accepted[0].Id, 2u);
  std::vector<std::string> Rules;
  for (const Refusal &R : Set.Refusals)
    Rules.push_back(R.Rule);
  EXPECT_EQ(Rules, (std::vector<std::string>{"guard-out-of-region",
                                             "guard-parse", "guard-call"}));
  EXPECT_TRUE(P.run(Edits, /*AllOrNothing=*/true).empty());
}
