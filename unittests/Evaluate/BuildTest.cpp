//===- BuildTest.cpp - Commands, ptxas reports and real builds -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Build.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "gtest/gtest.h"

using namespace optimas;

static CompileCommand command(std::vector<std::string> Args, std::string Dir = "/b") {
  CompileCommand C;
  C.Directory = std::move(Dir);
  C.Args = std::move(Args);
  return C;
}

static std::string joined(const std::vector<std::string> &Args) {
  return quoteCommand(Args);
}

TEST(BuildCommands, ProgramInOneStep) {
  EXPECT_EQ(joined(programArgs(command({"nvcc", "-arch=sm_90", "-O3", "-MD", "-MF", "a.d",
                                        "-c", "a.cu", "-o", "a.o"}), "/s/prog")),
            "nvcc -arch=sm_90 -O3 a.cu -o /s/prog");
  EXPECT_EQ(joined(programArgs(command({"nvcc", "-dc", "a.cu", "--output-file=a.o"}), "p")),
            "nvcc a.cu -rdc=true -o p");
}

TEST(BuildCommands, CubinForOneArchitecture) {
  CompileCommand C = command(
      {"nvcc", "-forward-unknown-to-host-compiler",
       "--generate-code=arch=compute_80,code=[compute_80,sm_80]", "-gencode",
       "arch=compute_80,code=sm_90", "-O3", "-lineinfo", "-x", "cu", "-c", "a.cu", "-o", "a.o"});
  EXPECT_EQ(joined(cubinArgs(C, 90, "x.cubin")),
            "nvcc -forward-unknown-to-host-compiler -O3 -lineinfo -x cu a.cu -gencode "
            "arch=compute_80,code=sm_90 -Xptxas -v -cubin -o x.cubin");
  EXPECT_EQ(joined(cubinArgs(C, 80, "x")),
            "nvcc -forward-unknown-to-host-compiler -O3 -lineinfo -x cu a.cu -gencode "
            "arch=compute_80,code=sm_80 -Xptxas -v -cubin -o x");
  // Architecture-specific features are part of the architecture.
  EXPECT_NE(joined(cubinArgs(command({"nvcc", "-arch=sm_90a", "a.cu"}), 90, "x"))
                .find("arch=compute_90a,code=sm_90a"), std::string::npos);
  EXPECT_NE(joined(cubinArgs(command({"nvcc", "-arch=native", "a.cu"}), 90, "x"))
                .find("arch=compute_90,code=sm_90"), std::string::npos);
  EXPECT_EQ(joined(cubinArgs(command({"nvcc", "-arch=sm_75", "-dc", "a.cu"}), 0, "x")),
            "nvcc -arch=sm_75 a.cu -rdc=true -Xptxas -v -cubin -o x");
}

TEST(Ptxas, ReadsEveryKernel) {
  std::vector<ResourceUsage> R = parsePtxas(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z1aPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1aPf\n"
      "    48 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 17 registers, used 1 barriers, 48 bytes cumulative stack size, 1024 bytes smem\n"
      "ptxas info    : Function properties for _Z6helperv\n"
      "    999 bytes stack frame, 999 bytes spill stores, 999 bytes spill loads\n"
      "ptxas info    : Compiling entry function '_Z1bPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1bPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, 368 bytes cmem[0]\n");
  ASSERT_EQ(R.size(), 2u);
  EXPECT_EQ(R[0].Symbol, "_Z1aPf");
  EXPECT_EQ(R[0].Registers, 17u);
  EXPECT_EQ(R[0].Stack, 48u);
  EXPECT_EQ(R[0].SpillStores, 12u);
  EXPECT_EQ(R[0].SpillLoads, 16u);
  EXPECT_EQ(R[0].StaticShared, 1024u);
  EXPECT_EQ(R[1].Registers, 8u);
  EXPECT_EQ(R[1].StaticShared, 0u);
  EXPECT_TRUE(parsePtxas("\x7f""ELF junk Used  registers\n").empty());
}

