//===- Estimate.cpp - What an edit may gain, before it is built -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Estimate.h"
#include "Phrases.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace optimas {

namespace {
/// How an edit acts on a stall.
enum class Effect {
  Eliminate,
  Hide,
  FewerThreads,
  Unmodelled, ///< a model's own edit: eliminates what it cites, at most
  None        ///< its effect does not show in samples
};

/// Whose stalls it acts on.
enum class Scope {
  Cited,  ///< of the cited evidence
  Kernel, ///< of the kernel, by reason and producer
};

enum class Producer { Any, Global, Shared };

struct Rule {
  llvm::StringRef Transformation;
  Effect Kind;
  Scope Where;
  Producer From;
};

/// Bytes of the widest access of a thread.
constexpr double WidestAccess = 16;
/// Issuing takes time too: nothing removes more than this part of it.
constexpr double MostRemoved = 0.98;
} // namespace

static Rule ruleFor(llvm::StringRef Transformation) {
  static const Rule Table[] = {
      {"optimas-load-batching", Effect::Hide, Scope::Cited, Producer::Global},
      {"optimas-unroll", Effect::Hide, Scope::Cited, Producer::Any},
      {"optimas-vectorized-access", Effect::FewerThreads, Scope::Kernel, Producer::Any},
      {"optimas-shared-padding", Effect::Eliminate, Scope::Kernel, Producer::Shared},
      {"optimas-register-accumulator", Effect::Eliminate, Scope::Cited, Producer::Shared},
      {"optimas-invariant-load-hoisting", Effect::Eliminate, Scope::Cited,
       Producer::Global},
      {"optimas-const-restrict", Effect::None, Scope::Cited, Producer::Any},
      {"optimas-streaming-hints", Effect::None, Scope::Cited, Producer::Any},
      {"optimas-launch-shape", Effect::None, Scope::Cited, Producer::Any},
  };
  for (const Rule &R : Table)
    if (R.Transformation == Transformation)
      return R;
  return {Transformation, Effect::Unmodelled, Scope::Cited, Producer::Any};
}

static bool isFrom(llvm::StringRef Opcode, Producer From) {
  llvm::StringRef Op = Opcode.take_until([](char C) { return C == '.'; });
  switch (From) {
  case Producer::Any:
    return true;
  case Producer::Global:
    return Op == "LDG" || Op == "LD" || Op == "STG" || Op == "ST" || Op == "LDGSTS";
  case Producer::Shared:
    return Op == "LDS" || Op == "STS" || Op == "LDSM" || Op == "ATOMS";
  }
  return false;
}

/// Share of \p E's samples that wait for instructions of that kind.
static double shareFrom(const Evidence &E, Producer From) {
  if (From == Producer::Any)
    return 1;
  double Share = 0;
  for (const ProducerRef &P : E.Producers)
    if (isFrom(P.Opcode, From))
      Share += P.Share;
  return Share;
}

/// Elements of the instantiation that one widest access holds. Instantiations differ in
/// the width of their type.
static double elementsPerAccess(const Diagnosis &D, FunctionId Kernel,
                                llvm::StringRef Symbol) {
  unsigned Here = 0, Any = 0;
  for (const Evidence *E : D.evidenceOf(Kernel))
    for (const ProducerRef &P : E->Producers)
      if (isFrom(P.Opcode, Producer::Global)) {
        Any = std::max(Any, P.AccessBytes);
        if (P.Symbol == Symbol || canonicalSymbol(P.Symbol) == Symbol)
          Here = std::max(Here, P.AccessBytes);
      }
  unsigned Bytes = Here ? Here : Any;
  return Bytes ? std::max(1.0, WidestAccess / Bytes) : 1;
}

/// Part of the stall \p E that \p Edit removes from the instantiation \p Symbol.
static double removed(const Diagnosis &D, const Evidence &E, const PlannedEdit &Edit,
                      llvm::StringRef Symbol) {
  const Rule R = ruleFor(Edit.Transformation);
  if (R.Kind == Effect::None ||
      (R.Where == Scope::Cited && !llvm::is_contained(Edit.Evidence, E.Id)))
    return 0;
  // Bank conflicts hold up what waits for the data and what waits for the queue.
  if (R.Where == Scope::Kernel && R.From == Producer::Shared &&
      E.Reason != "short_scoreboard" && E.Reason != "mio_throttle")
    return 0;
  double Share = shareFrom(E, R.From);
  switch (R.Kind) {
  case Effect::Eliminate:
  case Effect::Unmodelled:
    return Share;
  case Effect::Hide:
    return Share * (1 - 1.0 / std::max(1u, Edit.Factor));
  case Effect::FewerThreads: {
    double K = Edit.Factor > 1 ? Edit.Factor : elementsPerAccess(D, E.Kernel, Symbol);
    return Share * (1 - 1 / K);
  }
  case Effect::None:
    break;
  }
  return 0;
}

