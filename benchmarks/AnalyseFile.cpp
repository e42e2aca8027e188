//===- AnalyseFile.cpp - Time of a source model against plain Clang -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// optimas-analyse-file [--rounds=N] FILE.cu…: for each file the time of
/// buildSourceModel() and structuralDigest() beside that of two plain
/// `clang++ -fsyntax-only` passes (device, host) over it, taken in turns in one run.
/// Wall time, and CPU time because the passes of the model run at once; medians in
/// milliseconds.
///
//===----------------------------------------------------------------------===//
#include "optimas/Frontend/SourceModel.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <sys/resource.h>

using namespace llvm;
using namespace optimas;

static cl::list<std::string> Files(cl::Positional, cl::OneOrMore, cl::desc("FILE.cu…"));
static cl::opt<unsigned> Rounds("rounds", cl::init(7), cl::desc("measurements a file"));

namespace {
struct Cost {
  double Wall = 0, Cpu = 0; ///< ms
};
} // namespace

static double cpuMs(int Who) {
  rusage R;
  ::getrusage(Who, &R);
  auto Ms = [](const timeval &T) { return T.tv_sec * 1e3 + T.tv_usec * 1e-3; };
  return Ms(R.ru_utime) + Ms(R.ru_stime);
}

/// Runs \p Work and takes the CPU time of this process or of its children.
static Cost timed(int Who, function_ref<void()> Work) {
  double Cpu = cpuMs(Who);
  auto Start = std::chrono::steady_clock::now();
  Work();
  std::chrono::duration<double, std::milli> Wall =
      std::chrono::steady_clock::now() - Start;
  return {Wall.count(), cpuMs(Who) - Cpu};
}

static double median(std::vector<double> Values) {
  llvm::sort(Values);
  return Values[Values.size() / 2];
}

static Cost median(ArrayRef<Cost> Costs) {
  std::vector<double> Wall, Cpu;
  for (const Cost &C : Costs) {
    Wall.push_back(C.Wall);
    Cpu.push_back(C.Cpu);
  }
  return {median(Wall), median(Cpu)};
}

static Error measure(StringRef File) {
  std::string Path = canonicalPath(File);
  CompileCommand Command = commandFromArgs(Path, {"-arch=sm_90"});
  Command.Directory = sys::path::parent_path(Path).str();
  auto Translated = translate(Command, 90, "");
  auto ResourceDir = checkResourceDir("");
  if (Error E = joinErrors(Translated.takeError(), ResourceDir.takeError()))
    return E;
  std::vector<Cost> Plain, Model, Digest;
  Error Failure = Error::success();
  auto Keep = [&](Error E) { Failure = joinErrors(std::move(Failure), std::move(E)); };
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    Plain.push_back(timed(RUSAGE_CHILDREN, [&] {
      for (CudaMode Mode : {CudaMode::Device, CudaMode::Host}) {
        SubprocessOptions Options;
        Options.Args = Translated->argvFor(Mode, *ResourceDir, "");
        Options.Args.front() = OPTIMAS_PLAIN_CLANG;
        Options.Directory = Command.Directory;
        auto Result = runSubprocess(Options);
        if (!Result)
          Keep(Result.takeError());
        else if (!Result->ok())
          Keep(makeError(ExitCode::ParseFailed, Result->Error, File));
      }
    }));
    std::optional<SourceModel> Built;
    Model.push_back(timed(RUSAGE_SELF, [&] {
      auto M = buildSourceModel(Command, {});
      if (M)
        Built.emplace(std::move(*M));
      else
        Keep(M.takeError());
    }));
    if (Failure)
      return Failure;
    Digest.push_back(timed(RUSAGE_SELF, [&] { structuralDigest(*Built, {}); }));
  }
  Cost P = median(Plain), M = median(Model), D = median(Digest);
  outs() << format("%-24s plain %7.0f wall %7.0f cpu | model %7.0f wall %7.0f cpu | "
                   "ratio %.2f wall %.2f cpu | digest %.2f cpu\n",
                   sys::path::filename(File).str().c_str(), P.Wall, P.Cpu, M.Wall,
                   M.Cpu, M.Wall / P.Wall, M.Cpu / P.Cpu, D.Cpu);
  outs().flush();
  return Error::success();
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Times the source model against plain Clang\n");
  for (const std::string &File : Files)
    if (Error E = measure(File))
      return int(reportError(errs(), std::move(E)));
  return 0;
}
