//===- Evaluate.cpp - The evaluation of all candidates -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Evaluate.h"
#include "optimas/Evaluate/Ear.h"
#include "optimas/Evaluate/Pipeline.h"

using namespace llvm;

namespace optimas {

/// Profiles the unedited program twice and the result once, at one sampling interval.
static Expected<std::vector<Profile>> profileThrice(const ReprofileFn &Reprofile,
                                                    ReprofileRequest Before,
                                                    ReprofileRequest After) {
  std::vector<Profile> Out;
  for (ReprofileRequest *R : {&Before, &Before, &After}) {
    if (!Out.empty())
      R->SamplingIntervalLog2 = Out.front().Quality.SamplingIntervalLog2;
    Expected<Profile> P = Reprofile(*R);
    if (!P)
      return P.takeError();
    Out.push_back(std::move(*P));
  }
  return Out;
}

static bool citesEvidence(const EditSet &Set) {
  return any_of(Set.Accepted, [](const Edit &E) { return !E.Evidence.empty(); });
}

/// EAR of the final result; what was measured of it is in \p R already.
static void score(const SourceModel &Model, const Diagnosis &D, EvaluationResult &R) {
  EarScore Measured = std::move(R.Ear);
  R.Ear = scoreEdits(Model, D, R.Final->Set);
  R.Ear.ResultAgreement = Measured.ResultAgreement;
  R.Ear.ResultAgreementRecorded = Measured.ResultAgreementRecorded;
  R.Ear.Metrics = std::move(Measured.Metrics);
  if (Measured.ResultAgreement)
    R.Ear.ResultAgreementWhyNot.clear();
  else if (!Measured.ResultAgreementWhyNot.empty())
    R.Ear.ResultAgreementWhyNot = Measured.ResultAgreementWhyNot;
  // A recording names metrics; which item that is, is this diagnosis' own.
  for (MetricAgreement &M : R.Ear.Metrics)
    for (const Evidence &E : D.Items)
      if (!M.Evidence && E.KernelName == M.Kernel && E.Metric == M.Metric)
        M.Evidence = E.Id;
}

Expected<EvaluationResult> evaluate(const SourceModel &Model, const Profile &P,
                                    const Diagnosis &D, std::vector<Candidate> Candidates,
                                    const EvaluationOptions &Options,
                                    function_ref<void(StringRef)> Say) {
  Subject S = makeSubject(Model, D, std::move(Candidates), Options);
  S.Device = P.Device.Name;
  if (Options.Reprofile)
    S.Profile = [&](const ReprofileRequest &Before, const ReprofileRequest &After,
                    const EditSet &Final) -> Agreement {
      if (!citesEvidence(Final))
        return {std::nullopt, "no edit cites evidence", {}};
      Expected<std::vector<Profile>> Three =
          profileThrice(Options.Reprofile, Before, After);
      if (!Three)
        return {std::nullopt, toString(Three.takeError()), {}};
      return agreementOf(Model, D, Final, *Three);
    };
  Expected<EvaluationResult> R = evaluateSubject(std::move(S), Options, detectGpu(), Say);
  if (R && R->Final)
    score(Model, D, *R);
  return R;
}

EvaluationResult withoutEvaluation(const SourceModel &Model, const Diagnosis &D,
                                   std::vector<Candidate> Candidates) {
  EvaluationOptions Options;
  Subject S = makeSubject(Model, D, std::move(Candidates), Options);
  EvaluationResult R;
  R.Machine = "not evaluated";
  std::vector<const EditSet *> Kept;
  std::set<std::string> Seen;
  std::vector<std::string> Titles;
  for (size_t I = 0; I < S.Entries.size(); ++I) {
    const Candidate &C = S.Entries[I].C;
    CandidateOutcome Out;
    Out.Set = C.Set;
    Out.ProposalId = C.Set.Proposal;
    Out.Title = C.Title;
    Out.Group = C.Group;
    Out.Why = "not evaluated, as was asked for";
    std::vector<const EditSet *> With = Kept;
    With.push_back(&C.Set);
    std::string Group = C.Group.empty() ? "#" + std::to_string(I) : C.Group;
    if (!C.Set.empty() && Seen.insert(Group).second && unite(With, S.Texts)) {
      Kept = std::move(With);
      Out.Kept = true;
      Titles.push_back(C.Title);
    }
    R.Candidates.push_back(std::move(Out));
  }
  if (Kept.empty())
    return R;
  CandidateOutcome Final;
  Final.Set = *unite(Kept, S.Texts);
  Final.Title = join(Titles, "; ");
  Final.Why = "not evaluated, as was asked for";
  Final.Kept = true;
  R.Ear = scoreEdits(Model, D, Final.Set);
  R.Final = std::move(Final);
  return R;
}

} // namespace optimas
