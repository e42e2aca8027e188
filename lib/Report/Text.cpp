//===- Text.cpp - The terminal report -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Estimates.h"
#include "TextWriter.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

namespace {
/// The report's sections, each a function; they share the record and the writer.
class TextReport {
public:
  TextReport(raw_ostream &OS, const RunRecord &R, const TextOptions &O)
      : R(R), O(O), W(OS, O) {}
  void findings();
  void outcome();

private:
  void header();
  void kernels();
  void evidence();
  void evidenceItem(const Evidence &E);
  void candidates();
  void candidate(const CandidateOutcome &C);
  void buildFailure(const CandidateOutcome &C);
  void result();
  void validation(const ValidationOutcome &V);
  void resources(const CandidateOutcome &C);
  void comparison(const Comparison &C);
  void refusals();
  void declines();
  void ear();
  void agreement(ArrayRef<MetricAgreement> Metrics);
  void notes();
  std::string relative(StringRef Path) const;
  std::string ids(char Prefix, ArrayRef<unsigned> Ids) const;
  std::string verdictText(const CandidateOutcome &C) const;

  const RunRecord &R;
  const TextOptions &O;
  TextWriter W;
};
} // namespace

std::string TextReport::relative(StringRef Path) const {
  SmallString<256> Root(R.ProjectRoot);
  if (!Root.empty() && !Root.ends_with("/"))
    Root += '/';
  StringRef Rest = Path;
  if (!Root.empty() && Rest.consume_front(Root))
    return Rest.str();
  return Path.str();
}

std::string TextReport::ids(char Prefix, ArrayRef<unsigned> Ids) const {
  std::string Out;
  for (unsigned Id : Ids)
    Out += (Out.empty() ? "" : ", ") + idText(Prefix, Id);
  return Out.empty() ? "none" : Out;
}

void TextReport::header() {
  std::vector<std::string> Names; // a profile's two passes are one file
  for (const Provenance &P : R.Prof.Sources) {
    std::string Name =
        P.File.empty() ? "taken by this run" : sys::path::filename(P.File).str();
    if (!is_contained(Names, Name))
      Names.push_back(std::move(Name));
  }
  std::string From = join(Names, ", ");
  W.wrapped(relative(R.Model.mainFile().Path) + ": profile " + From +
                (R.D.Device.Name.empty() ? "" : " of " + Twine(R.D.Device.Name)),
            0, 2);
}

void TextReport::kernels() {
  W.heading("Hot kernels");
  for (const KernelDiagnosis &K : R.D.Kernels) {
    if (!K.Hot)
      continue;
    std::string Line = formatv("{0}  {1:f1} % of GPU time{2}", K.Name, 100 * K.TimeShare,
                               K.TimeFromSamples ? " (by samples)" : "").str();
    if (K.Launches)
      Line += formatv(", {0} launches of {1}", K.Launches, formatNs(K.MedianNs)).str();
    W.wrapped(Line, 2, 4);
    std::string Facts;
    if (!K.Shapes.empty()) {
      const LaunchShape &S = K.Shapes.front();
      Facts = formatv("grid {0}x{1}x{2}, block {3}x{4}x{5}", S.Grid[0], S.Grid[1], S.Grid[2],
                      S.Block[0], S.Block[1], S.Block[2]).str();
    }
    if (K.Registers)
      Facts += formatv("{0}{1} registers, {2} shared", Facts.empty() ? "" : ", ", K.Registers,
                       formatBytes(K.StaticShared)).str();
    if (K.TheoreticalOccupancy > 0)
      Facts += formatv(", occupancy {0:f0} % of an SM's warps{1}", 100 * K.TheoreticalOccupancy,
                       K.OccupancyLimiter.empty() ? "" : " (limit: " + K.OccupancyLimiter + ")").str();
    if (!Facts.empty())
      W.wrapped(Facts, 4, 4);
    if (K.Roof.Available)
      W.wrapped(formatv("bound: {0}, {1:f0} % of the roof, headroom {2:f2}×", K.Roof.Bound,
                        K.Roof.PercentOfRoof, K.Roof.Headroom).str(), 4, 4);
  }
}

