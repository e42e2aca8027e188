//===- Validate.h - Bit for bit: output and device memory -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_VALIDATE_H
#define OPTIMAS_EVALUATE_VALIDATE_H

#include "optimas/Evaluate/OutputMask.h"
#include "optimas/Evaluate/Run.h"
#include <chrono>

namespace optimas {

/// The seed of the shuffled runs: any, but always the same.
constexpr uint64_t ShuffleSeed = 20260101;

/// The end of the evaluation's time budget.
class Deadline {
public:
  explicit Deadline(double Seconds)
      : Start(std::chrono::steady_clock::now()), Seconds(Seconds) {}
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - Start).count();
  }
  double left() const { return Seconds - elapsed(); }

private:
  std::chrono::steady_clock::time_point Start;
  double Seconds;
};

/// A version of the program in its view.
struct ProgramVersion {
  const ScratchView *View = nullptr;
  std::string Program; ///< argv[0] in the view
};

/// What a run of the unedited program printed and left in memory for one input.
struct InputBaseline {
  InputSet Input;
  int ExitStatus = 0;
  OutputMask Output;
  std::map<std::string, OutputMask> Files;
  std::optional<MemoryTrace> First, Second; ///< by poison
  std::optional<MemoryTrace> Permuted;
  double Seconds = 0; ///< the slowest of its runs
  bool Usable = true; ///< false: the unedited program fails on it, so it is left out
};

struct ValidatorOptions {
  ValidateMode Mode = ValidateMode::Bytes;
  std::string Command; ///< for ValidateMode::Command
  std::vector<std::string> Masks;
  std::string Directory;           ///< run folder
  std::vector<std::string> Args;   ///< of the default input, without argv[0]
  std::vector<std::string> Kernels; ///< base names of all edited kernels
  std::vector<InputSet> Inputs;     ///< beside the default one
  double RunTimeoutSeconds = 120;
  bool Permute = true; ///< also with shuffled host-to-device copies
};

/// Compares versions of a program with the unedited one.
class Validator {
public:
  Validator(const Runner &Run, ValidatorOptions Options)
      : Run(Run), O(std::move(Options)) {}

  /// Runs the unedited program on every input: twice with the first poison, once with
  /// the second. EvidenceUnusable when it crashes or hangs at its own arguments, calls
  /// no GPU, or differs from itself in a way that no mask covers, with what and where.
  llvm::Error prepare(const ProgramVersion &Baseline, const Deadline &Until);

  /// One run at the default arguments and with one poison: enough to turn most wrong
  /// candidates down.
  llvm::Expected<ValidationOutcome> check(const ProgramVersion &Candidate);
  /// Every input, both poisons, shuffled copies. MemoryChecked is only set when nothing
  /// was left out.
  llvm::Expected<ValidationOutcome> validate(const ProgramVersion &Candidate,
                                             const Deadline &Until);

  llvm::ArrayRef<InputBaseline> inputs() const { return Baselines; }
  /// Inputs left out, memory not covered: for the report.
  llvm::ArrayRef<std::string> notes() const { return Notes; }
  /// Seconds that a run at the default arguments takes.
  double runSeconds() const;
  /// Seconds that validate() will take, from the baseline's runs.
  double validateSeconds() const;
  /// The command of an input for a version.
  std::vector<std::string> argv(const ProgramVersion &V, const InputSet &Input) const;

private:
  llvm::Error prepareInput(InputBaseline &B);
  llvm::Error learnRun(InputBaseline &B, const RunOutcome &R);
  llvm::Error baselineMemory(InputBaseline &B, RunOutcome &First, RunOutcome &Again);
  void preparePermuted(InputBaseline &B);
  llvm::Expected<RunOutcome> runBaseline(const InputBaseline &B, RunMode Mode,
                                         unsigned Poison,
                                         std::optional<uint64_t> Seed = std::nullopt);
  llvm::Expected<bool> compareOne(const ProgramVersion &Candidate, const InputBaseline &B,
                                  unsigned Poison, bool Permute, ValidationOutcome &Out);
  void compareOutput(const InputBaseline &B, const RunOutcome &R, ValidationOutcome &Out);
  void compareTrace(const InputBaseline &B, const MemoryTrace &Expected,
                    const RunOutcome &R, ValidationOutcome &Out);
  llvm::Expected<bool> acceptedByCommand(const ProgramVersion &Candidate,
                                         const InputBaseline &B, const RunOutcome &R);
  void refine(const ProgramVersion &Candidate, const InputBaseline &B, unsigned Poison,
              std::optional<uint64_t> Seed, Mismatch &M);
  ProgramRun request(const ProgramVersion &V, const InputSet &Input, RunMode Mode,
                     unsigned Poison, std::optional<uint64_t> Seed) const;
  RunMode mode() const { return Run.hasCollector() ? RunMode::Memory : RunMode::Plain; }

  const Runner &Run;
  ValidatorOptions O;
  ProgramVersion Baseline;
  std::vector<InputBaseline> Baselines; ///< the default one first
  std::vector<std::string> Notes;
  std::string MemoryWhyNot; ///< why no outcome can have MemoryChecked
};

} // namespace optimas

#endif // OPTIMAS_EVALUATE_VALIDATE_H
