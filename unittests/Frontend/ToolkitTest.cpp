// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeToolkit.h"
#include "optimas/Frontend/CompileCommands.h"
#include "gtest/gtest.h"
#include <unistd.h>

using namespace optimas;
using Words = std::vector<std::string>;

namespace {
class Toolkit : public ::testing::Test {
protected:
  Toolkit() : Dir(llvm::cantFail(ScratchDir::create("optimas-toolkit"))) {
    makeToolkit(Dir.file("cuda-13.0"));
  }
  llvm::Expected<TranslatedCommand> translated(Words Args, llvm::StringRef Override = "",
                                               std::string Directory = "") const {
    CompileCommand C;
    C.Directory = Directory.empty() ? Dir.path() : Directory;
    C.File = Dir.file("a.cu");
    C.Args = std::move(Args);
    C.Args.insert(C.Args.end(), {"-c", C.File});
    return translate(C, 0, Override);
  }
  std::string failure(Words Args, llvm::StringRef Override = "") const {
    auto T = translated(std::move(Args), Override);
    if (T)
      return "no error";
    llvm::Error E = T.takeError();
    EXPECT_EQ(exitCodeOf(E), ExitCode::Usage);
    return llvm::toString(std::move(E));
  }
  std::string pathFor(Words Args, std::string Directory = "") const {
    return llvm::cantFail(translated(std::move(Args), "", std::move(Directory))).CudaPath;
  }
  ScratchDir Dir;
};
} // namespace

TEST_F(Toolkit, BehindLaunchersAndEnvironments) {
  std::string Root = Dir.file("cuda-13.0"), Nvcc = Root + "/bin/nvcc";
  for (Words Args :
       {Words{Nvcc}, Words{"ccache", Nvcc}, Words{"/usr/bin/sccache", Nvcc},
        Words{"env", "A=B", "-u", "X", Nvcc}, Words{"cmake", "-E", "env", "A=B", Nvcc},
        Words{"ccache", "env", "-i", "C=D", Nvcc}, Words{"nice", "-n", "10", Nvcc}})
    EXPECT_EQ(pathFor(Args), Root) << Args.front();
}

TEST_F(Toolkit, RelativeToTheCommandsFolder) {
  EXPECT_EQ(pathFor({"bin/nvcc"}, Dir.file("cuda-13.0")), Dir.file("cuda-13.0"));
}

TEST_F(Toolkit, ThroughLinks) {
  ASSERT_EQ(::symlink(Dir.file("cuda-13.0").c_str(), Dir.file("cuda").c_str()), 0);
  // A linked folder keeps its name; a linked program leads to its real folder.
  EXPECT_EQ(pathFor({Dir.file("cuda/bin/nvcc")}), Dir.file("cuda"));
  put(Dir.file("usr/bin/x"), "");
  ASSERT_EQ(::symlink(Dir.file("cuda/bin/nvcc").c_str(), Dir.file("usr/bin/nvcc").c_str()),
            0);
  EXPECT_EQ(pathFor({Dir.file("usr/bin/nvcc")}), canonicalPath(Dir.file("cuda-13.0")));
}

TEST_F(Toolkit, AWrapperScriptIsAsked) {
  std::string Wrapper = Dir.file("wrap/bin/nvcc");
  put(Wrapper, "#!/bin/sh\necho '#$ _THERE_=x'\necho '#$ TOP=" + Dir.file("cuda-13.0") +
                   "/bin/..'\n");
  ASSERT_FALSE(llvm::sys::fs::setPermissions(Wrapper, llvm::sys::fs::all_all));
  EXPECT_EQ(pathFor({Wrapper}), canonicalPath(Dir.file("cuda-13.0")));
}

TEST_F(Toolkit, OverrideWins) {
  makeToolkit(Dir.file("other"), 12040, /*Cccl=*/false);
  put(Dir.file("other/version.json"),
      R"({"cuda": {"version": "12.4.1"}, "cuda_nvcc": {"version": "12.4.131"}})");
  auto T = llvm::cantFail(
      translated({Dir.file("cuda-13.0/bin/nvcc")}, Dir.file("other")));
  dropGccHeaders(T.ClangArgs);
  EXPECT_EQ(T.CudaPath, canonicalPath(Dir.file("other")));
  EXPECT_EQ(T.ClangArgs,
            (Words{"-std=gnu++17", "--cuda-path=" + T.CudaPath,
                   "-D__CUDACC_VER_MAJOR__=12", "-D__CUDACC_VER_MINOR__=4",
                   "-D__CUDACC_VER_BUILD__=131", "-Wno-unknown-cuda-version"}));
}

TEST_F(Toolkit, JunkInVersionJsonIsNotAnError) {
  for (llvm::StringRef Text : {"", "[1,2", "[]", "{\"cuda_nvcc\": 3}",
                               "{\"cuda_nvcc\": {\"version\": \"x.y\"}}"}) {
    put(Dir.file("cuda-13.0/version.json"), Text);
    EXPECT_EQ(llvm::cantFail(translated({Dir.file("cuda-13.0/bin/nvcc")})).CudaMajor, 13u);
  }
}

TEST_F(Toolkit, NoneOrAWrongOneIsAnErrorWithARemedy) {
  std::string Message = failure({Dir.file("gone/bin/nvcc")});
  EXPECT_NE(Message.find("does not exist here"), std::string::npos);
  EXPECT_NE(Message.find("--cuda-path=DIR"), std::string::npos);

  put(Dir.file("bare/bin/nvcc"), "#!/bin/sh\nexit 1\n");
  ASSERT_FALSE(
      llvm::sys::fs::setPermissions(Dir.file("bare/bin/nvcc"), llvm::sys::fs::all_all));
  EXPECT_NE(failure({Dir.file("bare/bin/nvcc")}).find("belongs to no CUDA toolkit"),
            std::string::npos);

  Message = failure({Dir.file("cuda-13.0/bin/nvcc")}, Dir.path());
  EXPECT_NE(Message.find("no include/cuda.h"), std::string::npos);

  for (llvm::StringRef Text : {"", "#define CUDA_VERSION\n", "#define CUDA_VERSION 3\n",
                               "#define CUDA_VERSION 99999999999\n"}) {
    put(Dir.file("cuda-13.0/include/cuda.h"), Text);
    EXPECT_NE(failure({Dir.file("cuda-13.0/bin/nvcc")}).find("does not say a CUDA version"),
              std::string::npos);
  }
}
