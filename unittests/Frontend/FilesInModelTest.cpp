//===- FilesInModelTest.cpp - Bytes, headers, roots, overlays -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

TEST(FilesInModelTest, BytesAreExact) {
  // A byte order mark, CRLF, tabs, Latin-1 in a comment and a string, no newline at
  // the end, and #line, which moves every presumed line.
  std::string Code = "\xEF\xBB\xBF// caf\xE9\r\n"
                     "#line 500 \"elsewhere.y\"\r\n"
                     "__global__ void k(char *p) {\r\n"
                     "\tp[0] = \"\xE9\"[0];\t// \xE9\r\n"
                     "\tfor (int i = 0; \\\r\n\t\ti < 2; ++i)\r\n"
                     "\t\tp[i] = 1\r\n\t\t\t;\r\n"
                     "}";
  SourceModel M = modelOf(Code);
  EXPECT_EQ(M.file(0).Text, Code);
  EXPECT_EQ(M.file(0).Sha256, sha256(Code));
  EXPECT_EQ(M.file(0).lineCount(), 9u);
  EXPECT_EQ(M.file(0).line(2), "#line 500 \"elsewhere.y\"");
  EXPECT_EQ(M.file(0).line(9), "}");
  EXPECT_EQ(M.file(0).line(10), "");
  EXPECT_EQ(M.file(0).line(0), "");
  EXPECT_EQ(sys::path::filename(M.file(0).Path), "a.cu");
  ASSERT_EQ(M.functions().size(), 1u);
  EXPECT_EQ(M.functions()[0].Definition.BeginLine, 3u);
  EXPECT_EQ(M.text(M.functions()[0].Definition), StringRef(Code).substr(Code.find("__global__")));
  const Statement *S = statementWith(M, "p[0] = \"\xE9\"[0];");
  ASSERT_TRUE(S);
  EXPECT_EQ(S->Range.BeginLine, 4u);
  const Statement *For = statementWith(
      M, "for (int i = 0; \\\r\n\t\ti < 2; ++i)\r\n\t\tp[i] = 1\r\n\t\t\t;");
  ASSERT_TRUE(For);
  EXPECT_EQ(For->Range.EndLine, 8u);
  EXPECT_EQ(M.text(M.loop(1)->Header), "for (int i = 0; \\\r\n\t\ti < 2; ++i)");
}

TEST(FilesInModelTest, HeadersWithKernels) {
  SourceModel M = cantFail(
      modelOf("src/main.cu",
              {{"src/main.cu", "#include \"kernels.cuh\"\n#include \"kernels.cuh\"\n"
                               "#include <system.h>\n#include \"/elsewhere/out.h\"\n"
                               "void f(int *p) { k<<<1, 1>>>(p); }\n"},
               {"src/kernels.cuh", "#ifndef K_H\n#define K_H\n"
                                   "__global__ void k(int *p) { p[0] = 1; }\n#endif\n"
                                   "// behind the guard\nextern int x;\n"},
               {"sys/system.h", "__global__ void sysKernel(int *p) { p[0] = 1; }\n"},
               {"/elsewhere/out.h", "__device__ inline int out(int a) { return a; }\n"}},
              {"-isystem", std::string(TestFolder) + "/sys"}));
  auto Id = M.findFile("kernels.cuh");
  ASSERT_TRUE(Id);
  EXPECT_TRUE(M.file(*Id).Editable);
  EXPECT_TRUE(M.file(*Id).Inactive.empty());
  const Function &K = functionNamed(M, "k");
  EXPECT_EQ(K.Definition.File, *Id);
  EXPECT_EQ(K.Statements.size(), 2u);
  ASSERT_EQ(M.launchSites().size(), 1u);
  EXPECT_EQ(M.launchSites()[0].Kernel, K.Id);
  EXPECT_NE(M.launchSites()[0].Whole.File, *Id);
  EXPECT_TRUE(M.mainFile().IsMain);
  EXPECT_EQ(M.mainFile().Path, "/optimas-test/src/main.cu");
  // A system header is none of the model's; one outside the root is, read-only.
  EXPECT_FALSE(M.findFile("system.h"));
  auto Out = M.findFile("out.h");
  ASSERT_TRUE(Out);
  EXPECT_FALSE(M.file(*Out).Editable);
  EXPECT_NE(M.file(*Out).WhyNotEditable.find("/optimas-test"), std::string::npos);
  EXPECT_TRUE(functionNamed(M, "out").Statements.empty());
  for (const Function &F : M.functions())
    EXPECT_NE(F.Name, "sysKernel");
  // Recorded elsewhere: the longest suffix that only one file has.
  EXPECT_EQ(M.findFile("/build/agent7/src/kernels.cuh"), Id);
  EXPECT_FALSE(M.findFile("/build/other.cuh"));
  EXPECT_FALSE(M.findFile(""));
}

