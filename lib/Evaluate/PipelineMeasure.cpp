//===- PipelineMeasure.cpp - Timed runs, verdicts, ablation -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PipelineImpl.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace optimas {

/// Runs \p V timed at the default arguments. The timed run is a checked run: its output,
/// its launches and the last content of every allocation must be the baseline's. Nullopt
/// and \p Problem when they are not.
Expected<std::optional<RunTimes>> Pipeline::timedRun(const Version &V,
                                                     std::string &Problem) {
  bool IsBaseline = &V == &Baseline;
  const InputBaseline &Input = Check->inputs().front();
  ProgramRun R;
  R.Mode = RunMode::Time;
  R.Args = Check->argv(program(V), Input.Input);
  R.Directory = Layout.RunDir;
  R.Poison = TimedPoison;
  R.TimeoutSeconds = O.RunTimeoutSeconds;
  Expected<RunOutcome> Out = Run->run(*V.View, R);
  if (!Out)
    return Out.takeError();
  if (std::string How = endedBadly(Out->Process, O.RunTimeoutSeconds); !How.empty())
    Problem = "a timed run " + How;
  else if (!Out->Time)
    Problem = "a timed run left no trace: " + Out->TraceProblem;
  else if (Out->Time->Dropped)
    Problem = formatv("{0} activity records of a timed run were lost", Out->Time->Dropped).str();
  if (!Problem.empty())
    return std::nullopt;
  if (IsBaseline) {
    if (BaselineTimes.size() < 3) {
      BaselineTimes.push_back(*Out->Time);
      Finals = stableFinals(BaselineTimes);
    }
    return runTimes(*Out->Time, Out->Process.WallNs);
  }
  bool Compares = O.Validate == ValidateMode::Bytes;
  std::optional<Mismatch> M;
  if (!BaselineTimes.empty())
    M = compareActivity(BaselineTimes.front(), *Out->Time, Input.Input.Name);
  if (!M && Compares)
    M = compareFinals(Finals, *Out->Time, Input.Input.Name);
  if (M)
    Problem = formatv("{0} differs in a timed run: {1} became {2}", M->What, M->Baseline,
                      M->Candidate)
                  .str();
  else if (std::optional<TextDifference> D =
               Compares ? Input.Output.compare(Out->Process.Output) : std::nullopt)
    Problem = formatv("output line {0} differs in a timed run: `{1}` became `{2}`", D->Line,
                      D->Expected, D->Actual)
                  .str();
  // The program that was timed must be the one that was built and checked.
  else if (!V.SameCode && V.CodeHash != Baseline.CodeHash && !Out->Time->Modules.empty() &&
           !BaselineTimes.empty() && Out->Time->Modules == BaselineTimes.front().Modules)
    Problem = "a timed run loaded the unedited program's device code";
  if (!Problem.empty())
    return std::nullopt;
  return runTimes(*Out->Time, Out->Process.WallNs);
}

/// Rounds of one run of each version; the first round warms up and is dropped, and every
/// second one goes backwards. \p Problems: per version, what was wrong.
Expected<std::vector<std::vector<RunTimes>>>
Pipeline::roundRobin(ArrayRef<const Version *> List, unsigned Rounds,
                     std::vector<std::string> &Problems) {
  std::vector<std::vector<RunTimes>> Times(List.size());
  Problems.assign(List.size(), "");
  for (unsigned R = 0; R <= Rounds; ++R) {
    if (R > 1 && Until.left() < 2 * Check->runSeconds() * double(List.size()))
      break;
    for (size_t Step = 0; Step < List.size(); ++Step) {
      size_t I = R % 2 ? List.size() - 1 - Step : Step;
      if (!Problems[I].empty())
        continue;
      Expected<std::optional<RunTimes>> T = timedRun(*List[I], Problems[I]);
      if (!T)
        return T.takeError();
      if (R > 0 && *T)
        Times[I].push_back(**T);
    }
  }
  return Times;
}

/// The verdict of each member from the runs of the union.
void Pipeline::judgeMembers(const Members &M, const PairedRuns &Runs,
                            const CandidateOutcome &Together) {
  for (size_t I : M) {
    CandidateOutcome &Out = Outcomes[I];
    const Version &V = *Versions[I];
    Out.Kernels.clear();
    for (Comparison &C : compareKernels(Runs, V.Kernels, O.Seed))
      if (C.Name == "all kernels" || C.Name == "edited kernels" ||
          is_contained(V.Kernels, kernelBase(C.Name)))
        Out.Kernels.push_back(std::move(C));
    Out.Wall = Together.Wall;
    Out.Validation = Together.Validation;
    Decision D = decide(Out.Kernels, V.Kernels, Out.Validation, O.Validate, V.Headroom,
                        O.RelativeWidth);
    Out.Verdict = D.Verdict;
    Out.Why = D.Why;
    Out.Implausible = D.Implausible;
    if (M.size() > 1)
      Out.Why += "; measured together with the other candidates";
  }
}

