//===- InterruptTest.cpp - Ctrl-C leaves nothing behind -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Support/Interrupt.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <csignal>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

using namespace optimas;
namespace fs = llvm::sys::fs;

namespace {
/// A process that runs `Program` in a shell with a scratch folder and a staged file.
class InterruptTest : public testing::Test {
protected:
  void start(const std::string &Program) {
    Outer.emplace(llvm::cantFail(ScratchDir::create("optimas-test")));
    Child = ::fork();
    if (Child)
      return;
    // A shell's background job ignores it, and so would we.
    ::signal(SIGINT, SIG_DFL);
    keepOnInterrupt(Outer->path()); // the parent's
    cleanUpOnInterrupt();
    ScratchDir Scratch = llvm::cantFail(ScratchDir::create("optimas-interrupted"));
    auto Staged = StagedFile::stage(Outer->file("target"), "text");
    llvm::cantFail(writeFileAtomically(Scratch.file("inner"), "x"));
    llvm::cantFail(writeFileAtomically(Outer->file("scratch"), Scratch.path()));
    SubprocessOptions O;
    O.Args = {"sh", "-c", Program, "sh", Outer->path()};
    llvm::consumeError(runSubprocess(O).takeError());
    ::_exit(0);
  }
  std::string waitFor(const std::string &Name) {
    for (int I = 0; I < 3000 && !fs::exists(Outer->file(Name)); ++I)
      ::usleep(10000);
    auto Text = readFile(Outer->file(Name), ExitCode::Usage);
    if (Text)
      return *Text;
    llvm::consumeError(Text.takeError());
    return "";
  }
  int wait() {
    int Status = 0;
    ::waitpid(Child, &Status, 0);
    return Status;
  }

  std::optional<ScratchDir> Outer;
  pid_t Child = -1;
};
} // namespace

TEST_F(InterruptTest, ProgramsEndAndFilesGo) {
  for (int Signal : {SIGINT, SIGTERM}) {
    start("trap '' TERM; echo $$ > $1/pid.new; mv $1/pid.new $1/pid; "
          "while :; do sleep 1; done");
    std::string Pid = waitFor("pid"), Scratch = waitFor("scratch");
    ASSERT_FALSE(Pid.empty());
    ASSERT_TRUE(fs::exists(Scratch));
    ::kill(Child, Signal);
    int Status = wait();
    EXPECT_TRUE(WIFSIGNALED(Status) && WTERMSIG(Status) == Signal) << Status;
    EXPECT_FALSE(fs::exists(Scratch));
    EXPECT_FALSE(fs::exists(Outer->file("target")));
    for (int I = 0; I < 300 && ::kill(std::stoi(Pid), 0) == 0; ++I)
      ::usleep(10000);
    EXPECT_NE(::kill(std::stoi(Pid), 0), 0);
    // No half-written file beside the target either.
    std::error_code EC;
    for (fs::directory_iterator I(Outer->path(), EC), End; I != End && !EC; I.increment(EC))
      EXPECT_EQ(I->path().find(".optimas-"), std::string::npos) << I->path();
  }
}

TEST_F(InterruptTest, WhatMustBeWholeIsDoneFirst) {
  Outer.emplace(llvm::cantFail(ScratchDir::create("optimas-test")));
  Child = ::fork();
  if (!Child) {
    // A shell's background job ignores it, and so would we.
    ::signal(SIGINT, SIG_DFL);
    keepOnInterrupt(Outer->path()); // the parent's
    cleanUpOnInterrupt();
    Uninterrupted Whole;
    llvm::cantFail(writeFileAtomically(Outer->file("first"), "1"));
    ::usleep(300000);
    llvm::cantFail(writeFileAtomically(Outer->file("second"), "2"));
    { Uninterrupted Nested; }
    ::_exit(0);
  }
  waitFor("first");
  ::kill(Child, SIGINT);
  wait();
  EXPECT_EQ(waitFor("second"), "2");
}