TEST(FilesInModelTest, SuffixesThatFitTwoFilesFitNone) {
  SourceModel M = cantFail(modelOf(
      "a.cu", {{"a.cu", "#include \"x/k.h\"\n#include \"y/k.h\"\n"},
               {"x/k.h", "int a;\n"}, {"y/k.h", "int b;\n"}}));
  EXPECT_FALSE(M.findFile("/other/k.h"));
  auto X = M.findFile("/other/x/k.h");
  ASSERT_TRUE(X);
  EXPECT_EQ(M.file(*X).Text, "int a;\n");
}

TEST(FilesInModelTest, AFileIncludedTwiceForItsCodeIsNotEditable) {
  SourceModel M = cantFail(modelOf(
      "a.cu", {{"a.cu", "#define T int\n#define NAME ki\n#include \"body.inc\"\n"
                        "#undef T\n#undef NAME\n#define T float\n#define NAME kf\n"
                        "#include \"body.inc\"\n"},
               {"body.inc", "__global__ void NAME(T *p) { p[0] = 1; }\n"}}));
  ASSERT_EQ(M.functions().size(), 2u);
  const SourceFile &F = M.file(M.functions()[0].Definition.File);
  EXPECT_FALSE(F.Editable);
  EXPECT_FALSE(F.WhyNotEditable.empty());
  EXPECT_TRUE(M.statements().empty());
}

TEST(FilesInModelTest, AnOverlayReplacesAFileUnderAnyName) {
  ScratchDir Dir = cantFail(ScratchDir::create("optimas-model"));
  std::string Real = Dir.file("real.cu"), Link = Dir.file("link.cu");
  cantFail(writeFileAtomically(Real, "__global__ void disk() {}\n"));
  ASSERT_FALSE(sys::fs::create_link("real.cu", Link));
  CompileCommand C;
  C.Directory = Dir.path();
  C.File = Link;
  C.Args = {"nvcc", "-c", "link.cu"};
  SourceModel Disk = cantFail(buildSourceModel(C, {}));
  EXPECT_EQ(Disk.functions()[0].Name, "disk");
  FrontendOptions Options;
  Options.Overlay[canonicalPath(Real)] = "__global__ void memory() { int a; a = 1; }\n";
  SourceModel Memory = cantFail(buildSourceModel(C, Options));
  ASSERT_EQ(Memory.functions().size(), 1u);
  EXPECT_EQ(Memory.functions()[0].Name, "memory");
  EXPECT_EQ(Memory.mainFile().Path, canonicalPath(Real));
  EXPECT_TRUE(Memory.mainFile().Editable);
}

TEST(FilesInModelTest, TheCommandDecides) {
  std::map<std::string, std::string> Files = {
      {"a.cu", "#if MODE == 2\n__global__ void two() {}\n#else\n"
               "__global__ void one() {}\n#endif\n"}};
  EXPECT_EQ(cantFail(modelOf("a.cu", Files, {"-DMODE=1"})).functions()[0].Name, "one");
  EXPECT_EQ(cantFail(modelOf("a.cu", Files, {"-DMODE=2"})).functions()[0].Name, "two");
}