void TextReport::evidenceItem(const Evidence &E) {
  W.wrapped(W.paint(idText('E', E.Id), raw_ostream::CYAN) +
                formatv("  {0,5:f1} %  {1} {2}  {3}", 100 * E.Weight, toString(E.Kind), E.Reason,
                        E.KernelName).str(),
            2, 6);
  W.wrapped(E.Sentence, 6, 6);
  auto Show = [&](const LineRef &L, const char *Role) {
    if (L.Line)
      W.cut(formatv("{0,5} {1,-8} | {2}", L.Line, Role, L.Text).str(), 6);
  };
  Show(E.Consumer, E.Producers.empty() ? "" : "waits");
  SmallVector<unsigned, 4> Seen;
  for (const ProducerRef &P : E.Producers)
    if (!is_contained(Seen, P.Where.Line) && !(P.Where == E.Consumer && E.Producers.size() == 1)) {
      Seen.push_back(P.Where.Line);
      Show(P.Where, ("for " + P.Opcode).c_str());
    }
}

void TextReport::evidence() {
  W.heading("Evidence (share of its kernel's evidence)");
  // The long tail is in the JSON report; a terminal shows what matters.
  constexpr size_t MostPerKernel = 6;
  std::map<FunctionId, size_t> Count;
  size_t Hidden = 0;
  for (const Evidence &E : R.D.Items) {
    if (++Count[E.Kernel] > MostPerKernel)
      ++Hidden;
    else
      evidenceItem(E);
  }
  if (Hidden)
    W.line(formatv("  {0} lighter items are in the JSON report (--report)", Hidden).str());
}

std::string TextReport::verdictText(const CandidateOutcome &C) const {
  raw_ostream::Colors Color =
      C.Verdict == VerdictKind::Faster                                              ? raw_ostream::GREEN
      : C.Verdict == VerdictKind::WrongResult || C.Verdict == VerdictKind::BuildFailed ? raw_ostream::RED
                                                                                     : raw_ostream::YELLOW;
  std::string Text = W.paint(toString(C.Verdict), Color);
  if (C.Recorded)
    Text += " (recorded)";
  if (!C.Kernels.empty()) {
    const Comparison &All = C.Kernels.back();
    Text += formatv("  {0:f2}× [{1:f2}, {2:f2}]", All.Speedup, All.Low, All.High).str();
  }
  return Text;
}

void TextReport::candidate(const CandidateOutcome &C) {
  std::vector<unsigned> Cited;
  for (const Edit &E : C.Set.Accepted)
    for (unsigned Id : E.Evidence)
      if (!is_contained(Cited, Id))
        Cited.push_back(Id);
  W.wrapped(formatv("{0}{1}  {2}  [{3}]", C.Kept ? "* " : "", idText('P', C.ProposalId), C.Title,
                    ids('E', Cited)).str(), C.Kept ? 0 : 2, 6);
  W.wrapped(verdictText(C) + (C.Why.empty() ? "" : "  " + C.Why), 6, 6);
  std::vector<KernelEstimate> Estimates = estimatesOf(R, C);
  for (const KernelEstimate &E : Estimates)
    if (E.E.known())
      W.wrapped("estimated before it was measured: " +
                    (Estimates.size() > 1 ? E.Kernel + " " : "") + estimateText(E.E), 6, 8);
  buildFailure(C);
}

/// What the compiler said last, and the command to see the rest.
void TextReport::buildFailure(const CandidateOutcome &C) {
  if (C.Verdict != VerdictKind::BuildFailed)
    return;
  constexpr size_t MostLines = 12;
  SmallVector<StringRef, 32> Lines;
  StringRef(C.BuildLog).split(Lines, '\n', -1, /*KeepEmpty=*/false);
  ArrayRef<StringRef> Last = ArrayRef(Lines).take_back(MostLines);
  if (Last.size() < Lines.size())
    W.line("      …");
  for (StringRef Line : Last)
    W.line("      | " + Line);
  if (!C.BuildCommand.empty())
    W.wrapped("command: " + C.BuildCommand, 6, 8);
}

void TextReport::candidates() {
  if (R.Evaluation.Candidates.empty())
    return;
  const std::optional<CandidateOutcome> &F = R.Evaluation.Final;
  // Without a measurement the star is only the evidence's first choice.
  W.heading(F && !F->Validation.Ran ? "Candidates (* chosen by the evidence alone, not validated)"
                                    : "Candidates (* kept)");
  for (const CandidateOutcome &C : R.Evaluation.Candidates)
    candidate(C);
}