static std::string modelOf(llvm::ArrayRef<PlannedEdit> Edits) {
  std::vector<std::string> Names;
  for (const PlannedEdit &E : Edits) {
    const char *Name = nullptr;
    switch (ruleFor(E.Transformation).Kind) {
    case Effect::Eliminate:
      Name = "stall elimination";
      break;
    case Effect::Hide:
      Name = "latency hiding";
      break;
    case Effect::FewerThreads:
      Name = "fewer threads";
      break;
    case Effect::Unmodelled:
      Name = "elimination of the cited stalls";
      break;
    case Effect::None:
      continue;
    }
    if (!llvm::is_contained(Names, Name))
      Names.push_back(Name);
  }
  std::string Text;
  for (const std::string &N : Names)
    Text += (Text.empty() ? "" : " and ") + N;
  return Text;
}

Estimate estimate(const Diagnosis &D, FunctionId Kernel, llvm::ArrayRef<PlannedEdit> Edits) {
  Estimate Out;
  const KernelDiagnosis *K = D.kernel(Kernel);
  if (!K || !K->TotalSamples) {
    Out.Why = "the profile has no samples of the kernel";
    return Out;
  }
  Out.Model = modelOf(Edits);
  if (Out.Model.empty()) {
    Out.Why = "what it changes does not show in samples";
    return Out;
  }
  Out.Headroom = K->headroom();
  Out.AtMost = llvm::any_of(Edits, [](const PlannedEdit &E) {
    return ruleFor(E.Transformation).Kind == Effect::Unmodelled;
  });
  const double T = double(K->TotalSamples);
  double Time = 0, Uncapped = 0;
  for (const KernelInstance &I : K->Instances) {
    double Gone = 0, Acted = 0;
    for (const Evidence *E : D.evidenceOf(Kernel)) {
      if (E->Kind != EvidenceKind::Stall)
        continue;
      double Part = 0;
      for (const PlannedEdit &Edit : Edits)
        Part = std::max(Part, removed(D, *E, Edit, I.Symbol));
      Gone += Part * E->Samples / T;
      Acted += Part > 0 ? E->Samples / T : 0;
    }
    double Speedup = 1 / (1 - std::min(MostRemoved, Gone));
    Uncapped += I.TimeShare / Speedup;
    if (I.Headroom > 0)
      Speedup = std::min(Speedup, I.Headroom);
    Time += I.TimeShare / Speedup;
    Out.Acted += I.TimeShare * Acted;
    Out.Instances.push_back({I.Symbol, Speedup, I.Headroom});
  }
  if (Out.Acted <= 0 || Time <= 0) {
    Out.Why = "the evidence holds no samples that it acts on";
    return Out;
  }
  Out.Speedup = 1 / Time;
  Out.Uncapped = 1 / Uncapped;
  return Out;
}

std::string estimateText(const Estimate &E) {
  if (!E.known())
    return "none: " + E.Why;
  return llvm::formatv("{0}{1:F2}× ({2} acts on {3:F0} % of the time{4})",
                       E.AtMost ? "at most " : "", E.Speedup, E.Model, 100 * E.Acted,
                       E.capped()         ? ", capped by the roofline"
                       : E.Headroom <= 0 ? "; no roofline says what is left to gain"
                                         : "")
      .str();
}

llvm::json::Value toJson(const Estimate &E) {
  if (!E.known())
    return llvm::json::Object{{"speedup", nullptr}, {"why", E.Why}};
  llvm::json::Array Instances;
  for (const InstanceEstimate &I : E.Instances)
    Instances.push_back(llvm::json::Object{
        {"symbol", llvm::json::fixUTF8(I.Symbol)},
        {"speedup", I.Speedup},
        {"headroom", I.Headroom > 0 ? llvm::json::Value(I.Headroom) : nullptr}});
  return llvm::json::Object{
      {"speedup", E.Speedup},
      {"at_most", E.AtMost},
      {"uncapped", E.Uncapped},
      {"headroom", E.Headroom > 0 ? llvm::json::Value(E.Headroom) : nullptr},
      {"acted", E.Acted},
      {"model", E.Model},
      {"instances", std::move(Instances)},
      {"why", nullptr}};
}

} // namespace optimas
