//===- Show.cpp - A profile for people -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Show.h"
#include "optimas/Profile/Readers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace llvm;

namespace optimas {

static constexpr unsigned LinesPerKernel = 8;

static uint64_t samplesOf(const PcSample &Pc) {
  uint64_t N = 0;
  for (const StallCount &S : Pc.Stalls)
    N += S.Samples;
  return N;
}

std::string summaryLine(const Profile &P) {
  uint64_t Launches = 0, Ns = 0, Pcs = 0, Samples = 0;
  for (const KernelStats &K : P.Kernels) {
    Launches += K.Launches;
    Ns += K.TotalNs;
  }
  for (const FunctionSamples &F : P.Functions) {
    Pcs += F.Pcs.size();
    for (const PcSample &Pc : F.Pcs)
      Samples += samplesOf(Pc);
  }
  std::string Text;
  raw_string_ostream OS(Text);
  OS << P.Kernels.size() << " kernels, " << Launches << " launches, "
     << format("%.3f", double(Ns) * 1e-6) << " ms of kernel time, " << Samples
     << " samples on " << Pcs << " PCs";
  if (P.Quality.SamplingIntervalLog2)
    OS << " (every 2^" << P.Quality.SamplingIntervalLog2 << " cycles)";
  return Text;
}

namespace {
struct LineWeight {
  uint64_t Latency = 0;
  std::map<std::string, uint64_t> Reasons;
};
} // namespace

static std::string mainReasons(const LineWeight &W) {
  std::vector<std::pair<uint64_t, std::string>> Sorted;
  for (const auto &[Name, N] : W.Reasons)
    if (N)
      Sorted.push_back({N, Name});
  llvm::sort(Sorted, std::greater<>());
  std::string Text;
  for (size_t I = 0; I < Sorted.size() && I < 2; ++I)
    Text += (I ? ", " : "") + Sorted[I].second;
  return Text;
}

/// The function's lines (innermost frames), the heaviest first.
static void showLines(raw_ostream &OS, const FunctionSamples &F) {
  std::map<std::pair<std::string, unsigned>, LineWeight> Lines;
  uint64_t Total = 0;
  for (const PcSample &Pc : F.Pcs) {
    auto Key = Pc.Frames.empty()
                   ? std::pair<std::string, unsigned>("?", 0)
                   : std::pair(Pc.Frames.front().File, Pc.Frames.front().Line);
    LineWeight &W = Lines[Key];
    for (const StallCount &S : Pc.Stalls) {
      W.Latency += S.LatencySamples;
      W.Reasons[S.Reason] += S.LatencySamples;
      Total += S.LatencySamples;
    }
  }
  std::vector<std::pair<uint64_t, std::pair<std::string, unsigned>>> Sorted;
  for (const auto &[Key, W] : Lines)
    Sorted.push_back({W.Latency, Key});
  llvm::sort(Sorted, std::greater<>());
  for (size_t I = 0; I < Sorted.size() && I < LinesPerKernel && Sorted[I].first; ++I) {
    const auto &Key = Sorted[I].second;
    OS << format("  %5.1f %%  ", 100.0 * double(Sorted[I].first) / double(Total))
       << sys::path::filename(Key.first) << ":" << Key.second << "  "
       << mainReasons(Lines[Key]) << "\n";
  }
}

static void showKernel(raw_ostream &OS, const Profile &P, const KernelStats &K,
                       uint64_t TotalNs) {
  OS << "\n" << canonicalSymbol(K.Symbol) << "\n";
  OS << format("  %5.1f %% of kernel time, ", 100.0 * double(K.TotalNs) /
                                                 double(std::max<uint64_t>(TotalNs, 1)))
     << K.Launches << " launches of " << format("%.3f", double(K.MedianNs) * 1e-3)
     << " us (median), " << K.Registers << " registers, " << K.StaticShared
     << " bytes of shared memory\n";
  for (const FunctionSamples &F : P.Functions)
    if (F.Symbol == K.Symbol && (F.ModuleId == K.ModuleId || K.ModuleId.empty()))
      showLines(OS, F);
}

void showProfile(raw_ostream &OS, Profile P) {
  std::vector<std::string> Notes;
  resolveFrames(P, Notes);
  for (const Provenance &S : P.Sources) {
    OS << S.Kind << ", " << S.Started << ":";
    for (const std::string &Word : S.Command)
      OS << " " << Word;
    OS << "\n";
  }
  if (!P.Device.Name.empty())
    OS << P.Device.Name << ", driver " << P.Device.DriverVersion << "\n";
  OS << summaryLine(P) << "\n";
  uint64_t TotalNs = 0;
  for (const KernelStats &K : P.Kernels)
    TotalNs += K.TotalNs;
  std::vector<KernelStats> Kernels = P.Kernels;
  llvm::sort(Kernels, [](const KernelStats &A, const KernelStats &B) {
    return std::tie(B.TotalNs, A.Symbol) < std::tie(A.TotalNs, B.Symbol);
  });
  for (const KernelStats &K : Kernels)
    showKernel(OS, P, K, TotalNs);
  // Functions that are called rather than inlined, and profiles without activity.
  for (const FunctionSamples &F : P.Functions)
    if (none_of(Kernels, [&](const KernelStats &K) { return K.Symbol == F.Symbol; })) {
      OS << "\n" << canonicalSymbol(F.Symbol) << "\n";
      showLines(OS, F);
    }
  const ProfileQuality &Q = P.Quality;
  OS << "\n" << Q.TotalSamples << " samples, " << Q.DroppedSamples << " dropped, "
     << Q.NonUserSamples << " in other programs' kernels\n";
  for (const std::string &Note : Q.Notes)
    OS << "note: " << Note << "\n";
  for (const std::string &Note : Notes)
    OS << "note: " << Note << "\n";
}

} // namespace optimas
