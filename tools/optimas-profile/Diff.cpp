//===- Diff.cpp - What changed between two profiles -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Load.h"
#include "Show.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;

namespace optimas {

namespace {
/// A kernel by the name that both profiles share.
struct Pair {
  const KernelStats *A = nullptr, *B = nullptr;
};
} // namespace

static uint64_t timeOf(const Pair &K) {
  return std::max(K.A ? K.A->TotalNs : 0, K.B ? K.B->TotalNs : 0);
}

static std::string change(double Before, double After) {
  std::string Text;
  raw_string_ostream OS(Text);
  if (Before > 0)
    OS << format("%+.1f %%", 100 * (After / Before - 1));
  return Text;
}

/// Shares of a kernel's latency samples by reason, in percent.
static std::map<std::string, double> reasons(const Profile &P, StringRef Name) {
  std::map<std::string, double> Shares;
  double Total = 0;
  for (const FunctionSamples &F : P.Functions) {
    if (canonicalSymbol(F.Symbol) != Name)
      continue;
    for (const LineWeight &W : linesOf(F))
      for (const auto &[Reason, N] : W.Reasons) {
        Shares[Reason] += double(N);
        Total += double(N);
      }
  }
  for (auto &[Reason, Share] : Shares)
    Share *= 100 / Total;
  return Shares;
}

static void showReasons(raw_ostream &OS, const Profile &A, const Profile &B,
                        StringRef Name) {
  std::map<std::string, double> Before = reasons(A, Name), After = reasons(B, Name);
  if (Before.empty() || After.empty())
    return;
  std::map<std::string, std::pair<double, double>> Both;
  for (const auto &[Reason, Share] : Before)
    Both[Reason].first = Share;
  for (const auto &[Reason, Share] : After)
    Both[Reason].second = Share;
  std::vector<std::pair<std::string, std::pair<double, double>>> Sorted(Both.begin(),
                                                                        Both.end());
  llvm::stable_sort(Sorted, [](const auto &X, const auto &Y) {
    return std::fabs(X.second.second - X.second.first) >
           std::fabs(Y.second.second - Y.second.first);
  });
  OS << "\n" << fitted(Name, 100) << ": latency samples by reason\n";
  size_t Small = 0;
  for (const auto &[Reason, Shares] : Sorted) {
    double Delta = Shares.second - Shares.first;
    if (std::fabs(Delta) < 1)
      ++Small;
    else
      OS << format("%8.1f %% %8.1f %% %+8.1f    ", Shares.first, Shares.second, Delta)
         << Reason << "\n";
  }
  if (Small)
    OS << "  " << counted(Small, Small == Sorted.size() ? "reason" : "more reason")
       << " changed by less than one point\n";
}

/// A page of samples has no times.
static bool isSampled(const Profile &P, StringRef Name) {
  return any_of(P.Functions,
                [&](const FunctionSamples &F) { return canonicalSymbol(F.Symbol) == Name; });
}

static void showHead(raw_ostream &OS, const Profile &A, const Profile &B) {
  OS << "A: " << summaryLine(A) << "\nB: " << summaryLine(B) << "\n";
  auto Warn = [&](StringRef What, const auto &X, const auto &Y) {
    if (X != Y)
      OS << "note: " << What << " differ: " << X << " and " << Y << "\n";
  };
  // Exports of other tools may not say.
  if (!A.Device.Name.empty() && !B.Device.Name.empty())
    Warn("devices", A.Device.Name, B.Device.Name);
  if (!A.Device.DriverVersion.empty() && !B.Device.DriverVersion.empty())
    Warn("drivers", A.Device.DriverVersion, B.Device.DriverVersion);
  if (A.Quality.SamplingIntervalLog2 && B.Quality.SamplingIntervalLog2)
    Warn("sampling intervals (log2 of cycles)", A.Quality.SamplingIntervalLog2,
         B.Quality.SamplingIntervalLog2);
}

void showDifference(raw_ostream &OS, const Profile &A, const Profile &B, unsigned Top) {
  showHead(OS, A, B);
  std::map<std::string, Pair> ByName;
  for (const KernelStats &K : A.Kernels)
    ByName[canonicalSymbol(K.Symbol)].A = &K;
  for (const KernelStats &K : B.Kernels)
    ByName[canonicalSymbol(K.Symbol)].B = &K;
  std::vector<std::pair<std::string, Pair>> Kernels(ByName.begin(), ByName.end());
  llvm::stable_sort(Kernels, [](const auto &X, const auto &Y) {
    return timeOf(X.second) > timeOf(Y.second);
  });
  size_t Shown = Top ? std::min<size_t>(Top, Kernels.size()) : Kernels.size();
  if (Shown)
    OS << "\n  A median   B median     change  kernel\n";
  for (const auto &[Name, K] : ArrayRef(Kernels).take_front(Shown)) {
    auto Median = [](const KernelStats *K) {
      return K ? duration(double(K->MedianNs)) : std::string("-");
    };
    std::string Change =
        K.A && K.B ? change(double(K.A->MedianNs), double(K.B->MedianNs))
        : isSampled(K.A ? B : A, Name) ? std::string("not timed")
                                       : std::string(K.A ? "gone" : "new");
    OS << format("%10s %10s %10s  ", Median(K.A).c_str(), Median(K.B).c_str(),
                 Change.c_str())
       << fitted(Name, 66) << "\n";
  }
  if (Shown < Kernels.size())
    OS << "  " << counted(Kernels.size() - Shown, "more kernel")
       << " (--top=0 shows all)\n";
  for (const auto &[Name, K] : ArrayRef(Kernels).take_front(Shown))
    showReasons(OS, A, B, Name);
}

} // namespace optimas