/// The program's time from outside is the bystander: most of it may not be the GPU's.
void TextReport::comparison(const Comparison &C) {
  bool Wall = C.Name == "wall";
  std::string Text =
      formatv("{0}: {1} -> {2}, {3}{4:f3}× [{5:f3}, {6:f3}]", Wall ? "whole program" : C.Name,
              formatNs(C.BaselineNs), formatNs(C.CandidateNs), Wall ? "" : "speedup ",
              C.Speedup, C.Low, C.High).str();
  if (C.Low <= 1 && C.High >= 1)
    Text += ": no difference";
  W.wrapped(Text, 4, 6);
}

void TextReport::resources(const CandidateOutcome &C) {
  for (const ResourceUsage &After : C.ResourcesAfter) {
    auto Before = find_if(C.ResourcesBefore, [&](const ResourceUsage &B) { return B.Symbol == After.Symbol; });
    if (Before == C.ResourcesBefore.end())
      continue;
    bool Same = Before->Registers == After.Registers && Before->SpillStores == After.SpillStores &&
                Before->SpillLoads == After.SpillLoads && Before->StaticShared == After.StaticShared;
    if (Same)
      continue;
    W.wrapped(formatv("{0}: registers {1} -> {2}, spills {3} -> {4} B, shared {5} -> {6}",
                      canonicalSymbol(After.Symbol), Before->Registers, After.Registers,
                      Before->SpillStores + Before->SpillLoads, After.SpillStores + After.SpillLoads,
                      formatBytes(Before->StaticShared), formatBytes(After.StaticShared)).str(), 4, 6);
  }
}

void TextReport::validation(const ValidationOutcome &V) {
  if (!V.Ran) {
    W.wrapped("results: not validated, nothing was run", 4, 6);
    return;
  }
  std::string Text = "results: " + V.label();
  if (V.MemoryChecked)
    Text += formatv("; every allocation compared after {0} launches, {1} hashed, two poisons",
                    V.LaunchesCompared, formatBytes(V.BytesHashed)).str();
  else if (!V.MemoryWhyNot.empty())
    Text += "; device memory not compared: " + V.MemoryWhyNot;
  Text += formatv("; {0} input sets", V.Inputs.size()).str();
  W.wrapped(Text, 4, 6);
  for (const Mismatch &M : V.Mismatches)
    W.wrapped(formatv("differs: {0}, input {1}, launch {2} of {3}, allocation {4} ({5}) at byte {6}: "
                      "{7} became {8}", M.What, M.Input, M.Launch, M.Kernel, M.Allocation,
                      formatBytes(M.AllocationBytes), M.Offset, M.Baseline, M.Candidate).str(), 4, 6);
  if (!V.Masked.empty())
    W.wrapped("masked in the output: " + join(V.Masked, ", "), 4, 6);
}

void TextReport::result() {
  const std::optional<CandidateOutcome> &F = R.Evaluation.Final;
  if (!F) {
    W.heading("Result: no edit");
    if (!R.D.Items.empty() && R.Proposals.empty())
      W.wrapped(R.ProposerName == "none"
                    ? "no proposals were asked for (--proposer=none)"
                    : "nothing was proposed; the reasons are above",
                2, 2);
    return;
  }
  W.heading("Result");
  W.wrapped(verdictText(*F) + "  " + F->Title, 2, 4);
  if (F->Recorded)
    W.wrapped("recorded on " + F->RecordedOn + "; replayed, not measured here", 4, 6);
  if (F->Verdict != VerdictKind::BuildFailed && R.Evaluation.Built)
    W.wrapped("build: passed with the user's own command", 4, 6);
  if (!F->Why.empty())
    W.wrapped(F->Why, 4, 6);
  for (const Comparison &C : F->Kernels)
    comparison(C);
  if (!F->Kernels.empty())
    comparison(F->Wall);
  validation(F->Validation);
  resources(*F);
  if (F->Implausible)
    W.wrapped("held as implausible: more than the roofline's headroom allows", 4, 6);
  if (!F->HowToMeasure.empty())
    W.wrapped("to measure: " + F->HowToMeasure, 4, 6);
  W.heading("Diff");
  W.diff(unifiedDiff(R.Model, F->Set, R.ProjectRoot), 0);
  W.heading("Why each edit");
  for (const Edit &E : F->Set.Accepted)
    W.wrapped(formatv("{0} [{1}] {2}: {3}", idText('D', E.Id), ids('E', E.Evidence),
                      E.Transformation, E.Reason).str(), 2, 6);
  for (const Ablation &A : R.Evaluation.Ablations)
    W.wrapped(formatv("without {0} ({1}): {2:f2}× instead of {3:f2}×", idText('D', A.Edit),
                      A.Transformation, A.SpeedupWithout, A.SpeedupWith).str(), 4, 6);
}

