//===- GuardUnitsTest.cpp - Headers, redeclarations, other units -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardTest.h"
#include "optimas/Support/Files.h"

using namespace llvm;
using namespace optimas;

/// Other units are read from disk.
class GuardUnits : public ::testing::Test {
protected:
  GuardUnits() : Dir(cantFail(ScratchDir::create("optimas-units"))) {}

  void write(StringRef Name, StringRef Text) {
    cantFail(writeFileAtomically(Dir.file(Name), Text));
  }
  GuardProgram program(std::vector<std::string> Units) {
    return GuardProgram(GuardProgram::OnDisk{canonicalPath(Dir.path())},
                        std::move(Units));
  }

  ScratchDir Dir;
};

static const char *const Header =
    "#pragma once\n"
    "__device__ inline float hotTwice(float x) {\n"
    "  float y = x * 2.0f;\n"
    "  return y;\n"
    "}\n";

TEST_F(GuardUnits, AHeaderMayChangeWhenEveryUnitAgrees) {
  write("h.cuh", Header);
  write("a.cu", "#include \"h.cuh\"\n__global__ void hotA(float *p) { p[0] = "
                "hotTwice(p[1]); }\n");
  write("b.cu", "#include \"h.cuh\"\n__global__ void b(float *p) { p[0] = "
                "hotTwice(p[2]); }\n");
  GuardProgram P = program({"a.cu", "b.cu"});
  EditSet Set = P.run({P.replace("float y", "float y = x + x;")});
  ASSERT_EQ(Set.Refusals.size(), 0u) << Set.Refusals[0].Message;
  ASSERT_EQ(Set.NewContents.size(), 1u);
  EXPECT_EQ(Set.NewContents.begin()->first, canonicalPath(Dir.file("h.cuh")));
}

TEST_F(GuardUnits, AHeaderThatAnotherUnitReadsDifferently) {
  write("h.cuh", Header);
  write("a.cu", "#include \"h.cuh\"\n__global__ void hotA(float *p) { p[0] = "
                "hotTwice(p[1]); }\n");
  // Here `fmaf` is a macro that makes the edit unreadable.
  write("b.cu", "#define fmaf(a, b, c) (a b c)\n#include \"h.cuh\"\n"
                "__global__ void b(float *p) { p[0] = hotTwice(p[2]); }\n");
  GuardProgram P = program({"a.cu", "b.cu"});
  expectRefused(P, {P.replace("float y", "float y = fmaf(x, 2.0f, 0.0f);")},
                "guard-shared-header");
  write("c.cu", "#define NAME \"h.cuh\"\n#include NAME\n");
  GuardProgram Q = program({"a.cu", "c.cu"});
  expectRefused(Q, {Q.replace("float y", "float y = x + x;")},
                "guard-shared-header");
}

TEST_F(GuardUnits, FilesOutsideTheProjectAreForeign) {
  write("h.cuh", Header);
  sys::fs::create_directory(Dir.file("src"));
  write("src/a.cu",
        "#include \"../h.cuh\"\n"
        "__global__ void hotA(float *p) { p[0] = hotTwice(p[1]); }\n");
  GuardProgram P = program({"src/a.cu"});
  ASSERT_TRUE(P.model().functions().size() >= 1);
  GuardProgram Narrow(GuardProgram::OnDisk{canonicalPath(Dir.file("src"))},
                      {"a.cu"});
  Edit E;
  E.Kind = EditKind::RawRange;
  E.Raw.File = *Narrow.model().findFile(canonicalPath(Dir.file("h.cuh")));
  StringRef Text = Narrow.model().file(E.Raw.File).Text;
  E.Raw.Begin = Text.find("hotTwice");
  E.Raw.End = E.Raw.Begin + 3;
  E.Text = "HOT";
  E.Evidence = {1};
  expectRefused(Narrow, {E}, "guard-foreign-file");
}

