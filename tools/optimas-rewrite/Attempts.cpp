//===- Attempts.cpp - From proposals to an evaluation -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Attempts.h"
#include "EvidenceSource.h"
#include "optimas/Evaluate/Evaluate.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

namespace {
/// One attempt: what was proposed and what the guard made of it.
struct Attempt {
  std::vector<Proposal> Proposals;
  std::vector<EditSet> Sets; ///< same order
};
} // namespace

FrontendOptions frontendOptions(const Settings &S, const Profile *P) {
  FrontendOptions F;
  F.ResourceDir = S.ResourceDir;
  F.CudaPath = S.CudaPath;
  F.ProjectRoot = S.ProjectRoot;
  if (P)
    F.PreferredSm = P->Device.CcMajor * 10 + P->Device.CcMinor;
  return F;
}

static EvaluationOptions evaluationOptions(const Settings &S, const Compilation &C,
                                           const ToolContext &Tool) {
  EvaluationOptions E;
  E.RunCommand = S.Run;
  E.RunDir = S.RunDir;
  E.BuildCommand = S.Build;
  E.BuildDir = C.BuildDir;
  E.InputsFile = S.Inputs;
  E.OutputFiles = S.OutputFiles;
  E.Masks = S.Masks;
  StringRef V = S.Validate;
  if (V == "none")
    E.Validate = ValidateMode::None;
  else if (V.consume_front("command:")) {
    E.Validate = ValidateMode::Command;
    E.ValidateCommand = V.str();
  }
  E.MinPairs = S.Repeat;
  E.MaxPairs = std::max(E.MaxPairs, S.Repeat);
  E.BudgetSeconds = S.Budget;
  E.RunTimeoutSeconds = S.RunTimeout;
  E.CollectorPath = S.Collector;
  E.RecordDir = S.Record;
  E.ReplayDir = S.Replay;
  E.Ablation = S.Ablation;
  E.KeepScratch = S.KeepScratch;
  E.ToolDir = Tool.ToolDir;
  E.CommandLine = Tool.CommandLine;
  E.Reprofile = [&S, &Tool](const ReprofileRequest &R) {
    return profileAgain(S, Tool.ToolDir, R);
  };
  return E;
}

/// Numbers proposals and edits so that ids are unique over all attempts.
static void renumber(std::vector<Proposal> &Proposals, unsigned &NextProposal,
                     unsigned &NextEdit) {
  for (Proposal &P : Proposals) {
    P.Id = NextProposal++;
    for (Edit &E : P.Edits)
      E.Id = NextEdit++;
  }
}

static Expected<Attempt> guardAll(const SourceModel &Model, const Diagnosis &D,
                                  std::vector<Proposal> Proposals,
                                  const GuardOptions &Options, Progress &Say) {
  Attempt Out;
  for (Proposal &P : Proposals) {
    Say(("checking " + Twine(P.Title)).str());
    Expected<EditSet> Set = guard(Model, D, P, Options);
    if (!Set)
      return Set.takeError();
    Out.Sets.push_back(std::move(*Set));
  }
  Out.Proposals = std::move(Proposals);
  return Out;
}

static std::vector<Candidate> candidatesOf(const Attempt &A) {
  std::vector<Candidate> Out;
  for (size_t I = 0; I < A.Sets.size(); ++I) {
    if (A.Sets[I].empty())
      continue;
    Candidate C;
    C.Set = A.Sets[I];
    C.Title = A.Proposals[I].Title;
    C.Group = A.Proposals[I].Group;
    C.Kernels = A.Proposals[I].Kernels;
    Out.push_back(std::move(C));
  }
  return Out;
}

/// What goes back to the proposer; nullopt when there is nothing to complain of.
static std::optional<Feedback> feedbackFor(unsigned Number, const Attempt &A,
                                           const EvaluationResult &E) {
  Feedback F;
  F.Attempt = Number;
  for (const EditSet &Set : A.Sets)
    F.Refusals.insert(F.Refusals.end(), Set.Refusals.begin(), Set.Refusals.end());
  for (const CandidateOutcome &C : E.Candidates)
    if (C.Verdict == VerdictKind::BuildFailed && F.BuildErrors.empty())
      F.BuildErrors = C.BuildLog;
  bool AnyCandidate = any_of(A.Sets, [](const EditSet &Set) { return !Set.empty(); });
  if (AnyCandidate && F.BuildErrors.empty())
    return std::nullopt; // something stands; the measurement decides
  if (F.Refusals.empty() && F.BuildErrors.empty())
    return std::nullopt;
  return F;
}