void TextReport::refusals() {
  if (R.Refusals.empty())
    return;
  W.heading("Refused");
  for (const Refusal &F : R.Refusals)
    W.wrapped(formatv("{0}  {1}{2}: {3}", W.paint(F.Rule, raw_ostream::RED), idText('D', F.Edit),
                      F.CannotProve ? " (cannot prove)" : "", F.Message).str(), 2, 6);
}

void TextReport::declines() {
  if (R.Declines.empty())
    return;
  W.heading("Called for by the evidence, but not proposed");
  for (const Declined &D : R.Declines)
    W.wrapped(formatv("{0}, line {1}: {2}: {3}", D.Transformation, D.Line, D.Rule, D.Message).str(),
              2, 6);
}

/// One line for all cited items of a kernel that share a metric: a stall's lines are
/// summed, since a stall that moves to another line is no fix.
void TextReport::agreement(ArrayRef<MetricAgreement> Metrics) {
  constexpr size_t Most = 8;
  std::vector<std::pair<std::string, std::string>> Lines; // ids, what became of it
  for (const MetricAgreement &M : Metrics) {
    StringRef Name = StringRef(M.Metric).split('@').first;
    StringRef Expected = toString(M.Change.Expected);
    std::string What =
        !M.Agreed ? formatv("{0} of {1}: not in the new profiles", Name, M.Kernel).str()
                  : formatv("{0} of {1}: {2:f1} and {3:f1}, now {4:f1} a launch; {5} {6}", Name,
                            M.Kernel, M.Change.Before, M.Change.BeforeAgain, M.Change.After,
                            *M.Agreed ? "moved" : "did not move", Expected).str();
    std::string Id = M.Evidence ? idText('E', M.Evidence) : "-";
    auto Same = find_if(Lines, [&](const auto &L) { return L.second == What; });
    if (Same == Lines.end())
      Lines.push_back({Id, What});
    else
      Same->first += ", " + Id;
  }
  for (const auto &[Ids, What] : ArrayRef(Lines).take_front(Most))
    W.wrapped(Ids + "  " + What, 4, 6);
  if (Lines.size() > Most)
    W.line(formatv("    {0} more are in the JSON report (--report)", Lines.size() - Most).str());
}

void TextReport::ear() {
  if (!R.Evaluation.Final)
    return;
  const EarScore &E = R.Evaluation.Ear;
  W.heading("EAR");
  W.line(formatv("  evidence coverage  {0:f2}  cited {1}; not cited {2}", E.EvidenceCoverage,
                 E.CitedEvidence.size(), E.UncitedEvidence.size()).str());
  W.line(formatv("  edit localization  {0:f2}  {1} changed lines, {2} off the evidence",
                 E.EditLocalization, E.ChangedLines.size(), E.LinesOffEvidence.size()).str());
  if (E.ResultAgreement) {
    W.line(formatv("  result agreement   {0:f2}  {1}", *E.ResultAgreement,
                   E.ResultAgreementRecorded ? "by recorded profiles" : "by new profiles").str());
    agreement(E.Metrics);
  } else
    W.wrapped("result agreement   -     " + E.ResultAgreementWhyNot, 2, 27);
}

void TextReport::notes() {
  std::vector<std::string> All = R.Notes;
  All.insert(All.end(), R.D.Notes.begin(), R.D.Notes.end());
  All.insert(All.end(), R.Evaluation.Notes.begin(), R.Evaluation.Notes.end());
  if (All.empty())
    return;
  W.heading("Notes");
  for (const std::string &N : All)
    W.wrapped(N, 2, 4);
}

void TextReport::findings() {
  header();
  if (O.Quiet)
    return;
  kernels();
  evidence();
}

void TextReport::outcome() {
  if (O.Quiet) {
    if (R.Evaluation.Final)
      W.wrapped(verdictText(*R.Evaluation.Final) + "  " + R.Evaluation.Final->Title, 2, 4);
    else
      W.line("  no edit");
    return;
  }
  refusals();
  declines();
  candidates();
  result();
  ear();
  notes();
}

void printFindings(raw_ostream &OS, const RunRecord &R, const TextOptions &O) {
  TextReport(OS, R, O).findings();
}

void printOutcome(raw_ostream &OS, const RunRecord &R, const TextOptions &O) {
  TextReport(OS, R, O).outcome();
}

} // namespace optimas
