//===- Kernels.cpp - The profile's kernels, joined to the source -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <set>

namespace optimas {

std::optional<double> KernelData::counter(llvm::StringRef CounterName) const {
  auto It = Counters.find(CounterName.str());
  if (It == Counters.end())
    return std::nullopt;
  return It->second->Median;
}

uint64_t volume(const Dim3 &D) { return uint64_t(D[0]) * D[1] * D[2]; }

const LaunchShape *mainShape(llvm::ArrayRef<LaunchShape> Shapes) {
  const LaunchShape *Best = nullptr;
  for (const LaunchShape &S : Shapes)
    if (!Best || std::tie(S.TotalNs, S.Launches) > std::tie(Best->TotalNs, Best->Launches))
      Best = &S;
  return Best;
}

static uint64_t allSamples(const FunctionSamples &S) {
  uint64_t N = 0;
  for (const PcSample &Pc : S.Pcs)
    for (const StallCount &C : Pc.Stalls)
      N += C.Samples;
  return N;
}

/// Does the text of \p F name \p Helper as a word followed by `(` or `<`?
static bool mentions(const SourceModel &Model, const Function &F,
                     llvm::StringRef Helper) {
  llvm::StringRef Text = Model.text(F.Body);
  for (size_t At = Text.find(Helper); At != llvm::StringRef::npos;
       At = Text.find(Helper, At + 1)) {
    bool Begins = At == 0 || !(llvm::isAlnum(Text[At - 1]) || Text[At - 1] == '_');
    llvm::StringRef Rest = Text.substr(At + Helper.size()).ltrim();
    if (Begins && (Rest.starts_with("(") || Rest.starts_with("<")))
      return true;
  }
  return false;
}

static llvm::StringRef lastComponent(llvm::StringRef Name) {
  size_t At = Name.rfind("::");
  return At == llvm::StringRef::npos ? Name : Name.substr(At + 2);
}

bool hasLoop(const SourceModel &Model, FunctionId Kernel) {
  if (llvm::any_of(Model.loops(), [&](const Loop &L) { return L.Function == Kernel; }))
    return true;
  const Function &K = Model.function(Kernel);
  return llvm::any_of(Model.loops(), [&](const Loop &L) {
    const Function &F = Model.function(L.Function);
    return !F.IsKernel && mentions(Model, K, lastComponent(F.Name));
  });
}

namespace {
/// Collects the symbols of a profile into source kernels.
class Joiner {
public:
  Joiner(AnalysisContext &C, std::vector<std::string> &Notes) : C(C), Notes(Notes) {}
  KernelTable run();

private:
  KernelData *dataFor(llvm::StringRef Symbol, llvm::StringRef ModuleId = "");
  bool liesElsewhere(const FunctionSamples &S, const Function &F);
  void placeHelpers();
  void estimateTimes();
  KernelDiagnosis describe(const KernelData &D);

