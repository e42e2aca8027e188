//===- Instances.cpp - The instantiations of one source kernel --*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

namespace optimas {

/// Counters of \p Symbol; Nsight Compute prints a template's name in its own way.
static const KernelData::CounterMap *countersOf(const KernelData &D,
                                                const std::string &Symbol) {
  auto It = D.CountersOf.find(Symbol);
  if (It != D.CountersOf.end())
    return &It->second;
  for (auto &[Name, Counters] : D.CountersOf)
    if (symbolsMatch(Name, Symbol))
      return &Counters;
  return nullptr;
}

static const KernelStats *statsOf(AnalysisContext &C, const KernelData &D,
                                  const std::string &Symbol) {
  for (const KernelStats *S : D.Stats)
    if (C.canonical(S->Symbol) == Symbol)
      return S;
  return nullptr;
}

/// Bytes that one thread's global loads and stores access, each executed once: a measure
/// for instantiations of one source, which differ in the width of a type.
static double accessedBytes(AnalysisContext &C, const KernelData &D,
                            const std::string &Symbol) {
  double Bytes = 0;
  for (const FunctionSamples *S : D.Samples) {
    if (C.canonical(S->Symbol) != Symbol)
      continue;
    CubinCache::Found Code = C.Cubins.find(*S);
    if (!Code.Function)
      return 0;
    for (const Instruction &I : Code.Image->instructions(*Code.Function))
      if (I.Class == InstrClass::GlobalLoad || I.Class == InstrClass::GlobalStore ||
          I.Class == InstrClass::AsyncCopy)
        Bytes += I.AccessBytes;
  }
  return Bytes;
}

/// Headroom of instantiations without counters. One that moves \p b times the bytes of a
/// counted one in \p t times the time has t/b times its headroom, where bytes bind.
static void inferHeadroom(AnalysisContext &C, const KernelData &D, KernelDiagnosis &K,
                          const std::map<std::string, double> &Time) {
  const KernelInstance *Counted = nullptr;
  for (const KernelInstance &I : K.Instances)
    if (I.Headroom > 0 && !Counted) // most time first
      Counted = &I;
  if (!Counted || llvm::StringRef(Counted->Roof.Bound).starts_with("compute"))
    return;
  const double BytesThere = accessedBytes(C, D, Counted->Symbol);
  const KernelStats *There = statsOf(C, D, Counted->Symbol);
  for (KernelInstance &I : K.Instances) {
    if (I.Headroom > 0)
      continue;
    double Bytes = accessedBytes(C, D, I.Symbol);
    const KernelStats *Here = statsOf(C, D, I.Symbol);
    double Launches = There && Here && Here->Launches && There->Launches
                          ? double(Here->Launches) / double(There->Launches)
                          : 1;
    double T = Time.at(I.Symbol) / Launches / Time.at(Counted->Symbol);
    if (Bytes <= 0 || BytesThere <= 0 || !(T > 0))
      continue;
    I.Headroom = std::max(1.0, Counted->Headroom * T * BytesThere / Bytes);
    I.HeadroomInferred = true;
  }
}

void describeInstances(AnalysisContext &C, const KernelData &D,
                       const std::map<std::string, double> &Time, KernelDiagnosis &K) {
  double Sum = 0;
  for (const std::string &Symbol : K.Symbols) {
    KernelInstance I;
    I.Symbol = Symbol;
    auto It = Time.find(Symbol);
    I.TimeShare = It == Time.end() ? 0 : It->second;
    const KernelStats *Stats = statsOf(C, D, Symbol);
    I.Registers = Stats && Stats->Registers ? Stats->Registers
                  : K.Symbols.size() == 1   ? K.Registers
                                            : 0;
    Sum += I.TimeShare;
    if (K.Symbols.size() == 1) {
      I.Roof = K.Roof;
    } else {
      KernelData Own;
      if (const KernelData::CounterMap *Counters = countersOf(D, Symbol))
        Own.Counters = *Counters;
      KernelDiagnosis Times;
      if (Stats)
        Times.MedianNs = Stats->MedianNs;
      I.Roof = roofline(C.P.Device, Own, Times);
    }
    if (I.Roof.Available && I.Roof.PercentOfRoof > 0)
      I.Headroom = I.Roof.Headroom;
    K.Instances.push_back(std::move(I));
  }
  // Without any time an instantiation counts as much as another.
  for (KernelInstance &I : K.Instances)
    I.TimeShare = Sum > 0 ? I.TimeShare / Sum : 1.0 / double(K.Instances.size());
  llvm::erase_if(K.Instances, [](const KernelInstance &I) { return I.TimeShare <= 0; });
  sortStably(K.Instances, [](const KernelInstance &A, const KernelInstance &B) {
    return A.TimeShare > B.TimeShare;
  });
  if (K.Instances.size() > 1)
    inferHeadroom(C, D, K, Time);
}

} // namespace optimas
