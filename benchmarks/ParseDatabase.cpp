//===- ParseDatabase.cpp - How much of a build Clang parses -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates every CUDA command of a compile database and parses its file for the
// device and for the host, each file in a process of its own. Prints a line for each
// file, then the errors by cause. scripts/parse-database builds and runs it.
//
//===----------------------------------------------------------------------===//
#include "optimas/Frontend/CompileCommands.h"
#include "optimas/Frontend/SourceModel.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include <chrono>
#include <map>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace optimas;

static cl::opt<std::string> BuildDir(cl::Positional, cl::Required,
                                     cl::desc("<build folder>"));
static cl::opt<unsigned> Sample("sample", cl::desc("Parse about this many files only, "
                                                   "spread over the database"));
static cl::opt<unsigned> Skip("skip", cl::desc("Leave out this many files first, to go on "
                                               "after a run that was stopped"));
static cl::opt<unsigned> Sm("sm", cl::desc("The GPU to parse for, 90 for sm_90"));
static cl::opt<std::string> Match("match", cl::desc("Only files whose path holds this"));
static cl::opt<std::string> CudaPath("cuda-path", cl::desc("The CUDA toolkit"));
static cl::opt<std::string> ResourceDir("resource-dir", cl::desc("Clang's"));
static cl::opt<bool> NoCompat("no-compat",
                              cl::desc("Leave the compatibility header out"));
static cl::opt<bool> Verbose("print-argv", cl::desc("Print what Clang gets"));

namespace {
/// Writes each error on a line of its own: mode, place, text.
class ErrorPrinter : public clang::DiagnosticConsumer {
public:
  ErrorPrinter(StringRef Mode, raw_ostream &OS) : Mode(Mode), OS(OS) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Info) override {
    DiagnosticConsumer::HandleDiagnostic(Level, Info);
    if (Level < clang::DiagnosticsEngine::Error)
      return;
    SmallString<128> Text;
    Info.FormatDiagnostic(Text);
    OS << Mode << ": ";
    if (Info.hasSourceManager() && Info.getLocation().isValid())
      OS << Info.getLocation().printToString(Info.getSourceManager()) << ": ";
    OS << Text << '\n';
  }

private:
  std::string Mode;
  raw_ostream &OS;
};
} // namespace

static bool parse(const TranslatedCommand &T, CudaMode Mode, StringRef Resource,
                  StringRef Compat, raw_ostream &OS) {
  ErrorPrinter Printer(Mode == CudaMode::Device ? "device" : "host", OS);
  std::vector<std::string> Argv = T.argvFor(Mode, Resource, Compat);
  if (Verbose)
    outs() << join(Argv, " ") << '\n';
  auto Files = makeIntrusiveRefCnt<clang::FileManager>(clang::FileSystemOptions());
  clang::tooling::ToolInvocation Invocation(
      Argv, std::make_unique<clang::SyntaxOnlyAction>(), Files.get());
  Invocation.setDiagnosticConsumer(&Printer);
  return Invocation.run() && Printer.getNumErrors() == 0;
}

/// Both passes in a child process; its errors are returned. A crash is one too.
static std::string parseApart(const CompileCommand &Command, StringRef Resource,
                              StringRef Compat) {
  int Pipe[2];
  if (::pipe(Pipe))
    return "no pipe\n";
  outs().flush();
  pid_t Child = ::fork();
  if (Child == 0) {
    ::close(Pipe[0]);
    raw_fd_ostream OS(Pipe[1], /*shouldClose=*/true, /*unbuffered=*/true);
    auto T = translate(Command, Sm, CudaPath);
    if (!T) {
      OS << "translate: " << toString(T.takeError()) << '\n';
      ::_exit(1);
    }
    for (const std::string &Note : T->Notes)
      OS << "note: " << Note << '\n';
    bool Good = !sys::fs::set_current_path(T->Directory);
    for (CudaMode Mode : {CudaMode::Device, CudaMode::Host})
      Good &= parse(*T, Mode, Resource, Compat, OS);
    outs().flush();
    ::_exit(Good ? 0 : 1);
  }
  ::close(Pipe[1]);
  std::string Text;
  char Buffer[65536];
  for (ssize_t N; (N = ::read(Pipe[0], Buffer, sizeof(Buffer))) > 0;)
    Text.append(Buffer, size_t(N));
  ::close(Pipe[0]);
  int Status = 0;
  ::waitpid(Child, &Status, 0);
  if (WIFSIGNALED(Status))
    Text += "crash: signal " + std::to_string(WTERMSIG(Status)) + "\n";
  return Text;
}