  AnalysisContext &C;
  std::vector<std::string> &Notes;
  std::vector<KernelData> All;
  std::map<std::string, size_t> ByKey;
  std::vector<std::pair<FunctionId, const FunctionSamples *>> Helpers;
  /// (symbol, module) of functions that only share their name with one of the model.
  std::set<std::pair<std::string, std::string>> Homonyms;
  std::map<std::string, double> Time; ///< ns by canonical symbol
  std::map<std::string, bool> Estimated;
};
} // namespace

/// Static and anonymous-namespace kernels of several files may share a name: does no
/// line of \p S lie in the file that defines \p F?
bool Joiner::liesElsewhere(const FunctionSamples &S, const Function &F) {
  const FunctionCode &Code = C.code(S);
  bool Any = false;
  for (const PcSample &Pc : S.Pcs) {
    for (const FrameRef &Frame : Code.framesAt(Pc.Offset)) {
      if (Frame.Line == 0)
        continue;
      if (C.Lines[C.Lines.of(Frame)].File == F.Definition.File)
        return false;
      Any = true;
    }
  }
  return Any;
}

/// Null for a device function that is no kernel; it is remembered in Helpers by
/// the caller.
KernelData *Joiner::dataFor(llvm::StringRef Symbol, llvm::StringRef ModuleId) {
  const Function *F = C.function(Symbol);
  if (F && Homonyms.count({Symbol.str(), ModuleId.str()}))
    F = nullptr;
  else if (F && !F->IsKernel)
    return nullptr;
  std::string Name = F ? F->Name : baseName(C.canonical(Symbol));
  std::string Key = F ? "#" + std::to_string(F->Id) : Name;
  auto [It, New] = ByKey.try_emplace(Key, All.size());
  if (New) {
    All.emplace_back();
    All.back().Function = F ? F->Id : NoId;
    All.back().Name = Name;
  }
  return &All[It->second];
}

/// Samples of a helper that was not inlined belong to the kernels that call it; the
/// one with the most samples stands for them.
void Joiner::placeHelpers() {
  for (auto [Id, Samples] : Helpers) {
    const Function &Helper = C.Model.function(Id);
    KernelData *Best = nullptr;
    uint64_t BestSamples = 0;
    for (KernelData &D : All) {
      if (D.Function == NoId ||
          !mentions(C.Model, C.Model.function(D.Function), lastComponent(Helper.Name)))
        continue;
      uint64_t N = 0;
      for (const FunctionSamples *S : D.Samples)
        N += allSamples(*S);
      if (!Best || N > BestSamples) {
        Best = &D;
        BestSamples = N;
      }
    }
    if (Best)
      Best->Samples.push_back(Samples);
    else if (allSamples(*Samples))
      Notes.push_back("samples of the device function `" + Helper.Name +
                      "` are left out: no kernel of the source calls it directly");
  }
}

/// A symbol with samples but no activity time gets the time that its samples are
/// worth by the others' rate (samples are taken at one period). When none has a
/// time, samples themselves are the measure.
void Joiner::estimateTimes() {
  double TimedNs = 0, TimedSamples = 0;
  std::map<std::string, uint64_t> Samples;
  for (const KernelStats &K : C.P.Kernels)
    Time[C.canonical(K.Symbol)] += K.TotalNs;
  for (const FunctionSamples &F : C.P.Functions)
    Samples[C.canonical(F.Symbol)] += allSamples(F);
  for (auto &[Symbol, Ns] : Time)
    if (Ns > 0 && Samples.count(Symbol)) {
      TimedNs += Ns;
      TimedSamples += Samples[Symbol];
    }
  double Rate = TimedSamples > 0 ? TimedNs / TimedSamples : 1;
  for (auto &[Symbol, N] : Samples)
    if (N && Time[Symbol] == 0) {
      Time[Symbol] = N * Rate;
      Estimated[Symbol] = true;
    }
}

KernelDiagnosis Joiner::describe(const KernelData &D) {
  KernelDiagnosis K;
  K.Function = D.Function;
  K.Name = D.Name;
  std::set<std::string> Symbols;
  uint64_t LongestNs = 0;
  bool First = true;
  std::map<std::tuple<Dim3, Dim3, uint64_t>, LaunchShape> Shapes;
  for (const KernelStats *S : D.Stats) {
    Symbols.insert(C.canonical(S->Symbol));
    K.Launches += S->Launches;
    K.TotalNs += S->TotalNs;
    for (const LaunchShape &L : S->Shapes) {
      LaunchShape &Sum = Shapes[{L.Grid, L.Block, L.DynamicShared}];
      uint64_t Launches = Sum.Launches + L.Launches, Ns = Sum.TotalNs + L.TotalNs;
      Sum = L;
      Sum.Launches = Launches;
      Sum.TotalNs = Ns;
    }
    // Resources of the instantiation that takes the most time.
    if (First || S->TotalNs > LongestNs) {
      LongestNs = S->TotalNs;
      K.MedianNs = S->MedianNs;
      K.Registers = S->Registers;
      K.StaticShared = S->StaticShared;
      K.LocalPerThread = S->LocalPerThread;
      First = false;
    }
  }
  for (const FunctionSamples *S : D.Samples) {
    const Function *F = C.function(S->Symbol);
    if (!F || F->Id == D.Function)
      Symbols.insert(C.canonical(S->Symbol));
    for (const PcSample &Pc : S->Pcs)
      for (const StallCount &Stall : Pc.Stalls) {
        K.TotalSamples += Stall.Samples;
        if (Stall.Reason == "not_selected")
          K.NotSelected += Stall.Samples;
        if (isStall(Stall.Reason))
          K.LatencySamples += C.weigh(Stall);
      }
    CubinCache::Found Code = C.Cubins.find(*S);
    if (Code.Function && Code.Function->IsKernel && K.Registers == 0) {
      K.Registers = Code.Function->Registers;
      K.StaticShared = Code.Function->StaticShared;
      K.LocalPerThread = Code.Function->LocalBytes;
    }
  }
  K.Symbols.assign(Symbols.begin(), Symbols.end());
  for (auto &[Key, Shape] : Shapes)
    K.Shapes.push_back(Shape);
  sortStably(K.Shapes, [](const LaunchShape &A, const LaunchShape &B) {
    return std::tie(A.TotalNs, A.Launches) > std::tie(B.TotalNs, B.Launches);
  });
  if (const LaunchShape *Shape = mainShape(K.Shapes)) {
    Occupancy O = occupancy(C.P.Device, *Shape, K.Registers, K.StaticShared);
    K.TheoreticalOccupancy = O.Theoretical;
    K.OccupancyLimiter = O.Limiter;
    K.BlockSizes = blockSizes(C.P.Device, *Shape, K.Registers, K.StaticShared);
  }
  for (const std::string &Symbol : K.Symbols) {
    K.TimeShare += Time[Symbol]; // normalised by the caller
    K.TimeFromSamples |= Estimated.count(Symbol) > 0;
  }
  K.Roof = roofline(C.P.Device, D, K);
  describeInstances(C, D, Time, K);
  return K;
}

KernelTable Joiner::run() {
  for (const FunctionSamples &S : C.P.Functions)
    if (const Function *F = C.function(S.Symbol); F && liesElsewhere(S, *F))
      Homonyms.insert({S.Symbol, S.ModuleId});
  for (const KernelStats &K : C.P.Kernels)
    if (KernelData *D = dataFor(K.Symbol, K.ModuleId))
      D->Stats.push_back(&K);
  for (const FunctionSamples &F : C.P.Functions) {
    if (KernelData *D = dataFor(F.Symbol, F.ModuleId))
      D->Samples.push_back(&F);
    else
      Helpers.push_back({C.function(F.Symbol)->Id, &F});
  }
  estimateTimes();
  for (const CounterValue &V : C.P.Counters) {
    KernelData *D = dataFor(V.Symbol);
    if (!D)
      continue;
    D->CountersOf[C.canonical(V.Symbol)][V.Name] = &V;
    const CounterValue *&Slot = D->Counters[V.Name];
    if (!Slot || Time[C.canonical(V.Symbol)] > Time[C.canonical(Slot->Symbol)])
      Slot = &V;
  }
  placeHelpers();
  KernelTable Table;
  std::vector<size_t> Order(All.size());
  std::vector<KernelDiagnosis> Kernels;
  double Sum = 0;
  for (size_t I = 0; I != All.size(); ++I) {
    Order[I] = I;
    Kernels.push_back(describe(All[I]));
    Sum += Kernels.back().TimeShare;
  }
  for (KernelDiagnosis &K : Kernels)
    K.TimeShare = Sum > 0 ? K.TimeShare / Sum : 0;
  sortStably(Order, [&](size_t A, size_t B) {
    if (Kernels[A].TimeShare != Kernels[B].TimeShare)
      return Kernels[A].TimeShare > Kernels[B].TimeShare;
    return Kernels[A].Name < Kernels[B].Name;
  });
  for (size_t I : Order) {
    Table.Kernels.push_back(std::move(Kernels[I]));
    Table.Data.push_back(std::move(All[I]));
  }
  return Table;
}

KernelTable joinKernels(AnalysisContext &C, std::vector<std::string> &Notes) {
  return Joiner(C, Notes).run();
}

static std::string percent(double Share) {
  return llvm::formatv("{0:F1} %", 100 * Share).str();
}

llvm::Error markHot(AnalysisContext &C, KernelTable &Table,
                    std::vector<std::string> &Notes) {
  double Covered = 0, Before = 0;
  bool Any = false;
  std::vector<std::string> Elsewhere;
  std::optional<double> NeededPercent; // to reach the first kernel of the source
  for (KernelDiagnosis &K : Table.Kernels) {
    if (K.Function != NoId && !NeededPercent)
      NeededPercent = std::min(100.0, std::floor(100 * Before) + 1);
    Before += K.TimeShare;
    // A little slack: shares are sums of doubles.
    if (100 * Covered >= C.Options.HotPercent - 1e-9)
      continue;
    Covered += K.TimeShare;
    if (K.TimeShare <= 0)
      continue;
    K.Hot = true;
    Any |= K.Function != NoId;
    if (K.Function == NoId)
      Elsewhere.push_back("`" + K.Name + "` (" + percent(K.TimeShare) + ")");
  }
  if (!Elsewhere.empty() && Any)
    Notes.push_back("hot kernels that this source does not define: " +
                    llvm::join(Elsewhere, ", "));
  if (Any)
    return llvm::Error::success();
  std::string File = C.Model.mainFile().Path;
  if (C.Options.HotPercent <= 0)
    return makeError(ExitCode::EvidenceUnusable, "no kernel is hot at --hot=0", File,
                     "Ask for a share of the GPU time, --hot=80 say");
  return makeError(
      ExitCode::EvidenceUnusable,
      "no hot kernel is defined in this source; the GPU time goes to " +
          (Elsewhere.empty() ? std::string("kernels without samples or times")
                             : llvm::join(Elsewhere, ", ")),
      File,
      llvm::formatv("Analyse the file that defines them, or raise --hot to {0}",
                    NeededPercent.value_or(100))
          .str());
}

} // namespace optimas
