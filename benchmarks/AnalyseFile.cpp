//===- AnalyseFile.cpp - Time of an analysis against plain Clang -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// optimas-analyse-file [--rounds=N] FILE.cu[=PROFILE]…: for each file the time of its
/// analysis beside that of two plain `clang++ -fsyntax-only` passes (device, host) over
/// it, taken in turns in one run. The analysis is what optimas-rewrite does up to the
/// guard: the profile is read and its instructions decoded, the source model built (both
/// passes), evidence and regions derived, the catalogue asked for proposals. Without a
/// profile it ends with the source model. Wall time, and CPU time because our passes run
/// at once; medians in milliseconds, the ratios are medians of the rounds' ratios. The
/// last line names the worst file. optimas-rewrite analyses one file a process, so each
/// analysis runs in a child process of its own, as Clang's do: start-up is in both.
///
//===----------------------------------------------------------------------===//
#include "optimas/Analysis/Diagnosis.h"
#include "optimas/Frontend/SourceModel.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Propose/Proposer.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <sys/resource.h>

using namespace llvm;
using namespace optimas;

static cl::list<std::string> Files(cl::Positional, cl::OneOrMore,
                                   cl::desc("FILE.cu[=PROFILE]…"));
static cl::opt<unsigned> Rounds("rounds", cl::init(7), cl::desc("measurements a file"));
static cl::opt<bool> Once("once", cl::Hidden, cl::desc("only analyse, as the child does"));

namespace {
struct Cost {
  double Wall = 0, Cpu = 0; ///< ms
};

/// A source, how it is compiled, and the profile of a run of it ("" for none).
struct Subject {
  std::string Source, Profile;
  CompileCommand Command;
};
} // namespace

static Subject subject(StringRef Argument) {
  auto [Source, Profile] = Argument.split('=');
  Subject S;
  S.Source = canonicalPath(Source);
  S.Profile = Profile.empty() ? "" : canonicalPath(Profile);
  S.Command = commandFromArgs(S.Source, {"-std=c++17", "-arch=sm_90"});
  S.Command.Directory = sys::path::parent_path(S.Source).str();
  return S;
}

/// What is measured. Prints one line so that nothing can have been left out unseen.
static Error analyseOnce(const Subject &S) {
  if (S.Profile.empty()) {
    Expected<SourceModel> Model = buildSourceModel(S.Command, {});
    return Model ? Error::success() : Model.takeError();
  }
  Expected<Profile> P = readProfile(S.Profile);
  if (!P)
    return P.takeError();
  std::vector<std::string> Notes;
  resolveFrames(*P, Notes);
  Expected<SourceModel> Model = buildSourceModel(S.Command, {});
  if (!Model)
    return Model.takeError();
  AnalysisOptions Options;
  Options.HotPercent = 100; // every kernel of the file
  Expected<Diagnosis> D = analyse(*Model, *P, Options);
  if (!D)
    return D.takeError();
  ProposalRequest Request{*Model, *D, {}};
  for (const KernelDiagnosis &K : D->Kernels)
    if (K.Hot && K.Function != NoId)
      Request.Kernels.push_back(K.Function);
  Expected<std::unique_ptr<Proposer>> Catalogue = makeProposer({});
  if (!Catalogue)
    return Catalogue.takeError();
  Expected<std::vector<Proposal>> Proposals = (*Catalogue)->propose(Request, nullptr);
  if (!Proposals)
    return Proposals.takeError();
  outs() << formatv("{0} kernels {1} evidence {2} regions {3} proposals",
                    Request.Kernels.size(), D->Items.size(), D->Regions.size(),
                    Proposals->size());
  return Error::success();
}

static double childrensCpu() {
  rusage R;
  ::getrusage(RUSAGE_CHILDREN, &R);
  auto Ms = [](const timeval &T) { return T.tv_sec * 1e3 + T.tv_usec * 1e-3; };
  return Ms(R.ru_utime) + Ms(R.ru_stime);
}

