//===- Analyse.cpp - From a model and a profile to a diagnosis --*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "Phrases.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace optimas {

namespace {
/// Weights. Of a kernel with stall items, every kernel-level item (roofline,
/// counter, launch) takes 5 %, all of them together at most 20 %; the stall items
/// share the rest in proportion to their latency samples. Without stall items the
/// kernel-level ones share all, equally. Weights of a kernel sum to 1 over the listed
/// items: what the coverage cut leaves out has none.
constexpr double KernelItemWeight = 0.05, MaxKernelItemWeight = 0.20;
/// Listing more lines than this helps nobody.
constexpr size_t MaxStallItems = 24;
/// One line that covers everything still leaves room for the next ones, if they weigh
/// at least MinorShare.
constexpr size_t FewStallItems = 3;
constexpr double MinorShare = 0.01;
/// Dropped samples above this share are worth a word.
constexpr double DroppedShare = 0.001;
} // namespace

static const char *ProfileRemedy =
    "Record one: optimas-profile -o run.optimas.json -- ./app args";

/// The names that the profile holds, at most eight.
static std::string profileNames(const Profile &P) {
  std::set<std::string> Names;
  for (const KernelStats &K : P.Kernels)
    Names.insert(baseName(canonicalSymbol(K.Symbol)));
  for (const FunctionSamples &F : P.Functions)
    Names.insert(baseName(canonicalSymbol(F.Symbol)));
  for (const CounterValue &V : P.Counters)
    Names.insert(baseName(canonicalSymbol(V.Symbol)));
  std::vector<std::string> List(Names.begin(), Names.end());
  bool More = List.size() > 8;
  List.resize(std::min<size_t>(List.size(), 8));
  return llvm::join(List, ", ") + (More ? ", ..." : "");
}

static std::string kernelNames(const SourceModel &Model) {
  std::vector<std::string> Names;
  for (const Function &F : Model.functions())
    if (F.IsKernel && Names.size() < 8)
      Names.push_back(F.Name);
  return Names.empty() ? "no kernel" : llvm::join(Names, ", ");
}

/// Fails on a profile that holds nothing, or nothing of this source.
static llvm::Error checkJoined(AnalysisContext &C, const KernelTable &Table) {
  const std::string &File = C.Model.mainFile().Path;
  if (C.P.Functions.empty() && C.P.Kernels.empty() && C.P.Counters.empty())
    return makeError(ExitCode::EvidenceUnusable,
                     "the profile holds no samples, no kernel times and no counters",
                     C.ProfileFile, ProfileRemedy);
  if (llvm::none_of(C.Model.functions(), [](const Function &F) { return F.IsKernel; }))
    return makeError(ExitCode::EvidenceUnusable, "the source defines no kernel", File,
                     "Name the file that holds the kernels");
  if (llvm::none_of(Table.Data, [](const KernelData &D) { return D.Function != NoId; }))
    return makeError(ExitCode::EvidenceUnusable,
                     "the profile is of another program: it knows " +
                         profileNames(C.P) + "; the source defines " +
                         kernelNames(C.Model),
                     C.ProfileFile.empty() ? File : C.ProfileFile, ProfileRemedy);
  return llvm::Error::success();
}

static void noteQuality(const ProfileQuality &Q, std::vector<std::string> &Notes) {
  if (Q.DroppedSamples &&
      Q.DroppedSamples > DroppedShare * double(Q.TotalSamples + Q.DroppedSamples))
    Notes.push_back(
        countText(Q.DroppedSamples) + " samples were dropped (" +
        percentText(double(Q.DroppedSamples) / (Q.TotalSamples + Q.DroppedSamples)) +
        "): shares may be off; a longer sampling period avoids it");
  if (Q.HardwareBufferFull)
    Notes.push_back("the sampling buffer of the device overflowed: shares may be off; a "
                    "longer sampling period avoids it");
  for (const std::string &N : Q.Notes)
    Notes.push_back(N);
}

