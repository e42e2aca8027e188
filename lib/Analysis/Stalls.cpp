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
/// Loads this many instructions apart are not put side by side.
constexpr size_t FlightWindow = 256;
/// The instructions that every warp issues once, and the samples of them that it takes to
/// say how often a warp issues another one.
constexpr size_t EntryWindow = 16;
constexpr uint64_t EntrySamples = 50;

/// Where an instruction is, as shown and as keyed.
using LineKey = std::pair<std::string, unsigned>;

struct ProducerSum {
  LineRef Where;
  std::string Opcode, Symbol;
  uint64_t Offset = 0;
  unsigned AccessBytes = 0;
  bool Spill = false;
  double Samples = 0, Largest = 0;
};

/// Samples with one consumer line, one reason and the same producer lines. Those that
/// wait for instructions are one item a kernel: the cause is the size of the code.
struct Item {
  LineRef Consumer;
  std::string ConsumerOpcode, Reason, UnresolvedWhy;
  uint64_t Samples = 0, OpcodeSamples = 0;
  double Confidence = 0; ///< weighted by samples
  double InFlight = 0, FlightSamples = 0; ///< weighted by samples, of waits for loads
  std::vector<LineRef> Lines;
  std::set<uint64_t> Pcs;
  std::map<std::pair<std::string, uint64_t>, ProducerSum> Producers;
  /// Lines of the work before a barrier → their own latency samples.
  std::map<LineKey, std::pair<LineRef, uint64_t>> Work;
  std::map<std::string, uint64_t> Routines; ///< samples in the compiler's routines
  FetchedCode Fetched;                      ///< around the PC with the most samples
  uint64_t FetchedSamples = 0;
};

/// Loads of one line that one instruction waits for.
struct WaitedLoads {
  size_t First = ~size_t(0);
  unsigned Read = 0; ///< whose result it reads
  double Samples = 0;
  const LineRef *Where = nullptr;
};

bool isFetch(llvm::StringRef Reason) { return Reason == "no_instructions"; }

/// Gathers the items of one kernel.
class StallCollector {
public:
  StallCollector(AnalysisContext &C) : Mapping(C.Model), C(C) {}
  void add(const FunctionCode &Code);
  std::vector<Evidence> take(const KernelData &Data);
  MappingSum Mapping;

private:
  struct Located {
    size_t Site; ///< the instruction whose line it is: itself, or the call of its routine
    double Share;
    LineRef Line;
    std::vector<LineRef> Chain;
  };
  const std::vector<Located> &locate(const FunctionCode &Code, size_t Index);
  void addStall(const FunctionCode &Code, size_t Index, const StallCount &S,
                uint64_t Samples);
  void addAt(const FunctionCode &Code, size_t Index, const Located &Where,
             const std::string &Reason, uint64_t Samples, const BlameResult &Blame);
  std::vector<std::pair<const BlamedInstruction *, const Located *>>
  producersFor(const FunctionCode &Code, const Located &Consumer,
               const BlameResult &Blame);
  void addFetch(const FunctionCode &Code, size_t Index, const Located &Where, Item &I,
                uint64_t Samples);
  void nameProducers(Item &I, Evidence &E);
  void addWork(const FunctionCode &Code, Item &I, const BlameResult &Blame);
  double inFlight(const FunctionCode &Code, size_t Load, size_t Consumer, const LineRef &Where,
                  unsigned Read);
  void countLoads(const FunctionCode &Code);
  Evidence finish(Item &I, const KernelData &Data);

  using Key = std::tuple<std::string, unsigned, std::string, std::vector<LineKey>>;
  AnalysisContext &C;
  uint64_t Total = 0;
  std::map<Key, Item> Items;
  std::map<std::pair<const FunctionCode *, size_t>, std::vector<Located>> Locations;
  /// Latency samples by instruction, without those at barriers.
  std::map<const FunctionCode *, std::vector<uint64_t>> BusyOf;
  /// By line: how often a thread executes its global loads, and how often they issue.
  std::map<LineKey, std::pair<double, uint64_t>> PerThread;
};
} // namespace

const std::vector<StallCollector::Located> &
StallCollector::locate(const FunctionCode &Code, size_t Index) {
  auto [It, New] = Locations.try_emplace({&Code, Index});
  if (New)
    for (const FunctionCode::Site &S : Code.sites(Index)) {
      std::vector<SourceFrame> Frames = Code.frames(S.Index);
      It->second.push_back({S.Index, S.Share, C.primary(Frames), C.chain(Frames)});
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
        Mapping.add(LineRef(), Samples);
    }
  countLoads(Code);
}

