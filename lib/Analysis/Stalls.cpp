//===- Stalls.cpp - From samples to stall evidence --------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "Phrases.h"
#include "llvm/ADT/STLExtras.h"

namespace optimas {

namespace {
/// A producer line below this share of an item does not make an item of its own.
constexpr double KeyShare = 0.10;
/// Producers below this share are not named.
constexpr double NamedShare = 0.005;
constexpr size_t MaxNamedProducers = 8;

/// Where an instruction is, as shown and as keyed.
using LineKey = std::pair<std::string, unsigned>;

struct ProducerSum {
  LineRef Where;
  std::string Opcode, Symbol;
  uint64_t Offset = 0;
  unsigned AccessBytes = 0;
  double Samples = 0;
};

/// Samples with one consumer line, one reason and the same producer lines.
struct Item {
  LineRef Consumer;
  std::string ConsumerOpcode, Reason, UnresolvedWhy;
  uint64_t Samples = 0, OpcodeSamples = 0;
  double Confidence = 0; ///< weighted by samples
  std::vector<LineRef> Lines;
  std::set<uint64_t> Pcs;
  std::map<std::pair<std::string, uint64_t>, ProducerSum> Producers;
  /// Lines of the work before a barrier → their own latency samples.
  std::map<LineKey, std::pair<LineRef, uint64_t>> Work;
};

/// Gathers the items of one kernel.
class StallCollector {
public:
  StallCollector(AnalysisContext &C) : C(C) {}
  void add(const FunctionCode &Code);
  std::vector<Evidence> take(const KernelData &Data);
  uint64_t Total = 0, WithoutLine = 0;

private:
  struct Located {
    LineRef Line;
    std::vector<LineRef> Chain;
  };
  const Located &locate(const FunctionCode &Code, size_t Index);
  void addStall(const FunctionCode &Code, size_t Index, const StallCount &S,
                uint64_t Samples);
  void addWork(const FunctionCode &Code, Item &I, const BlameResult &Blame);
  Evidence finish(Item &I, const KernelData &Data);

