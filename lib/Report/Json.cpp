//===- Json.cpp - The JSON report -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Estimates.h"
#include "optimas/Analysis/Json.h"
#include "optimas/Report/Report.h"
#include <cmath>

using namespace llvm;

namespace optimas {

/// The number of the report's form; docs/schemas/report.schema.json describes it.
constexpr int ReportVersion = 1;

static json::Array strings(ArrayRef<std::string> Items) {
  json::Array Out;
  for (const std::string &S : Items)
    Out.push_back(json::fixUTF8(S));
  return Out;
}

static json::Array idList(char Prefix, ArrayRef<unsigned> Ids) {
  json::Array Out;
  for (unsigned Id : Ids)
    Out.push_back(idText(Prefix, Id));
  return Out;
}

static json::Value sources(const RunRecord &R) {
  json::Array Out;
  for (const SourceFile &F : R.Model.files())
    if (F.Editable)
      Out.push_back(json::Object{{"path", json::fixUTF8(F.Path)}, {"sha256", F.Sha256}, {"main", F.IsMain}});
  return Out;
}

static json::Value profiles(const RunRecord &R) {
  json::Array Out;
  for (const Provenance &P : R.Prof.Sources)
    Out.push_back(json::Object{{"kind", P.Kind}, {"tool", P.Tool}, {"file", P.File},
                               {"command", strings(P.Command)}, {"started", P.Started}});
  return Out;
}

static json::Value refusal(const Refusal &F) {
  return json::Object{{"rule", F.Rule},
                      {"message", json::fixUTF8(F.Message)},
                      {"edit", idText('D', F.Edit)},
                      {"proposal", idText('P', F.Proposal)},
                      {"transformation", json::fixUTF8(F.Transformation)},
                      {"cannot_prove", F.CannotProve}};
}

static json::Value declined(const Declined &D, const RunRecord &R) {
  return json::Object{{"transformation", D.Transformation},
                      {"kernel", D.Kernel == NoId ? "" : R.Model.function(D.Kernel).Name},
                      {"line", D.Line},
                      {"rule", D.Rule},
                      {"message", D.Message},
                      {"evidence", idList('E', D.Evidence)}};
}

/// JSON has no infinities and no NaN: an interval without a bound is null there.
static json::Value number(double D) {
  return std::isfinite(D) ? json::Value(D) : json::Value(nullptr);
}

static json::Value comparison(const Comparison &C) {
  return json::Object{{"name", C.Name},
                      {"baseline_ns", number(C.BaselineNs)},
                      {"candidate_ns", number(C.CandidateNs)},
                      {"speedup", number(C.Speedup)},
                      {"gain_percent", number(100 * (C.Speedup - 1))},
                      {"interval95", json::Array{number(C.Low), number(C.High)}},
                      {"noise95", json::Array{number(C.NoiseLow), number(C.NoiseHigh)}},
                      {"baseline_samples_ns", json::Array(C.BaselineSamples)},
                      {"candidate_samples_ns", json::Array(C.CandidateSamples)}};
}

static json::Value mismatch(const Mismatch &M) {
  return json::Object{{"input", json::fixUTF8(M.Input)},
                      {"what", M.What},
                      {"launch", static_cast<int64_t>(M.Launch)},
                      {"kernel", M.Kernel},
                      {"allocation", static_cast<int64_t>(M.Allocation)},
                      {"allocation_bytes", static_cast<int64_t>(M.AllocationBytes)},
                      {"offset", static_cast<int64_t>(M.Offset)},
                      {"baseline", json::fixUTF8(M.Baseline)},
                      {"candidate", json::fixUTF8(M.Candidate)}};
}

static json::Value validation(const ValidationOutcome &V) {
  json::Array Mismatches;
  for (const Mismatch &M : V.Mismatches)
    Mismatches.push_back(mismatch(M));
  return json::Object{{"ran", V.Ran},
                      {"label", V.label()},
                      {"output_identical", V.OutputIdentical},
                      {"memory_checked", V.MemoryChecked},
                      {"memory_identical", V.MemoryIdentical},
                      {"memory_why_not", V.MemoryWhyNot},
                      {"inputs", strings(V.Inputs)},
                      {"launches_compared", static_cast<int64_t>(V.LaunchesCompared)},
                      {"bytes_hashed", static_cast<int64_t>(V.BytesHashed)},
                      {"masked", strings(V.Masked)},
                      {"baseline_nondeterministic", V.BaselineNondeterministic},
                      {"mismatches", std::move(Mismatches)}};
}

static json::Value resources(const ResourceUsage &U) {
  return json::Object{{"symbol", U.Symbol},
                      {"registers", U.Registers},
                      {"spill_store_bytes", static_cast<int64_t>(U.SpillStores)},
                      {"spill_load_bytes", static_cast<int64_t>(U.SpillLoads)},
                      {"stack_bytes", static_cast<int64_t>(U.Stack)},
                      {"static_shared", static_cast<int64_t>(U.StaticShared)}};
}

/// `{kernel, speedup, …}` a kernel, so that measurements beside it can calibrate it.
static json::Array estimates(const RunRecord &R, const CandidateOutcome &C) {
  json::Array Out;
  for (const KernelEstimate &K : estimatesOf(R, C)) {
    json::Value V = toJson(K.E);
    (*V.getAsObject())["kernel"] = json::fixUTF8(K.Kernel);
    (*V.getAsObject())["transformations"] = json::fixUTF8(K.Transformations);
    Out.push_back(std::move(V));
  }
  return Out;
}

static json::Value outcome(const CandidateOutcome &C, const RunRecord &R) {
  json::Array Kernels, Before, After, Edits;
  for (const Comparison &K : C.Kernels)
    Kernels.push_back(comparison(K));
  for (const ResourceUsage &U : C.ResourcesBefore)
    Before.push_back(resources(U));
  for (const ResourceUsage &U : C.ResourcesAfter)
    After.push_back(resources(U));
  for (const Edit &E : C.Set.Accepted)
    Edits.push_back(idText('D', E.Id));
  return json::Object{{"proposal", idText('P', C.ProposalId)},
                      {"title", json::fixUTF8(C.Title)},
                      {"group", json::fixUTF8(C.Group)},
                      {"edits", std::move(Edits)},
                      {"estimates", estimates(R, C)},
                      {"verdict", toString(C.Verdict)},
                      {"why", json::fixUTF8(C.Why)},
                      {"how_to_measure", json::fixUTF8(C.HowToMeasure)},
                      {"recorded", C.Recorded},
                      {"recorded_on", C.RecordedOn},
                      {"kept", C.Kept},
                      {"implausible", C.Implausible},
                      {"build_log", json::fixUTF8(C.BuildLog)},
                      {"build_command", json::fixUTF8(C.BuildCommand)},
                      {"other_kernels_identical", C.OtherKernelsIdentical},
                      {"resources_before", std::move(Before)},
                      {"resources_after", std::move(After)},
                      {"validation", validation(C.Validation)},
                      {"kernels", std::move(Kernels)},
                      {"wall", comparison(C.Wall)}};
}

static json::Value verdict(const RunRecord &R) {
  json::Array Candidates, Ablations;
  for (const CandidateOutcome &C : R.Evaluation.Candidates)
    Candidates.push_back(outcome(C, R));
  for (const Ablation &A : R.Evaluation.Ablations)
    Ablations.push_back(json::Object{{"edit", idText('D', A.Edit)},
                                     {"transformation", A.Transformation},
                                     {"verdict", toString(A.Verdict)},
                                     {"speedup_without", A.SpeedupWithout},
                                     {"speedup_with", A.SpeedupWith}});
  const std::optional<CandidateOutcome> &F = R.Evaluation.Final;
  return json::Object{{"kind", F ? toString(F->Verdict) : "no-edit"},
                      {"final", F ? outcome(*F, R) : json::Value(nullptr)},
                      {"candidates", std::move(Candidates)},
                      {"ablations", std::move(Ablations)},
                      {"machine", R.Evaluation.Machine},
                      {"have_gpu", R.Evaluation.HaveGpu},
                      {"built", R.Evaluation.Built}};
}

static json::Array agreement(ArrayRef<MetricAgreement> Metrics) {
  json::Array Out;
  for (const MetricAgreement &M : Metrics)
    Out.push_back(json::Object{
        {"evidence", M.Evidence ? json::Value(idText('E', M.Evidence)) : json::Value(nullptr)},
        {"kernel", json::fixUTF8(M.Kernel)},
        {"metric", M.Metric},
        {"weight", M.Change.Weight},
        {"expected", toString(M.Change.Expected)},
        {"before", M.Change.Before},
        {"before_again", M.Change.BeforeAgain},
        {"after", M.Change.After},
        {"agreed", M.Agreed ? json::Value(*M.Agreed) : json::Value(nullptr)}});
  return Out;
}

static json::Value ear(const RunRecord &R) {
  const EarScore &E = R.Evaluation.Ear;
  if (!R.Evaluation.Final)
    return nullptr;
  return json::Object{{"evidence_coverage", E.EvidenceCoverage},
                      {"edit_localization", E.EditLocalization},
                      {"result_agreement", E.ResultAgreement ? json::Value(*E.ResultAgreement)
                                                             : json::Value(nullptr)},
                      {"result_agreement_why_not", E.ResultAgreementWhyNot},
                      {"result_agreement_recorded", E.ResultAgreementRecorded},
                      {"result_agreement_metrics", agreement(E.Metrics)},
                      {"cited_evidence", idList('E', E.CitedEvidence)},
                      {"uncited_evidence", idList('E', E.UncitedEvidence)},
                      {"changed_lines", strings(E.ChangedLines)},
                      {"lines_off_evidence", strings(E.LinesOffEvidence)}};
}

std::string toJson(const RunRecord &R) {
  std::string Text;
  raw_string_ostream OS(Text);
  json::OStream J(OS, /*IndentSize=*/2);
  // One key at a time, so that a reader finds them in the documented order.
  auto List = [&J](StringRef Key, const auto &Items, auto ToValue) {
    J.attributeArray(Key, [&] {
      for (const auto &Item : Items)
        J.value(ToValue(Item));
    });
  };
  std::vector<Edit> Edits;
  for (const EditSet &Set : R.EditSets)
    Edits.insert(Edits.end(), Set.Accepted.begin(), Set.Accepted.end());
  J.object([&] {
    J.attribute("schema_version", ReportVersion);
    J.attribute("tool", json::Object{{"name", "optimas-rewrite"},
                                     {"version", OPTIMAS_VERSION},
                                     {"command", strings(R.CommandLine)},
                                     {"proposer", R.ProposerName}});
    J.attribute("sources", sources(R));
    J.attribute("profiles", profiles(R));
    List("kernels", R.D.Kernels, [&](const KernelDiagnosis &K) { return toJson(K); });
    List("evidence", R.D.Items, [&](const Evidence &E) { return toJson(E, R.ProjectRoot); });
    List("regions", R.D.Regions, [&](const Region &X) { return toJson(X, R.Model, R.ProjectRoot); });
    List("proposals", R.Proposals, [&](const Proposal &P) { return toJson(P, R.Model); });
    List("edits", Edits, [&](const Edit &E) { return toJson(E, R.Model); });
    List("refusals", R.Refusals, refusal);
    List("declines", R.Declines, [&](const Declined &D) { return declined(D, R); });
    J.attribute("verdict", verdict(R));
    J.attribute("ear", ear(R));
    J.attribute("cost", json::Object{{"calls", R.Cost.Calls},
                                     {"prompt_tokens", static_cast<int64_t>(R.Cost.PromptTokens)},
                                     {"completion_tokens", static_cast<int64_t>(R.Cost.CompletionTokens)},
                                     {"seconds", R.Cost.Seconds}});
    std::vector<std::string> Notes = R.Notes;
    Notes.insert(Notes.end(), R.D.Notes.begin(), R.D.Notes.end());
    Notes.insert(Notes.end(), R.Evaluation.Notes.begin(), R.Evaluation.Notes.end());
    J.attribute("notes", strings(Notes));
  });
  OS << '\n';
  return OS.str();
}

} // namespace optimas
