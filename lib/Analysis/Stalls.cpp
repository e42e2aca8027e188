//===- Stalls.cpp - From samples to stall evidence --------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StallItems.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace optimas {

/// A producer line below this share of an item does not make an item of its own.
static constexpr double KeyShare = 0.10;
/// Loads this many instructions apart are not put side by side.
static constexpr size_t FlightWindow = 256;
/// The instructions that every warp issues once, and the samples of them that it takes to
/// say how often a warp issues another one.
static constexpr size_t EntryWindow = 16;
static constexpr uint64_t EntrySamples = 50;

static unsigned numberOf(llvm::StringRef Name, llvm::StringMap<unsigned> &Numbers) {
  return Numbers.try_emplace(Name, Numbers.size()).first->second;
}

const StallCollector::Places &StallCollector::locate(size_t Index) {
  Places &At = Locations[Index];
  if (!At.empty())
    return At;
  auto Add = [&](size_t Site, double Share) {
    FrameRefs Frames = Code->frames(Site);
    At.push_back({Site, Share, C.primary(Frames), C.chain(Frames)});
  };
  if (Code->routine(Index).empty())
    Add(Index, 1); // nearly all
  else
    for (const FunctionCode::Site &S : Code->sites(Index))
      Add(S.Index, S.Share);
  return At;
}

unsigned StallCollector::reasonNumber(llvm::StringRef Name) {
  unsigned Number = numberOf(Name, ReasonNumbers);
  if (Number == Reasons.size())
    Reasons.push_back({Name, Name == "no_instructions", Name == "barrier",
                       Name == "long_scoreboard"});
  return Number;
}

void StallCollector::add(const FunctionCode &Added) {
  Code = &Added;
  Symbol = numberOf(Code->samples().Symbol, SymbolNumbers);
  Locations.assign(Code->graph().instructions().size(), {});
  Busy.clear();
  WorkOf.clear();
  for (const PcSample &Pc : Code->samples().Pcs) {
    std::optional<size_t> Index = Code->indexOf(Pc.Offset);
    SampledAt = Pc.Offset;
    for (const StallCount &S : Pc.Stalls) {
      uint64_t Samples = C.weigh(S);
      if (!isStall(S.Reason) || Samples == 0)
        continue;
      Total += Samples;
      if (Index)
        addStall(*Index, S, Samples);
      else
        OnLine[NoLine] += Samples;
    }
  }
  countLoads();
}

/// What a warp issues once, at the function's entry, is the measure of what it issues
/// more often. Of instantiations the one that issues most speaks for its line.
void StallCollector::countLoads() {
  llvm::ArrayRef<uint64_t> Executed = Code->executed();
  llvm::ArrayRef<Instruction> Instrs = Code->graph().instructions();
  uint64_t Entries = 0;
  size_t Window = 0;
  while (Window < std::min(EntryWindow, Instrs.size()) &&
         Instrs[Window].Class != InstrClass::Branch && Instrs[Window].Class != InstrClass::Exit)
    Entries += Executed[Window++];
  if (Entries < EntrySamples)
    return;
  struct Issues {
    uint64_t Count = 0;
    bool Looped = false;
  };
  llvm::DenseMap<LineId, Issues> ByLine;
  for (size_t I = 0; I < Instrs.size(); ++I)
    if (Instrs[I].Class == InstrClass::GlobalLoad && Executed[I])
      for (const Located &L : locate(I)) {
        Issues &Here = ByLine[L.Line];
        Here.Count += Executed[I];
        Here.Looped |= Code->graph().inLoop(I);
      }
  for (auto &[Line, Here] : ByLine) {
    if (!Here.Looped)
      continue;
    auto &Most = PerThread[Line];
    if (Here.Count > Most.second)
      Most = {double(Here.Count) * double(Window) / double(Entries), Here.Count};
  }
}

/// Iterations whose loads of the line \p Where are on their way when \p Consumer waits for
/// the first of them, \p Load: the loads of that line between the two, by those of one
/// iteration, whose results it reads (\p Read).
double StallCollector::inFlight(size_t Load, size_t Consumer, LineId Where, unsigned Read) {
  const BlameGraph &G = Code->graph();
  llvm::ArrayRef<Instruction> Instrs = G.instructions();
  const size_t Near = Consumer - std::min(Consumer, FlightWindow);
  unsigned Count = 0;
  auto Look = [&](size_t Begin, size_t End, bool InLoop) {
    for (size_t I = Begin; I < End; ++I)
      if (Instrs[I].Class == InstrClass::GlobalLoad && (!InLoop || G.inSameLoop(I, Consumer)))
        Count += llvm::any_of(locate(I), [&](const Located &L) { return L.Line == Where; });
  };
  if (Load < Consumer) {
    Look(std::max(Load, Near), Consumer, false);
  } else { // of the iteration before
    Look(Load, std::min(Load + FlightWindow, Instrs.size()), true);
    Look(Near, Consumer, true);
  }
  return std::max(1.0, double(Count) / std::max(1u, Read));
}

