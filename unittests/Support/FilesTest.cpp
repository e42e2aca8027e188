// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Support/Files.h"
#include "gtest/gtest.h"
#include <sys/stat.h>
#include <unistd.h>

using namespace optimas;

static ScratchDir scratch() {
  return llvm::cantFail(ScratchDir::create("optimas-test"));
}

TEST(Files, WritingKeepsPermissionsAndReplacesContent) {
  ScratchDir D = scratch();
  std::string P = D.file("a.cu");
  ASSERT_FALSE(llvm::errorToBool(writeFileAtomically(P, "one")));
  ASSERT_EQ(::chmod(P.c_str(), 0640), 0);
  ASSERT_FALSE(llvm::errorToBool(writeFileAtomically(P, "two")));
  EXPECT_EQ(llvm::cantFail(readFile(P, ExitCode::Usage)), "two");
  struct stat S;
  ASSERT_EQ(::stat(P.c_str(), &S), 0);
  EXPECT_EQ(S.st_mode & 0777, 0640u);
}

TEST(Files, WritingFollowsALink) {
  ScratchDir D = scratch();
  ASSERT_FALSE(llvm::errorToBool(writeFileAtomically(D.file("real"), "old")));
  ASSERT_EQ(::symlink(D.file("real").c_str(), D.file("link").c_str()), 0);
  ASSERT_FALSE(llvm::errorToBool(writeFileAtomically(D.file("link"), "new")));
  EXPECT_TRUE(llvm::sys::fs::is_symlink_file(D.file("link")));
  EXPECT_EQ(llvm::cantFail(readFile(D.file("real"), ExitCode::Usage)), "new");
}

TEST(Files, DevicesAndPipesStay) {
  ScratchDir D = scratch();
  ASSERT_FALSE(llvm::sys::fs::create_link("/dev/full", D.file("full")));
  EXPECT_NE(llvm::toString(writeFileAtomically(D.file("full"), "text"))
                .find("No space left"),
            std::string::npos);
  llvm::sys::fs::file_status Status;
  ASSERT_FALSE(llvm::sys::fs::status("/dev/full", Status));
  EXPECT_EQ(Status.type(), llvm::sys::fs::file_type::character_file);
  ASSERT_FALSE(llvm::sys::fs::create_link("/dev/null", D.file("null")));
  EXPECT_FALSE(llvm::errorToBool(writeFileAtomically(D.file("null"), "text")));
  ASSERT_FALSE(llvm::sys::fs::status("/dev/null", Status));
  EXPECT_EQ(Status.type(), llvm::sys::fs::file_type::character_file);
}

TEST(Files, AStagedFileIsInvisibleUntilCommitted) {
  ScratchDir D = scratch();
  ASSERT_FALSE(llvm::errorToBool(writeFileAtomically(D.file("f"), "old")));
  {
    StagedFile Dropped = llvm::cantFail(StagedFile::stage(D.file("f"), "new"));
  }
  EXPECT_EQ(llvm::cantFail(readFile(D.file("f"), ExitCode::Usage)), "old");
  StagedFile Kept = llvm::cantFail(StagedFile::stage(D.file("f"), "new"));
  EXPECT_EQ(llvm::cantFail(readFile(D.file("f"), ExitCode::Usage)), "old");
  ASSERT_FALSE(llvm::errorToBool(Kept.commit()));
  EXPECT_EQ(llvm::cantFail(readFile(D.file("f"), ExitCode::Usage)), "new");
  std::error_code EC;
  unsigned Entries = 0;
  for (llvm::sys::fs::directory_iterator I(D.path(), EC), End; I != End;
       I.increment(EC))
    ++Entries;
  EXPECT_EQ(Entries, 1u) << "a temporary file was left";
}

TEST(Files, OnlyRegularFilesOfAReadableSizeAreRead) {
  ScratchDir D = scratch();
  ASSERT_EQ(::mkfifo(D.file("pipe").c_str(), 0600), 0);
  // A sparse file takes no room on the disk.
  ASSERT_FALSE(llvm::errorToBool(writeFileAtomically(D.file("huge"), "")));
  ASSERT_EQ(::truncate(D.file("huge").c_str(), off_t(1) << 40), 0);
  auto Says = [](const std::string &Path) {
    auto R = readFile(Path, ExitCode::Usage);
    return R ? std::string("read") : llvm::toString(R.takeError());
  };
  EXPECT_NE(Says(D.file("pipe")).find("is no regular file"), std::string::npos);
  EXPECT_NE(Says("/dev/zero").find("is no regular file"), std::string::npos);
  EXPECT_NE(Says(D.file("huge")).find("has 1048576 MiB; at most"),
            std::string::npos);
  // Its size is said to be 0.
  EXPECT_EQ(Says("/proc/self/status"), "read");
  EXPECT_FALSE(
      llvm::cantFail(readFile("/proc/self/status", ExitCode::Usage)).empty());
}

TEST(Files, ReadingAFolderOrNothingIsAnErrorWithTheAskedCode) {
  ScratchDir D = scratch();
  for (std::string P : {D.path(), D.file("none")}) {
    auto R = readFile(P, ExitCode::EvidenceUnusable);
    ASSERT_FALSE(static_cast<bool>(R));
    llvm::Error E = R.takeError();
    EXPECT_EQ(exitCodeOf(E), ExitCode::EvidenceUnusable);
    llvm::consumeError(std::move(E));
  }
}

TEST(Files, Sha256MatchesTheStandardsVector) {
  EXPECT_EQ(sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Files, Base64RoundTripsAndRejectsJunk) {
  std::string Bytes("\0\xff\x10 binary", 10);
  EXPECT_EQ(llvm::cantFail(fromBase64(toBase64(Bytes))), Bytes);
  EXPECT_TRUE(llvm::errorToBool(fromBase64("a*b=").takeError()));
}