  using Key = std::tuple<std::string, unsigned, std::string, std::vector<LineKey>>;
  AnalysisContext &C;
  std::map<Key, Item> Items;
  std::map<std::pair<const FunctionCode *, size_t>, Located> Locations;
};
} // namespace

const StallCollector::Located &StallCollector::locate(const FunctionCode &Code,
                                                      size_t Index) {
  auto [It, New] = Locations.try_emplace({&Code, Index});
  if (New) {
    std::vector<SourceFrame> Frames = Code.frames(Index);
    It->second.Line = C.primary(Frames);
    It->second.Chain = C.chain(Frames);
  }
  return It->second;
}

void StallCollector::add(const FunctionCode &Code) {
  for (const PcSample &Pc : Code.samples().Pcs)
    for (const StallCount &S : Pc.Stalls) {
      uint64_t Samples = C.weigh(S);
      if (!isStall(S.Reason) || Samples == 0)
        continue;
      Total += Samples;
      if (std::optional<size_t> Index = Code.indexOf(Pc.Offset))
        addStall(Code, *Index, S, Samples);
      else
        WithoutLine += Samples;
    }
}

void StallCollector::addStall(const FunctionCode &Code, size_t Index,
                              const StallCount &S, uint64_t Samples) {
  const Located &Consumer = locate(Code, Index);
  if (Consumer.Line.Path.empty()) {
    WithoutLine += Samples;
    return;
  }
  BlameResult Blame;
  if (Code.fromCubin() || Code.hasText())
    Blame = Code.graph().blame(Index, S.Reason, Code.executed());
  else
    Blame.UnresolvedWhy = "the profile holds neither the cubin nor the SASS text";
  // Sums per line decide which producers make the item.
  std::map<LineKey, double> Shares;
  for (const BlamedInstruction &P : Blame.Producers)
    if (const LineRef &L = locate(Code, P.Index).Line; !L.Path.empty())
      Shares[{L.Path, L.Line}] += P.Share;
  std::vector<LineKey> Lines;
  for (auto &[Line, Share] : Shares)
    if (Share >= KeyShare)
      Lines.push_back(Line);
  Item &I = Items[{Consumer.Line.Path, Consumer.Line.Line, S.Reason, Lines}];
  const std::string &Opcode = Code.graph().instructions()[Index].Mnemonic;
  if (I.Samples == 0) {
    I.Consumer = Consumer.Line;
    I.Reason = S.Reason;
  }
  if (Samples > I.OpcodeSamples) {
    I.OpcodeSamples = Samples;
    I.ConsumerOpcode = Opcode;
  }
  I.Samples += Samples;
  I.Confidence += Samples * Blame.Confidence;
  I.Pcs.insert(Code.graph().instructions()[Index].Offset);
  for (const LineRef &L : Consumer.Chain)
    addLine(I.Lines, L);
  if (Blame.Producers.empty())
    I.UnresolvedWhy = Blame.UnresolvedWhy;
  for (const BlamedInstruction &P : Blame.Producers) {
    const Located &Where = locate(Code, P.Index);
    if (Where.Line.Path.empty())
      continue;
    const Instruction &Instr = Code.graph().instructions()[P.Index];
    ProducerSum &Sum = I.Producers[{Code.samples().Symbol, Instr.Offset}];
    Sum.Where = Where.Line;
    Sum.Opcode = Instr.Mnemonic;
    Sum.Symbol = Code.samples().Symbol;
    Sum.Offset = Instr.Offset;
    Sum.AccessBytes = Instr.AccessBytes;
    Sum.Samples += P.Share * Samples;
    if (P.Share >= NamedShare)
      for (const LineRef &L : Where.Chain)
        addLine(I.Lines, L);
  }
  if (S.Reason == "barrier")
    addWork(Code, I, Blame);
}

void StallCollector::addWork(const FunctionCode &Code, Item &I,
                             const BlameResult &Blame) {
  std::map<size_t, uint64_t> Busy;
  for (const PcSample &Pc : Code.samples().Pcs)
    for (const StallCount &S : Pc.Stalls)
      if (isStall(S.Reason) && S.Reason != "barrier")
        if (std::optional<size_t> Index = Code.indexOf(Pc.Offset))
          Busy[*Index] += C.weigh(S);
  for (const BlamedInstruction &P : Blame.Producers)
    for (size_t Index : Code.graph().workBefore(P.Index)) {
      auto It = Busy.find(Index);
      const LineRef &L = locate(Code, Index).Line;
      if (It == Busy.end() || L.Path.empty())
        continue;
      auto &Slot = I.Work[{L.Path, L.Line}];
      Slot.first = L;
      Slot.second += It->second;
    }
}

Evidence StallCollector::finish(Item &I, const KernelData &Data) {
  Evidence E;
  E.Kind = EvidenceKind::Stall;
  E.Kernel = Data.Function;
  E.KernelName = Data.Name;
  E.Consumer = I.Consumer;
  E.ConsumerOpcode = I.ConsumerOpcode;
  E.Reason = I.Reason;
  E.Samples = I.Samples;
  E.Unit = "samples";
  E.ProfileFile = C.ProfileFile;
  E.Pcs.assign(I.Pcs.begin(), I.Pcs.end());
  E.Confidence = I.Samples ? I.Confidence / I.Samples : 0;
  E.Lines = std::move(I.Lines);
  addLine(E.Lines, E.Consumer);
  double Sum = 0;
  for (auto &[Where, P] : I.Producers)
    Sum += P.Samples;
  for (auto &[Where, P] : I.Producers)
    if (P.Samples >= NamedShare * Sum)
      E.Producers.push_back(
          {P.Where, P.Opcode, P.Symbol, P.Offset, P.Samples, P.AccessBytes});
  sortStably(E.Producers, [](const ProducerRef &A, const ProducerRef &B) {
    return A.Share > B.Share;
  });
  // The line with the most samples comes first even when one PC of another has more.
  std::map<LineKey, double> ByLine;
  for (const ProducerRef &P : E.Producers)
    ByLine[{P.Where.Path, P.Where.Line}] += P.Share;
  sortStably(E.Producers, [&](const ProducerRef &A, const ProducerRef &B) {
    return ByLine[{A.Where.Path, A.Where.Line}] > ByLine[{B.Where.Path, B.Where.Line}];
  });
  if (E.Producers.size() > MaxNamedProducers)
    E.Producers.resize(MaxNamedProducers);
  Sum = 0;
  for (const ProducerRef &P : E.Producers)
    Sum += P.Share;
  for (ProducerRef &P : E.Producers) {
    P.Share /= Sum;
    addLine(E.Lines, P.Where);
  }
  if (E.Producers.empty())
    E.UnresolvedWhy = I.UnresolvedWhy.empty() ? "the producers have no source line"
                                              : I.UnresolvedWhy;
  LineRef Slowest;
  uint64_t Most = 0;
  for (auto &[Where, Work] : I.Work)
    if (Work.second > Most) {
      Most = Work.second;
      Slowest = Work.first;
    }
  if (Most > 0)
    addLine(E.Lines, Slowest);
  E.Metric = stallMetric(E, C.Model);
  E.Sentence = stallSentence(E, C.Model, Total ? double(E.Samples) / Total : 0, Slowest);
  return E;
}

std::vector<Evidence> StallCollector::take(const KernelData &Data) {
  std::vector<Evidence> Found;
  for (auto &[Key, I] : Items)
    Found.push_back(finish(I, Data));
  sortStably(Found, [](const Evidence &A, const Evidence &B) {
    return A.Samples > B.Samples;
  });
  return Found;
}

std::vector<Evidence> stallEvidence(AnalysisContext &C, const KernelData &Data,
                                    uint64_t &Total, uint64_t &WithoutLine) {
  StallCollector Collector(C);
  for (const FunctionSamples *S : Data.Samples)
    Collector.add(C.code(*S));
  Total = Collector.Total;
  WithoutLine = Collector.WithoutLine;
  std::vector<Evidence> Items = Collector.take(Data);
  std::map<std::string, double> Metrics = stallMetrics(Items);
  for (Evidence &E : Items)
    E.Value = Metrics[E.Metric];
  return Items;
}

std::map<std::string, double> stallMetrics(llvm::ArrayRef<Evidence> Items) {
  std::map<std::string, double> Metrics;
  for (const Evidence &E : Items)
    Metrics[E.Metric] += E.Samples;
  return Metrics;
}

} // namespace optimas
