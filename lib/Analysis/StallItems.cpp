//===- StallItems.cpp - From gathered stalls to evidence --------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StallItems.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace optimas {

static constexpr size_t MaxNamedProducers = 8;

/// By symbol and offset, or by line.
std::vector<const ProducerSum *> StallCollector::inOrder(const StallItem &I) const {
  std::vector<llvm::StringRef> Symbols(SymbolNumbers.size());
  for (auto &Entry : SymbolNumbers)
    Symbols[Entry.second] = Entry.first();
  std::vector<const ProducerSum *> Order;
  for (const ProducerSum &P : I.Producers)
    Order.push_back(&P);
  const bool Fetch = Reasons[I.Key.Reason].Fetch;
  llvm::sort(Order, [&](const ProducerSum *A, const ProducerSum *B) {
    if (Fetch)
      return C.Lines.before(A->Where, B->Where);
    if (A->Key.first != B->Key.first)
      return Symbols[A->Key.first] < Symbols[B->Key.first];
    return A->Key.second < B->Key.second;
  });
  return Order;
}

ProducerRef StallCollector::describe(const ProducerSum &P, bool Fetch) const {
  const Instruction &From = P.At.instruction();
  ProducerRef R;
  R.Where = C.Lines[P.Where];
  R.Opcode = From.Mnemonic;
  R.Symbol = P.At.Code->samples().Symbol;
  R.Offset = From.Offset;
  R.Share = P.Samples;
  R.AccessBytes = Fetch ? 0 : From.AccessBytes;
  R.Spill = !Fetch && P.At.Code->isSpill(P.At.Index);
  return R;
}

/// Producers of lines that matter, heaviest line first, and in it the heaviest PC. Returns
/// the line of the first.
LineId StallCollector::nameProducers(const StallItem &I, Evidence &E) {
  std::vector<const ProducerSum *> Order = inOrder(I);
  llvm::DenseMap<LineId, double> ByLine;
  double Sum = 0;
  for (const ProducerSum *P : Order) {
    ByLine[P->Where] += P->Samples;
    Sum += P->Samples;
  }
  struct Weighed {
    double Line;
    const ProducerSum *P;
  };
  std::vector<Weighed> All;
  for (const ProducerSum *P : Order)
    if (double Line = ByLine[P->Where]; Line >= NamedShare * Sum)
      All.push_back({Line, P});
  sortStably(All, [](const Weighed &A, const Weighed &B) {
    return std::make_pair(A.Line, A.P->Samples) > std::make_pair(B.Line, B.P->Samples);
  });
  const LineId First = All.empty() ? NoLine : All.front().P->Where;
  // One PC of a line at least, of thousands that weigh nothing alone.
  llvm::DenseSet<LineId> Named;
  for (const Weighed &W : All)
    if (E.Producers.size() < MaxNamedProducers &&
        (Named.insert(W.P->Where).second || W.P->Samples >= NamedShare * Sum))
      E.Producers.push_back(describe(*W.P, Reasons[I.Key.Reason].Fetch));
  return First;
}

Evidence StallCollector::finish(StallItem &I, const KernelData &Data) {
  const bool Fetch = Reasons[I.Key.Reason].Fetch;
  Evidence E;
  E.Kind = EvidenceKind::Stall;
  E.Kernel = Data.Function;
  E.KernelName = Data.Name;
  E.Consumer = C.Lines[I.Consumer];
  E.ConsumerOpcode = I.Opcode.instruction().Mnemonic;
  E.Reason = Reasons[I.Key.Reason].Name.str();
  E.Samples = I.Samples;
  E.Unit = "samples";
  E.ProfileFile = C.ProfileFile;
  llvm::sort(I.Pcs);
  I.Pcs.erase(llvm::unique(I.Pcs), I.Pcs.end());
  E.Pcs = std::move(I.Pcs);
  E.Confidence = I.Samples ? I.Confidence / I.Samples : 0;
  E.InFlight = I.FlightSamples > 0 ? I.InFlight / I.FlightSamples : 1;
  const LineId First = nameProducers(I, E);
  if (Fetch && !E.Producers.empty())
    E.Consumer = E.Producers.front().Where;
  for (LineId L : I.Lines)
    E.Lines.push_back(C.Lines[L]);
  addLine(E.Lines, E.Consumer);
  if (E.Producers.empty())
    E.UnresolvedWhy = I.UnresolvedWhy.empty() ? "the producers have no source line"
                                              : I.UnresolvedWhy;
  double Sum = 0;
  for (const ProducerRef &P : E.Producers)
    Sum += P.Share;
  for (ProducerRef &P : E.Producers) {
    P.Share /= Sum;
    addLine(E.Lines, P.Where);
  }
  if (auto It = PerThread.find(E.Producers.empty() ? I.Consumer : First); It != PerThread.end())
    E.PerThread = It->second.first;
  if (Fetch)
    addLine(E.Lines, I.Fetched.Around);
  for (auto &[Routine, Samples] : I.Routines)
    if (2 * Samples > I.Samples)
      E.Routine = Routine;
  StallFacts Facts;
  Facts.Share = Total ? double(E.Samples) / Total : 0;
  Facts.Fetched = I.Fetched;
  LineId Slowest = NoLine;
  uint64_t Most = 0;
  for (auto [Line, Samples] : I.Work)
    if (Samples > Most ||
        (Samples == Most && Samples && C.Lines.before(Line, Slowest))) {
      Most = Samples;
      Slowest = Line;
    }
  if (Most > 0) {
    Facts.Slowest = C.Lines[Slowest];
    addLine(E.Lines, Facts.Slowest);
  }
  E.Metric = stallMetric(E, C.Model);
  E.Sentence = stallSentence(E, C.Model, Facts);
  return E;
}

/// Equally heavy items are listed by line, then by reason, then by producers.
bool StallCollector::before(const StallKey &A, const StallKey &B) const {
  auto Line = [&](LineId X, LineId Y) { return C.Lines.before(X, Y); };
  if (A.Consumer != B.Consumer)
    return Line(A.Consumer, B.Consumer);
  if (A.Reason != B.Reason)
    return Reasons[A.Reason].Name < Reasons[B.Reason].Name;
  return std::lexicographical_compare(A.Lines.begin(), A.Lines.end(), B.Lines.begin(),
                                      B.Lines.end(), Line);
}

std::vector<Evidence> StallCollector::take(const KernelData &Data) {
  llvm::sort(Items, [&](const StallItem &A, const StallItem &B) {
    if (A.Samples != B.Samples)
      return A.Samples > B.Samples;
    return before(A.Key, B.Key);
  });
  std::vector<Evidence> Found;
  for (StallItem &I : Items)
    Found.push_back(finish(I, Data));
  return Found;
}

} // namespace optimas
