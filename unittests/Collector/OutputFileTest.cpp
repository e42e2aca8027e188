//===- OutputFileTest.cpp - Output that is either whole or not there -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/OutputFile.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>

using namespace optimas;

static ScratchDir scratch() { return llvm::cantFail(ScratchDir::create("collector")); }

static std::string content(const std::string &Path) {
  return llvm::cantFail(readFile(Path, ExitCode::Internal));
}

TEST(CollectorOutputFile, AppearsOnCommitOnly) {
  ScratchDir Dir = scratch();
  std::string Path = Dir.file("out"), Error;
  {
    collector::OutputFile F;
    ASSERT_TRUE(F.open(Path, 42, Error)) << Error;
    F.writeLine("one");
    EXPECT_FALSE(llvm::sys::fs::exists(Path));
    EXPECT_EQ(content(Path + ".partial.42"), "one\n"); // flushed, for a crash's sake
    F.write("two");
    ASSERT_TRUE(F.commit(Error)) << Error;
  }
  EXPECT_EQ(content(Path), "one\ntwo");
  EXPECT_FALSE(llvm::sys::fs::exists(Path + ".partial.42"));
}

TEST(CollectorOutputFile, WithoutCommitNothingStands) {
  ScratchDir Dir = scratch();
  std::string Path = Dir.file("out"), Error;
  llvm::cantFail(writeFileAtomically(Path, "yesterday's"));
  {
    collector::OutputFile F;
    ASSERT_TRUE(F.open(Path, 1, Error));
    F.write("half");
  }
  EXPECT_FALSE(llvm::sys::fs::exists(Path));
  EXPECT_TRUE(llvm::sys::fs::exists(Path + ".partial.1"));
}

TEST(CollectorOutputFile, SaysWhatIsWrong) {
  std::string Error;
  collector::OutputFile F;
  EXPECT_FALSE(F.open("/no/such/folder/out", 1, Error));
  EXPECT_NE(Error.find("/no/such/folder/out"), std::string::npos);
  Error.clear();
  EXPECT_FALSE(F.commit(Error));
  EXPECT_FALSE(Error.empty());
}

TEST(CollectorOutputFile, FullDisk) {
  std::string Error;
  collector::OutputFile F;
  ScratchDir Dir = scratch();
  // The partial file is a link to a device that is always full.
  ASSERT_FALSE(llvm::sys::fs::create_link("/dev/full", Dir.file("out.partial.1")));
  ASSERT_TRUE(F.open(Dir.file("out"), 1, Error)) << Error;
  F.write("something");
  EXPECT_FALSE(F.commit(Error));
  EXPECT_NE(Error.find("full"), std::string::npos);
  EXPECT_FALSE(llvm::sys::fs::exists(Dir.file("out")));
}