TEST(FilesInModelTest, AMovedModelStillAnswers) {
  SourceModel M = modelOf("__global__ void k(int *p) { p[0] = 1; }\n");
  SourceModel Moved(std::move(M));
  auto R = Moved.rangeOf(Moved.statements()[1].Node);
  ASSERT_TRUE(R);
  EXPECT_EQ(Moved.text(*R), "p[0] = 1");
}

/// A header that means its qualifiers for nvcc alone, as nvcc's users write it.
static const char *ForNvccOnly = "#if defined __NVCC__\n"
                                 "#define ON_GPU __device__\n"
                                 "#else\n"
                                 "#define ON_GPU\n"
                                 "#endif\n"
                                 "ON_GPU inline float twice(float x) { return __fadd_rn(x, x); }\n";

TEST(FilesInModelTest, UsersFilesSeeNvccsMacro) {
  SourceModel M = cantFail(modelOf(
      "a.cu",
      {{"a.cu", "#include \"gpu.h\"\n#include <choice.h>\n#include <cub/cub.cuh>\n"
                "#ifdef __NVCC__\n#include <choice.h>\n"
                "__global__ void k(float *p) { p[0] = twice(p[1]) + choice; }\n#endif\n"},
       {"gpu.h", ForNvccOnly},
       {"sys/choice.h", "#ifdef __NVCC__\n#error for nvcc alone\n#endif\n"
                        "#ifndef CHOICE\n#define CHOICE\n"
                        "#include <nested.h>\n__device__ const int choice = 1;\n#endif\n"},
       {"sys/nested.h", "#if __NVCC__\n#error for nvcc alone\n#endif\n"}},
      {"-isystem", std::string(TestFolder) + "/sys"}));
  EXPECT_TRUE(M.diagnostics().empty()) << M.diagnostics()[0].Message;
  EXPECT_TRUE(M.command().AsNvcc);
  EXPECT_TRUE(M.command().Notes.empty());
  EXPECT_TRUE(functionNamed(M, "twice").IsDevice);
  EXPECT_TRUE(M.mainFile().Inactive.empty());
  EXPECT_EQ(functionNamed(M, "k").Statements.size(), 2u);
}

TEST(FilesInModelTest, NvccsMacroIsTheUsersToTakeAway) {
  std::string Code = "#ifdef __NVCC__\n#error told not to be\n#endif\n"
                     "#include <vector>\n"
                     "#ifdef __NVCC__\n#error still not\n#endif\n"
                     "__global__ void k(int *p) { p[0] = 1; }\n";
  SourceModel M = cantFail(modelOf("a.cu", {{"a.cu", Code}}, {"-U__NVCC__"}));
  EXPECT_TRUE(M.diagnostics().empty());
  SourceModel Undefined = modelOf("#undef __NVCC__\n" + Code);
  EXPECT_TRUE(Undefined.diagnostics().empty());
}

TEST(FilesInModelTest, WhatOnlyNvccUnderstandsIsLeftOut) {
  std::string Code = "__global__ void k(int *p) {\n"
                     "#ifdef __NVCC__\n"
                     "  p[0] = __nvcc_alone(p[1]);\n"
                     "#else\n"
                     "  p[0] = p[1];\n"
                     "#endif\n"
                     "}\n";
  SourceModel M = modelOf(Code);
  EXPECT_TRUE(M.diagnostics().empty());
  EXPECT_FALSE(M.command().AsNvcc);
  ASSERT_EQ(M.command().Notes.size(), 1u);
  EXPECT_NE(M.command().Notes[0].find("__NVCC__"), std::string::npos);
  EXPECT_TRUE(statementWith(M, "p[0] = p[1];"));
  // When neither view parses, the error is of the one that nvcc has.
  auto Broken = modelOf("a.cu", {{"a.cu", Code + "__global__ void j() { nobody(); }\n"}});
  ASSERT_FALSE(Broken);
  std::string Text = toString(Broken.takeError());
  EXPECT_NE(Text.find("__nvcc_alone"), std::string::npos) << Text;
}
