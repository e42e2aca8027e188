//===- PipelineReplay.cpp - Recording and replaying -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PipelineImpl.h"
#include "RecordCheck.h"
#include "optimas/Evaluate/Replay.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <ctime>

using namespace llvm;

namespace optimas {

static std::string now() {
  char Text[32];
  std::time_t T = std::time(nullptr);
  std::tm Utc;
  ::gmtime_r(&T, &Utc);
  std::strftime(Text, sizeof(Text), "%Y-%m-%dT%H:%M:%SZ", &Utc);
  return Text;
}

Error Pipeline::record() const {
  Recording R;
  R.Machine = Gpu.text();
  R.Date = now();
  R.Compiler = CompilerBuild;
  R.Command = normalisedCommand(S.Command, S.ProjectRoot, Layout.BuildDir, S.CudaPath);
  for (const auto &[Path, Text] : S.Texts)
    R.Sources[StringRef(Path).starts_with(S.ProjectRoot + "/")
                  ? Path.substr(S.ProjectRoot.size() + 1)
                  : Path] = sha256(Text);
  R.Ran = runAsked(S, O, RunArgs, Inputs);
  R.Ran->Device = Gpu.Name;
  R.Candidates = Outcomes;
  R.Final = Result.Final;
  R.Ablations = Result.Ablations;
  R.Agreed = {Result.Ear.ResultAgreement, Result.Ear.ResultAgreementWhyNot,
              Result.Ear.Metrics};
  R.Notes = Result.Notes;
  if (std::error_code EC = sys::fs::create_directories(O.RecordDir))
    return makeError(ExitCode::Usage, "cannot be made: " + EC.message(), O.RecordDir,
                     "name a folder that can be written by --record");
  return writeFileAtomically(recordingPath(O.RecordDir, S.Command.File), toJson(R));
}

/// A recorded outcome under a key, the final one included.
static const CandidateOutcome *findOutcome(const Recording &R, StringRef Key) {
  if (R.Final && R.Final->Key == Key)
    return &*R.Final;
  for (const CandidateOutcome &C : R.Candidates)
    if (C.Key == Key)
      return &C;
  return nullptr;
}

/// Puts what was recorded into \p Out, whose edit set and name stay.
static void take(CandidateOutcome &Out, const CandidateOutcome &Recorded,
                 const std::string &On) {
  CandidateOutcome New = Recorded;
  New.Set = std::move(Out.Set);
  New.ProposalId = Out.ProposalId;
  New.Title = Out.Title;
  New.Group = Out.Group;
  New.Recorded = true;
  New.RecordedOn = On;
  Out = std::move(New);
}

/// Really built here, and, where the compiler is the recorded one, to the recorded code.
static void compareCode(const Version &V, CandidateOutcome &Out, const Recording &R,
                        const std::string &Compiler) {
  bool SameCompiler = !Compiler.empty() && Compiler == R.Compiler;
  if (SameCompiler && !V.CodeHash.empty() && !Out.CodeHash.empty() &&
      V.CodeHash != Out.CodeHash) {
    Out.Verdict = VerdictKind::NotMeasured;
    Out.Why = "the same compiler makes other machine code here than was recorded";
    Out.Recorded = Out.Kept = false;
  }
}

Error Pipeline::replay() {
  std::string Path = recordingPath(O.ReplayDir, S.Command.File);
  Expected<std::string> Bytes = readFile(Path, ExitCode::EvidenceUnusable);
  if (!Bytes)
    return Bytes.takeError();
  Expected<Recording> R = parseRecording(*Bytes, Path);
  if (!R)
    return R.takeError();
  Expected<std::vector<std::string>> NotCompared =
      checkRun(*R, runAsked(S, O, RunArgs, Inputs), Path);
  if (!NotCompared)
    return NotCompared.takeError();
  Result.Notes.insert(Result.Notes.end(), NotCompared->begin(), NotCompared->end());
  std::string On = recordedOn(*R), Unfit = whyNot(*R, S, O);
  Result.Machine = Gpu.text();
  Result.HaveGpu = Gpu.Present;
  std::vector<Version *> ToBuild;
  for (size_t I = 0; I < Outcomes.size(); ++I) {
    CandidateOutcome &Out = Outcomes[I];
    const CandidateOutcome *Found = Unfit.empty() ? findOutcome(*R, Out.Key) : nullptr;
    if (Found) {
      take(Out, *Found, On);
      if (Error E = checkRecorded(Out, Versions[I]->Kernels, Versions[I]->Headroom, O, Path))
        return E;
      // What the final result consists of is built here as well; the rest is history.
      if (Out.Kept)
        ToBuild.push_back(Versions[I].get());
      continue;
    }
    Out.Verdict = VerdictKind::NotMeasured;
    Out.Why = Unfit.empty() ? "the recording holds no candidate with these edits" : Unfit;
    Out.HowToMeasure = howToMeasure();
  }
  Say("building the unedited program");
  if (Error E = buildBaseline())
    return E;
  bool Recorded = any_of(Outcomes, [](const CandidateOutcome &C) { return C.Recorded; });
  if (!Recorded)
    for (std::unique_ptr<Version> &V : Versions)
      ToBuild.push_back(V.get());
  // One member is the final result itself; of several only the union is built.
  Members Kept;
  for (size_t I = 0; I < Outcomes.size(); ++I)
    if (Outcomes[I].Kept)
      Kept.push_back(I);
  if (Kept.size() > 1)
    ToBuild.clear();
  if (!ToBuild.empty()) {
    Say(formatv("building {0} candidate{1}", ToBuild.size(), ToBuild.size() == 1 ? "" : "s")
            .str());
    if (Error E = buildAll(ToBuild))
      return E;
  }
  if (!Recorded) {
    // Nothing matches: as without a recording, but each says why.
    std::vector<std::string> Why;
    for (CandidateOutcome &Out : Outcomes)
      Why.push_back(Out.Why);
    keepFirstOfEachGroup();
    for (size_t I = 0; I < Outcomes.size(); ++I)
      if (Outcomes[I].Verdict == VerdictKind::NotMeasured && Versions[I]->Ok)
        Outcomes[I].Why = Why[I];
    for (size_t I = 0; I < Outcomes.size(); ++I)
      if (Outcomes[I].Kept)
        Kept.push_back(I);
    return makeFinal(Kept);
  }
  return replayFinal(*R, Kept, On);
}

/// The union of the kept candidates under its own key.
Error Pipeline::replayFinal(const Recording &R, Members Kept, const std::string &On) {
  if (Kept.empty())
    return Error::success();
  if (Error E = makeFinal(Kept))
    return E;
  if (!Result.Final)
    return Error::success();
  CandidateOutcome &Final = *Result.Final;
  Version *V = nullptr;
  for (std::unique_ptr<Version> &C : Versions)
    if (C->Set.NewContents == Final.Set.NewContents)
      V = C.get();
  for (auto &[M, U] : Unions)
    if (U->Set.NewContents == Final.Set.NewContents)
      V = U.get();
  Result.Built = V && V->Ok;
  if (V && V->View && !V->Ok) {
    // What was recorded of it elsewhere says nothing here.
    CandidateOutcome Failed;
    Failed.Set = std::move(Final.Set);
    Failed.ProposalId = Final.ProposalId;
    Failed.Title = Final.Title;
    Failed.Group = Final.Group;
    Failed.Key = Final.Key;
    Failed.Verdict = V->Failure;
    Failed.Why = V->Why;
    Failed.BuildLog = V->Build.Log;
    Failed.BuildCommand = planFor(*V->View).describe();
    Final = std::move(Failed);
    return Error::success();
  }
  const CandidateOutcome *Found = findOutcome(R, Final.Key);
  if (!Found) {
    Final.Verdict = VerdictKind::NotMeasured;
    Final.Why = "the recording does not hold these candidates together";
    Final.HowToMeasure = howToMeasure();
    Final.Recorded = false;
    return Error::success();
  }
  take(Final, *Found, On);
  if (V) {
    if (Error E = checkRecorded(Final, V->Kernels, V->Headroom, O,
                                recordingPath(O.ReplayDir, S.Command.File)))
      return E;
    compareCode(*V, Final, R, CompilerBuild);
    // Registers and spills are this machine's compiler's own.
    Final.ResourcesBefore = Baseline.Device.Resources;
    Final.ResourcesAfter = V->Device.Resources;
    Final.OtherKernelsIdentical = V->Device.Ok && V->ChangedOthers.empty();
  }
  Final.Kept = true;
  if (Final.Recorded)
    Result.Ablations = R.Ablations;
  if (!Final.Recorded)
    for (size_t I : Kept) {
      Outcomes[I].Verdict = VerdictKind::NotMeasured;
      Outcomes[I].Why = Final.Why;
      Outcomes[I].Recorded = false;
    }
  if (Final.Recorded) {
    setAgreement(R.Agreed);
    Result.Ear.ResultAgreementRecorded = true;
    if (!R.Agreed.Value && R.Agreed.WhyNot.empty())
      Result.Ear.ResultAgreementWhyNot = "the recorded result was not profiled again";
  }
  return Error::success();
}

} // namespace optimas
