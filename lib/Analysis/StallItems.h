//===- StallItems.h - Stall evidence while it is gathered -------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_ANALYSIS_STALLITEMS_H
#define OPTIMAS_LIB_ANALYSIS_STALLITEMS_H

#include "Internal.h"
#include "Phrases.h"
#include "llvm/ADT/Hashing.h"
#include <unordered_map>

namespace optimas {

/// Producers of an item below this share are not named.
constexpr double NamedShare = 0.005;

/// An instruction of a function whose code is kept until the kernel is done.
struct CodePlace {
  const FunctionCode *Code = nullptr;
  size_t Index = 0;
  const Instruction &instruction() const { return Code->graph().instructions()[Index]; }
};

/// What one instruction made the consumers of an item wait; of instructions that are
/// fetched, what all of one line did.
struct ProducerSum {
  std::pair<unsigned, uint64_t> Key; ///< symbol and offset; or line, 0
  LineId Where = NoLine;
  CodePlace At;
  double Samples = 0, Largest = 0;
};

/// Samples with one consumer line, one reason and the same producer lines. Those that
/// wait for instructions are one item a kernel: the cause is the size of the code.
struct StallKey {
  LineId Consumer = NoLine;
  unsigned Reason = 0;
  llvm::SmallVector<LineId, 4> Lines; ///< by KnownLines::before
  bool operator==(const StallKey &O) const {
    return Consumer == O.Consumer && Reason == O.Reason && Lines == O.Lines;
  }
};

struct StallItem {
  StallKey Key;
  LineId Consumer = NoLine;
  CodePlace Opcode; ///< the instruction with the most samples at once
  uint64_t Samples = 0, OpcodeSamples = 0;
  double Confidence = 0; ///< weighted by samples
  double InFlight = 0, FlightSamples = 0; ///< weighted by samples, of waits for loads
  std::string UnresolvedWhy;
  llvm::SmallSetVector<LineId, 8> Lines;
  std::vector<uint64_t> Pcs; ///< in the order of the samples
  std::vector<ProducerSum> Producers;
  llvm::DenseMap<std::pair<unsigned, uint64_t>, unsigned> ProducerAt;
  /// Lines of the work before a barrier → their own latency samples.
  llvm::DenseMap<LineId, uint64_t> Work;
  std::map<std::string, uint64_t> Routines; ///< samples in the compiler's routines
  FetchedCode Fetched;                      ///< around the PC with the most samples
  uint64_t FetchedSamples = 0;

  ProducerSum &producer(std::pair<unsigned, uint64_t> Key) {
    auto [It, New] = ProducerAt.try_emplace(Key, Producers.size());
    if (New)
      Producers.emplace_back().Key = Key;
    return Producers[It->second];
  }
};

/// A stall reason, looked at once.
struct StallReason {
  llvm::StringRef Name;
  bool Fetch, Barrier, LongScoreboard;
};

/// Loads of one line that one instruction waits for.
struct WaitedLoads {
  LineId Where;
  size_t First = ~size_t(0);
  unsigned Read = 0; ///< whose result it reads
  double Samples = 0;
};

struct StallHash {
  size_t operator()(const StallKey &K) const {
    return llvm::hash_combine(K.Consumer, K.Reason,
                              llvm::hash_combine_range(K.Lines.begin(), K.Lines.end()));
  }
};

/// Gathers the items of one kernel.
class StallCollector {
public:
  explicit StallCollector(AnalysisContext &C) : C(C) {}
  /// The samples of one of the kernel's functions.
  void add(const FunctionCode &Code);
  SampleMapping mapping() const;
  /// The items, most samples first; what was gathered is gone then.
  std::vector<Evidence> take(const KernelData &Data);

private:
  struct Located {
    size_t Site; ///< the instruction whose line it is: itself, or the call of its routine
    double Share;
    LineId Line;
    llvm::SmallVector<LineId, 2> Chain;
  };
  using Places = llvm::SmallVector<Located, 1>;
  using Producer = std::pair<const BlamedInstruction *, const Located *>;
  const Places &locate(size_t Index);
  unsigned reasonNumber(llvm::StringRef Name);
  void addStall(size_t Index, const StallCount &S, uint64_t Samples);
  void addAt(size_t Index, const Located &Where, unsigned Reason, uint64_t Samples,
             const BlameResult &Blame);
  llvm::SmallVector<Producer, 8> producersFor(const Located &Consumer,
                                              const BlameResult &Blame);
  StallItem &itemFor(const Located &Where, unsigned Reason,
                     llvm::ArrayRef<std::pair<LineId, double>> Shares);
  void addFetch(size_t Index, const Located &Where, StallItem &I, uint64_t Samples);
  void addWork(StallItem &I, const BlameResult &Blame);
  llvm::ArrayRef<std::pair<LineId, uint64_t>> workBefore(size_t Barrier);
  double inFlight(size_t Load, size_t Consumer, LineId Where, unsigned Read);
  void addFlights(size_t Index, StallItem &I, llvm::MutableArrayRef<WaitedLoads> Loads);
  void countLoads();
  std::vector<const ProducerSum *> inOrder(const StallItem &I) const;
  LineId nameProducers(const StallItem &I, Evidence &E);
  ProducerRef describe(const ProducerSum &P, bool Fetch) const;
  bool before(const StallKey &A, const StallKey &B) const;
  Evidence finish(StallItem &I, const KernelData &Data);

  AnalysisContext &C;
  uint64_t Total = 0;
  std::vector<StallItem> Items;
  std::unordered_map<StallKey, unsigned, StallHash> ItemAt;
  std::vector<StallReason> Reasons;
  llvm::StringMap<unsigned> ReasonNumbers, SymbolNumbers;
  llvm::DenseMap<LineId, uint64_t> OnLine; ///< samples by their consumer's line
  /// By line: how often a thread executes its global loads, and how often they issue.
  llvm::DenseMap<LineId, std::pair<double, uint64_t>> PerThread;

  // Of the function that is being added.
  const FunctionCode *Code = nullptr;
  unsigned Symbol = 0;
  uint64_t SampledAt = 0;        ///< offset of the PC whose samples are being added
  std::vector<Places> Locations; ///< by instruction, empty when not asked for yet
  std::vector<uint64_t> Busy;    ///< latency samples, without those at barriers
  llvm::DenseMap<size_t, llvm::SmallVector<std::pair<LineId, uint64_t>, 0>> WorkOf;
};

} // namespace optimas

#endif // OPTIMAS_LIB_ANALYSIS_STALLITEMS_H
