//===- ErrorTriageTest.cpp - Which errors are let pass -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

/// The error's text, which must ask for exit code 2; empty when the code is let pass.
static std::string failure(StringRef Code) {
  auto M = modelOf("a.cu", {{"a.cu", Code.str()}});
  if (M)
    return "";
  Error E = M.takeError();
  EXPECT_EQ(exitCodeOf(E), ExitCode::ParseFailed);
  std::string Text;
  raw_string_ostream OS(Text);
  reportError(OS, std::move(E));
  return Text;
}

static unsigned tolerated(const SourceModel &M) {
  return llvm::count_if(M.diagnostics(),
                        [](const ParseDiagnostic &D) { return D.Tolerated; });
}

TEST(ErrorTriageTest, ErrorsInHostCodeAreToleratedAndListed) {
  SourceModel M = modelOf("#include \"no_such_mpi.h\"\n"
                          "__global__ void k(int *p) { p[0] = 1; }\n"
                          "MPI_Comm world;\n"
                          "void host(int *p) {\n  MPI_Send(p);\n  k<<<1, 1>>>(p);\n  undeclared = 2;\n}\n");
  EXPECT_GE(tolerated(M), 6u);
  const ParseDiagnostic &D = M.diagnostics()[0];
  EXPECT_TRUE(D.IsError);
  EXPECT_TRUE(D.Tolerated);
  EXPECT_EQ(D.Line, 1u);
  EXPECT_NE(D.Message.find("no_such_mpi.h"), std::string::npos);
  EXPECT_EQ(M.launchSites().size(), 1u);
  EXPECT_EQ(functionNamed(M, "k").Statements.size(), 2u);
}

TEST(ErrorTriageTest, ErrorsInAKernelNameThePlaceAndTheRemedy) {
  std::string Text = failure("__global__ void k(int *p) {\n  p[0] = undeclared;\n}\n");
  EXPECT_NE(Text.find("/optimas-test/a.cu:2: use of undeclared identifier 'undeclared'"),
            std::string::npos)
      << Text;
  Text = failure("#include \"types_of_ours.h\"\n__global__ void k(Ours *p) {\n  p->a = 1;\n}\n");
  EXPECT_NE(Text.find("a.cu:2: "), std::string::npos) << Text;
  EXPECT_NE(Text.find("missing header"), std::string::npos) << Text;
  EXPECT_NE(Text.find("types_of_ours.h"), std::string::npos) << Text;
}

TEST(ErrorTriageTest, DeviceCodeThatIsLostIsAnError) {
  // A qualified type that does not exist: the whole declaration is dropped.
  EXPECT_NE(failure("__global__ void ok() {}\nnowhere::type __device__ f(int a) { return a; }\n"), "");
  EXPECT_NE(failure("__global__ void ok() {}\n__global__ nothing k(int *p) { p[0] = 1; }\n"), "");
  // A host function that is not closed swallows the kernel below it.
  EXPECT_NE(failure("void host() {\n  if (1) {\n}\n__global__ void k(int *p) { p[0] = 1; }\n"), "");
  EXPECT_NE(failure("struct S { missing m; };\n__global__ void k(S *s) { s->m.x = 1; }\n"), "");
  EXPECT_NE(failure("__global__ void k(int *p) { p[0] = 1 }\n"), "");
  EXPECT_NE(failure("__global__ void k(int *p) { p[0] = 1;\n"), "");
  EXPECT_NE(failure("template <typename T> __global__ void k(T *p) { p[0] = nope(); }\n"), "");
}

TEST(ErrorTriageTest, WhatNvccAcceptsIsTolerated) {
  SourceModel M = modelOf("#include <cuda/barrier>\n"
                          "int hostOnly(int a);\n"
                          "static int hostVariable = 3;\n"
                          "__global__ void k(int *p) {\n"
                          "  p[0] = hostOnly(1);\n"
                          "  p[1] = hostVariable;\n"
                          "}\n"
                          "__global__ void b(int *p) {\n"
                          "  __shared__ cuda::barrier<cuda::thread_scope_block> bar;\n"
                          "  if (threadIdx.x == 0) init(&bar, blockDim.x);\n"
                          "  __syncthreads();\n"
                          "  bar.arrive_and_wait();\n"
                          "  p[0] = 1;\n"
                          "}\n"
                          "__device__ int hostOnly(int a) { return a + 1; }\n"
                          "__global__ void whole(int *p) { p[0] = hostOnly(1); }\n");
  EXPECT_GE(tolerated(M), 3u);
  EXPECT_EQ(functionNamed(M, "k").Statements.size(), 3u);
  EXPECT_TRUE(functionNamed(M, "k").Incomplete);
  EXPECT_EQ(functionNamed(M, "b").Statements.size(), 7u);
  EXPECT_FALSE(functionNamed(M, "whole").Incomplete);
}

TEST(ErrorTriageTest, WarningsAreNoErrors) {
  SourceModel M = cantFail(modelOf(
      "a.cu", {{"a.cu", "#warning careful\n__global__ void k(int *p) { int unused; p[0] = 1; }\n"}},
      {"-Xcompiler=-Werror,-Wall"}));
  EXPECT_TRUE(M.diagnostics().empty());
}

TEST(ErrorTriageTest, MissingAndForeignFiles) {
  auto M = modelOf("b.cu", {{"a.cu", ""}});
  ASSERT_FALSE(M);
  Error E = M.takeError();
  EXPECT_EQ(exitCodeOf(E), ExitCode::ParseFailed);
  EXPECT_NE(toString(std::move(E)).find("/optimas-test/b.cu"), std::string::npos);
  // Nothing at all, junk, and a file of another kind.
  SourceModel Empty = modelOf("");
  EXPECT_TRUE(Empty.functions().empty());
  EXPECT_EQ(Empty.files().size(), 1u);
  std::string Junk("\x7f" "ELF\0\1\2\3{{{{((((__global__", 26);
  EXPECT_NE(failure(Junk), "");
  EXPECT_NE(failure("%PDF-1.4 }}}}\n"), "");
  EXPECT_NE(failure(std::string("\xFF\xFE_\0_\0", 6)), "");
}