/// What is in flight of the lines whose loads \p Index waits for.
void StallCollector::addFlights(size_t Index, StallItem &I,
                                llvm::MutableArrayRef<WaitedLoads> Loads) {
  llvm::sort(Loads, [&](const WaitedLoads &A, const WaitedLoads &B) {
    return C.Lines.before(A.Where, B.Where); // of sums of doubles
  });
  for (const WaitedLoads &W : Loads) {
    I.InFlight += W.Samples * inFlight(W.First, Index, W.Where, W.Read);
    I.FlightSamples += W.Samples;
  }
}

SampleMapping StallCollector::mapping() const {
  MappingSum Sum(C.Model, C.Covers);
  for (auto [Line, Samples] : OnLine)
    Sum.add(C.Lines[Line], Samples);
  return Sum.take();
}

void StallCollector::addStall(size_t Index, const StallCount &S, uint64_t Samples) {
  BlameResult Blame;
  if (Code->fromCubin() || Code->hasText())
    Blame = Code->graph().blame(Index, S.Reason, Code->executed());
  else
    Blame.UnresolvedWhy = "the profile holds neither the cubin nor the SASS text";
  const unsigned Number = reasonNumber(S.Reason);
  const size_t Waiting = Code->graph().waiting(Index, S.Reason);
  const Places &At = locate(Waiting);
  double Share = 0;
  uint64_t Given = 0;
  for (const Located &Where : At) {
    // Cumulative, so that the parts sum to the whole.
    Share += Where.Share;
    bool Last = &Where == &At.back();
    uint64_t Part = (Last ? Samples : uint64_t(Samples * Share)) - Given;
    Given += Part;
    if (!Part)
      continue;
    OnLine[Where.Line] += Part;
    if (C.Lines.hasPath(Where.Line))
      addAt(Waiting, Where, Number, Part, Blame);
  }
}

/// Producers with their places; one in the same routine of the compiler as the
/// consumer belongs to the same call.
llvm::SmallVector<StallCollector::Producer, 8>
StallCollector::producersFor(const Located &Consumer, const BlameResult &Blame) {
  llvm::SmallVector<Producer, 8> Found;
  for (const BlamedInstruction &P : Blame.Producers) {
    const Places &At = locate(P.Index);
    bool Same =
        llvm::any_of(At, [&](const Located &L) { return L.Site == Consumer.Site; });
    for (const Located &L : At)
      if (C.Lines.hasPath(L.Line) && (!Same || L.Site == Consumer.Site))
        Found.push_back({&P, &L});
  }
  return Found;
}

StallItem &StallCollector::itemFor(const Located &Where, unsigned Reason,
                                   llvm::ArrayRef<std::pair<LineId, double>> Shares) {
  StallKey Key;
  Key.Reason = Reason;
  if (!Reasons[Reason].Fetch) {
    Key.Consumer = Where.Line;
    for (auto [Line, Share] : Shares)
      if (Share >= KeyShare)
        Key.Lines.push_back(Line);
    llvm::sort(Key.Lines, [&](LineId A, LineId B) { return C.Lines.before(A, B); });
  }
  auto [It, New] = ItemAt.try_emplace(std::move(Key), Items.size());
  if (New) {
    Items.emplace_back().Key = It->first;
    Items.back().Consumer = Where.Line;
  }
  return Items[It->second];
}

