//===- Pipeline.cpp - The order of an evaluation -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PipelineImpl.h"
#include "optimas/Evaluate/Replay.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace optimas {

static void addTo(std::vector<std::string> &Into, ArrayRef<std::string> From) {
  for (const std::string &F : From)
    if (!is_contained(Into, F))
      Into.push_back(F);
}

/// What argv[0] names must be the program itself when it is put in place of it.
Error Pipeline::checkRunCommand() {
  if (RunArgs.empty() || !O.BuildCommand.empty() || StringRef(RunArgs[0]).contains('/'))
    return Error::success();
  if (sys::findProgramByName(RunArgs[0]))
    return makeError(ExitCode::Usage,
                     "starts `" + Twine(RunArgs[0]) + "`, which is not the built program",
                     "--run", "name the program by its path (./app), or give the command "
                              "that builds it by --build");
  return Error::success();
}

Error Pipeline::setUp() {
  Kind = bestViewKind();
  Expected<std::vector<std::string>> Words = splitCommand(O.RunCommand);
  if (!Words)
    return Words.takeError();
  RunArgs = std::move(*Words);
  if (Error E = checkRunCommand())
    return E;
  if (!O.InputsFile.empty()) {
    Expected<std::vector<InputSet>> Read = readInputs(O.InputsFile);
    if (!Read)
      return Read.takeError();
    Inputs = std::move(*Read);
  }
  if (Expected<OutputMask> Mask = OutputMask::create(O.Masks); !Mask)
    return Mask.takeError();
  if (!O.BuildDir.empty())
    Layout.BuildDir = canonicalPath(O.BuildDir);
  Layout.ProjectRoot = S.ProjectRoot;
  if (!RunArgs.empty() || !O.RunDir.empty()) {
    StringRef Dir = !O.RunDir.empty()        ? StringRef(O.RunDir)
                    : !Layout.BuildDir.empty() ? StringRef(Layout.BuildDir)
                                               : StringRef(S.Command.Directory);
    Layout.RunDir = canonicalPath(Dir);
    if (!sys::fs::is_directory(Layout.RunDir))
      return makeError(ExitCode::Usage, "is no folder", Layout.RunDir,
                       "name the program's working folder by --run-dir");
  }
  // `--run=build/app` typed where it, or the folder that it will be built in, exists means
  // that file, wherever it is run.
  if (!RunArgs.empty() && StringRef(RunArgs[0]).contains('/') &&
      !sys::path::is_absolute(RunArgs[0])) {
    std::string Folder = sys::path::parent_path(RunArgs[0]).str();
    bool There = sys::fs::exists(Layout.RunDir + "/" + RunArgs[0]) ||
                 (sys::fs::exists(Layout.RunDir + "/" + Folder) && !sys::fs::exists(RunArgs[0]));
    if (!There && sys::fs::exists(Folder))
      RunArgs[0] = canonicalPath(Folder) + "/" + sys::path::filename(RunArgs[0]).str();
  }
  CompilerBuild = compilerBuild(S.Command);
  for (SubjectEntry &E : S.Entries) {
    auto V = std::make_unique<Version>();
    V->Set = E.C.Set;
    V->Kernels = E.Kernels;
    V->Touched = E.Touched;
    V->Headroom = E.Headroom;
    Versions.push_back(std::move(V));
    addTo(Baseline.Kernels, E.Kernels);
  }
  Standings.resize(Versions.size());
  for (size_t I = 0; I < Versions.size(); ++I)
    Outcomes.push_back(outcomeOf(I));
  return Error::success();
}

CandidateOutcome Pipeline::outcomeOf(size_t Index) const {
  const Candidate &C = S.Entries[Index].C;
  CandidateOutcome Out;
  Out.Set = C.Set;
  Out.ProposalId = C.Set.Proposal;
  Out.Title = C.Title;
  Out.Group = C.Group;
  Out.Key = candidateKey(S, O, C.Set);
  return Out;
}

std::string Pipeline::howToMeasure() const {
  std::vector<std::string> Args = O.CommandLine;
  if (Args.empty()) {
    Args = {"optimas-rewrite", S.Command.File};
    if (!O.BuildDir.empty())
      Args.insert(Args.end(), {"-p", O.BuildDir});
  }
  erase_if(Args, [](const std::string &A) { return StringRef(A).starts_with("--replay"); });
  if (O.RunCommand.empty()) {
    auto At = find(Args, "--");
    Args.insert(At, "--run=./PROGRAM ARGUMENTS");
  }
  return quoteCommand(Args);
}

/// What a version's build says about a candidate.
void Pipeline::describeBuild(const Version &V, CandidateOutcome &Out) const {
  Out.ResourcesBefore = Baseline.Device.Resources;
  Out.ResourcesAfter = V.Device.Resources;
  Out.CodeHash = V.CodeHash;
  Out.SameCode = V.SameCode;
  Out.ChangedOtherKernels = V.ChangedOthers;
  Out.OtherKernelsIdentical = V.Device.Ok && !V.CodeHash.empty() && V.ChangedOthers.empty();
  Out.BuildLog = V.Ok ? "" : V.Build.Log.empty() ? V.Device.Log : V.Build.Log;
  if (!V.Ok) {
    Out.Verdict = V.Failure;
    Out.Why = V.Why;
    if (V.View && V.Failure == VerdictKind::BuildFailed)
      Out.BuildCommand = planFor(*V.View).describe();
  }
}

std::unique_ptr<Version> Pipeline::unionOf(const Members &M) const {
  std::vector<const EditSet *> Sets;
  auto V = std::make_unique<Version>();
  for (size_t I : M) {
    Sets.push_back(&Versions[I]->Set);
    addTo(V->Kernels, Versions[I]->Kernels);
    addTo(V->Touched, Versions[I]->Touched);
    V->Headroom = std::max(V->Headroom, Versions[I]->Headroom);
  }
  std::optional<EditSet> Set = unite(Sets, S.Texts);
  if (!Set)
    return nullptr;
  V->Set = std::move(*Set);
  return V;
}

