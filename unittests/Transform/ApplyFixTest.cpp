//===- ApplyFixTest.cpp - Writing, exporting, printing edits -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardTest.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace llvm;
using namespace optimas;

namespace {
/// A program on disk whose edit changes the source and a header, with tabs,
/// carriage returns, bytes that are no UTF-8 and no newline at the end.
class ApplyFix : public ::testing::Test {
protected:
  /// One parse serves every test: the program is always the same.
  static void SetUpTestSuite() {
    Dir = new ScratchDir(cantFail(ScratchDir::create("optimas-fix")));
    writeSources();
    Program = new GuardProgram(GuardProgram::OnDisk{canonicalPath(Dir->path())},
                               {"a b.cu"});
    const GuardProgram &P = *Program;
    Set = P.run(
        {P.replace("float y", "float y = x + x;"),
         P.replace(
             "p[0]",
             "{\n\tconst float x = p[1]; // ü \"'%\n  p[0] = hotTwice(x);\n}"),
         P.edit(EditKind::Wrap, "p[1]", "if (p[0] > 0.0f) {\n  $body\n}"),
         P.edit(EditKind::InsertBefore, "p[0]", "p[2] = 1.0f;")});
    for (const Refusal &R : Set.Refusals)
      ADD_FAILURE() << R.Rule << ": " << R.Message;
  }
  static void TearDownTestSuite() {
    delete Program;
    delete Dir;
  }
  void SetUp() override { writeSources(); }

  static void writeSources() {
    std::error_code EC;
    for (sys::fs::directory_iterator I(Dir->path(), EC), End; I != End;
         I.increment(EC))
      sys::fs::remove_directories(I->path());
    cantFail(writeFileAtomically(
        Dir->file("h.cuh"),
        "// caf\xE9\r\n__device__ inline float hotTwice(float x) {\r\n"
        "\tfloat y = x * 2.0f; // \xE9\r\n\treturn y;\r\n}\r\n"));
    cantFail(writeFileAtomically(
        Dir->file("a b.cu"),
        "#include \"h.cuh\"\n__global__ void hotA(float *p) {\n"
        "  p[0] = hotTwice(p[1]);\n  p[1] = 1.0f; // \xE9\n}"));
  }
  std::string text(StringRef Name) {
    return cantFail(readFile(Dir->file(Name), ExitCode::Usage));
  }
  std::string newText(StringRef Name) {
    return Set.NewContents[canonicalPath(Dir->file(Name))];
  }
  std::vector<std::string> entries() {
    std::vector<std::string> Out;
    std::error_code EC;
    for (sys::fs::directory_iterator I(Dir->path(), EC), End; I != End;
         I.increment(EC))
      Out.push_back(sys::path::filename(I->path()).str());
    llvm::sort(Out);
    return Out;
  }
  bool run(std::vector<std::string> Args, StringRef Input = "") {
    SubprocessOptions O;
    O.Args = std::move(Args);
    O.Directory = Dir->path();
    O.Input = Input.str();
    O.MergeError = true;
    O.Environment = {{"GIT_DIR", "/nonexistent"}};
    SubprocessResult R = cantFail(runSubprocess(O));
    EXPECT_TRUE(R.ok()) << R.Output;
    return R.ok();
  }

  static ScratchDir *Dir;
  static GuardProgram *Program;
  static EditSet Set;
};
ScratchDir *ApplyFix::Dir;
GuardProgram *ApplyFix::Program;
EditSet ApplyFix::Set;
} // namespace

TEST_F(ApplyFix, WritesWhatTheGuardComputed) {
  ASSERT_EQ(Set.NewContents.size(), 2u);
  ::chmod(Dir->file("h.cuh").c_str(), 0640);
  ASSERT_FALSE(errorToBool(applyFix(Program->model(), Set)));
  for (StringRef Name : {"a b.cu", "h.cuh"})
    EXPECT_EQ(text(Name), newText(Name));
  EXPECT_EQ(entries(), (std::vector<std::string>{"a b.cu", "h.cuh"}));
  struct stat S;
  ::stat(Dir->file("h.cuh").c_str(), &S);
  EXPECT_EQ(S.st_mode & 07777, mode_t(0640));
}

TEST_F(ApplyFix, AChangedFileStopsAll) {
  std::string Source = text("a b.cu");
  cantFail(
      writeFileAtomically(Dir->file("h.cuh"), text("h.cuh") + "// touched\n"));
  std::string Header = text("h.cuh");
  Error E = applyFix(Program->model(), Set);
  ASSERT_TRUE(bool(E));
  std::string Message = toString(std::move(E));
  EXPECT_NE(Message.find("h.cuh: changed since it was analysed"),
            std::string::npos)
      << Message;
  EXPECT_EQ(text("a b.cu"), Source);
  EXPECT_EQ(text("h.cuh"), Header);
  EXPECT_EQ(entries(), (std::vector<std::string>{"a b.cu", "h.cuh"}));
}

