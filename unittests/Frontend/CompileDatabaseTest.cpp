// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeToolkit.h"
#include "optimas/Frontend/CompileCommands.h"
#include "gtest/gtest.h"
#include <unistd.h>

using namespace optimas;
using Words = std::vector<std::string>;

namespace {
class CompileDatabase : public ::testing::Test {
protected:
  CompileDatabase() : Dir(llvm::cantFail(ScratchDir::create("optimas-database"))) {
    Root = canonicalPath(Dir.path());
  }
  std::vector<CompileCommand> load(llvm::StringRef Json) const {
    put(Dir.file("compile_commands.json"), Json);
    return llvm::cantFail(loadCompileDatabase(Dir.path()));
  }
  template <typename T> static std::string failure(llvm::Expected<T> R) {
    if (R)
      return "no error";
    llvm::Error E = R.takeError();
    EXPECT_EQ(exitCodeOf(E), ExitCode::Usage);
    return llvm::toString(std::move(E));
  }
  std::string loadFailure(llvm::StringRef Json) const {
    put(Dir.file("compile_commands.json"), Json);
    return failure(loadCompileDatabase(Dir.path()));
  }
  ScratchDir Dir;
  std::string Root;
};
} // namespace

TEST_F(CompileDatabase, ReadsBothFormsAndMakesPathsAbsolute) {
  auto D = load(R"([
    {"directory": "/b", "file": "/s/a.cu", "output": "a.o",
     "command": "nvcc -DN=\\\"a b\\\" -I'/x y' -c /s/a.cu"},
    {"directory": "sub", "file": "../b.cu",
     "arguments": ["nvcc", "-c", "../b.cu", "-o", "b.o"]},
    {"file": "c.cu", "command": "nvcc --output-file=c.o c.cu"}])");
  ASSERT_EQ(D.size(), 3u);
  EXPECT_EQ(D[0].Args, (Words{"nvcc", "-DN=\"a", "b\"", "-I/x y", "-c", "/s/a.cu"}));
  EXPECT_EQ(D[0].Directory, "/b");
  EXPECT_EQ(D[0].File, "/s/a.cu");
  EXPECT_EQ(D[0].Output, "/b/a.o");
  EXPECT_EQ(D[1].Directory, Root + "/sub");
  EXPECT_EQ(canonicalPath(D[1].File), Root + "/b.cu");
  EXPECT_EQ(D[1].Output, Root + "/sub/b.o");
  EXPECT_EQ(D[2].Directory, Root);
  EXPECT_EQ(D[2].Output, Root + "/c.o");
}