namespace {
/// One run of analyse().
class Analysis {
public:
  Analysis(const SourceModel &Model, const Profile &P, const AnalysisOptions &Options)
      : C(Model, P, Options) {}
  llvm::Expected<Diagnosis> run();

private:
  llvm::Error diagnose(const KernelData &Data, KernelDiagnosis &K);
  std::vector<Evidence> listedStalls(std::vector<Evidence> All, uint64_t Total);
  void weigh(std::vector<Evidence> &Stalls, std::vector<Evidence> &KernelItems);
  void number();

  AnalysisContext C;
  Diagnosis D;
  uint64_t Samples = 0, WithoutLine = 0;
};
} // namespace

std::vector<Evidence> Analysis::listedStalls(std::vector<Evidence> All,
                                             uint64_t Total) {
  std::vector<Evidence> Listed;
  uint64_t Covered = 0;
  for (Evidence &E : All) {
    bool Enough = Covered >= C.Options.StallCoverage * double(Total);
    bool Few = Listed.size() < FewStallItems && E.Samples >= MinorShare * double(Total);
    if ((Enough && !Few) || Listed.size() == MaxStallItems)
      break;
    Covered += E.Samples;
    Listed.push_back(std::move(E));
  }
  return Listed;
}

void Analysis::weigh(std::vector<Evidence> &Stalls, std::vector<Evidence> &KernelItems) {
  double Reserved = std::min(MaxKernelItemWeight, KernelItemWeight * KernelItems.size());
  if (Stalls.empty())
    Reserved = KernelItems.empty() ? 0 : 1;
  double Sum = 0;
  for (const Evidence &E : Stalls)
    Sum += E.Samples;
  for (Evidence &E : Stalls)
    E.Weight = (1 - Reserved) * E.Samples / Sum;
  for (Evidence &E : KernelItems)
    E.Weight = Reserved / KernelItems.size();
}

/// What the whole of each item is worth at most (Evidence::AtMost).
static void setAtMost(const KernelDiagnosis &K, llvm::MutableArrayRef<Evidence> Items) {
  const double Headroom = K.headroom();
  for (Evidence &E : Items) {
    if (E.Kind == EvidenceKind::Stall && K.TotalSamples > E.Samples)
      E.AtMost = double(K.TotalSamples) / double(K.TotalSamples - E.Samples);
    else if (E.Kind == EvidenceKind::Launch && E.Metric == "waves")
      E.AtMost = 1 / E.Value;
    else if (E.Kind == EvidenceKind::Launch && E.Metric == "wave_efficiency")
      E.AtMost = 100 / E.Value;
    else if (E.Kind == EvidenceKind::Roofline)
      E.AtMost = Headroom;
    if (Headroom > 0 && E.AtMost > 0)
      E.AtMost = std::min(E.AtMost, Headroom);
  }
}

llvm::Error Analysis::diagnose(const KernelData &Data, KernelDiagnosis &K) {
  std::vector<Evidence> Stalls;
  if (C.Options.UsePc) {
    std::vector<Evidence> All = stallEvidence(C, Data, K.Mapping);
    uint64_t Total = K.Mapping.Total, Lost = K.Mapping.withoutLine();
    Samples += Total;
    WithoutLine += Lost;
    if (Total && Lost == Total)
      D.Notes.push_back("kernel `" + Data.Name +
                        "` has no line information: compile with -lineinfo");
    else if (Total && Lost > 0.05 * Total)
      D.Notes.push_back(percentText(double(Lost) / Total) + " of the samples of `" +
                        Data.Name + "` lie on code without a line");
    if (!Total)
      D.Notes.push_back("kernel `" + Data.Name + "` has no samples");
    Stalls = listedStalls(std::move(All), Total);
  }
  std::vector<Evidence> KernelItems = kernelEvidence(C, Data, K, Stalls);
  weigh(Stalls, KernelItems);
  std::vector<Evidence> All = std::move(Stalls);
  llvm::append_range(All, std::move(KernelItems));
  setAtMost(K, All);
  sortStably(All, [](const Evidence &A, const Evidence &B) {
    return A.Weight > B.Weight;
  });
  llvm::append_range(D.Items, std::move(All));
  C.release(Data.Samples);
  return llvm::Error::success();
}

