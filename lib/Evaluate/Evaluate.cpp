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

/// Cited evidence of \p Set's kernels in three profiles.
static Agreement agreementOf(const SourceModel &Model, const Diagnosis &D,
                             const EditSet &Set, ArrayRef<Profile> Three) {
  std::set<unsigned> Cited;
  for (const Edit &E : Set.Accepted)
    Cited.insert(E.Evidence.begin(), E.Evidence.end());
  std::map<FunctionId, std::array<std::map<std::string, double>, 3>> Metrics;
  std::vector<MetricChange> Changes;
  Agreement Out;
  for (const Evidence &E : D.Items) {
    if (!Cited.count(E.Id))
      continue;
    auto [At, New] = Metrics.try_emplace(E.Kernel);
    for (size_t I = 0; New && I < 3; ++I) {
      Expected<std::map<std::string, double>> M = measureMetrics(Model, Three[I], E.Kernel);
      if (!M) {
        Out.WhyNot = toString(M.takeError());
        return Out;
      }
      At->second[I] = std::move(*M);
    }
    MetricChange C;
    C.Weight = E.Weight;
    C.Expected = E.Move;
    C.Before = metricPerLaunch(At->second[0], E.Metric);
    C.BeforeAgain = metricPerLaunch(At->second[1], E.Metric);
    C.After = metricPerLaunch(At->second[2], E.Metric);
    // What the baseline's new profiles do not have cannot agree or disagree.
    if (C.Before > 0 && C.BeforeAgain > 0)
      Changes.push_back(C);
  }
  Out.Value = resultAgreement(Changes);
  Out.WhyNot = Out.Value ? "" : "the new profile has none of the cited metrics";
  return Out;
}

/// Profiles the unedited program twice and the result once.
static Expected<std::vector<Profile>> profileThrice(const ReprofileFn &Reprofile,
                                                    const ReprofileRequest &Before,
                                                    const ReprofileRequest &After) {
  std::vector<Profile> Out;
  for (const ReprofileRequest *R : {&Before, &Before, &After}) {
    Expected<Profile> P = Reprofile(*R);
    if (!P)
      return P.takeError();
    Out.push_back(std::move(*P));
  }
  return Out;
}

Expected<EvaluationResult> evaluate(const SourceModel &Model, const Profile &P,
                                    const Diagnosis &D, std::vector<Candidate> Candidates,
                                    const EvaluationOptions &Options,
                                    function_ref<void(StringRef)> Say) {
  Subject S = makeSubject(Model, D, std::move(Candidates), Options);
  if (Options.Reprofile)
    S.Profile = [&](const ReprofileRequest &Before, const ReprofileRequest &After,
                    const EditSet &Final) -> Agreement {
      Expected<std::vector<Profile>> Three =
          profileThrice(Options.Reprofile, Before, After);
      if (!Three)
        return {std::nullopt, toString(Three.takeError())};
      return agreementOf(Model, D, Final, *Three);
    };
  Expected<EvaluationResult> R = evaluateSubject(std::move(S), Options, detectGpu(), Say);
  if (!R)
    return R.takeError();
  if (R->Final) {
    EarScore Agreed = R->Ear;
    R->Ear = scoreEdits(Model, D, R->Final->Set);
    R->Ear.ResultAgreement = Agreed.ResultAgreement;
    if (Agreed.ResultAgreement)
      R->Ear.ResultAgreementWhyNot.clear();
    else if (!Agreed.ResultAgreementWhyNot.empty())
      R->Ear.ResultAgreementWhyNot = Agreed.ResultAgreementWhyNot;
  }
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
