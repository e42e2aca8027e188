// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeToolkit.h"
#include "optimas/Frontend/CompileCommands.h"
#include "gtest/gtest.h"

using namespace optimas;
using Words = std::vector<std::string>;

namespace {
class ResponseFile : public ::testing::Test {
protected:
  ResponseFile() : Dir(llvm::cantFail(ScratchDir::create("optimas-response"))) {}

  llvm::Expected<Words> expand(Words Args) const {
    CompileCommand C;
    C.Directory = Dir.path();
    C.File = Dir.file("a.cu");
    C.Args = std::move(Args);
    return expandResponseFiles(C);
  }
  Words expanded(Words Args) const { return llvm::cantFail(expand(std::move(Args))); }
  std::string failure(Words Args) const {
    auto R = expand(std::move(Args));
    if (R)
      return "no error";
    llvm::Error E = R.takeError();
    EXPECT_EQ(exitCodeOf(E), ExitCode::Usage);
    return llvm::toString(std::move(E));
  }
  /// The words of a file as nvcc reads them.
  Words words(llvm::StringRef Text) const {
    put(Dir.file("w"), Text);
    Words W = expanded({"nvcc", "-optf", "w"});
    W.erase(W.begin());
    return W;
  }

  ScratchDir Dir;
};
} // namespace

TEST_F(ResponseFile, EverySpellingRelativeToTheCommandsFolder) {
  put(Dir.file("sub/x.rsp"), "-DX");
  put(Dir.file("y.rsp"), "-DY\n-I/y");
  for (Words Form :
       {Words{"--options-file", "sub/x.rsp"}, Words{"--options-file=sub/x.rsp"},
        Words{"-optf", "sub/x.rsp"}, Words{"-optf=sub/x.rsp"}, Words{"@sub/x.rsp"},
        Words{"-optf", Dir.file("sub/x.rsp")}}) {
    Words Args = {"nvcc", "-DA"};
    Args.insert(Args.end(), Form.begin(), Form.end());
    Args.push_back("-DB");
    EXPECT_EQ(expanded(Args), (Words{"nvcc", "-DA", "-DX", "-DB"}));
  }
  EXPECT_EQ(expanded({"nvcc", "--options-file", "sub/x.rsp,y.rsp", "-c"}),
            (Words{"nvcc", "-DX", "-DY", "-I/y", "-c"}));
}

TEST_F(ResponseFile, BehindLaunchers) {
  put(Dir.file("x.rsp"), "-DX");
  EXPECT_EQ(expanded({"ccache", "/c/bin/nvcc", "-optf", "x.rsp"}),
            (Words{"ccache", "/c/bin/nvcc", "-DX"}));
}

TEST_F(ResponseFile, Recursively) {
  put(Dir.file("a.rsp"), "-DA --options-file b.rsp -DC");
  put(Dir.file("b.rsp"), "-DB");
  EXPECT_EQ(expanded({"nvcc", "@a.rsp", "@b.rsp"}),
            (Words{"nvcc", "-DA", "-DB", "-DC", "-DB"}));
}

// What nvcc 13.0 makes of the same files.
TEST_F(ResponseFile, SplitsAndUnquotesAsNvccDoes) {
  EXPECT_EQ(words("-DA\r\n-DB\t-DC"), (Words{"-DA", "-DB", "-DC"}));
  EXPECT_EQ(words("-DB=\"a b\""), (Words{"-DB=a b"}));
  EXPECT_EQ(words("\"-DB=a b\""), (Words{"-DB=a b"}));
  EXPECT_EQ(words("-I\"/a b/c\""), (Words{"-I/a b/c"}));
  EXPECT_EQ(words("-DC=a\\ b"), (Words{"-DC=a b"}));
  EXPECT_EQ(words("-DA=\\\"x\\\""), (Words{"-DA=x"}));
  EXPECT_EQ(words("-DA=\\\\\\\"x\\\\\\\""), (Words{"-DA=\"x\""}));
  EXPECT_EQ(words("-DA=a\\\\\\\\b"), (Words{"-DA=a\\b"}));
  EXPECT_EQ(words("-I\"a\\\\b\""), (Words{"-Ia\\b"}));
  EXPECT_EQ(words(""), Words());
  EXPECT_EQ(words("\"unclosed quote"), (Words{"unclosed quote"}));
}

TEST_F(ResponseFile, AValueIsNotAResponseFile) {
  EXPECT_EQ(expanded({"nvcc", "-Xlinker", "@loader_path", "-D", "@x"}),
            (Words{"nvcc", "-Xlinker", "@loader_path", "-D", "@x"}));
}

TEST_F(ResponseFile, ClangAndGccTakeOnlyAtFiles) {
  put(Dir.file("x.rsp"), "-DX='a b' -I\"/i\"");
  EXPECT_EQ(expanded({"clang++", "@x.rsp", "@none", "-optf", "x.rsp"}),
            (Words{"clang++", "-DX=a b", "-I/i", "@none", "-optf", "x.rsp"}));
}

TEST_F(ResponseFile, CyclesAndMissingFilesAreErrors) {
  put(Dir.file("a.rsp"), "@b.rsp");
  put(Dir.file("b.rsp"), "-DB @a.rsp");
  EXPECT_NE(failure({"nvcc", "@a.rsp"}).find("includes itself"), std::string::npos);
  std::string Missing = failure({"nvcc", "--options-file", "gone.rsp"});
  EXPECT_NE(Missing.find("gone.rsp"), std::string::npos);
  EXPECT_NE(Missing.find("configure or build the project again"), std::string::npos);
  EXPECT_NE(failure({"nvcc", "-optf"}).find("no file follows -optf"), std::string::npos);
  EXPECT_NE(failure({"nvcc", "-optf", Dir.path()}).find("is not a file"),
            std::string::npos);
  EXPECT_NE(failure({"nvcc", "@/dev/zero"}).find("is not a file"), std::string::npos);
}

// Each file names the next one ten times: 10^7 words without a limit.
TEST_F(ResponseFile, ABombEndsInAnError) {
  put(Dir.file("0"), "-DX -DX -DX -DX -DX -DX -DX -DX -DX -DX");
  for (int I = 1; I < 7; ++I) {
    std::string Text;
    for (int J = 0; J < 10; ++J)
      Text += "@" + std::to_string(I - 1) + " ";
    put(Dir.file(std::to_string(I)), Text);
  }
  EXPECT_NE(failure({"nvcc", "@6"}).find("more than 262144 words"), std::string::npos);
}