/// Baseline and \p V interleaved until the interval is narrow or time is up. False when a
/// member does not pay (it is dropped) or turned out wrong.
Expected<bool> Pipeline::measureUnion(const Members &M, const Version &V,
                                      CandidateOutcome &Out) {
  auto Drop = [&](VerdictKind K, const std::string &Why) {
    for (size_t I : M) {
      Standings[I].Dropped = true;
      Standings[I].Alive &= K != VerdictKind::WrongResult;
      Outcomes[I].Verdict = K;
      Outcomes[I].Why = Why;
    }
    return false;
  };
  if (!Run->hasCollector())
    return Drop(VerdictKind::NotMeasured,
                "kernels cannot be timed without liboptimas_collector.so");
  PairedRuns Runs;
  std::string Problem, Mine;
  // Warm-up of both sides; twice for the baseline, whose last bytes must repeat.
  for (const Version *W : std::initializer_list<const Version *>{&Baseline, &Baseline, &V}) {
    Expected<std::optional<RunTimes>> T = timedRun(*W, W == &V ? Mine : Problem);
    if (!T)
      return T.takeError();
  }
  unsigned Pairs = 0;
  double Pair = 2 * Check->runSeconds();
  // Beyond the pairs that a verdict needs, a second try without a member that does not
  // pay comes first.
  double Reserve = M.size() > 1 ? std::min(Until.left() * 0.5, Check->validateSeconds() +
                                                                   O.MinPairs * Pair)
                                : 0;
  Reserve += profileSeconds();
  while (Problem.empty() && Mine.empty() && Pairs < O.MaxPairs) {
    if (Pairs >= 3 && Until.left() - (Pairs < O.MinPairs ? 0 : Reserve) < Pair)
      break;
    Say(formatv("measuring, pair {0}", Pairs + 1).str());
    for (unsigned Step : {2 * Pairs, 2 * Pairs + 1}) {
      bool IsCandidate = candidateRunsAt(Step);
      Expected<std::optional<RunTimes>> T =
          timedRun(IsCandidate ? V : Baseline, IsCandidate ? Mine : Problem);
      if (!T)
        return T.takeError();
      if (*T)
        (IsCandidate ? Runs.Candidate : Runs.Baseline).push_back(**T);
    }
    ++Pairs;
    if (preciseEnough(Runs, V.Kernels, O.MinPairs, O.RelativeWidth, O.Seed))
      break;
  }
  if (!Problem.empty())
    return Drop(VerdictKind::NotMeasured, "the unedited program: " + Problem);
  if (!Mine.empty())
    return Drop(VerdictKind::WrongResult, Mine);
  Out.Kernels = compareKernels(Runs, V.Kernels, O.Seed);
  Out.Wall = compareWall(Runs, O.Seed);
  if (Pairs < O.MinPairs)
    Result.Notes.push_back(formatv("the time budget ended after {0} pairs of runs; {1} are "
                                   "wanted (--budget)",
                                   Pairs, O.MinPairs));
  Decision D = decide(Out.Kernels, V.Kernels, Out.Validation, O.Validate, V.Headroom,
                      O.RelativeWidth);
  Out.Verdict = D.Verdict;
  Out.Why = D.Why;
  Out.Implausible = D.Implausible;
  judgeMembers(M, Runs, Out);
  bool AllPay = true;
  for (size_t I : M)
    if (Outcomes[I].Verdict != VerdictKind::Faster) {
      Standings[I].Dropped = true;
      AllPay = false;
    }
  return AllPay;
}

/// The built program of the final result.
const Version *Pipeline::finalVersion() const {
  auto IsFinal = [&](const Version &V) {
    return V.View && V.Ok && V.Set.NewContents == Result.Final->Set.NewContents;
  };
  if (!Result.Final)
    return nullptr;
  for (const std::unique_ptr<Version> &V : Versions)
    if (IsFinal(*V))
      return V.get();
  for (const auto &[M, V] : Unions)
    if (IsFinal(*V))
      return V.get();
  return nullptr;
}

ReprofileRequest Pipeline::reprofileRequest(const Version &V) const {
  ReprofileRequest R;
  R.ViewPrefix = V.View->prefix(Layout.RunDir);
  R.Args = Check->argv(program(V), Check->inputs().front().Input);
  R.Directory = Layout.RunDir;
  R.TimeoutSeconds = O.RunTimeoutSeconds;
  // In a copied tree there is nothing to put before: the paths themselves are others.
  for (std::string &A : R.Args)
    A = V.View->translate(A);
  R.Directory = V.View->translate(R.Directory);
  return R;
}

/// Two profiles of the unedited program and one of the result, each of a timed run and a
/// slower one that samples.
double Pipeline::profileSeconds() const {
  return S.Profile ? 9 * Check->runSeconds() : 0;
}

void Pipeline::profileAgain() {
  const Version *V = finalVersion();
  if (!S.Profile || !V)
    return;
  Result.Ear.ResultAgreementWhyNot =
      "the time budget left no time to profile the result (--budget)";
  if (Until.left() < profileSeconds())
    return;
  Say("profiling the result");
  setAgreement(S.Profile(reprofileRequest(Baseline), reprofileRequest(*V), V->Set));
}

void Pipeline::setAgreement(const Agreement &A) {
  Result.Ear.ResultAgreement = A.Value;
  Result.Ear.ResultAgreementWhyNot = A.WhyNot;
  Result.Ear.Metrics = A.Metrics;
}

void Pipeline::noteState(const char *When) {
  if (std::optional<GpuState> State = sampleGpu())
    Result.Notes.push_back(std::string("the card ") + When +
                           " the runs: " + describe(*State));
}

} // namespace optimas