TEST(BuildLog, KeepsTheErrors) {
  std::string Log = "a.cu(3): warning #1: x\na.cu(7): error: boom\n" + std::string(9000, 'y');
  std::string Kept = errorsOf(Log);
  EXPECT_EQ(Kept.find("a.cu(7): error: boom"), 0u);
  EXPECT_LE(Kept.size(), MaxBuildLog);
  EXPECT_EQ(errorsOf("ld: no such file"), "ld: no such file");
  EXPECT_EQ(errorsOf("nvcc -c a.cu\nnvcc fatal   : Unsupported gpu architecture 'sm_60'\n"
                     "make: *** [main.o] Error 1\n"),
            "nvcc fatal   : Unsupported gpu architecture 'sm_60'\n"
            "make: *** [main.o] Error 1");
}

/// Real nvcc builds of a program with two kernels, the second with an assert.
class RealBuild : public testing::Test {
protected:
  void SetUp() override {
    auto Nvcc = llvm::sys::findProgramByName("nvcc");
    if (!Nvcc)
      Nvcc = llvm::sys::findProgramByName("nvcc", {"/usr/local/cuda/bin"});
    ASSERT_TRUE(bool(Nvcc)) << "nvcc is needed by the build as well";
    llvm::Expected<ScratchDir> D = ScratchDir::create("optimas-test");
    ASSERT_TRUE(bool(D));
    Dir.emplace(std::move(*D));
    Root = canonicalPath(Dir->path());
    Source = Root + "/a.cu";
    ASSERT_FALSE(bool(writeFileAtomically(Source, Text)));
    Command = command({*Nvcc, "-arch=sm_90", "-c", Source, "-o", Root + "/a.o"}, Root);
    Command.File = Source;
    Layout.ProjectRoot = Layout.RunDir = Root;
  }
  llvm::Expected<ScratchView> view(llvm::StringRef Content) {
    return ScratchView::create(bestViewKind(), Layout, {{Source, Content.str()}});
  }
  std::string replaced(llvm::StringRef Old, llvm::StringRef New) {
    std::string T = Text;
    T.replace(T.find(Old.str()), Old.size(), New.str());
    return T;
  }

  const std::string Text = "#include <cassert>\n"
                           "namespace {\n"
                           "__global__ void twice(float *p) { p[threadIdx.x] *= 2; }\n"
                           "}\n"
                           "__global__ void checked(int *p) { assert(p[0] == __LINE__); }\n"
                           "int main() { twice<<<1, 1>>>(nullptr); checked<<<1, 1>>>(nullptr); }\n";
  std::optional<ScratchDir> Dir;
  std::string Root, Source;
  CompileCommand Command;
  TreeLayout Layout;
};

TEST_F(RealBuild, SeesTheCandidateAndTellsKernelsApart) {
  llvm::Expected<ScratchView> Before = view(Text);
  llvm::Expected<ScratchView> After = view(replaced("*= 2", "*= 3"));
  llvm::Expected<ScratchView> Shifted = view(replaced("}\n", "}\n\n"));
  ASSERT_TRUE(Before && After && Shifted);
  llvm::Expected<DeviceCode> B = compileDevice(Command, 90, *Before, 120);
  llvm::Expected<DeviceCode> A = compileDevice(Command, 90, *After, 120);
  llvm::Expected<DeviceCode> S = compileDevice(Command, 90, *Shifted, 120);
  ASSERT_TRUE(B && A && S);
  ASSERT_TRUE(B->Ok && A->Ok && S->Ok) << B->Log << A->Log;
  ASSERT_EQ(B->Resources.size(), 2u);
  EXPECT_GT(B->Resources[0].Registers, 0u);
  EXPECT_NE(codeHash(A->Cubin), codeHash(B->Cubin));
  EXPECT_EQ(codeHash(B->Cubin), codeHash(B->Cubin));
  auto Changed = [&](const DeviceCode &C, std::vector<std::string> Touched) {
    llvm::Expected<std::vector<std::string>> R = changedKernels(B->Cubin, C.Cubin, Touched);
    EXPECT_TRUE(bool(R));
    return R ? joined(*R) : "error";
  };
  EXPECT_EQ(Changed(*A, {"(anonymous namespace)::twice"}), "");
  EXPECT_EQ(Changed(*A, {}), "'(anonymous namespace)::twice'");
  // The trap that #line in candidates is for: a line inserted above an assert.
  EXPECT_EQ(Changed(*S, {"(anonymous namespace)::twice"}), "checked");
}

