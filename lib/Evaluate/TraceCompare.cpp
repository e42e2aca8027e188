//===- TraceCompare.cpp - Comparing the collector's traces -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Trace.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace optimas {

namespace {
/// Collects the differences of one pair of traces.
class Comparer {
public:
  Comparer(StringRef Input, size_t Max) : Input(Input), Max(Max) {}

  bool full() const { return Out.Mismatches.size() >= Max; }

  /// Null when enough have been found.
  Mismatch *add(StringRef What, const HashedLaunch &L, std::string Baseline,
                std::string Candidate) {
    if (full())
      return nullptr;
    Mismatch M;
    M.Input = Input.str();
    M.What = What.str();
    M.Launch = L.Launch;
    M.Kernel = L.Label;
    M.Baseline = std::move(Baseline);
    M.Candidate = std::move(Candidate);
    Out.Mismatches.push_back(std::move(M));
    return &Out.Mismatches.back();
  }

  void allocation(const HashedLaunch &L, const AllocationHash &A, std::string Baseline,
                  std::string Candidate) {
    if (Mismatch *M = add("device memory", L, std::move(Baseline), std::move(Candidate))) {
      M->Allocation = A.Index;
      M->AllocationBytes = A.Bytes;
    }
  }

  void launch(const HashedLaunch &B, const HashedLaunch &C);
  void allocations(const HashedLaunch &B, const HashedLaunch &C);
  void globals(const HashedLaunch &B, const HashedLaunch &C);

  MemoryComparison Out;

private:
  StringRef Input;
  size_t Max;
};
} // namespace

static std::string sized(uint64_t Bytes, StringRef Hash) {
  return formatv("{0} bytes, hash {1}", Bytes, Hash).str();
}

void Comparer::allocations(const HashedLaunch &B, const HashedLaunch &C) {
  std::map<uint64_t, const AllocationHash *> Theirs;
  for (const AllocationHash &A : C.Allocations)
    Theirs[A.Index] = &A;
  for (const AllocationHash &A : B.Allocations) {
    Out.BytesCompared += A.Bytes;
    auto It = Theirs.find(A.Index);
    const AllocationHash *Other = It == Theirs.end() ? nullptr : It->second;
    if (Other)
      Theirs.erase(It);
    if (Other && Other->Bytes == A.Bytes && Other->Hash == A.Hash)
      continue;
    allocation(B, A, sized(A.Bytes, A.Hash),
               Other ? sized(Other->Bytes, Other->Hash) : "not allocated");
  }
  for (const auto &[Index, A] : Theirs)
    allocation(B, *A, "not allocated", sized(A->Bytes, A->Hash));
}

void Comparer::globals(const HashedLaunch &B, const HashedLaunch &C) {
  std::map<StringRef, const GlobalHash *> Theirs;
  for (const GlobalHash &G : C.Globals)
    Theirs[G.Symbol] = &G;
  for (const GlobalHash &G : B.Globals) {
    Out.BytesCompared += G.Bytes;
    auto It = Theirs.find(G.Symbol);
    const GlobalHash *Other = It == Theirs.end() ? nullptr : It->second;
    if (Other)
      Theirs.erase(It);
    if (Other && Other->Bytes == G.Bytes && Other->Hash == G.Hash)
      continue;
    add(("device global " + G.Symbol), B, sized(G.Bytes, G.Hash),
        Other ? sized(Other->Bytes, Other->Hash) : "absent");
  }
  for (const auto &[Symbol, G] : Theirs)
    add(("device global " + Symbol).str(), B, "absent", sized(G->Bytes, G->Hash));
}

void Comparer::launch(const HashedLaunch &B, const HashedLaunch &C) {
  ++Out.LaunchesCompared;
  if (B.Label != C.Label) {
    add("order of launches", B, B.Label, C.Label);
    return;
  }
  if (B.Status != C.Status)
    add("launch status", B, itostr(B.Status), itostr(C.Status));
  allocations(B, C);
  globals(B, C);
}

MemoryComparison compareMemory(const MemoryTrace &Baseline, const MemoryTrace &Candidate,
                               StringRef Input, size_t MaxMismatches) {
  Comparer Compare(Input, MaxMismatches);
  size_t Common = std::min(Baseline.Launches.size(), Candidate.Launches.size());
  for (size_t I = 0; I < Common && !Compare.full(); ++I)
    Compare.launch(Baseline.Launches[I], Candidate.Launches[I]);
  HashedLaunch Last;
  Last.Launch = Common;
  if (Common)
    Last.Label = Baseline.Launches[Common - 1].Label;
  if (Baseline.Launches.size() != Candidate.Launches.size())
    Compare.add("number of launches", Last, utostr(Baseline.Launches.size()),
                utostr(Candidate.Launches.size()));
  if (!Baseline.Complete || !Candidate.Complete)
    Compare.add("end of the run", Last, Baseline.Complete ? "reached" : "not reached",
                Candidate.Complete ? "reached" : "not reached");
  if (Baseline.Status != Candidate.Status)
    Compare.add("device status at the end", Last, itostr(Baseline.Status),
                itostr(Candidate.Status));
  return std::move(Compare.Out);
}