/// What a warp issues once, at the function's entry, is the measure of what it issues
/// more often. Of instantiations the one that issues most speaks for its line.
void StallCollector::countLoads(const FunctionCode &Code) {
  llvm::ArrayRef<uint64_t> Executed = Code.executed();
  llvm::ArrayRef<Instruction> Instrs = Code.graph().instructions();
  uint64_t Entries = 0;
  size_t Window = 0;
  while (Window < std::min(EntryWindow, Instrs.size()) &&
         Instrs[Window].Class != InstrClass::Branch && Instrs[Window].Class != InstrClass::Exit)
    Entries += Executed[Window++];
  if (Entries < EntrySamples)
    return;
  std::map<LineKey, uint64_t> Issues;
  std::set<LineKey> Looped;
  for (size_t I = 0; I < Instrs.size(); ++I)
    if (Instrs[I].Class == InstrClass::GlobalLoad && Executed[I])
      for (const Located &L : locate(Code, I)) {
        Issues[{L.Line.Path, L.Line.Line}] += Executed[I];
        if (Code.graph().inLoop(I))
          Looped.insert({L.Line.Path, L.Line.Line});
      }
  for (auto &[Line, Count] : Issues) {
    if (!Looped.count(Line))
      continue;
    auto &Most = PerThread[Line];
    if (Count > Most.second)
      Most = {double(Count) * double(Window) / double(Entries), Count};
  }
}

/// Iterations whose loads of the line \p Where are on their way when \p Consumer waits for
/// the first of them, \p Load: the loads of that line between the two, by those of one
/// iteration, whose results it reads (\p Read).
double StallCollector::inFlight(const FunctionCode &Code, size_t Load, size_t Consumer,
                                const LineRef &Where, unsigned Read) {
  const BlameGraph &G = Code.graph();
  llvm::ArrayRef<Instruction> Instrs = G.instructions();
  const size_t Near = Consumer - std::min(Consumer, FlightWindow);
  unsigned Count = 0;
  auto Look = [&](size_t Begin, size_t End, bool InLoop) {
    for (size_t I = Begin; I < End; ++I)
      if (Instrs[I].Class == InstrClass::GlobalLoad && (!InLoop || G.inSameLoop(I, Consumer)))
        Count += llvm::any_of(locate(Code, I), [&](const Located &L) { return L.Line == Where; });
  };
  if (Load < Consumer) {
    Look(std::max(Load, Near), Consumer, false);
  } else { // of the iteration before
    Look(Load, std::min(Load + FlightWindow, Instrs.size()), true);
    Look(Near, Consumer, true);
  }
  return std::max(1.0, double(Count) / std::max(1u, Read));
}

void StallCollector::addStall(const FunctionCode &Code, size_t Index,
                              const StallCount &S, uint64_t Samples) {
  BlameResult Blame;
  if (Code.fromCubin() || Code.hasText())
    Blame = Code.graph().blame(Index, S.Reason, Code.executed());
  else
    Blame.UnresolvedWhy = "the profile holds neither the cubin nor the SASS text";
  const std::vector<Located> &Places = locate(Code, Index);
  double Share = 0;
  uint64_t Given = 0;
  for (const Located &Where : Places) {
    // Cumulative, so that the parts sum to the whole.
    Share += Where.Share;
    bool Last = &Where == &Places.back();
    uint64_t Part = (Last ? Samples : uint64_t(Samples * Share)) - Given;
    Given += Part;
    if (Part)
      Mapping.add(Where.Line, Part);
    if (Part && !Where.Line.Path.empty())
      addAt(Code, Index, Where, S.Reason, Part, Blame);
  }
}

/// Producers with their places; one in the same routine of the compiler as the
/// consumer belongs to the same call.
std::vector<std::pair<const BlamedInstruction *, const StallCollector::Located *>>
StallCollector::producersFor(const FunctionCode &Code, const Located &Consumer,
                             const BlameResult &Blame) {
  std::vector<std::pair<const BlamedInstruction *, const Located *>> Found;
  for (const BlamedInstruction &P : Blame.Producers) {
    const std::vector<Located> &Places = locate(Code, P.Index);
    bool Same = llvm::any_of(
        Places, [&](const Located &L) { return L.Site == Consumer.Site; });
    for (const Located &L : Places)
      if (!L.Line.Path.empty() && (!Same || L.Site == Consumer.Site))
        Found.push_back({&P, &L});
  }
  return Found;
}

