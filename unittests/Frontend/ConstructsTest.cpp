// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each file of test/Inputs/constructs holds what nvcc accepts. Clang must parse it for
// the device and for the host, given what translate() makes of nvcc's command, without
// an error but those that the file names as tolerated:
//   // nvcc: <options>          more options for nvcc
//   // tolerated: <text>        errors may, and at least one must, hold this text

#include "optimas/Frontend/CompileCommands.h"
#include "optimas/Frontend/SourceModel.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Tooling/Tooling.h"
#include "gtest/gtest.h"
#include <set>

using namespace optimas;
using Words = std::vector<std::string>;

namespace {
class ErrorCollector : public clang::DiagnosticConsumer {
public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Info) override {
    if (Level < clang::DiagnosticsEngine::Error)
      return;
    llvm::SmallString<128> Text;
    Info.FormatDiagnostic(Text);
    std::string Place;
    if (Info.hasSourceManager() && Info.getLocation().isValid())
      Place = Info.getLocation().printToString(Info.getSourceManager()) + ": ";
    Errors.push_back(Place + Text.str().str());
  }
  Words Errors;
};

class Constructs : public ::testing::TestWithParam<std::string> {};
} // namespace

static Words parse(const TranslatedCommand &T, CudaMode Mode) {
  ErrorCollector Collector;
  auto Files = llvm::makeIntrusiveRefCnt<clang::FileManager>(clang::FileSystemOptions());
  clang::tooling::ToolInvocation Invocation(
      T.argvFor(Mode, llvm::cantFail(checkResourceDir("")),
                llvm::cantFail(findCompatHeader())),
      std::make_unique<clang::SyntaxOnlyAction>(), Files.get());
  Invocation.setDiagnosticConsumer(&Collector);
  if (!Invocation.run() && Collector.Errors.empty())
    Collector.Errors.push_back("the invocation failed");
  return Collector.Errors;
}

/// What follows `// Key: ` on each line that has it.
static Words directives(llvm::StringRef Text, llvm::StringRef Key) {
  Words Values;
  std::string Start = ("// " + Key + ": ").str();
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    if (Line.consume_front(Start))
      Values.push_back(Line.str());
  }
  return Values;
}

TEST_P(Constructs, Parse) {
  std::string File = std::string(OPTIMAS_TEST_INPUTS) + "/constructs/" + GetParam() + ".cu";
  std::string Text = llvm::cantFail(readFile(File, ExitCode::Usage));
  Words Options;
  for (const std::string &Line : directives(Text, "nvcc"))
    Options = llvm::cantFail(splitCommand(Line));
  TranslatedCommand T =
      llvm::cantFail(translate(commandFromArgs(File, Options), 0, ""));
  EXPECT_EQ(T.Notes, Words());
  Words Tolerated = directives(Text, "tolerated");
  std::set<std::string> Seen;
  for (CudaMode Mode : {CudaMode::Device, CudaMode::Host})
    for (const std::string &E : parse(T, Mode)) {
      auto Holds = [&](const std::string &Part) { return llvm::StringRef(E).contains(Part); };
      auto At = llvm::find_if(Tolerated, Holds);
      EXPECT_NE(At, Tolerated.end())
          << (Mode == CudaMode::Device ? "device: " : "host: ") << E;
      if (At != Tolerated.end())
        Seen.insert(*At);
    }
  // An error that Clang no longer gives must leave the list.
  EXPECT_EQ(Seen.size(), Tolerated.size());
}

static Words allConstructs() {
  Words Names;
  std::error_code EC;
  llvm::sys::fs::directory_iterator End,
      I(std::string(OPTIMAS_TEST_INPUTS) + "/constructs", EC);
  for (; !EC && I != End; I.increment(EC))
    if (llvm::sys::path::extension(I->path()) == ".cu")
      Names.push_back(llvm::sys::path::stem(I->path()).str());
  llvm::sort(Names);
  return Names;
}

INSTANTIATE_TEST_SUITE_P(All, Constructs, ::testing::ValuesIn(allConstructs()),
                         [](const auto &Info) {
                           std::string Name = Info.param;
                           std::replace(Name.begin(), Name.end(), '-', '_');
                           return Name;
                         });