/// `'float'` and `12` say less than the rest: errors of one cause come together.
static std::string causeOf(StringRef Line) {
  size_t Text = Line.find(": ");
  StringRef Rest = Line.substr(Text + 2);
  // `file:line:column: text`
  if (size_t At = Rest.find(": "); At != StringRef::npos &&
                                   Rest.take_front(At).contains(":"))
    Rest = Rest.substr(At + 2);
  std::string Out;
  bool Quoted = false;
  for (char C : Rest) {
    if (C == '\'')
      Quoted = !Quoted;
    else if (!Quoted && !isDigit(C))
      Out += C;
  }
  return Out;
}

static std::vector<CompileCommand> chosen(std::vector<CompileCommand> Database) {
  std::set<std::string> Seen;
  erase_if(Database, [&](const CompileCommand &C) {
    auto T = translate(C, Sm, CudaPath);
    bool Cuda = T ? T->IsCuda : true;
    if (!T)
      consumeError(T.takeError());
    return !Cuda || !StringRef(C.File).contains(Match) || !Seen.insert(C.File).second;
  });
  Database.erase(Database.begin(),
                 Database.begin() + std::min<size_t>(Skip, Database.size()));
  if (!Sample || Database.size() <= Sample)
    return Database;
  std::vector<CompileCommand> Some;
  for (size_t I = 0; I < Sample; ++I)
    Some.push_back(Database[I * Database.size() / Sample]);
  return Some;
}

int main(int Argc, char **Argv) {
  cl::ParseCommandLineOptions(Argc, Argv, "Parses every CUDA file of a build\n");
  auto Resource = checkResourceDir(ResourceDir);
  auto Compat = findCompatHeader();
  auto Database = loadCompileDatabase(BuildDir);
  if (Error E = joinErrors(joinErrors(Resource.takeError(), Compat.takeError()),
                           Database.takeError()))
    return int(reportError(errs(), std::move(E)));
  std::vector<CompileCommand> Files = chosen(std::move(*Database));
  std::map<std::string, std::pair<size_t, std::string>> Causes; ///< files, an example
  size_t Good = 0;
  auto Start = std::chrono::steady_clock::now();
  for (const CompileCommand &C : Files) {
    std::string Errors = parseApart(C, *Resource, NoCompat ? "" : *Compat);
    std::set<std::string> Here;
    size_t Count = 0;
    for (StringRef Line : split(Errors, '\n')) {
      if (Line.empty() || Line.starts_with("note: "))
        continue;
      ++Count;
      if (std::string Cause = causeOf(Line); Here.insert(Cause).second)
        if (++Causes[Cause].first == 1)
          Causes[Cause].second = Line.str();
    }
    Good += Count == 0;
    outs() << (Count ? "FAIL " : "ok   ") << C.File << '\n' << Errors;
    outs().flush();
  }
  std::chrono::duration<double> Took = std::chrono::steady_clock::now() - Start;
  outs() << "\nfiles per cause, with an example\n";
  std::vector<std::pair<size_t, std::string>> Sorted;
  for (const auto &[Cause, Seen] : Causes)
    Sorted.emplace_back(Seen.first, Seen.second);
  llvm::sort(Sorted, [](auto &A, auto &B) { return A.first > B.first; });
  for (const auto &[Count, Example] : Sorted)
    outs() << format("%5zu  ", Count) << Example << '\n';
  outs() << format("\n%zu of %zu files parse without an error, device and host; "
                   "%.2f s a file\n",
                   Good, Files.size(), Files.empty() ? 0 : Took.count() / Files.size());
  return Good == Files.size() ? 0 : int(ExitCode::ParseFailed);
}