void StallCollector::addAt(const FunctionCode &Code, size_t Index, const Located &Where,
                           const std::string &Reason, uint64_t Samples,
                           const BlameResult &Blame) {
  auto Producers = producersFor(Code, Where, Blame);
  bool Fetch = isFetch(Reason);
  auto ShareOf = [&](const BlamedInstruction &P, const Located &L) {
    return L.Site == Where.Site ? P.Share : P.Share * L.Share;
  };
  // Sums per line decide which producers make the item.
  std::map<LineKey, double> Shares;
  for (auto [P, L] : Producers)
    Shares[{L->Line.Path, L->Line.Line}] += ShareOf(*P, *L);
  std::vector<LineKey> Lines;
  for (auto &[Line, Share] : Shares)
    if (Share >= KeyShare && !Fetch)
      Lines.push_back(Line);
  LineKey At{Where.Line.Path, Where.Line.Line};
  Item &I = Fetch ? Items[{"", 0, Reason, {}}] : Items[{At.first, At.second, Reason, Lines}];
  const Instruction &Instr = Code.graph().instructions()[Index];
  if (I.Samples == 0) {
    I.Consumer = Where.Line;
    I.Reason = Reason;
  }
  if (Samples > I.OpcodeSamples) {
    I.OpcodeSamples = Samples;
    I.ConsumerOpcode = Instr.Mnemonic;
  }
  I.Samples += Samples;
  I.Confidence += Samples * Blame.Confidence;
  I.Pcs.insert(Instr.Offset);
  if (llvm::StringRef Routine = Code.routine(Index); !Routine.empty())
    I.Routines[Routine.str()] += Samples;
  if (Fetch)
    return addFetch(Code, Index, Where, I, Samples);
  for (const LineRef &L : Where.Chain)
    addLine(I.Lines, L);
  if (Blame.Producers.empty())
    I.UnresolvedWhy = Blame.UnresolvedWhy;
  std::map<LineKey, WaitedLoads> Loads;
  for (auto [P, L] : Producers) {
    const Instruction &From = Code.graph().instructions()[P->Index];
    ProducerSum &Sum = I.Producers[{Code.samples().Symbol, From.Offset}];
    Sum.Where = L->Line;
    Sum.Opcode = From.Mnemonic;
    Sum.Symbol = Code.samples().Symbol;
    Sum.Offset = From.Offset;
    Sum.AccessBytes = From.AccessBytes;
    Sum.Spill = Code.isSpill(P->Index);
    Sum.Samples += ShareOf(*P, *L) * Samples;
    if (From.Class == InstrClass::GlobalLoad && Reason == "long_scoreboard") {
      WaitedLoads &W = Loads[{L->Line.Path, L->Line.Line}];
      W.First = std::min(W.First, P->Index);
      // Before the loop is another way to the same register.
      W.Read += P->Confirmed && (!Code.graph().inLoop(Index) ||
                                 Code.graph().inSameLoop(P->Index, Index));
      W.Samples += ShareOf(*P, *L) * Samples;
      W.Where = &L->Line;
    }
    if (P->Share >= NamedShare)
      for (const LineRef &Link : L->Chain)
        addLine(I.Lines, Link);
  }
  for (auto &[Line, W] : Loads) {
    I.InFlight += W.Samples * inFlight(Code, W.First, Index, *W.Where, W.Read);
    I.FlightSamples += W.Samples;
  }
  if (Reason == "barrier")
    addWork(Code, I, Blame);
}

/// Its producers are lines, of which the PC with the most samples is kept: thousands
/// of PCs, none of them with a share worth naming, are the rule.
void StallCollector::addFetch(const FunctionCode &Code, size_t Index,
                              const Located &Where, Item &I, uint64_t Samples) {
  const Instruction &Instr = Code.graph().instructions()[Index];
  ProducerSum &Sum = I.Producers[{Where.Line.Path, Where.Line.Line}];
  Sum.Where = Where.Line;
  Sum.Samples += Samples;
  if (Samples > Sum.Largest) {
    Sum.Largest = Samples;
    Sum.Opcode = Instr.Mnemonic;
    Sum.Symbol = Code.samples().Symbol;
    Sum.Offset = Instr.Offset;
  }
  if (Samples <= I.FetchedSamples)
    return;
  I.FetchedSamples = Samples;
  I.Fetched = {Code.codeBytes(), Code.graph().loopBytes(Index), {}};
  if (!Where.Chain.empty())
    I.Fetched.Around = Where.Chain.back();
}