/// Regions are numbered by their kernel's place in the list, then by position.
void Analysis::number() {
  std::map<FunctionId, size_t> Rank;
  for (auto [Index, K] : llvm::enumerate(D.Kernels))
    if (K.Function != NoId)
      Rank.try_emplace(K.Function, Index);
  auto RankOf = [&](const Region &R) {
    // A helper's region goes with the first kernel whose evidence implicates it.
    const Evidence *First = D.evidence(R.Evidence.front());
    return Rank[First->Kernel];
  };
  sortStably(D.Regions, [&](const Region &A, const Region &B) {
    return std::make_tuple(RankOf(A), A.Range.File, A.Range.Begin, A.Range.End,
                           A.LaunchSiteId) <
           std::make_tuple(RankOf(B), B.Range.File, B.Range.Begin, B.Range.End,
                           B.LaunchSiteId);
  });
  for (auto [Index, R] : llvm::enumerate(D.Regions))
    R.Id = Index + 1;
}

llvm::Expected<Diagnosis> Analysis::run() {
  D.Device = C.P.Device;
  noteQuality(C.P.Quality, D.Notes);
  KernelTable Table = joinKernels(C, D.Notes);
  if (llvm::Error E = checkJoined(C, Table))
    return std::move(E);
  if (llvm::Error E = checkFresh(C, Table, D.Notes))
    return std::move(E);
  if (llvm::Error E = markHot(C, Table, D.Notes))
    return std::move(E);
  D.Kernels = Table.Kernels;
  for (size_t I = 0; I != Table.Kernels.size(); ++I)
    if (Table.Kernels[I].Hot && Table.Kernels[I].Function != NoId)
      if (llvm::Error E = diagnose(Table.Data[I], D.Kernels[I]))
        return std::move(E);
  const std::string &Where =
      C.ProfileFile.empty() ? C.Model.mainFile().Path : C.ProfileFile;
  // A profile of another tool may come without the code, whose lines the cubin knows.
  bool Code = llvm::any_of(C.P.Modules, [](const Module &M) { return !M.Cubin.empty(); });
  if (C.Options.UsePc && Samples && WithoutLine == Samples)
    return makeError(ExitCode::EvidenceUnusable,
                     "the sampled code has no line information", Where,
                     Code ? "Compile with -lineinfo and profile again"
                          : "Compile with -lineinfo and profile again; if it was, give the "
                            "cubin of the program, too: --profile=app.cubin");
  if (D.Items.empty())
    return makeError(ExitCode::EvidenceUnusable,
                     Samples || !C.Options.UsePc
                         ? "the profile supports no evidence for the hot kernels"
                         : "the profile has no samples of the hot kernels",
                     Where, ProfileRemedy);
  for (auto [Index, E] : llvm::enumerate(D.Items))
    E.Id = Index + 1;
  D.Regions = findRegions(C.Model, D.Items);
  number();
  return std::move(D);
}

llvm::Expected<Diagnosis> analyse(const SourceModel &Model, const Profile &P,
                                  const AnalysisOptions &Options) {
  return Analysis(Model, P, Options).run();
}

llvm::Expected<std::map<std::string, double>>
measureMetrics(const SourceModel &Model, const Profile &P, FunctionId Kernel) {
  AnalysisOptions Options;
  AnalysisContext C(Model, P, Options);
  std::vector<std::string> Notes;
  KernelTable Table = joinKernels(C, Notes);
  for (size_t I = 0; I != Table.Data.size(); ++I) {
    if (Table.Data[I].Function != Kernel || Kernel == NoId)
      continue;
    std::map<std::string, double> Metrics =
        kernelMetrics(C, Table.Data[I], Table.Kernels[I]);
    SampleMapping Mapping;
    for (auto &[Name, Value] : stallMetrics(stallEvidence(C, Table.Data[I], Mapping)))
      Metrics[Name] = Value;
    return Metrics;
  }
  return makeError(ExitCode::EvidenceUnusable, "the profile does not hold the kernel",
                   C.ProfileFile, ProfileRemedy);
}

} // namespace optimas