/// Runs one command after the other and takes their time; \p Said is the last one's output.
static Expected<Cost> timed(ArrayRef<std::vector<std::string>> Commands, StringRef Directory,
                            std::string &Said) {
  double Cpu = childrensCpu();
  auto Start = std::chrono::steady_clock::now();
  for (const std::vector<std::string> &Args : Commands) {
    SubprocessOptions Options;
    Options.Args = Args;
    Options.Directory = Directory.str();
    Expected<SubprocessResult> Result = runSubprocess(Options);
    if (!Result)
      return Result.takeError();
    if (!Result->ok())
      return makeError(ExitCode::ParseFailed, Result->Error, Args.back(),
                       "the file must compile as it is");
    Said = Result->Output;
  }
  std::chrono::duration<double, std::milli> Wall =
      std::chrono::steady_clock::now() - Start;
  return Cost{Wall.count(), childrensCpu() - Cpu};
}

static double median(std::vector<double> Values) {
  llvm::sort(Values);
  return Values[Values.size() / 2];
}

static double medianOf(ArrayRef<Cost> Costs, double Cost::*Field) {
  std::vector<double> Values;
  for (const Cost &C : Costs)
    Values.push_back(C.*Field);
  return median(Values);
}

/// The median over the rounds of ours / plain.
static double ratio(ArrayRef<Cost> Ours, ArrayRef<Cost> Plain, double Cost::*Field) {
  std::vector<double> Ratios;
  for (size_t I = 0; I < Ours.size(); ++I)
    Ratios.push_back(Ours[I].*Field / Plain[I].*Field);
  return median(Ratios);
}

/// Prints the file's line and returns its ratio of wall time.
static Expected<double> measure(StringRef Self, StringRef Argument) {
  Subject S = subject(Argument);
  auto Translated = translate(S.Command, 90, "");
  auto ResourceDir = checkResourceDir("");
  if (Error E = joinErrors(Translated.takeError(), ResourceDir.takeError()))
    return std::move(E);
  std::vector<std::vector<std::string>> PlainCommands;
  for (CudaMode Mode : {CudaMode::Device, CudaMode::Host}) {
    PlainCommands.push_back(Translated->argvFor(Mode, *ResourceDir, ""));
    PlainCommands.back().front() = OPTIMAS_PLAIN_CLANG;
  }
  std::string Analysed = S.Profile.empty() ? S.Source : S.Source + "=" + S.Profile;
  std::vector<std::vector<std::string>> OurCommand{{Self.str(), "--once", Analysed}};
  std::vector<Cost> Plain, Ours;
  std::string Nothing, Found;
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    Expected<Cost> P = timed(PlainCommands, S.Command.Directory, Nothing);
    if (!P)
      return P.takeError();
    Expected<Cost> O = timed(OurCommand, S.Command.Directory, Found);
    if (!O)
      return O.takeError();
    Plain.push_back(*P);
    Ours.push_back(*O);
  }
  double Wall = ratio(Ours, Plain, &Cost::Wall), Cpu = ratio(Ours, Plain, &Cost::Cpu);
  outs() << format("%-22s plain %6.0f wall %6.0f cpu | ours %6.0f wall %6.0f cpu | "
                   "ratio %.2f wall %.2f cpu | %s\n",
                   sys::path::filename(S.Source).str().c_str(), medianOf(Plain, &Cost::Wall),
                   medianOf(Plain, &Cost::Cpu), medianOf(Ours, &Cost::Wall),
                   medianOf(Ours, &Cost::Cpu), Wall, Cpu, Found.c_str());
  outs().flush();
  return std::max(Wall, Cpu);
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Times the analysis against plain Clang\n");
  double Worst = 0;
  std::string WorstFile;
  for (const std::string &File : Files) {
    if (Once) {
      if (Error E = analyseOnce(subject(File)))
        return int(reportError(errs(), std::move(E)));
      continue;
    }
    Expected<double> Ratio = measure(sys::fs::getMainExecutable(argv[0], (void *)&subject), File);
    if (!Ratio)
      return int(reportError(errs(), Ratio.takeError()));
    if (*Ratio > Worst) {
      Worst = *Ratio;
      WorstFile = File;
    }
  }
  if (!Once)
    outs() << format("worst, wall or CPU: %.2f ", Worst) << WorstFile << '\n';
  return 0;
}