/// The word's bytes in address order and, for a person, the integer and the float
/// that they may be.
static std::string wordText(StringRef Bytes) {
  std::string Text = "bytes " + toHex(Bytes, /*LowerCase=*/true);
  if (Bytes.size() != 4)
    return Text;
  int32_t Integer;
  float Real;
  memcpy(&Integer, Bytes.data(), 4);
  memcpy(&Real, Bytes.data(), 4);
  char Buffer[64];
  snprintf(Buffer, sizeof(Buffer), "%.9g", double(Real));
  return Text + formatv(" (int {0}, float {1})", Integer, Buffer).str();
}

bool refineMismatch(Mismatch &M, StringRef Baseline, StringRef Candidate) {
  size_t Common = std::min(Baseline.size(), Candidate.size()), At = 0;
  while (At < Common && Baseline[At] == Candidate[At])
    ++At;
  if (At == Common && Baseline.size() == Candidate.size())
    return false;
  size_t Word = At & ~size_t(3);
  M.Offset = At;
  M.Baseline = wordText(Baseline.substr(Word, 4));
  M.Candidate = wordText(Candidate.substr(Word, 4));
  return true;
}

std::map<uint64_t, AllocationHash> stableFinals(ArrayRef<TimeTrace> Runs) {
  std::map<uint64_t, AllocationHash> Stable;
  if (Runs.size() < 2)
    return Stable;
  for (const AllocationHash &A : Runs[0].Final)
    Stable[A.Index] = A;
  for (const TimeTrace &T : Runs.drop_front()) {
    std::map<uint64_t, AllocationHash> Kept;
    for (const AllocationHash &A : T.Final)
      if (auto It = Stable.find(A.Index); It != Stable.end() &&
                                          It->second.Hash == A.Hash &&
                                          It->second.Bytes == A.Bytes)
        Kept.insert(*It);
    Stable = std::move(Kept);
  }
  return Stable;
}

std::optional<Mismatch>
compareFinals(const std::map<uint64_t, AllocationHash> &Stable,
              const TimeTrace &Candidate, StringRef Input) {
  std::map<uint64_t, const AllocationHash *> Theirs;
  for (const AllocationHash &A : Candidate.Final)
    Theirs[A.Index] = &A;
  for (const auto &[Index, A] : Stable) {
    auto It = Theirs.find(Index);
    if (It != Theirs.end() && It->second->Hash == A.Hash && It->second->Bytes == A.Bytes)
      continue;
    Mismatch M;
    M.Input = Input.str();
    M.What = "device memory after a timed run";
    M.Allocation = Index;
    M.AllocationBytes = A.Bytes;
    M.Baseline = sized(A.Bytes, A.Hash);
    M.Candidate = It == Theirs.end() ? "not allocated"
                                     : sized(It->second->Bytes, It->second->Hash);
    return M;
  }
  return std::nullopt;
}

static std::map<std::string, uint64_t> launchCounts(const TimeTrace &T) {
  std::map<std::string, uint64_t> Out;
  for (const KernelTimes &K : T.Kernels)
    Out[K.Label] += K.Ns.size();
  return Out;
}

static std::string countsText(const std::map<std::string, uint64_t> &Counts) {
  std::string Out;
  for (const auto &[Label, N] : Counts)
    Out += formatv("{0}{1} {2}x", Out.empty() ? "" : ", ", Label, N).str();
  return Out;
}

std::optional<Mismatch> compareActivity(const TimeTrace &Baseline,
                                        const TimeTrace &Candidate, StringRef Input) {
  Mismatch M;
  M.Input = Input.str();
  auto Found = [&](StringRef What, std::string B, std::string C) {
    M.What = What.str();
    M.Baseline = std::move(B);
    M.Candidate = std::move(C);
    return M;
  };
  auto Before = launchCounts(Baseline), After = launchCounts(Candidate);
  if (Before != After)
    return Found("number of launches", countsText(Before), countsText(After));
  if (Baseline.Streams != Candidate.Streams)
    return Found("number of streams", utostr(Baseline.Streams), utostr(Candidate.Streams));
  if (Candidate.FailedLaunches > Baseline.FailedLaunches ||
      Candidate.Status != Baseline.Status)
    return Found("launch status", itostr(Baseline.Status), itostr(Candidate.Status));
  if (!Candidate.Complete)
    return Found("end of the run", "reached", "not reached");
  return std::nullopt;
}

} // namespace optimas
