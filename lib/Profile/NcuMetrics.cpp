//===- NcuMetrics.cpp - Metrics of launches, as Nsight Compute's -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NcuMetrics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;

namespace optimas {

constexpr StringLiteral TimeMetric = "gpu__time_duration.sum";
constexpr StringLiteral DevicePrefix = "device__attribute_";

/// Nanoseconds in a unit of time; 0 for other units.
static double nanosecondsIn(StringRef Unit) {
  return StringSwitch<double>(Unit)
      .Cases({"ns", "nsecond"}, 1)
      .Cases({"us", "usecond"}, 1e3)
      .Cases({"ms", "msecond"}, 1e6)
      .Cases({"s", "second"}, 1e9)
      .Default(0);
}

BaseUnit baseUnitOf(StringRef Unit) {
  auto [Above, Below] = Unit.split('/');
  BaseUnit Base{Above.str(), 1};
  if (double Ns = nanosecondsIn(Above))
    Base = {"ns", Ns};
  StringRef Scaled = Above;
  double Prefix = Above.empty() ? 0
                                : StringSwitch<double>(Above.take_front())
                                      .Case("K", 1e3)
                                      .Case("M", 1e6)
                                      .Case("G", 1e9)
                                      .Case("T", 1e12)
                                      .Case("P", 1e15)
                                      .Default(0);
  if (Prefix)
    Scaled = Scaled.drop_front();
  if (Scaled == "byte")
    Base = {"byte", Prefix ? Prefix : 1};
  if (Scaled == "hz" && Below.empty())
    return {"cycle/s", Prefix ? Prefix : 1};
  if (Below.empty())
    return Base;
  double Ns = nanosecondsIn(Below);
  Base.Name += "/" + (Ns ? "s" : Below.str());
  if (Ns)
    Base.Factor *= 1e9 / Ns;
  return Base;
}

std::string unitProblem(StringRef Name, StringRef Base) {
  if (Name == TimeMetric && Base != "ns")
    return ("`" + Name + "` is in `" + Base + "`, which is no unit of time").str();
  if (Name.starts_with("launch__shared_mem_per_block") && !Base.starts_with("byte"))
    return ("`" + Name + "` is in `" + Base + "`, which is no unit of memory").str();
  return "";
}

size_t NcuMetrics::metric(StringRef Name, StringRef Base) {
  auto [At, IsNew] = MetricIndex.try_emplace(Name, Metrics.size());
  if (IsNew)
    Metrics.push_back({Name.str(), Base.str()});
  return At->second;
}

/// A count from a cell that a damaged file may have filled with anything.
template <typename T> static T asCount(std::optional<double> V) {
  return V && *V >= 0 && *V <= double(std::numeric_limits<T>::max()) ? T(*V) : T(0);
}

std::optional<double> NcuMetrics::value(const NcuLaunch &L, StringRef Name) const {
  auto At = MetricIndex.find(Name);
  if (At == MetricIndex.end())
    return std::nullopt;
  // A raw page names its columns once, in their order.
  if (At->second < L.Values.size() && L.Values[At->second].first == At->second)
    return L.Values[At->second].second;
  for (auto [Metric, Value] : L.Values)
    if (Metric == At->second)
      return Value;
  return std::nullopt;
}

/// What `launch__grid_dim_x` and its sisters say, where no column has the size.
std::optional<Dim3> NcuMetrics::dimension(const NcuLaunch &L, StringRef Prefix) const {
  Dim3 D;
  for (unsigned I = 0; I < 3; ++I) {
    std::optional<double> V = value(L, (Prefix + Twine("xyz"[I])).str());
    if (!V || *V < 1)
      return std::nullopt;
    D[I] = asCount<uint32_t>(V);
  }
  return D;
}

void NcuMetrics::add(const NcuLaunch &L) {
  ++Launches;
  auto [Slot, IsNew] = KernelIndex.try_emplace(L.Kernel, Kernels.size());
  if (IsNew)
    Kernels.emplace_back().Symbol = L.Kernel;
  Kernel &K = Kernels[Slot->second];
  ++K.Launches;
  if (K.Values.size() < Metrics.size())
    K.Values.resize(Metrics.size());
  for (auto [Metric, Value] : L.Values)
    K.Values[Metric].push_back(Value);
  std::optional<Dim3> Grid = L.Grid ? L.Grid : dimension(L, "launch__grid_dim_");
  std::optional<Dim3> Block = L.Block ? L.Block : dimension(L, "launch__block_dim_");
  if (!Grid || !Block)
    return;
  auto Dynamic = asCount<uint64_t>(value(L, "launch__shared_mem_per_block_dynamic"));
  auto &Shape = K.Shapes[{*Grid, *Block, Dynamic}];
  ++Shape.first;
  Shape.second += value(L, TimeMetric).value_or(0);
}

/// Of an unordered, non-empty list; the mean of the middle two when it is even.
static double median(std::vector<double> V) {
  size_t Middle = V.size() / 2;
  std::nth_element(V.begin(), V.begin() + Middle, V.end());
  if (V.size() % 2)
    return V[Middle];
  return (*std::max_element(V.begin(), V.begin() + Middle) + V[Middle]) / 2;
}

const std::vector<double> *NcuMetrics::values(const Kernel &K, StringRef Name) const {
  auto At = MetricIndex.find(Name);
  return At != MetricIndex.end() && At->second < K.Values.size() &&
                 !K.Values[At->second].empty()
             ? &K.Values[At->second]
             : nullptr;
}

void NcuMetrics::addKernel(const Kernel &K, Profile &P) const {
  KernelStats S;
  S.Symbol = K.Symbol;
  S.Launches = K.Launches;
  if (const auto *Ns = values(K, TimeMetric)) {
    double Total = 0;
    for (double N : *Ns)
      Total += N;
    S.TotalNs = asCount<uint64_t>(std::round(Total));
    S.MinNs = asCount<uint64_t>(std::round(*llvm::min_element(*Ns)));
    S.MedianNs = asCount<uint64_t>(std::round(median(*Ns)));
    S.MaxNs = asCount<uint64_t>(std::round(*llvm::max_element(*Ns)));
  }
  if (const auto *R = values(K, "launch__registers_per_thread"))
    S.Registers = asCount<unsigned>(R->front());
  if (const auto *Shared = values(K, "launch__shared_mem_per_block_static"))
    S.StaticShared = asCount<uint64_t>(Shared->front());
  for (const auto &[Key, Sum] : K.Shapes) {
    LaunchShape L;
    std::tie(L.Grid, L.Block, L.DynamicShared) = Key;
    L.Launches = Sum.first;
    L.TotalNs = asCount<uint64_t>(std::round(Sum.second));
    S.Shapes.push_back(L);
  }
  P.Kernels.push_back(std::move(S));
  for (size_t I = 0; I < K.Values.size(); ++I) {
    const std::vector<double> &V = K.Values[I];
    if (V.empty() || StringRef(Metrics[I].Name).starts_with(DevicePrefix))
      continue;
    P.Counters.push_back({K.Symbol, Metrics[I].Name, Metrics[I].Unit,
                          *llvm::min_element(V), median(V), *llvm::max_element(V),
                          V.size()});
  }
}

/// The first launch's device.
void NcuMetrics::readDevice(Profile &P) const {
  auto First = [&](StringRef Name) -> std::optional<double> {
    const auto *V = values(Kernels.front(), Name);
    return V ? std::optional<double>(V->front()) : std::nullopt;
  };
  auto Get = [&](StringRef Attribute, auto &Out) {
    Out = asCount<std::decay_t<decltype(Out)>>(First((DevicePrefix + Attribute).str()));
  };
  DeviceInfo &D = P.Device;
  Get("compute_capability_major", D.CcMajor);
  Get("compute_capability_minor", D.CcMinor);
  Get("multiprocessor_count", D.Sms);
  Get("max_threads_per_multiprocessor", D.MaxThreadsPerSm);
  Get("max_blocks_per_multiprocessor", D.MaxBlocksPerSm);
  Get("max_registers_per_multiprocessor", D.RegistersPerSm);
  Get("max_shared_memory_per_multiprocessor", D.SharedPerSm);
  Get("max_shared_memory_per_block_optin", D.SharedPerBlockOptin);
  Get("l2_cache_size", D.L2Bytes);
  Get("total_memory", D.MemoryBytes);
  Get("clock_rate", D.SmClockKHz);
  Get("memory_clock_rate", D.MemoryClockKHz);
  Get("global_memory_bus_width", D.MemoryBusBits);
  std::optional<double> Cycles = First("smsp__pcsamp_interval_cycles");
  if (Cycles && *Cycles >= 1 && *Cycles < 1e18)
    P.Quality.SamplingIntervalLog2 = Log2_64(uint64_t(*Cycles));
}

Profile NcuMetrics::profile(StringRef Kind, StringRef File) const {
  Profile P;
  if (!Kernels.empty())
    readDevice(P);
  bool AnyTime = false;
  for (const Kernel &K : Kernels) {
    addKernel(K, P);
    AnyTime |= values(K, TimeMetric) != nullptr;
  }
  if (!AnyTime)
    P.Quality.Notes.push_back(("the page has no " + TimeMetric +
                               ": kernel times are unknown (record with ncu --set full)")
                                  .str());
  Provenance Source;
  Source.Kind = Kind.str();
  Source.Tool = "Nsight Compute, " + std::to_string(Launches) + " launches";
  Source.File = File.str();
  P.Sources.push_back(std::move(Source));
  return P;
}

} // namespace optimas
