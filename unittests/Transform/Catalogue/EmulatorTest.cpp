//===- EmulatorTest.cpp - Rewritten kernels run on the CPU ----------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each proposal's program and the original, both compiled for the host with
// sanitizers, must print the same for every argument list: their own output and
// a digest of all allocations after each launch.
//
//===----------------------------------------------------------------------===//
#include "CatalogueTest.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "gtest/gtest.h"
#include <regex>

namespace optimas {

/// `k<<<g, b>>>(args)` becomes `emulated::launch<Barriers>([&] { k(args); }, g,
/// b)`.
static std::string forHost(const std::string &Code) {
  std::regex Synchronizes(
      R"((dot|transpose\w*|topkHits)<<<([^;]*?)>>>\(([^;]*)\);)");
  std::regex Plain(R"((\w+)<<<([^;]*?)>>>\(([^;]*)\);)");
  std::string Out = std::regex_replace(
      Code, Synchronizes, "emulated::launch<true>([&] { $1($3); }, $2);");
  return "#include \"EmulatedCuda.h\"\n" +
         std::regex_replace(Out, Plain,
                            "emulated::launch<false>([&] { $1($3); }, $2);");
}

namespace {
class Program {
public:
  Program(const ScratchDir &Dir, const std::string &Name,
          const std::string &Code)
      : Path(Dir.file(Name)) {
    cantFail(writeFileAtomically(Path + ".cpp", forHost(Code)));
    SubprocessOptions O;
    O.Args = {OPTIMAS_TEST_CXX,
              "-std=c++17",
              "-O1",
              "-w",
              "-fsanitize=address,undefined",
              "-fno-sanitize-recover=all",
              "-I",
              OPTIMAS_TEST_EMULATOR,
              "-o",
              Path,
              Path + ".cpp"};
    SubprocessResult R = cantFail(runSubprocess(O));
    EXPECT_TRUE(R.ok()) << Name << "\n" << R.Error;
  }
  /// Standard output; fails the test when the program does.
  std::string run(const std::vector<std::string> &Args) const {
    SubprocessOptions O;
    O.Args = {Path};
    O.Args.insert(O.Args.end(), Args.begin(), Args.end());
    O.Environment = {
        {"ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0"}};
    O.TimeoutSeconds = 300;
    SubprocessResult R = cantFail(runSubprocess(O));
    EXPECT_TRUE(R.ok()) << R.Error;
    return R.Output;
  }

private:
  std::string Path;
};
} // namespace

static void compare(const Snippet &S,
                    const std::vector<std::vector<std::string>> &Arguments,
                    const std::vector<std::string> &Kernels,
                    llvm::StringRef Checks = "*") {
  ScratchDir Dir = cantFail(ScratchDir::create("optimas-emulator"));
  Program Original(Dir, "original", S.model().mainFile().Text);
  std::vector<std::string> Expected;
  for (auto &Args : Arguments)
    Expected.push_back(Original.run(Args));
  std::vector<Proposal> Ps = S.run(Checks).Proposals;
  for (const std::string &Kernel : Kernels)
    EXPECT_TRUE(
        llvm::any_of(Ps, [&](const Proposal &P) { return P.Group == Kernel; }))
        << "nothing was proposed for " << Kernel;
  for (const Proposal &P : Ps) {
    SCOPED_TRACE(P.Group + ": " + P.Title);
    Program Candidate(Dir, "candidate" + std::to_string(P.Id), S.apply(P));
    for (size_t I = 0; I < Arguments.size(); ++I)
      EXPECT_EQ(Candidate.run(Arguments[I]), Expected[I])
          << "arguments " << quoteCommand(Arguments[I]);
  }
}

TEST(EmulatorTest, EveryShapeSizeAndAlignment) {
  Snippet S(cantFail(
      readFile(OPTIMAS_TEST_EMULATOR "/kernels.cu", ExitCode::Internal)));
  compare(S, {{}}, {"copy", "triad", "dot", "gather", "transpose"});
}

/// What other evidence calls for: the better proposals for the lines above
/// would crowd these out.
TEST(EmulatorTest, HintsHoistingUnrollAndLaunchShape) {
  std::string Path = OPTIMAS_TEST_EMULATOR "/kernels.cu";
  std::string Text = cantFail(readFile(Path, ExitCode::Internal));
  auto LineOf = [&Text](const char *Code) {
    size_t At = Text.find(Code);
    EXPECT_NE(At, std::string::npos) << Code;
    return unsigned(llvm::StringRef(Text).take_front(At).count('\n')) + 1;
  };
  const std::vector<
      std::pair<std::string, std::vector<std::pair<unsigned, std::string>>>>
      Evidence = {{"optimas-streaming-hints",
                   {{LineOf("c[i] = a[i];"), "roofline:dram"}}},
                  {"optimas-launch-shape",
                   {{LineOf("copy<<<"), "launch:copy:occupancy"}}},
                  {"optimas-unroll", {{LineOf("sums[t] += a[i]"), "wait"}}},
                  {"optimas-invariant-load-hoisting",
                   {{LineOf("* scale[0]"), "long_scoreboard"}}}};
  const char *const Kernels[] = {"copy", "copy", "dot", "gather"};
  for (size_t I = 0; I < Evidence.size(); ++I)
    compare(Snippet::fromFile(Path, Evidence[I].second), {{}}, {Kernels[I]},
            Evidence[I].first);
}

TEST(EmulatorTest, TopkExample) {
  compare(Snippet::fromFile(OPTIMAS_EXAMPLES "/topk/topk.cu",
                            {{40, "long_scoreboard"}}),
          {{"3", "1", "1", "1"},
           {"2", "255", "20", "1"},
           {"3", "1025", "300", "1"},
           {"2", "5000", "900", "1"}},
          {"topkHits"});
}

TEST(EmulatorTest, TransposeExample) {
  compare(Snippet::fromFile(OPTIMAS_EXAMPLES "/transpose/transpose.cu",
                            {{36, "short_scoreboard"}}),
          {{"1", "1", "1"}, {"33", "31", "1"}}, {"transposeTiled"});
}

/// The comparison itself must be able to fail.
TEST(EmulatorTest, SeesOneWrongElement) {
  Snippet S = Snippet::fromFile(OPTIMAS_EXAMPLES "/transpose/transpose.cu", {});
  std::string Code = S.model().mainFile().Text;
  size_t At = Code.find("out[x * height + y] = in[y * width + x];");
  ASSERT_NE(At, std::string::npos);
  std::string Wrong = Code;
  Wrong.replace(At, 0, "if (x != 5 || y != 6) ");
  ScratchDir Dir = cantFail(ScratchDir::create("optimas-emulator"));
  std::string Right = Program(Dir, "right", Code).run({"33", "31", "1"});
  EXPECT_NE(Program(Dir, "wrong", Wrong).run({"33", "31", "1"}), Right);
}

} // namespace optimas