void StallCollector::addWork(const FunctionCode &Code, Item &I,
                             const BlameResult &Blame) {
  std::vector<uint64_t> &Busy = BusyOf[&Code];
  if (Busy.empty()) {
    Busy.resize(Code.graph().instructions().size());
    for (const PcSample &Pc : Code.samples().Pcs)
      for (const StallCount &S : Pc.Stalls)
        if (isStall(S.Reason) && S.Reason != "barrier")
          if (std::optional<size_t> Index = Code.indexOf(Pc.Offset))
            Busy[*Index] += C.weigh(S);
  }
  for (const BlamedInstruction &P : Blame.Producers)
    for (size_t Index : Code.graph().workBefore(P.Index)) {
      if (Busy[Index] == 0)
        continue;
      for (const Located &L : locate(Code, Index)) {
        if (L.Line.Path.empty())
          continue;
        auto &Slot = I.Work[{L.Line.Path, L.Line.Line}];
        Slot.first = L.Line;
        Slot.second += uint64_t(Busy[Index] * L.Share);
      }
    }
}

/// Producers of lines that matter, heaviest line first, and in it the heaviest PC.
void StallCollector::nameProducers(Item &I, Evidence &E) {
  std::map<LineKey, double> ByLine;
  double Sum = 0;
  for (auto &[Key, P] : I.Producers) {
    ByLine[{P.Where.Path, P.Where.Line}] += P.Samples;
    Sum += P.Samples;
  }
  auto LineShare = [&](const LineRef &L) { return ByLine[{L.Path, L.Line}]; };
  std::vector<ProducerRef> All;
  for (auto &[Key, P] : I.Producers)
    if (LineShare(P.Where) >= NamedShare * Sum)
      All.push_back({P.Where, P.Opcode, P.Symbol, P.Offset, P.Samples, P.AccessBytes,
                     P.Spill});
  sortStably(All, [&](const ProducerRef &A, const ProducerRef &B) {
    return std::make_pair(LineShare(A.Where), A.Share) >
           std::make_pair(LineShare(B.Where), B.Share);
  });
  // One PC of a line at least, of thousands that weigh nothing alone.
  std::set<LineKey> Named;
  for (const ProducerRef &P : All)
    if (E.Producers.size() < MaxNamedProducers &&
        (Named.insert({P.Where.Path, P.Where.Line}).second ||
         P.Share >= NamedShare * Sum))
      E.Producers.push_back(P);
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
  E.InFlight = I.FlightSamples > 0 ? I.InFlight / I.FlightSamples : 1;
  nameProducers(I, E);
  if (isFetch(E.Reason) && !E.Producers.empty())
    E.Consumer = E.Producers.front().Where;
  E.Lines = std::move(I.Lines);
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
  if (auto It = PerThread.find({E.where().Path, E.where().Line}); It != PerThread.end())
    E.PerThread = It->second.first;
  if (isFetch(E.Reason))
    addLine(E.Lines, I.Fetched.Around);
  for (auto &[Routine, Samples] : I.Routines)
    if (2 * Samples > I.Samples)
      E.Routine = Routine;
  StallFacts Facts;
  Facts.Share = Total ? double(E.Samples) / Total : 0;
  Facts.Fetched = I.Fetched;
  uint64_t Most = 0;
  for (auto &[Where, Work] : I.Work)
    if (Work.second > Most) {
      Most = Work.second;
      Facts.Slowest = Work.first;
    }
  if (Most > 0)
    addLine(E.Lines, Facts.Slowest);
  E.Metric = stallMetric(E, C.Model);
  E.Sentence = stallSentence(E, C.Model, Facts);
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
                                    SampleMapping &Mapping) {
  StallCollector Collector(C);
  for (const FunctionSamples *S : Data.Samples)
    Collector.add(C.code(*S));
  Mapping = Collector.Mapping.take();
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
