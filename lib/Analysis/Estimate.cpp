//===- Estimate.cpp - What an edit may gain, before it is built -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Estimate.h"
#include "Internal.h"
#include "Phrases.h"
#include "optimas/Analysis/Calibration.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

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
  Header, ///< of the cited evidence, what its loop's header waits for or is waited for
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
constexpr const char *SameCodeModel = "the compiler makes the same code of it";
} // namespace

static Rule ruleFor(llvm::StringRef Transformation) {
  static const Rule Table[] = {
      {"optimas-load-batching", Effect::Hide, Scope::Cited, Producer::Global},
      {"optimas-unroll", Effect::Hide, Scope::Header, Producer::Any},
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

/// Part of the waits \p E that is left when \p K loads are put side by side.
static double waitsLeft(const Evidence &E, double K) {
  const double Before = std::max(1.0, E.InFlight);
  // Iterations that are known not to fill the batches: ⌈n/k⌉ of n/k0 waits.
  if (E.PerThread >= 1)
    return std::min(1.0, std::ceil(E.PerThread / K - 0.05) * Before / E.PerThread);
  return std::min(1.0, Before / K);
}

/// Share of \p E's samples that lie on the header of the loop that \p Edit unrolls, or
/// wait for it.
static double shareOfHeader(const Evidence &E, const PlannedEdit &Edit) {
  auto IsHeader = [&](const LineRef &L) { return L.File == Edit.File && L.Line == Edit.Line; };
  if (Edit.File == NoId || IsHeader(E.Consumer))
    return 1;
  double Share = 0;
  for (const ProducerRef &P : E.Producers)
    if (IsHeader(P.Where))
      Share += P.Share;
  return Share;
}

namespace {
/// Shares of a stall's samples.
struct Effects {
  double Acts = 0;    ///< what an edit acts on
  double Removes = 0; ///< what it takes away
};
} // namespace

/// What \p Edit does to the stall \p E of the instantiation \p Symbol.
static Effects effects(const Diagnosis &D, const Evidence &E, const PlannedEdit &Edit,
                       llvm::StringRef Symbol) {
  const Rule R = ruleFor(Edit.Transformation);
  if (R.Kind == Effect::None ||
      (R.Where != Scope::Kernel && !llvm::is_contained(Edit.Evidence, E.Id)))
    return {};
  // Bank conflicts hold up what waits for the data and what waits for the queue.
  if (R.Where == Scope::Kernel && R.From == Producer::Shared &&
      E.Reason != "short_scoreboard" && E.Reason != "mio_throttle")
    return {};
  const double Share = R.Where == Scope::Header ? shareOfHeader(E, Edit) : shareFrom(E, R.From);
  const double K = std::max(1u, Edit.Factor);
  switch (R.Kind) {
  case Effect::Eliminate:
  case Effect::Unmodelled:
    return {Share, Share};
  case Effect::Hide:
    return {Share, Share * (1 - (R.Where == Scope::Header ? 1 / K : waitsLeft(E, K)))};
  case Effect::FewerThreads:
    return {Share, Share * (1 - 1 / (K > 1 ? K : elementsPerAccess(D, E.Kernel, Symbol)))};
  case Effect::None:
    break;
  }
  return {};
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

/// `optimas-register-accumulator+optimas-load-batching` is one edit that does two things.
static std::vector<PlannedEdit> separated(llvm::ArrayRef<PlannedEdit> Edits) {
  std::vector<PlannedEdit> Out;
  for (const PlannedEdit &E : Edits) {
    llvm::SmallVector<llvm::StringRef, 2> Ids;
    llvm::StringRef(E.Transformation).split(Ids, '+');
    for (llvm::StringRef Id : Ids) {
      Out.push_back(E);
      Out.back().Transformation = Id.str();
    }
  }
  return Out;
}

std::string transformationsOf(llvm::ArrayRef<PlannedEdit> Edits) {
  std::set<std::string> Ids;
  for (const PlannedEdit &E : separated(Edits))
    Ids.insert(E.Transformation);
  return llvm::join(Ids, "+");
}

/// Warps that an SM holds, after over before, when \p I has that many registers instead.
static double warpsLeft(const Diagnosis &D, const KernelDiagnosis &K, const KernelInstance &I,
                        const std::map<std::string, unsigned> &Registers) {
  auto After = Registers.find(I.Symbol);
  const LaunchShape *Shape = mainShape(K.Shapes);
  if (After == Registers.end() || !After->second || !I.Registers || !Shape)
    return 1;
  // No more blocks are there than the grid has.
  uint64_t Most = ~uint64_t(0);
  if (D.Device.Sms)
    Most = llvm::divideCeil(std::max<uint64_t>(1, volume(Shape->Grid)), D.Device.Sms);
  auto Blocks = [&](unsigned Count) {
    return std::min<uint64_t>(Most, occupancy(D.Device, *Shape, Count, K.StaticShared).BlocksPerSm);
  };
  uint64_t Before = Blocks(I.Registers), Then = Blocks(After->second);
  return Before && Then ? double(Then) / double(Before) : 1;
}

/// The same of an instantiation's time; what two edits act on counts once.
static Effects effectsOn(const Diagnosis &D, const KernelDiagnosis &K, llvm::StringRef Symbol,
                         llvm::ArrayRef<PlannedEdit> Edits) {
  Effects Out;
  for (const Evidence *E : D.evidenceOf(K.Function)) {
    if (E->Kind != EvidenceKind::Stall)
      continue;
    Effects Most;
    for (const PlannedEdit &Edit : Edits) {
      Effects One = effects(D, *E, Edit, Symbol);
      Most = {std::max(Most.Acts, One.Acts), std::max(Most.Removes, One.Removes)};
    }
    const double OfTime = double(E->Samples) / double(K.TotalSamples);
    Out.Acts += Most.Acts > 0 ? OfTime : 0;
    Out.Removes += Most.Removes * OfTime;
  }
  return Out;
}

/// Sums up the instantiations; \p Correction multiplies what the model says of each.
static void sumUp(const Diagnosis &D, const KernelDiagnosis &K, llvm::ArrayRef<PlannedEdit> Edits,
                  const EstimateFacts &Facts, double Correction, Estimate &Out) {
  double Time = 0, Uncapped = 0;
  const double NotSelected = double(K.NotSelected) / double(K.TotalSamples);
  Out.Instances.clear();
  Out.Acted = 0;
  for (const KernelInstance &I : K.Instances) {
    Effects Part = effectsOn(D, K, I.Symbol, Edits);
    double Left = 1 - std::min(MostRemoved, Part.Removes);
    double Warps = warpsLeft(D, K, I, Facts.Registers);
    if (Warps < 1)
      Left = std::max(Left, (Left - NotSelected) / Warps);
    Out.Warps = std::min(Out.Warps, Warps);
    double Speedup = Correction / Left;
    Uncapped += I.TimeShare / Speedup;
    if (I.Headroom > 0)
      Speedup = std::min(Speedup, I.Headroom);
    Time += I.TimeShare / Speedup;
    Out.Acted += I.TimeShare * Part.Acts;
    Out.Instances.push_back({I.Symbol, Speedup, I.Headroom});
  }
  Out.Speedup = Time > 0 ? 1 / Time : 0;
  Out.Uncapped = Uncapped > 0 ? 1 / Uncapped : 0;
}

Estimate estimate(const Diagnosis &D, FunctionId Kernel, llvm::ArrayRef<PlannedEdit> Planned,
                  const EstimateFacts &Facts) {
  const std::vector<PlannedEdit> Edits = separated(Planned);
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
  sumUp(D, *K, Edits, Facts, 1, Out);
  // A loop whose control costs nothing gains nothing by unrolling: that is an answer.
  bool Unrolls = llvm::any_of(Edits, [](const PlannedEdit &E) {
    return E.Factor > 1 && ruleFor(E.Transformation).Where == Scope::Header;
  });
  if (Out.Acted <= 0 && !Unrolls) {
    Out.Speedup = 0;
    Out.Why = "the evidence holds no samples that it acts on";
    return Out;
  }
  if (Facts.SameCode) {
    for (InstanceEstimate &I : Out.Instances)
      I.Speedup = 1;
    Out.Speedup = Out.Uncapped = Out.Uncalibrated = 1;
    Out.Acted = 0;
    Out.AtMost = false;
    Out.Model = SameCodeModel;
    return Out;
  }
  Out.Uncalibrated = Out.Speedup;
  if (!Facts.Measured || Out.AtMost)
    return Out;
  if (auto Ratio = Facts.Measured->ratio(D.Device.Name, transformationsOf(Edits))) {
    sumUp(D, *K, Edits, Facts, Ratio->Median, Out);
    Out.Calibrated = Ratio->Count;
  }
  return Out;
}

std::string estimateText(const Estimate &E) {
  if (!E.known())
    return "none: " + E.Why;
  if (E.Model == SameCodeModel)
    return "1.00× (" + E.Model + ")";
  std::string More;
  if (E.Warps < 1)
    More += llvm::formatv(", {0:F0} % of the warps fit beside its registers", 100 * E.Warps);
  if (E.Calibrated)
    More += llvm::formatv(", corrected by {0} measurements", E.Calibrated);
  More += E.capped()        ? ", capped by the roofline"
          : E.Headroom <= 0 ? "; no roofline says what is left to gain"
                            : "";
  return llvm::formatv("{0}{1:F2}× ({2} acts on {3:F0} % of the time{4})",
                       E.AtMost ? "at most " : "", E.Speedup, E.Model, 100 * E.Acted, More)
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
      {"warps", E.Warps},
      {"uncalibrated", E.Uncalibrated},
      {"calibrated_by", E.Calibrated},
      {"model", E.Model},
      {"instances", std::move(Instances)},
      {"why", nullptr}};
}

} // namespace optimas
