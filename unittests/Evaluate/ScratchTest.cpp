//===- ScratchTest.cpp - Views leave the user's tree alone -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Scratch.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <csignal>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace optimas;

static std::string text(const std::string &Path) {
  llvm::Expected<std::string> T = readFile(Path, ExitCode::Usage);
  if (T)
    return *T;
  llvm::consumeError(T.takeError());
  return "(unreadable)";
}

static void put(const std::string &Path, llvm::StringRef Text) {
  ASSERT_FALSE(bool(writeFileAtomically(Path, Text)));
}

/// The processes whose command line names \p Path.
static std::vector<std::pair<pid_t, std::string>> commandsBelow(llvm::StringRef Path) {
  std::vector<std::pair<pid_t, std::string>> Out;
  std::error_code EC;
  for (llvm::sys::fs::directory_iterator It("/proc", EC), End; It != End && !EC;
       It.increment(EC)) {
    pid_t Pid;
    if (llvm::sys::path::filename(It->path()).getAsInteger(10, Pid))
      continue;
    // A file of /proc has no size, so it is read to its end.
    std::ifstream In(It->path() + "/cmdline");
    std::string Line((std::istreambuf_iterator<char>(In)), std::istreambuf_iterator<char>());
    if (llvm::StringRef(Line).contains(Path))
      Out.push_back({Pid, Line});
  }
  return Out;
}

/// A small project: src/a.txt, build/out.txt, run/data.txt.
class ScratchTest : public testing::TestWithParam<ViewKind> {
protected:
  void SetUp() override {
    llvm::Expected<ScratchDir> D = ScratchDir::create("optimas-test");
    ASSERT_TRUE(bool(D));
    Dir.emplace(std::move(*D));
    Root = canonicalPath(Dir->path());
    for (const char *Sub : {"src", "build", "run"})
      ASSERT_FALSE(llvm::sys::fs::create_directory(Root + "/" + Sub));
    put(Root + "/src/a.txt", "original\n");
    put(Root + "/build/out.txt", "built before\n");
    put(Root + "/build/rules.txt", "in = " + Root + "/src/a.txt\n");
    put(Root + "/run/data.txt", "data\n");
    Layout.ProjectRoot = Root;
    Layout.BuildDir = Root + "/build";
    Layout.RunDir = Root + "/run";
    Works = viewKindWorks(GetParam());
  }

  llvm::Expected<ScratchView> view(llvm::StringRef Content,
                                   const ScratchView *BuiltBy = nullptr) {
    return ScratchView::create(GetParam(), Layout,
                               {{Root + "/src/a.txt", Content.str()}}, BuiltBy);
  }
  std::string sh(const ScratchView &V, const std::string &Command,
                 const std::string &Dir) {
    SubprocessOptions O;
    O.Args = {"sh", "-c", Command};
    O.Directory = Dir;
    O.MergeError = true;
    llvm::Expected<SubprocessResult> R = V.run(O);
    EXPECT_TRUE(bool(R));
    return R ? R->Output : llvm::toString(R.takeError());
  }
  void expectUntouched() {
    EXPECT_EQ(text(Root + "/src/a.txt"), "original\n");
    EXPECT_EQ(text(Root + "/build/out.txt"), "built before\n");
    EXPECT_EQ(text(Root + "/run/data.txt"), "data\n");
    for (const char *New : {"/build/new.txt", "/run/new.txt"})
      EXPECT_FALSE(llvm::sys::fs::exists(Root + New)) << New;
  }

  std::optional<ScratchDir> Dir;
  std::string Root;
  TreeLayout Layout;
  bool Works = false;
};

TEST_P(ScratchTest, CandidateAtTheOriginalPathAndTreeUntouched) {
  if (!Works)
    GTEST_SKIP() << toString(GetParam()).str() << " does not work here";
  llvm::Expected<ScratchView> V = view("candidate\n");
  ASSERT_TRUE(bool(V)) << llvm::toString(V.takeError());
  std::string Out = sh(*V, "cat " + Root + "/src/a.txt; echo changed > out.txt; "
                           "echo x > new.txt; cat out.txt", Root + "/build");
  EXPECT_EQ(Out, "candidate\nchanged\n");
  EXPECT_EQ(sh(*V, "cat data.txt; echo y > data.txt; echo y > new.txt", Root + "/run"),
            "data\n");
  expectUntouched();
  EXPECT_EQ(text(V->outside(Root + "/build/out.txt")), "changed\n");
  EXPECT_EQ(text(V->outside(Root + "/run/new.txt")), "y\n");
  EXPECT_TRUE(V->covers(Root + "/run/x"));
  EXPECT_FALSE(V->covers("/usr/bin/true"));
}

TEST_P(ScratchTest, TwoViewsDoNotSeeEachOther) {
  if (!Works)
    GTEST_SKIP();
  llvm::Expected<ScratchView> A = view("a\n"), B = view("b\n");
  ASSERT_TRUE(A && B);
  sh(*A, "echo from-a > out.txt", Root + "/build");
  EXPECT_EQ(sh(*B, "cat out.txt; cat " + Root + "/src/a.txt", Root + "/build"),
            "built before\nb\n");
}

