//===- Ear.cpp - Evidence-aligned reasoning -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Ear.h"
#include "optimas/Transform/TextDiff.h"
#include <array>
#include <cmath>

using namespace llvm;

namespace optimas {

/// Per line: does it hold code? Comments are followed across lines; literals matter only
/// as far as they may hold comment marks.
static std::vector<bool> codeLines(ArrayRef<StringRef> Lines) {
  std::vector<bool> Out;
  bool InComment = false;
  for (StringRef L : Lines) {
    bool Code = false;
    for (size_t I = 0; I < L.size(); ++I) {
      if (InComment) {
        if (L.substr(I).starts_with("*/")) {
          InComment = false;
          ++I;
        }
      } else if (L.substr(I).starts_with("//")) {
        break;
      } else if (L.substr(I).starts_with("/*")) {
        InComment = true;
        ++I;
      } else if (L[I] == '"') {
        Code = true;
        for (++I; I < L.size() && L[I] != '"'; ++I)
          I += L[I] == '\\';
      } else {
        Code |= !isSpace(L[I]);
      }
    }
    Out.push_back(Code);
  }
  return Out;
}

std::vector<unsigned> changedLines(StringRef Old, StringRef New) {
  std::vector<StringRef> Before = splitLinesKeepEnds(Old), After = splitLinesKeepEnds(New);
  std::vector<bool> Code = codeLines(Before);
  std::set<unsigned> Lines;
  for (const LineChange &C : diffLines(Before, After)) {
    size_t End = C.OldEnd;
    size_t Begin = C.OldBegin;
    if (Begin == End && !Before.empty()) {
      // Nothing of the old text goes away: the insertion belongs to the next line of code.
      while (Begin < Before.size() && !Code[Begin])
        ++Begin;
      Begin = std::min(Begin, Before.size() - 1);
      End = Begin + 1;
    }
    for (size_t L = Begin; L < End; ++L)
      if (Code[L])
        Lines.insert(unsigned(L) + 1);
  }
  return {Lines.begin(), Lines.end()};
}

static LineKey keyOf(const LineRef &L) { return {L.Path, L.Line}; }

static std::string text(const LineKey &K) {
  return K.first + ":" + std::to_string(K.second);
}

EarScore scoreEdits(ArrayRef<Evidence> Items, ArrayRef<Edit> Accepted,
                    const std::vector<LineKey> &Changed) {
  EarScore S;
  std::set<unsigned> Cited;
  for (const Edit &E : Accepted)
    Cited.insert(E.Evidence.begin(), E.Evidence.end());
  std::set<LineKey> Lines;
  std::map<FunctionId, double> Covered;
  for (const Evidence &E : Items) {
    if (!Cited.count(E.Id))
      continue;
    Covered[E.Kernel] += E.Weight;
    for (const std::vector<LineRef> *List : {&E.Lines, &E.Needed})
      for (const LineRef &L : *List)
        Lines.insert(keyOf(L));
    if (E.Consumer.Line)
      Lines.insert(keyOf(E.Consumer));
    for (const ProducerRef &P : E.Producers)
      Lines.insert(keyOf(P.Where));
  }
  for (const Evidence &E : Items)
    if (Covered.count(E.Kernel))
      (Cited.count(E.Id) ? S.CitedEvidence : S.UncitedEvidence).push_back(E.Id);
  for (const auto &[Kernel, Weight] : Covered)
    S.EvidenceCoverage += Weight / double(Covered.size());
  unsigned On = 0;
  for (const LineKey &L : Changed) {
    S.ChangedLines.push_back(text(L));
    if (Lines.count(L))
      ++On;
    else
      S.LinesOffEvidence.push_back(text(L));
  }
  S.EditLocalization = Changed.empty() ? 0 : double(On) / double(Changed.size());
  S.ResultAgreementWhyNot = "the result was not profiled again";
  return S;
}

EarScore scoreEdits(const SourceModel &Model, const Diagnosis &D, const EditSet &Set) {
  std::vector<LineKey> Changed;
  for (const auto &[Path, New] : Set.NewContents)
    if (std::optional<FileId> File = Model.findFile(Path))
      for (unsigned Line : changedLines(Model.file(*File).Text, New))
        Changed.push_back({Path, Line});
  // Evidence names lines as they are printed; bring them to the model's paths.
  std::vector<Evidence> Items = D.Items;
  auto Resolve = [&](LineRef &L) {
    if (L.File != NoId)
      L.Path = Model.file(L.File).Path;
  };
  for (Evidence &E : Items) {
    Resolve(E.Consumer);
    for (ProducerRef &P : E.Producers)
      Resolve(P.Where);
    for (LineRef &L : E.Lines)
      Resolve(L);
    for (LineRef &L : E.Needed)
      Resolve(L);
  }
  EarScore S = scoreEdits(Items, Set.Accepted, Changed);
  // Printed short: the paths are the model's own.
  auto Shorten = [&](std::vector<std::string> &Texts) {
    StringRef Dir = sys::path::parent_path(Model.mainFile().Path);
    for (std::string &T : Texts)
      if (StringRef R = T; R.consume_front(Dir) && R.consume_front("/"))
        T = R.str();
  };
  Shorten(S.ChangedLines);
  Shorten(S.LinesOffEvidence);
  return S;
}

double metricPerLaunch(const std::map<std::string, double> &Metrics, StringRef Metric) {
  auto Find = [&](StringRef Name) {
    auto It = Metrics.find(Name.str());
    return It == Metrics.end() ? 0.0 : It->second;
  };
  auto [Family, Line] = Metric.split('@');
  if (Line.empty())
    return Find(Metric);
  double Sum = 0;
  for (const auto &[Name, Value] : Metrics)
    if (StringRef(Name).split('@').first == Family)
      Sum += Value;
  double Launches = Find("launches");
  return Launches > 0 ? Sum / Launches : Sum;
}

bool movedAsExpected(const MetricChange &C) {
  double Noise = std::fabs(C.Before - C.BeforeAgain);
  double Low = std::min(C.Before, C.BeforeAgain), High = std::max(C.Before, C.BeforeAgain);
  return C.Expected == Direction::Down ? C.After < Low - Noise : C.After > High + Noise;
}

std::optional<double> resultAgreement(ArrayRef<MetricChange> Changes) {
  double All = 0, Agreed = 0;
  for (const MetricChange &C : Changes) {
    All += C.Weight;
    if (movedAsExpected(C))
      Agreed += C.Weight;
  }
  if (All <= 0)
    return std::nullopt;
  return Agreed / All;
}

Agreement agreementOf(const SourceModel &Model, const Diagnosis &D, const EditSet &Set,
                      ArrayRef<Profile> Three) {
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
      if (!M)
        return {std::nullopt, toString(M.takeError()), {}};
      At->second[I] = std::move(*M);
    }
    MetricAgreement A;
    A.Evidence = E.Id;
    A.Kernel = E.KernelName;
    A.Metric = E.Metric;
    A.Change.Weight = E.Weight;
    A.Change.Expected = E.Move;
    A.Change.Before = metricPerLaunch(At->second[0], E.Metric);
    A.Change.BeforeAgain = metricPerLaunch(At->second[1], E.Metric);
    A.Change.After = metricPerLaunch(At->second[2], E.Metric);
    // What the baseline's new profiles do not have cannot agree or disagree.
    if (A.Change.Before > 0 && A.Change.BeforeAgain > 0) {
      A.Agreed = movedAsExpected(A.Change);
      Changes.push_back(A.Change);
    }
    Out.Metrics.push_back(std::move(A));
  }
  Out.Value = resultAgreement(Changes);
  Out.WhyNot = Out.Value ? "" : "the new profile has none of the cited metrics";
  return Out;
}

} // namespace optimas