TEST_F(RealBuild, CompileErrorsNameTheUsersPath) {
  llvm::Expected<ScratchView> V = view(replaced("*= 2", "*= undeclared"));
  ASSERT_TRUE(bool(V));
  EvaluationOptions O;
  BuildPlan P = planBuild(Command, O, {}, "", V->file("out.o"));
  EXPECT_EQ(P.How, BuildPlan::CompileOnly);
  llvm::Expected<BuildOutcome> R = build(P, *V, 120);
  ASSERT_TRUE(bool(R));
  EXPECT_FALSE(R->Ok);
  EXPECT_NE(R->Log.find(Source + "(3): error"), std::string::npos) << R->Log;
  EXPECT_NE(R->Log.find("undeclared"), std::string::npos);
}

TEST_F(RealBuild, SingleFileProgram) {
  llvm::Expected<ScratchView> V = view(Text);
  ASSERT_TRUE(bool(V));
  EvaluationOptions O;
  BuildPlan P = planBuild(Command, O, {"./a"}, Root, V->file("program"));
  EXPECT_EQ(P.How, BuildPlan::SingleFile);
  EXPECT_EQ(P.Executable, Root + "/a");
  llvm::Expected<BuildOutcome> R = build(P, *V, 120);
  ASSERT_TRUE(bool(R));
  EXPECT_TRUE(R->Ok) << R->Log;
  EXPECT_EQ(R->ProgramSha.size(), 64u);
  EXPECT_FALSE(llvm::sys::fs::exists(Root + "/a"));
  EXPECT_FALSE(llvm::sys::fs::exists(Root + "/a.o"));
}

TEST_F(RealBuild, NinjaFolderBuildsTheNamedTargetOnly) {
  Layout.BuildDir = Root + "/build";
  Layout.RunDir = Layout.BuildDir;
  ASSERT_FALSE(llvm::sys::fs::create_directory(Layout.BuildDir));
  ASSERT_FALSE(bool(writeFileAtomically(
      Layout.BuildDir + "/build.ninja",
      "rule copy\n  command = cp $in $out\nbuild prog: copy " + Source +
          "\nbuild other: copy /nonexistent\ndefault prog other\n")));
  llvm::Expected<ScratchView> V = view("candidate\n");
  ASSERT_TRUE(bool(V));
  EvaluationOptions O;
  O.BuildDir = Layout.BuildDir;
  BuildPlan P = planBuild(Command, O, {"./prog"}, Layout.BuildDir, "");
  EXPECT_EQ(P.How, BuildPlan::System);
  llvm::Expected<BuildOutcome> R = build(P, *V, 60);
  ASSERT_TRUE(bool(R));
  EXPECT_TRUE(R->Ok) << R->Log;
  EXPECT_EQ(R->ProgramSha, sha256("candidate\n"));
  EXPECT_FALSE(llvm::sys::fs::exists(Layout.BuildDir + "/prog"));
}

TEST_F(RealBuild, TheCompilersBuildIsNamed) {
  EXPECT_EQ(compilerBuild(Command).find("Build cuda_"), 0u);
  EXPECT_EQ(compilerBuild(command({"clang++", "a.cu"})), "");
}
