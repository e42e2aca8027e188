//===- Evaluation.h - Build, validate, measure, score -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_EVALUATION_H
#define OPTIMAS_EVALUATE_EVALUATION_H

#include "optimas/Transform/Edit.h"
#include <functional>

namespace optimas {

/// One set of arguments that the program is run with.
struct InputSet {
  std::string Name; ///< `default`, or the line of --inputs
  std::vector<std::string> Args; ///< appended to the run command (replacing its own for lines of --inputs)
  bool Default = false;
};

enum class ValidateMode {
  Bytes,   ///< output and device memory, bit for bit
  Command, ///< the user's command compares the outputs; memory is compared and reported
  None     ///< nothing is compared; no verdict is better than ambiguous
};

/// How to run a candidate once more, for a profile of it.
struct ReprofileRequest {
  /// Put before any command to run it where the candidate lies at the original path;
  /// empty when it needs nothing.
  std::vector<std::string> ViewPrefix;
  std::vector<std::string> Args; ///< the program's own command
  std::string Directory;
  double TimeoutSeconds = 0;
  /// Samples are compared between profiles, so they are taken at one interval (2^N
  /// cycles); 0 for the first one, whose own choice the others repeat.
  unsigned SamplingIntervalLog2 = 0;
};
using ReprofileFn = std::function<llvm::Expected<Profile>(const ReprofileRequest &)>;

struct EvaluationOptions {
  std::string RunCommand;  ///< --run; empty: nothing is run
  std::string RunDir;      ///< --run-dir; empty: the build folder
  std::string BuildCommand; ///< --build; empty: the compile command, and a link for a single file
  std::string BuildDir;    ///< -p; copied for the scratch view; may be empty
  std::string InputsFile;  ///< --inputs; one argument list a line, `#` comments
  std::vector<std::string> OutputFiles; ///< files compared byte by byte, relative to RunDir
  std::vector<std::string> Masks; ///< regular expressions whose matches are not compared
  ValidateMode Validate = ValidateMode::Bytes;
  std::string ValidateCommand;
  unsigned MinPairs = 10;
  unsigned MaxPairs = 60;
  double RelativeWidth = 0.02; ///< of the 95 % interval at which timing stops
  double BudgetSeconds = 300;  ///< for the whole evaluation of the program
  double RunTimeoutSeconds = 120; ///< of one run
  std::string CollectorPath; ///< liboptimas_collector.so; empty: beside the executable
  std::string ReplayDir, RecordDir;
  uint64_t Seed = 1; ///< of the bootstrap
  bool Ablation = true;
  bool KeepScratch = false;
  std::string ToolDir; ///< folder of this executable; the collector is found from it
  std::vector<std::string> CommandLine; ///< for HowToMeasure
  std::string ProjectRoot; ///< recordings name files relative to it; empty: the source's folder
  unsigned BuildJobs = 0;  ///< candidates built at once; 0: one per core, at most 8
  /// Profiles a built candidate, for EAR's result agreement; empty: RA is absent.
  ReprofileFn Reprofile;
};

enum class VerdictKind {
  Faster, Slower, Unchanged, Ambiguous,
  Screened, ///< ranked by a few runs, not measured: another variant was kept, or it was slower
  WrongResult, BuildFailed, NotMeasured
};
llvm::StringRef toString(VerdictKind K);
std::optional<VerdictKind> verdictFrom(llvm::StringRef Text);

/// ptxas' figures of one kernel.
struct ResourceUsage {
  std::string Symbol;
  unsigned Registers = 0;
  uint64_t SpillStores = 0, SpillLoads = 0, Stack = 0, StaticShared = 0;
};

/// A paired comparison: ratio = baseline / candidate (speedup; above 1 is faster).
struct Comparison {
  std::string Name; ///< kernel base name with instantiation, `all kernels`, `wall`
  double BaselineNs = 0, CandidateNs = 0; ///< medians, per run
  double Speedup = 1, Low = 1, High = 1;  ///< 95 % bootstrap interval of the paired ratio
  double NoiseLow = 1, NoiseHigh = 1;     ///< the same of baseline against baseline (A/A)
  std::vector<double> BaselineSamples, CandidateSamples; ///< ns
};

/// The first difference that was found.
struct Mismatch {
  std::string Input; ///< InputSet::Name
  std::string What;  ///< `stdout`, `exit status`, `device memory`, `launch status`, `file out.bin`
  uint64_t Launch = 0; ///< 1-based number among the hashed launches
  std::string Kernel;
  uint64_t Allocation = 0; ///< 1-based, in order of allocation
  uint64_t AllocationBytes = 0, Offset = 0;
  std::string Baseline, Candidate; ///< bytes or text, cut
};

struct ValidationOutcome {
  bool Ran = false;
  bool OutputIdentical = false;
  /// Every allocation after every launch of the edited kernels, both poisons.
  bool MemoryIdentical = false;
  bool MemoryChecked = false;
  std::string MemoryWhyNot; ///< when not checked
  /// --validate=command: accepted what a comparison of bytes may not have.
  bool AcceptedByCommand = false;
  std::vector<std::string> Inputs; ///< names of the sets that were run
  uint64_t LaunchesCompared = 0, BytesHashed = 0;
  std::vector<std::string> Masked; ///< texts that were masked, for the report
  bool BaselineNondeterministic = false;
  std::vector<Mismatch> Mismatches;
  /// `exact` when memory and output agree, `program output identical`, or what failed.
  std::string label() const;
};

/// What became of one candidate.
struct CandidateOutcome {
  EditSet Set;
  unsigned ProposalId = 0;
  std::string Title, Group;
  VerdictKind Verdict = VerdictKind::NotMeasured;
  std::string Why;  ///< one sentence
  std::string HowToMeasure; ///< the command, when not measured
  bool Recorded = false; ///< from --replay
  std::string RecordedOn; ///< card, driver, date of the recording
  std::string BuildLog; ///< errors only
  std::string BuildCommand; ///< of a build that failed; a shell reads it back
  std::vector<ResourceUsage> ResourcesBefore, ResourcesAfter;
  bool OtherKernelsIdentical = false; ///< machine code of kernels no edit touches
  std::vector<std::string> ChangedOtherKernels; ///< those that differ although no edit touches them
  bool SameCode = false; ///< no instruction differs from the baseline's
  std::string CodeHash; ///< of the candidate's machine code, path-independent; empty when unknown
  std::string Key;      ///< under which a recording keeps it: sources and command
  ValidationOutcome Validation;
  std::vector<Comparison> Kernels; ///< per kernel; last: `all kernels`
  Comparison Wall;
  bool Kept = false; ///< part of the final result
  bool Implausible = false; ///< beyond the roofline's headroom, or above 10×
};

/// One metric, profiled twice before and once after the edits (per launch).
struct MetricChange {
  double Weight = 0; ///< of the evidence, share of its kernel
  Direction Expected = Direction::Down;
  double Before = 0, BeforeAgain = 0, After = 0;
};

/// What became of the metric of one cited item of evidence.
struct MetricAgreement {
  unsigned Evidence = 0; ///< id; 0 when a recording's item is none of this diagnosis
  std::string Kernel, Metric; ///< Evidence::KernelName and Evidence::Metric
  MetricChange Change;
  /// Moved as expected, by more than the two baselines differ. Absent when the new
  /// profiles do not have the metric (counters of another profiler).
  std::optional<bool> Agreed;
};

/// Evidence-aligned reasoning, the three figures and their parts (design: evaluation.md).
struct EarScore {
  double EvidenceCoverage = 0; ///< EC: Σ weight of cited evidence, mean over the edited kernels
  double EditLocalization = 0; ///< EL: changed evidence lines of cited evidence / changed lines
  std::optional<double> ResultAgreement; ///< RA; absent when nothing was profiled again
  std::string ResultAgreementWhyNot;
  bool ResultAgreementRecorded = false; ///< from --replay
  std::vector<MetricAgreement> Metrics; ///< of the cited evidence, when profiled again
  std::vector<unsigned> CitedEvidence, UncitedEvidence;
  std::vector<std::string> ChangedLines;     ///< `file:line`
  std::vector<std::string> LinesOffEvidence; ///< changed, but not evidence of the cited items
};

/// Contribution of one edit: the final set without it, measured again.
struct Ablation {
  unsigned Edit = 0;
  std::string Transformation;
  VerdictKind Verdict = VerdictKind::NotMeasured;
  double SpeedupWithout = 0, SpeedupWith = 0;
};

struct EvaluationResult {
  std::vector<CandidateOutcome> Candidates;
  /// The union of the kept candidates, built, validated and measured together.
  std::optional<CandidateOutcome> Final;
  EarScore Ear;
  std::vector<Ablation> Ablations;
  bool Built = false; ///< the baseline and the final set were built here
  bool HaveGpu = false;
  std::string Machine; ///< card and driver, or `no GPU`
  std::vector<std::string> Notes;
};

/// The exit code that a result asks for: WrongResult when every candidate failed and
/// at least one computed something else, BuildFailed when none was built, else Done.
ExitCode exitCodeOf(const EvaluationResult &R);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_EVALUATION_H
