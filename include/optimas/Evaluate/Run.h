//===- Run.h - Running a program in a view, watched from outside -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_RUN_H
#define OPTIMAS_EVALUATE_RUN_H

#include "optimas/Evaluate/Scratch.h"
#include "optimas/Evaluate/Trace.h"

namespace optimas {

/// Poisons of the two memory runs and of timed runs. Three unlike patterns: no float,
/// pointer or count that a program expects in fresh memory.
constexpr unsigned FirstPoison = 0xA5, SecondPoison = 0x5A, TimedPoison = 0x3C;

enum class RunMode {
  Plain,  ///< nothing injected
  Memory, ///< device memory hashed after each launch of the kernels
  Time,   ///< kernel activity only
};

struct ProgramRun {
  RunMode Mode = RunMode::Plain;
  std::vector<std::string> Args; ///< argv
  std::string Directory;
  unsigned Poison = FirstPoison;
  std::vector<std::string> Kernels; ///< base names, Memory
  std::optional<uint64_t> PermuteSeed; ///< shuffle host-to-device copies
  /// Memory: also dump allocation .second after launch .first (to RunOutcome::Dump).
  std::optional<std::pair<uint64_t, uint64_t>> Dump;
  double TimeoutSeconds = 0;
};

struct RunOutcome {
  SubprocessResult Process;
  std::map<std::string, std::string> Files; ///< named output files that were written
  std::optional<MemoryTrace> Memory;
  std::optional<TimeTrace> Time;
  std::string Dump; ///< the dumped allocation's bytes
  /// Why there is no trace although one was asked for.
  std::string TraceProblem;
  /// No process of the run loaded the collector: nothing called CUDA.
  bool NoGpuUse = false;
};

/// Runs programs. \p OutputFiles (relative to the run's folder) are removed from the
/// view's copy before each run and read after it.
class Runner {
public:
  Runner(std::string CollectorPath, std::vector<std::string> OutputFiles)
      : Collector(std::move(CollectorPath)), OutputFiles(std::move(OutputFiles)) {}

  /// Fails when the program cannot be started or a trace is malformed; what the program
  /// did is in the outcome.
  llvm::Expected<RunOutcome> run(const ScratchView &View, const ProgramRun &R) const;

  bool hasCollector() const { return !Collector.empty(); }

private:
  void removeOutputs(const ScratchView &View, const ProgramRun &R) const;
  llvm::Error readTraces(llvm::StringRef Folder, const ProgramRun &R,
                         RunOutcome &Out) const;

  std::string Collector;
  std::vector<std::string> OutputFiles;
};

/// The collector beside the tool (`<dir>`, `<dir>/../lib`, `<dir>/../lib/optimas`);
/// empty when it is nowhere.
std::string findCollector(llvm::StringRef ToolDir);

/// One sentence on how a run ended, empty for exit status 0: `was killed by signal 11
/// (Segmentation fault)`, `did not end within 120 s`, `ended with exit status 3`.
std::string endedBadly(const SubprocessResult &R, double TimeoutSeconds);

/// The argument lists of --inputs: one a line, shell words, `#` comments. Usage error
/// when the file cannot be read or a line has an unclosed quote.
llvm::Expected<std::vector<InputSet>> readInputs(llvm::StringRef Path);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_RUN_H
