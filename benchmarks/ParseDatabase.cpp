//===- ParseDatabase.cpp - How much of a build Clang parses -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the source model of every CUDA command of a compile database, which parses its
// file for the device and for the host, each file in a process of its own. Prints `ok`,
// `tolerated` (no error touches a kernel) or `FAIL` for each file, then the errors by
// cause. scripts/parse-database builds and runs it.
//
//===----------------------------------------------------------------------===//
#include "optimas/Frontend/CompileCommands.h"
#include "optimas/Frontend/SourceModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <sys/resource.h>
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
static cl::opt<unsigned> Limit("limit", cl::init(60), 
                               cl::desc("Seconds of CPU time for a file"));
static cl::opt<bool> Verbose("print-argv", cl::desc("Print what Clang gets"));

/// Prints what is known of the file's compile command and builds its model. 0 when
/// there is no error, 1 when none touches a kernel, 2 otherwise.
static int buildModel(const CompileCommand &Command, raw_ostream &OS) {
  auto T = translate(Command, Sm, CudaPath);
  if (!T) {
    OS << "translate: " << toString(T.takeError()) << '\n';
    return 2;
  }
  if (Verbose)
    for (CudaMode Mode : {CudaMode::Device, CudaMode::Host})
      OS << "note: " << join(T->argvFor(Mode, ResourceDir, ""), " ") << '\n';
  FrontendOptions Options;
  Options.ResourceDir = ResourceDir;
  Options.CudaPath = CudaPath;
  Options.PreferredSm = Sm;
  auto Model = buildSourceModel(Command, Options);
  if (!Model) {
    OS << "model: " << toString(Model.takeError()) << '\n';
    return 2;
  }
  for (const std::string &Note : Model->command().Notes)
    OS << "note: " << Note << '\n';
  size_t Kernels = count_if(Model->functions(), [](auto &F) { return F.IsKernel; });
  OS << "note: " << Kernels << " kernels, " << Model->launchSites().size()
     << " launch sites\n";
  for (const ParseDiagnostic &D : Model->diagnostics())
    if (D.IsError)
      OS << (D.Mode == CudaMode::Device ? "device: " : "host: ") << D.File << ':'
         << D.Line << ":0: " << D.Message << '\n';
  return any_of(Model->diagnostics(), [](auto &D) { return D.IsError; });
}

namespace {
struct Outcome {
  int Status = 2; ///< as buildModel's
  std::string Text;
};
} // namespace

/// In a child process. A crash is an error too, and so is a file that takes too long.
static Outcome buildApart(const CompileCommand &Command) {
  int Pipe[2];
  if (::pipe(Pipe))
    return {2, "no pipe\n"};
  outs().flush();
  pid_t Child = ::fork();
  if (Child == 0) {
    ::close(Pipe[0]);
    // Of the processor's time, since others may need it too; but none waits for ever.
    rlimit Cpu = {Limit, Limit + 1};
    ::setrlimit(RLIMIT_CPU, &Cpu);
    ::alarm(20 * Limit);
    raw_fd_ostream OS(Pipe[1], /*shouldClose=*/true, /*unbuffered=*/true);
    ::_exit(buildModel(Command, OS));
  }
  ::close(Pipe[1]);
  Outcome Out;
  char Buffer[65536];
  for (ssize_t N; (N = ::read(Pipe[0], Buffer, sizeof(Buffer))) > 0;)
    Out.Text.append(Buffer, size_t(N));
  ::close(Pipe[0]);
  int Status = 0;
  ::waitpid(Child, &Status, 0);
  if (WIFEXITED(Status))
    Out.Status = WEXITSTATUS(Status);
  else if (WTERMSIG(Status) == SIGALRM || WTERMSIG(Status) == SIGXCPU)
    Out.Text += "hang: stopped by the time limit\n";
  else
    Out.Text += "crash: signal " + std::to_string(WTERMSIG(Status)) + "\n";
  return Out;
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
  auto Database = loadCompileDatabase(BuildDir);
  if (!Database)
    return int(reportError(errs(), Database.takeError()));
  std::vector<CompileCommand> Files = chosen(std::move(*Database));
  std::map<std::string, std::pair<size_t, std::string>> Causes; ///< files, an example
  size_t Good = 0, Usable = 0;
  auto Start = std::chrono::steady_clock::now();
  for (const CompileCommand &C : Files) {
    Outcome Out = buildApart(C);
    std::set<std::string> Here;
    for (StringRef Line : split(Out.Text, '\n')) {
      if (Line.empty() || Line.starts_with("note: "))
        continue;
      if (std::string Cause = causeOf(Line); Here.insert(Cause).second)
        if (++Causes[Cause].first == 1)
          Causes[Cause].second = Line.str();
    }
    Good += Out.Status == 0;
    Usable += Out.Status == 1;
    outs() << (Out.Status == 0 ? "ok        " : Out.Status == 1 ? "tolerated " : "FAIL      ")
           << C.File << '\n'
           << Out.Text;
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
  outs() << format("\n%zu of %zu files without an error for the device and the host, %zu "
                   "with errors that touch no kernel; %.2f s a file\n",
                   Good, Files.size(), Usable,
                   Files.empty() ? 0 : Took.count() / Files.size());
  return Good + Usable == Files.size() ? 0 : int(ExitCode::ParseFailed);
}
