// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How an .ncu-rep is read. ncu itself is not everywhere; in its place a script
// prints the pages that ncu 2025.3 exported, so only the calls to it are not
// the real thing.

#include "Recorded.h"
#include "optimas/Profile/Readers.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

namespace {
/// A report and, first on PATH, an `ncu` that runs \p Script.
class NcuReport : public testing::Test {
protected:
  void SetUp() override {
    Scratch.emplace(cantFail(ScratchDir::create("optimas-ncu")));
    OldPath = getenv("PATH");
    Report = Scratch->file("run.ncu-rep");
    cantFail(writeFileAtomically(Report, StringRef("NVR\0\2\0\0\0", 8)));
  }
  void TearDown() override { setenv("PATH", OldPath.c_str(), 1); }

  void installNcu(const std::string &Script) {
    std::string File = Scratch->file("ncu");
    cantFail(writeFileAtomically(File, "#!/bin/sh\n" + Script));
    cantFail(errorCodeToError(
        sys::fs::setPermissions(File, sys::fs::all_read | sys::fs::all_exe)));
    setenv("PATH", (Scratch->path() + ":" + OldPath).c_str(), 1);
  }

  std::optional<ScratchDir> Scratch;
  std::string OldPath, Report;
};
} // namespace

TEST_F(NcuReport, BothPagesAreExportedAndJoined) {
  installNcu(
      "echo \"$LC_ALL $@\" >> " + Scratch->file("log") + "\n" +
      "case \"$*\" in *'--page source'*) page=source ;; *) page=raw ;; esac\n" +
      "cat '" OPTIMAS_EXAMPLES "/topk/recorded/'$page.csv\n");
  Expected<Profile> P = readProfile(Report);
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Functions.size(), 1u);
  EXPECT_EQ(P->Kernels.size(), 1u);
  EXPECT_FALSE(P->Counters.empty());
  ASSERT_EQ(P->Sources.size(), 2u);
  EXPECT_EQ(P->Sources[0].Kind, "ncu-rep");
  EXPECT_EQ(
      cantFail(readFile(Scratch->file("log"), ExitCode::Internal)),
      "C --import " + Report +
          " --page source --csv --print-source cuda,sass --print-kernel-base "
          "mangled\nC --import " +
          Report + " --page raw --csv --print-kernel-base mangled\n");
}

TEST_F(NcuReport, WhatNcuSaysIsPassedOn) {
  installNcu("echo '==ERROR== File is newer than this ncu' >&2; exit 1\n");
  Expected<Profile> P = readProfile(Report);
  ASSERT_FALSE(bool(P));
  std::string Message = toString(P.takeError());
  EXPECT_NE(Message.find("File is newer than this ncu"), std::string::npos)
      << Message;
  EXPECT_NE(Message.find("--import " + Report), std::string::npos) << Message;
}

TEST_F(NcuReport, WithoutNcuTheTwoCommandsAreNamed) {
  setenv("PATH", Scratch->path().c_str(), 1);
  Expected<Profile> P = readProfile(Report);
  ASSERT_FALSE(bool(P));
  EXPECT_EQ(exitCodeOf(P.takeError()), ExitCode::EvidenceUnusable);
  Expected<Profile> Again = readProfile(Report);
  std::string Message = toString(Again.takeError());
  EXPECT_NE(Message.find("ncu --import " + Report + " --page source"),
            std::string::npos)
      << Message;
  EXPECT_NE(Message.find("ncu --import " + Report + " --page raw"),
            std::string::npos)
      << Message;
}
