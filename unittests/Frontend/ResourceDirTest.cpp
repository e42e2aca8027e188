// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeToolkit.h"
#include "optimas/Frontend/SourceModel.h"
#include "gtest/gtest.h"

using namespace optimas;

TEST(ResourceDir, TheBuiltInOneIsWhole) {
  std::string Dir = llvm::cantFail(checkResourceDir(""));
  EXPECT_TRUE(llvm::sys::fs::exists(Dir + "/include/cuda_wrappers/algorithm"));
}

TEST(ResourceDir, AnOverrideWithoutTheCudaWrappersIsRefused) {
  ScratchDir D = llvm::cantFail(ScratchDir::create("optimas-resource"));
  put(D.file("include/__clang_cuda_runtime_wrapper.h"), "");
  auto R = checkResourceDir(D.path());
  ASSERT_FALSE(static_cast<bool>(R));
  llvm::Error E = R.takeError();
  EXPECT_EQ(exitCodeOf(E), ExitCode::Usage);
  std::string Message = llvm::toString(std::move(E));
  EXPECT_NE(Message.find("include/cuda_wrappers/algorithm"), std::string::npos);
  EXPECT_NE(Message.find("-print-resource-dir"), std::string::npos);

  put(D.file("include/cuda_wrappers/algorithm"), "");
  EXPECT_EQ(llvm::cantFail(checkResourceDir(D.path())), D.path());
}

TEST(ResourceDir, TheCompatibilityHeaderIsFound) {
  EXPECT_TRUE(llvm::sys::fs::exists(llvm::cantFail(findCompatHeader())));
}