TEST_F(GuardUnits, SignaturesAndLaunchesThatOtherUnitsName) {
  write("a.cu", "__global__ void hotA(float *p, int n) {\n  p[0] = 1.0f;\n}\n"
                "namespace {\n__global__ void hotLocal(float *p) {\n  p[0] = "
                "1.0f;\n}\n}\n"
                "void go(float *p) {\n  hotA<<<2, 64>>>(p, 1);\n  "
                "hotLocal<<<4, 32>>>(p);\n}\n");
  write("b.cu",
        "// hotA in a comment\n__global__ void b(float *p) { p[0] = 1.0f; }\n");
  const char *New = "__global__ void hotA(float *__restrict__ p, int n)";
  {
    GuardProgram P = program({"a.cu", "b.cu"});
    expectAccepted(P, {P.signature("hotA", New), P.launch("2, 64", "1, 128")});
  }
  write("b.cu", "__global__ void hotA(float *p, int n);\n"
                "void other(float *p) { hotA<<<1, 1>>>(p, 2); }\n");
  GuardProgram P = program({"a.cu", "b.cu"});
  expectRefused(P, {P.signature("hotA", New)}, "guard-signature-redeclaration");
  expectRefused(P, {P.launch("2, 64", "1, 128")}, "guard-launch-sites");
  // Internal linkage: nobody else can mean it.
  write("c.cu", "__global__ void hotLocal(float *p) { p[0] = 2.0f; }\n");
  GuardProgram Q = program({"a.cu", "c.cu"});
  expectAccepted(Q, {Q.launch("4, 32", "2, 64")});
}

TEST_F(GuardUnits, KernelsThatAreLookedUpByTheirNames) {
  const char *Kernel = "static __global__ void hotA(float *p, int n) {\n  p[0] = 1.0f;\n}\n"
                       "void go(float *p) {\n  hotA<<<2, 64>>>(p, 1);\n}\n";
  const char *LookUp = "int cuModuleGetFunction(void *, void *, const char *);\n"
                       "void load() { cuModuleGetFunction(nullptr, nullptr, "
                       "\"_ZN4hotAEPfi\"); }\n";
  const char *New = "static __global__ void hotA(float *__restrict__ p, int n)";
  // A label is no launch.
  write("a.cu", std::string(Kernel) + "const char *label = \"hotA\";\n");
  write("b.cu", "const char *title = \"time of hotA\";\n");
  {
    GuardProgram P = program({"a.cu", "b.cu"});
    expectAccepted(P, {P.signature("hotA", New), P.launch("2, 64", "1, 128")});
  }
  write("b.cu", LookUp);
  {
    GuardProgram P = program({"a.cu", "b.cu"});
    expectRefused(P, {P.signature("hotA", New)}, "guard-signature-redeclaration");
    expectRefused(P, {P.launch("2, 64", "1, 128")}, "guard-launch-sites");
  }
  write("a.cu", std::string(Kernel) + LookUp);
  GuardProgram Own = program({"a.cu"});
  expectRefused(Own, {Own.launch("2, 64", "1, 128")}, "guard-launch-sites");
}

TEST_F(GuardUnits, RedeclarationsFollowTheDefinition) {
  write("h.cuh", "__global__ void hotA(const float *, float *out);\n");
  write("a.cu", "#include \"h.cuh\"\n"
                "__global__ void hotA(const float *in, float *out) {\n  out[0] "
                "= in[0];\n}\n");
  GuardProgram P = program({"a.cu"});
  EditSet Set = P.run(
      {P.signature("hotA", "__global__ void hotA(const float *__restrict__ in, "
                           "float *__restrict__ out)")});
  ASSERT_EQ(Set.Refusals.size(), 0u) << Set.Refusals[0].Message;
  EXPECT_EQ(Set.NewContents[canonicalPath(Dir.file("h.cuh"))],
            "__global__ void hotA(const float *__restrict__, float "
            "*__restrict__ out);\n");
}

TEST_F(GuardUnits, AConstPointeeIsAddedEverywhere) {
  write("a.cu", "template <typename T> __global__ void hotA(T *in, T *out) {\n"
                "  out[0] = in[0];\n}\n"
                "template __global__ void hotA<float>(float *, float *);\n"
                "void go(float *p) { hotA<<<1, 1>>>(p, p); }\n");
  GuardProgram P = program({"a.cu"});
  std::string New = expectAccepted(
      P,
      {P.signature(
          "hotA",
          "template <typename T> __global__ void hotA(const T *in, T *out)")});
  EXPECT_NE(New.find("void hotA<float>(const float *, float *);"),
            std::string::npos)
      << New;
}