TEST_P(ScratchTest, ABuiltViewIsTheNextOnesStart) {
  if (!Works || GetParam() == ViewKind::CopiedTree)
    GTEST_SKIP();
  llvm::Expected<ScratchView> A = view("a\n");
  ASSERT_TRUE(bool(A));
  sh(*A, "echo object > a.o", Root + "/build");
  llvm::Expected<ScratchView> B = view("b\n", &*A);
  ASSERT_TRUE(bool(B));
  EXPECT_EQ(sh(*B, "cat a.o", Root + "/build"), "object\n");
}

TEST_P(ScratchTest, TouchedFilesAreNewerThanTheCopiedBuild) {
  if (!Works)
    GTEST_SKIP();
  llvm::Expected<ScratchView> V = view("candidate\n");
  ASSERT_TRUE(bool(V));
  sh(*V, "echo built > out.txt", Root + "/build");
  ASSERT_FALSE(bool(V->touchFiles()));
  EXPECT_EQ(sh(*V, "[ ../src/a.txt -nt out.txt ] || [ " + Root +
                       "/src/a.txt -nt out.txt ] && echo newer", Root + "/build"),
            "newer\n");
}

TEST_P(ScratchTest, KilledAtAnyMomentLeavesTheTreeAsItWas) {
  if (!Works)
    GTEST_SKIP();
  llvm::Expected<ScratchView> V = view("candidate\n");
  ASSERT_TRUE(bool(V));
  // In a copied tree commands name the copy.
  std::string Mark = GetParam() == ViewKind::CopiedTree ? V->root() : Root;
  bool Seen = false;
  for (unsigned DelayMs : {0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30, 60, 300}) {
    pid_t Child = fork();
    if (Child == 0) {
      SubprocessOptions O;
      O.Args = {"sh", "-c", "i=0; while [ $i -lt 200 ]; do echo half > out.txt; "
                            "echo half > new.txt; echo half > " + Root +
                            "/src/a.txt; i=$((i + 1)); sleep 0.05; done"};
      O.Directory = Root + "/build";
      llvm::consumeError(V->run(O).takeError());
      _exit(0);
    }
    usleep(DelayMs * 1000);
    Seen |= DelayMs > 100 && !commandsBelow(Mark).empty();
    ASSERT_EQ(kill(Child, SIGKILL), 0);
    ASSERT_EQ(waitpid(Child, nullptr, 0), Child);
    expectUntouched();
  }
  EXPECT_TRUE(Seen);
  // The commands die with us, however early (10 s are what they would take).
  auto CommandsLeft = [&] {
    return llvm::any_of(commandsBelow(Mark), [](const auto &P) {
      return !llvm::StringRef(P.second).starts_with("bwrap");
    });
  };
  for (int I = 0; I < 30 && CommandsLeft(); ++I)
    usleep(100000);
  EXPECT_FALSE(CommandsLeft());
  for (const auto &[Pid, Line] : commandsBelow(Mark))
    kill(Pid, SIGKILL); // a bwrap without its other half, started above
  // Nothing of a view is mounted for anyone else.
  EXPECT_EQ(text("/proc/self/mountinfo").find("optimas-view"), std::string::npos);
}

TEST_P(ScratchTest, TheRunFolderMayHoldTheBuildFolder) {
  if (!Works)
    GTEST_SKIP();
  Layout.RunDir = Root;
  llvm::Expected<ScratchView> V = view("candidate\n");
  ASSERT_TRUE(bool(V)) << llvm::toString(V.takeError());
  EXPECT_EQ(sh(*V, "cat src/a.txt build/out.txt; echo z > build/new.txt; echo z > new.txt",
               Root), "candidate\nbuilt before\n");
  EXPECT_FALSE(llvm::sys::fs::exists(Root + "/new.txt"));
  expectUntouched();
}

TEST_P(ScratchTest, ALargeRunFolderIsSeenReadOnly) {
  if (!Works)
    GTEST_SKIP();
  Layout.RunDir = Root;
  ASSERT_EQ(truncate((Root + "/run/data.txt").c_str(), 5), 0);
  put(Root + "/run/big.bin", "");
  ASSERT_EQ(truncate((Root + "/run/big.bin").c_str(), off_t(MaxCopiedRunDirBytes) + 1), 0);
  if (GetParam() == ViewKind::CopiedTree)
    Layout.ProjectRoot = Root + "/src"; // the project itself is copied whole
  llvm::Expected<ScratchView> V = view("candidate\n");
  ASSERT_TRUE(bool(V)) << llvm::toString(V.takeError());
  ASSERT_FALSE(V->notes().empty());
  EXPECT_NE(V->notes().back().find("read-only"), std::string::npos);
  std::string Out = sh(*V, "cat src/a.txt run/data.txt; echo n > new.txt; cat new.txt; "
                           "cat build/out.txt", Root);
  if (GetParam() != ViewKind::CopiedTree) {
    EXPECT_EQ(Out, "candidate\ndata\nn\nbuilt before\n");
    EXPECT_NE(sh(*V, "echo x > run/data.txt", Root).find("Read-only"), std::string::npos);
  }
  expectUntouched();
}

INSTANTIATE_TEST_SUITE_P(Kinds, ScratchTest,
                         testing::Values(ViewKind::Bubblewrap, ViewKind::MountNamespace,
                                         ViewKind::CopiedTree),
                         [](const auto &Info) {
                           return std::string(Info.param == ViewKind::Bubblewrap ? "bwrap"
                                              : Info.param == ViewKind::MountNamespace
                                                  ? "unshare"
                                                  : "copy");
                         });