Error proposeAndEvaluate(const Settings &S, const Compilation &C, const ToolContext &Tool,
                         RunRecord &R, const ProposalRequest &Request) {
  ProposerOptions PO;
  PO.Spec = S.Proposer;
  PO.Model = S.Model;
  PO.Endpoint = S.Endpoint;
  PO.KeyVariable = S.KeyVariable;
  PO.TimeoutSeconds = S.ModelTimeout;
  Expected<std::unique_ptr<Proposer>> P = makeProposer(PO);
  if (!P)
    return P.takeError();
  R.ProposerName = (*P)->name();
  GuardOptions GO;
  GO.Trusted = (*P)->trusted();
  GO.AllOrNothing = GO.Trusted;
  GO.Frontend = frontendOptions(S, &R.Prof);
  GO.Database = C.Database;

  Progress &Say = *Tool.Say;
  unsigned NextProposal = 1, NextEdit = 1;
  std::optional<Feedback> Last;
  for (unsigned Number = 1; Number <= S.MaxAttempts; ++Number) {
    Say(("asking " + Twine(R.ProposerName) + " for edits").str());
    Expected<std::vector<Proposal>> Proposals =
        (*P)->propose(Request, Last ? &*Last : nullptr);
    R.Cost = (*P)->cost();
    if (!Proposals)
      return Proposals.takeError();
    if (Number > 1 && Proposals->empty())
      break; // cannot react to feedback
    renumber(*Proposals, NextProposal, NextEdit);
    Expected<Attempt> A = guardAll(R.Model, R.D, std::move(*Proposals), GO, Say);
    if (!A)
      return A.takeError();
    for (const EditSet &Set : A->Sets)
      R.Refusals.insert(R.Refusals.end(), Set.Refusals.begin(), Set.Refusals.end());
    std::vector<Candidate> Candidates = candidatesOf(*A);
    EvaluationResult E;
    if (!Candidates.empty() && S.Evaluate) {
      Expected<EvaluationResult> Result =
          evaluate(R.Model, R.Prof, R.D, std::move(Candidates),
                   evaluationOptions(S, C, Tool), [&Say](StringRef Step) { Say(Step); });
      if (!Result)
        return Result.takeError();
      E = std::move(*Result);
    } else if (!Candidates.empty()) {
      E = withoutEvaluation(R.Model, R.D, std::move(Candidates));
    }
    Last = feedbackFor(Number, *A, E);
    R.Proposals.insert(R.Proposals.end(), A->Proposals.begin(), A->Proposals.end());
    R.EditSets.insert(R.EditSets.end(), A->Sets.begin(), A->Sets.end());
    // Build failures of earlier attempts stay on record beside the last attempt's.
    std::vector<CandidateOutcome> Earlier = std::move(R.Evaluation.Candidates);
    R.Evaluation = std::move(E);
    R.Evaluation.Candidates.insert(R.Evaluation.Candidates.begin(), Earlier.begin(),
                                   Earlier.end());
    if (!Last)
      break;
  }
  ArrayRef<Declined> Declines = (*P)->declines();
  R.Declines.assign(Declines.begin(), Declines.end());
  return Error::success();
}

Error evaluateFile(const Settings &S, const Compilation &C, const ToolContext &Tool,
                   RunRecord &R, ArrayRef<FunctionId> Kernels) {
  Expected<std::string> Text = readFile(S.Candidate, ExitCode::Usage);
  if (!Text)
    return Text.takeError();
  const SourceFile &Main = R.Model.mainFile();
  if (*Text == Main.Text)
    return makeError(ExitCode::Usage, "is the same as the source", S.Candidate,
                     "name a changed version of it");
  Candidate One;
  One.Title = "candidate " + sys::path::filename(S.Candidate).str();
  One.Group = "candidate";
  One.Kernels.assign(Kernels.begin(), Kernels.end());
  Edit Whole;
  Whole.Id = 1;
  Whole.Kind = EditKind::RawRange;
  Whole.Transformation = "candidate-file";
  Whole.Reason = "handed over with --candidate, past the guard";
  One.Set.Proposal = 1;
  One.Set.Accepted.push_back(Whole);
  FileEdit Bytes;
  Bytes.Path = Main.Path;
  Bytes.File = static_cast<FileId>(&Main - R.Model.files().data());
  Bytes.Length = Main.Text.size();
  Bytes.Replacement = *Text;
  Bytes.Edit = 1;
  One.Set.FileEdits.push_back(Bytes);
  One.Set.NewContents[Main.Path] = *Text;
  R.EditSets.push_back(One.Set);
  R.Notes.push_back("the candidate was handed over with --candidate: no evidence, no guard");
  Progress &Say = *Tool.Say;
  std::vector<Candidate> Candidates;
  Candidates.push_back(std::move(One));
  Expected<EvaluationResult> E =
      evaluate(R.Model, R.Prof, R.D, std::move(Candidates), evaluationOptions(S, C, Tool),
               [&Say](StringRef Step) { Say(Step); });
  if (!E)
    return E.takeError();
  R.Evaluation = std::move(*E);
  return Error::success();
}

} // namespace optimas