TEST_F(ApplyFix, AMissingFileStopsAll) {
  std::string Source = text("a b.cu");
  sys::fs::remove(Dir->file("h.cuh"));
  ASSERT_TRUE(errorToBool(applyFix(Program->model(), Set)));
  EXPECT_EQ(text("a b.cu"), Source);
  EXPECT_EQ(entries(), (std::vector<std::string>{"a b.cu"}));
}

TEST_F(ApplyFix, AFullDiskStopsAll) {
  std::string Source = text("a b.cu"), Header = text("h.cuh");
  // A limit on file sizes fails as a full disk does, and for root too.
  struct rlimit Old;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &Old), 0);
  struct rlimit Small = Old;
  Small.rlim_cur = newText("a b.cu").size() - 1;
  auto *Handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &Small), 0);
  bool Failed = errorToBool(applyFix(Program->model(), Set));
  ::setrlimit(RLIMIT_FSIZE, &Old);
  ::signal(SIGXFSZ, Handler);
  EXPECT_TRUE(Failed);
  EXPECT_EQ(text("a b.cu"), Source);
  EXPECT_EQ(text("h.cuh"), Header);
  EXPECT_EQ(entries(), (std::vector<std::string>{"a b.cu", "h.cuh"}));
}

TEST_F(ApplyFix, ClangApplyReplacementsWritesTheSameBytes) {
  std::string Yaml = exportFixes(Program->model(), Set);
  sys::fs::create_directory(Dir->file("fixes"));
  cantFail(writeFileAtomically(Dir->file("fixes/f.yaml"), Yaml));
  ASSERT_TRUE(run({"clang-apply-replacements-22", Dir->file("fixes")})) << Yaml;
  for (StringRef Name : {"a b.cu", "h.cuh"})
    EXPECT_EQ(text(Name), newText(Name)) << Yaml;
}

TEST_F(ApplyFix, PatchAndGitWriteTheSameBytes) {
  std::string Diff =
      unifiedDiff(Program->model(), Set, canonicalPath(Dir->path()) + "/");
  EXPECT_NE(Diff.find("--- a/a b.cu\t\n+++ b/a b.cu\t\n"), std::string::npos)
      << Diff;
  std::string Source = text("a b.cu"), Header = text("h.cuh");
  ASSERT_TRUE(run({"patch", "-p1", "--binary"}, Diff));
  for (StringRef Name : {"a b.cu", "h.cuh"})
    EXPECT_EQ(text(Name), newText(Name)) << Diff;
  cantFail(writeFileAtomically(Dir->file("a b.cu"), Source));
  cantFail(writeFileAtomically(Dir->file("h.cuh"), Header));
  ASSERT_TRUE(run({"git", "apply", "--whitespace=nowarn", "-"}, Diff));
  for (StringRef Name : {"a b.cu", "h.cuh"})
    EXPECT_EQ(text(Name), newText(Name)) << Diff;
}

TEST(ApplyEdits, AdjacentIsFineOverlapIsNot) {
  FileEdit A, B, C;
  A.Offset = 1, A.Length = 2, A.Replacement = "X";
  B.Offset = 3, B.Length = 1, B.Replacement = "Y";
  C.Offset = 3, C.Length = 0, C.Replacement = "+";
  EXPECT_EQ(cantFail(applyEdits("abcdef", {B, A, C})), "aX+Yef");
  B.Offset = 2;
  EXPECT_TRUE(errorToBool(applyEdits("abcdef", {A, B}).takeError()));
  B.Offset = 6;
  EXPECT_TRUE(errorToBool(applyEdits("abcdef", {B}).takeError()));
  EXPECT_EQ(cantFail(applyEdits("abc", {})), "abc");
}

TEST_F(ApplyFix, EditsAsJson) {
  Proposal P;
  P.Id = 3;
  P.Proposer = "file:x";
  P.Title = "caf\xE9";
  ASSERT_EQ(Set.Accepted.size(), 4u);
  P.Edits = Set.Accepted;
  P.Kernels = {Program->function("hotA").Id};
  json::Value V = toJson(P, Program->model());
  const json::Object &O = *V.getAsObject();
  EXPECT_EQ(O.getString("id"), "P3");
  EXPECT_TRUE(json::isUTF8(*O.getString("title")));
  const json::Object &E = *(*O.getArray("edits"))[0].getAsObject();
  EXPECT_EQ(E.getString("kind"), "replace");
  EXPECT_EQ(E.getString("function"), "hotTwice");
  EXPECT_EQ(E.getInteger("line"), 3);
  EXPECT_EQ(*E.getString("first"), idText('S', P.Edits[0].First));
  for (unsigned K = 0; K <= unsigned(EditKind::RawRange); ++K)
    EXPECT_EQ(editKindFrom(toString(EditKind(K))), EditKind(K));
  EXPECT_EQ(editKindFrom("nonsense"), std::nullopt);
}