TEST_F(CompileDatabase, EveryBadOneIsAUsageErrorThatSaysWhatToDo) {
  std::string Missing = failure(loadCompileDatabase(Dir.path()));
  EXPECT_NE(Missing.find("there is no compile_commands.json"), std::string::npos);
  EXPECT_NE(Missing.find("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"), std::string::npos);
  EXPECT_NE(Missing.find("bear -- make"), std::string::npos);
  EXPECT_NE(failure(loadCompileDatabase(Dir.file("none"))).find("no such build folder"),
            std::string::npos);
  EXPECT_NE(loadFailure("").find("is not JSON"), std::string::npos);
  EXPECT_NE(loadFailure(llvm::StringRef("\0\xff\x7f""ELF", 6)).find("is not JSON"),
            std::string::npos);
  EXPECT_NE(loadFailure("[{\"file\":").find("is not JSON"), std::string::npos);
  EXPECT_NE(loadFailure(std::string(1000000, '[')).find("nested more than"),
            std::string::npos);
  EXPECT_NE(loadFailure("{}").find("not a compile database"), std::string::npos);
  EXPECT_NE(loadFailure("[]").find("holds no commands"), std::string::npos);
  EXPECT_NE(loadFailure("[3]").find("entry 1 is not an object"), std::string::npos);
  EXPECT_NE(loadFailure(R"([{"command": "nvcc"}])").find("has no \"file\""),
            std::string::npos);
  EXPECT_NE(loadFailure(R"([{"file": "a.cu"}])").find("neither \"command\" nor"),
            std::string::npos);
  EXPECT_NE(loadFailure(R"([{"file": "a.cu", "arguments": [1]}])").find("not strings"),
            std::string::npos);
  EXPECT_NE(loadFailure(R"([{"file": "a.cu", "command": "nvcc 'x"}])").find("unclosed"),
            std::string::npos);
}

TEST_F(CompileDatabase, OneWithoutCudaIsForeign) {
  std::string Message =
      loadFailure(R"([{"file": "a.cpp", "command": "g++ -c a.cpp"}])");
  EXPECT_NE(Message.find("1 commands, none of which compiles CUDA"), std::string::npos);
  EXPECT_EQ(load(R"([{"file": "a.cpp", "command": "ccache nvcc -x cu a.cpp"}])").size(),
            1u);
  EXPECT_EQ(load(R"([{"file": "a.cpp", "command": "clang++ -x cuda a.cpp"}])").size(), 1u);
}

TEST_F(CompileDatabase, FindsAFileByItsCanonicalPath) {
  put(Dir.file("src/a.cu"), "");
  put(Dir.file("src/b.cu"), "");
  ASSERT_EQ(::symlink(Dir.file("src").c_str(), Dir.file("link").c_str()), 0);
  auto D = load(R"([
    {"directory": ".", "file": "link/a.cu", "command": "nvcc -DONE link/a.cu"},
    {"directory": ".", "file": "src/../src/a.cu", "command": "nvcc -DTWO src/a.cu"},
    {"directory": ".", "file": "src/a.cu", "command": "nvcc -DTWO src/a.cu"},
    {"directory": ".", "file": "src/b.cu", "command": "nvcc src/b.cu"}])");
  auto Found = llvm::cantFail(commandsFor(D, Dir.file("src/a.cu")));
  ASSERT_EQ(Found.size(), 2u); // the third repeats the second
  EXPECT_EQ(Found[0].Args[1], "-DONE");
  EXPECT_EQ(Found[1].Args[1], "-DTWO");
  EXPECT_EQ(llvm::cantFail(commandsFor(D, Dir.file("link/b.cu"))).size(), 1u);
}

TEST_F(CompileDatabase, NamesTheNearestWhenAFileIsNotInIt) {
  put(Dir.file("kernel.cu"), "");
  auto D = load(R"([
    {"directory": ".", "file": "kernels.cu", "command": "nvcc kernels.cu"},
    {"directory": ".", "file": "zzzzzzzzzzzz.cu", "command": "nvcc z.cu"}])");
  std::string Message = failure(commandsFor(D, Dir.file("kernel.cu")));
  EXPECT_NE(Message.find("no command of the compile database compiles it"),
            std::string::npos);
  EXPECT_LT(Message.find("kernels.cu"), Message.find("zzzzzzzzzzzz.cu"));
  EXPECT_NE(failure(commandsFor(D, Dir.file("kernells.cu"))).find("there is no such file"),
            std::string::npos);
}

TEST_F(CompileDatabase, CommandsFromArguments) {
  CompileCommand C = commandFromArgs("/s/a.cu", {"-I/i", "-arch=sm_90"});
  EXPECT_TRUE(llvm::StringRef(C.Args[0]).ends_with("nvcc"));
  EXPECT_EQ(Words(C.Args.begin() + 1, C.Args.end()),
            (Words{"-I/i", "-arch=sm_90", "-c", "/s/a.cu"}));
  C = commandFromArgs("/s/a.cu", {"/c/bin/nvcc", "-dc", "/s/a.cu", "-o", "/s/a.o"});
  EXPECT_EQ(C.Args, (Words{"/c/bin/nvcc", "-dc", "/s/a.cu", "-o", "/s/a.o"}));
  EXPECT_EQ(C.Output, "/s/a.o");
  EXPECT_EQ(commandFromArgs("/s/a.cu", {}).File, "/s/a.cu");
}
