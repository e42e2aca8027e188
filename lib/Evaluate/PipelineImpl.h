//===- PipelineImpl.h - The steps of an evaluation -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_EVALUATE_PIPELINEIMPL_H
#define OPTIMAS_LIB_EVALUATE_PIPELINEIMPL_H

#include "optimas/Evaluate/Build.h"
#include "optimas/Evaluate/Measure.h"
#include "optimas/Evaluate/Pipeline.h"
#include "optimas/Evaluate/Replay.h"
#include "optimas/Evaluate/Validate.h"

namespace optimas {

/// One program: the unedited one, a candidate, or a union of candidates.
struct Version {
  EditSet Set;
  std::vector<std::string> Kernels, Touched;
  double Headroom = 0;
  std::optional<ScratchView> View;
  BuildOutcome Build;
  DeviceCode Device;
  std::string CodeHash;
  std::vector<std::string> ChangedOthers;
  bool Ok = false;     ///< built, and nothing is wrong with what was built
  VerdictKind Failure = VerdictKind::BuildFailed; ///< when not Ok
  std::string Why;     ///< when not Ok
  bool SameCode = false; ///< no instruction differs from the baseline's
};

/// Indices into the candidates whose edits make one program.
using Members = std::vector<size_t>;

class Pipeline {
public:
  Pipeline(Subject S, const EvaluationOptions &O, const GpuInfo &Gpu,
           llvm::function_ref<void(llvm::StringRef)> Say)
      : S(std::move(S)), O(O), Gpu(Gpu), Say(Say), Until(O.BudgetSeconds) {}

  llvm::Expected<EvaluationResult> run();

private:
  // Pipeline.cpp: options, and what is common to all ways.
  llvm::Error setUp();
  llvm::Error checkRunCommand();
  llvm::Expected<EvaluationResult> finish();
  std::string howToMeasure() const;
  CandidateOutcome outcomeOf(size_t Index) const;
  std::unique_ptr<Version> unionOf(const Members &M) const;
  void keepFirstOfEachGroup();
  llvm::Error makeFinal(const Members &M);
  void describeBuild(const Version &V, CandidateOutcome &Out) const;

  // PipelineBuild.cpp
  llvm::Error buildBaseline();
  llvm::Error buildAll(llvm::ArrayRef<Version *> Versions);
  llvm::Error buildOne(Version &V);
  llvm::Error buildProgram(Version &V, const ScratchView *From);
  llvm::Error inspect(Version &V);
  llvm::Error checkBaselineBuilds();
  BuildPlan planFor(const ScratchView &View) const;
  ProgramVersion program(const Version &V) const;

  // PipelineSearch.cpp
  llvm::Error searchAndMeasure();
  llvm::Error prepareRuns();
  llvm::Expected<std::vector<Members>> columns();
  llvm::Error checkColumns(std::vector<Members> &Columns);
  llvm::Error screen(llvm::ArrayRef<Members> Columns);
  llvm::Expected<bool> checked(size_t Index);
  Version &versionOf(const Members &M);
  Members winners() const;
  bool mayWin(size_t Index) const;
  llvm::Error settle();
  llvm::Expected<bool> validateUnion(Members &M, CandidateOutcome &Out);
  void blame(const Members &M, const ValidationOutcome &V);
  void judgeLosers();
  void wrong(size_t Index, ValidationOutcome V);

  // PipelineMeasure.cpp
  llvm::Expected<std::optional<RunTimes>> timedRun(const Version &V, std::string &Problem);
  llvm::Expected<bool> measureUnion(const Members &M, const Version &V,
                                    CandidateOutcome &Out);
  llvm::Expected<std::vector<std::vector<RunTimes>>>
  roundRobin(llvm::ArrayRef<const Version *> Versions, unsigned Rounds,
             std::vector<std::string> &Problems);
  void judgeMembers(const Members &M, const PairedRuns &Runs,
                    const CandidateOutcome &Together);
  llvm::Error ablate();
  double profileSeconds() const;
  void profileAgain();
  void setAgreement(const Agreement &A);
  ReprofileRequest reprofileRequest(const Version &V) const;
  const Version *finalVersion() const;
  void noteState(const char *When);

  // PipelineSanitize.cpp
  llvm::Expected<bool> sanitized(const Members &M);
  llvm::Expected<std::string> newFinding(const Version &V);
  llvm::Expected<std::string> sanitize(const Version &V, llvm::StringRef Tool,
                                       const InputSet &Input);

  // PipelineAblate.cpp
  struct Part;
  std::vector<Part> parts() const;
  llvm::Error checkParts(std::vector<Part> &Parts);
  llvm::Error timeParts(std::vector<Part> &Parts, const Version &Whole, unsigned Rounds);

  // PipelineReplay.cpp
  llvm::Error replay();
  llvm::Error replayFinal(const Recording &R, Members Kept, const std::string &On);
  llvm::Error record() const;

  Subject S;
  const EvaluationOptions &O;
  const GpuInfo &Gpu;
  llvm::function_ref<void(llvm::StringRef)> Say;
  Deadline Until;

  ViewKind Kind = ViewKind::CopiedTree;
  TreeLayout Layout;
  std::vector<std::string> RunArgs;
  std::vector<InputSet> Inputs;
  std::string CompilerBuild;
  Version Baseline;
  std::vector<std::unique_ptr<Version>> Versions; ///< of the candidates
  std::map<Members, std::unique_ptr<Version>> Unions; ///< of several
  std::vector<CandidateOutcome> Outcomes;
  std::unique_ptr<Runner> Run;
  std::unique_ptr<Validator> Check;

  /// What is known of a candidate from the quick check and the screening.
  struct Standing {
    bool Alive = false;   ///< built, and right as far as it was checked
    bool Checked = false; ///< the quick check ran
    double Speedup = 0;   ///< of its kernels, 0 when not screened
    double Worst = 0;     ///< of its slowest instantiation
    unsigned Rounds = 0;
    bool Dropped = false; ///< validated in full or measured, and not kept
  };
  std::vector<Standing> Standings;
  std::string Sanitizer; ///< path of compute-sanitizer
  std::vector<TimeTrace> BaselineTimes; ///< the first ones, for what timed runs must repeat
  std::map<uint64_t, AllocationHash> Finals;
  EvaluationResult Result;
};

} // namespace optimas

#endif // OPTIMAS_LIB_EVALUATE_PIPELINEIMPL_H