void StallCollector::addAt(size_t Index, const Located &Where, unsigned Reason,
                           uint64_t Samples, const BlameResult &Blame) {
  auto Producers = producersFor(Where, Blame);
  auto ShareOf = [&](const BlamedInstruction &P, const Located &L) {
    return L.Site == Where.Site ? P.Share : P.Share * L.Share;
  };
  // Sums per line decide which producers make the item.
  llvm::SmallVector<std::pair<LineId, double>, 8> Shares;
  for (auto [P, L] : Producers) {
    auto It = llvm::find_if(Shares, [&, L = L](auto &S) { return S.first == L->Line; });
    if (It == Shares.end())
      It = Shares.insert(Shares.end(), {L->Line, 0.0});
    It->second += ShareOf(*P, *L);
  }
  StallItem &I = itemFor(Where, Reason, Shares);
  if (Samples > I.OpcodeSamples) {
    I.OpcodeSamples = Samples;
    I.Opcode = {Code, Index};
  }
  I.Samples += Samples;
  I.Confidence += Samples * Blame.Confidence;
  if (I.Pcs.empty() || I.Pcs.back() != SampledAt)
    I.Pcs.push_back(SampledAt);
  if (llvm::StringRef Routine = Code->routine(Index); !Routine.empty())
    I.Routines[Routine.str()] += Samples;
  if (Reasons[Reason].Fetch)
    return addFetch(Index, Where, I, Samples);
  I.Lines.insert(Where.Chain.begin(), Where.Chain.end());
  if (Blame.Producers.empty())
    I.UnresolvedWhy = Blame.UnresolvedWhy;
  llvm::SmallVector<WaitedLoads, 4> Loads;
  for (auto [P, L] : Producers) {
    const Instruction &From = Code->graph().instructions()[P->Index];
    ProducerSum &Sum = I.producer({Symbol, From.Offset});
    Sum.Where = L->Line;
    Sum.At = {Code, P->Index};
    Sum.Samples += ShareOf(*P, *L) * Samples;
    if (From.Class == InstrClass::GlobalLoad && Reasons[Reason].LongScoreboard) {
      auto W = llvm::find_if(Loads, [&, L = L](auto &W) { return W.Where == L->Line; });
      if (W == Loads.end())
        W = Loads.insert(Loads.end(), {L->Line});
      W->First = std::min(W->First, P->Index);
      // Before the loop is another way to the same register.
      W->Read += P->Confirmed && (!Code->graph().inLoop(Index) ||
                                  Code->graph().inSameLoop(P->Index, Index));
      W->Samples += ShareOf(*P, *L) * Samples;
    }
    if (P->Share >= NamedShare)
      I.Lines.insert(L->Chain.begin(), L->Chain.end());
  }
  addFlights(Index, I, Loads);
  if (Reasons[Reason].Barrier)
    addWork(I, Blame);
}

/// Its producers are lines, of which the PC with the most samples is kept: thousands
/// of PCs, none of them with a share worth naming, are the rule.
void StallCollector::addFetch(size_t Index, const Located &Where, StallItem &I,
                              uint64_t Samples) {
  ProducerSum &Sum = I.producer({Where.Line, 0});
  Sum.Where = Where.Line;
  Sum.Samples += Samples;
  if (Samples > Sum.Largest) {
    Sum.Largest = Samples;
    Sum.At = {Code, Index};
  }
  if (Samples <= I.FetchedSamples)
    return;
  I.FetchedSamples = Samples;
  I.Fetched = {Code->codeBytes(), Code->graph().loopBytes(Index), {}};
  if (!Where.Chain.empty())
    I.Fetched.Around = C.Lines[Where.Chain.back()];
}

/// Latency samples of the work before a barrier, by line: every warp that waits there
/// asks for the same.
llvm::ArrayRef<std::pair<LineId, uint64_t>> StallCollector::workBefore(size_t Barrier) {
  auto [It, New] = WorkOf.try_emplace(Barrier);
  if (!New)
    return It->second;
  if (Busy.empty()) {
    Busy.resize(Code->graph().instructions().size());
    for (const PcSample &Pc : Code->samples().Pcs)
      if (std::optional<size_t> Index = Code->indexOf(Pc.Offset))
        for (const StallCount &S : Pc.Stalls)
          if (isStall(S.Reason) && S.Reason != "barrier")
            Busy[*Index] += C.weigh(S);
  }
  llvm::MapVector<LineId, uint64_t> Sums;
  for (size_t Index : Code->graph().workBefore(Barrier))
    if (Busy[Index])
      for (const Located &L : locate(Index))
        if (C.Lines.hasPath(L.Line))
          Sums[L.Line] += uint64_t(Busy[Index] * L.Share);
  It->second = Sums.takeVector();
  return It->second;
}

void StallCollector::addWork(StallItem &I, const BlameResult &Blame) {
  for (const BlamedInstruction &P : Blame.Producers)
    for (auto [Line, Samples] : workBefore(P.Index))
      I.Work[Line] += Samples;
}

std::vector<Evidence> stallEvidence(AnalysisContext &C, const KernelData &Data,
                                    SampleMapping &Mapping) {
  StallCollector Collector(C);
  for (const FunctionSamples *S : Data.Samples)
    Collector.add(C.code(*S));
  Mapping = Collector.mapping();
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