/// The version of one candidate, or of several together (made by unionOf, may be unbuilt).
Version &Pipeline::versionOf(const Members &M) {
  return M.size() == 1 ? *Versions[M[0]] : *Unions.at(M);
}

/// Without measurements: proposals are sorted by what is expected of them.
void Pipeline::keepFirstOfEachGroup() {
  std::set<std::string> Seen;
  for (size_t I = 0; I < Outcomes.size(); ++I) {
    CandidateOutcome &Out = Outcomes[I];
    describeBuild(*Versions[I], Out);
    if (!Versions[I]->Ok)
      continue;
    if (Versions[I]->SameCode) {
      Out.Verdict = VerdictKind::Unchanged;
      Out.Why = "nvcc makes the same machine code of it";
      continue;
    }
    Out.Verdict = VerdictKind::NotMeasured;
    Out.Why = O.RunCommand.empty() ? "no --run command was given: it was built, not run"
                                   : "there is no GPU here: it was built, not run";
    Out.HowToMeasure = howToMeasure();
    std::string Group = Out.Group.empty() ? "#" + std::to_string(I) : Out.Group;
    Out.Kept = Seen.insert(Group).second;
  }
}

/// Builds the union of \p M as the final result, leaving out what does not fit together.
Error Pipeline::makeFinal(const Members &M) {
  Members Fit;
  for (size_t I : M) {
    Members With = Fit;
    With.push_back(I);
    if (unionOf(With)) {
      Fit = std::move(With);
      continue;
    }
    Outcomes[I].Kept = false;
    Result.Notes.push_back("`" + Outcomes[I].Title +
                           "` changes the same text as a candidate that was kept: left out");
  }
  if (Fit.empty())
    return Error::success();
  if (Fit.size() > 1 && !Unions.count(Fit))
    Unions[Fit] = unionOf(Fit);
  Version &V = versionOf(Fit);
  if (!V.View)
    if (Error E = buildAll({&V}))
      return E;
  CandidateOutcome Out = Outcomes[Fit[0]];
  if (Fit.size() > 1) {
    Out = CandidateOutcome();
    Out.Set = V.Set;
    for (size_t I : Fit)
      Out.Title += (Out.Title.empty() ? "" : "; ") + Outcomes[I].Title;
    Out.Key = candidateKey(S, O, V.Set);
    Out.Verdict = VerdictKind::NotMeasured;
    Out.Why = Outcomes[Fit[0]].Why;
    Out.HowToMeasure = Outcomes[Fit[0]].HowToMeasure;
    describeBuild(V, Out);
  }
  Out.Kept = true;
  Result.Built = V.Ok;
  Result.Final = std::move(Out);
  return Error::success();
}

Expected<EvaluationResult> Pipeline::finish() {
  for (Version *V : {&Baseline, Versions.empty() ? nullptr : Versions[0].get()})
    if (V && V->View)
      for (const std::string &N : V->View->notes())
        if (!is_contained(Result.Notes, N))
          Result.Notes.push_back(N);
  if (O.KeepScratch) {
    auto Keep = [&](Version &V, StringRef What) {
      if (!V.View)
        return;
      V.View->keep();
      Result.Notes.push_back("kept: " + V.View->root() + " (" + What.str() + ")");
    };
    Keep(Baseline, "the unedited program");
    for (size_t I = 0; I < Versions.size(); ++I)
      Keep(*Versions[I], Outcomes[I].Title);
    for (auto &[M, V] : Unions)
      Keep(*V, "several candidates together");
  }
  Result.Candidates = std::move(Outcomes);
  Result.Machine = Result.Machine.empty() ? Gpu.text() : Result.Machine;
  return std::move(Result);
}

Expected<EvaluationResult> Pipeline::run() {
  if (Error E = setUp())
    return std::move(E);
  if (Versions.empty())
    return finish();
  if (!O.ReplayDir.empty()) {
    if (Error E = replay())
      return std::move(E);
    return finish();
  }
  bool Measure = Gpu.Present && !RunArgs.empty();
  Result.HaveGpu = Gpu.Present;
  Say("building the unedited program");
  if (Error E = buildBaseline())
    return std::move(E);
  std::vector<Version *> All;
  for (std::unique_ptr<Version> &V : Versions)
    All.push_back(V.get());
  Say(formatv("building {0} candidate{1}", All.size(), All.size() == 1 ? "" : "s").str());
  if (Error E = buildAll(All))
    return std::move(E);
  if (none_of(Versions, [](const auto &V) { return V->Ok; }))
    if (Error E = checkBaselineBuilds())
      return std::move(E);
  if (Measure) {
    if (Error E = searchAndMeasure())
      return std::move(E);
  } else {
    keepFirstOfEachGroup();
    Members Kept;
    for (size_t I = 0; I < Outcomes.size(); ++I)
      if (Outcomes[I].Kept)
        Kept.push_back(I);
    if (Error E = makeFinal(Kept))
      return std::move(E);
  }
  if (!O.RecordDir.empty()) {
    if (!Measure)
      Result.Notes.push_back("nothing was measured, so nothing was recorded");
    else if (Error E = record())
      return std::move(E);
  }
  return finish();
}

Expected<EvaluationResult> evaluateSubject(Subject S, const EvaluationOptions &Options,
                                           const GpuInfo &Gpu,
                                           function_ref<void(StringRef)> Say) {
  return Pipeline(std::move(S), Options, Gpu, Say).run();
}

} // namespace optimas
