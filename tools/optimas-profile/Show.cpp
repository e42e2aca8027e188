//===- Show.cpp - A profile for people -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Show.h"
#include "Load.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <set>

using namespace llvm;

namespace optimas {

static constexpr size_t Columns = 100, BarWidth = 20;

/// The letter of each reason in a bar; what is not here is a dot.
static const std::pair<const char *, char> Letters[] = {
    {"long_scoreboard", 'L'}, {"short_scoreboard", 'S'}, {"wait", 'W'},
    {"barrier", 'B'},         {"lg_throttle", 'G'},      {"mio_throttle", 'I'},
    {"math_pipe_throttle", 'M'}, {"tex_throttle", 'T'},  {"drain", 'D'},
    {"branch_resolving", 'R'}, {"no_instructions", 'N'}, {"imc_miss", 'C'},
    {"membar", 'F'},          {"dispatch_stall", 'P'},   {"sleeping", 'Z'},
    {"warpgroup_arrive", 'A'}, {"selected", 's'},        {"not_selected", 'n'}};

static char letterOf(StringRef Reason) {
  auto At = find_if(Letters, [&](const auto &L) { return Reason == L.first; });
  return At == std::end(Letters) ? '.' : At->second;
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
  OS << counted(P.Kernels.size(), "kernel") << ", "
     << (Launches == 1 ? "1 launch" : std::to_string(Launches) + " launches") << ", "
     << duration(double(Ns)) << " of kernel time, " << counted(Samples, "sample") << " on "
     << counted(Pcs, "PC");
  if (P.Quality.SamplingIntervalLog2)
    OS << " (every 2^" << P.Quality.SamplingIntervalLog2 << " cycles)";
  return Text;
}

/// How the device was when the first run started and the last one ended.
static void showStates(raw_ostream &OS, const DeviceInfo &D) {
  if (D.States.empty())
    return;
  auto State = [&](const DeviceState &S) {
    OS << S.When;
    if (S.SmMhz)
      OS << " " << S.SmMhz << " MHz";
    if (S.MemoryMhz)
      OS << ", memory " << S.MemoryMhz << " MHz";
    if (S.TemperatureC)
      OS << ", " << S.TemperatureC << " °C";
    if (S.PowerMw)
      OS << ", " << (S.PowerMw + 500) / 1000 << " W";
    if (!S.ClockReasons.empty())
      OS << " (" << join(S.ClockReasons, ", ") << ")";
  };
  State(D.States.front());
  if (D.States.size() > 1) {
    OS << "; ";
    State(D.States.back());
  }
  OS << "\n";
}

static void showOrigin(raw_ostream &OS, const Profile &P) {
  for (const Provenance &S : P.Sources) {
    OS << S.Kind;
    if (!S.Started.empty())
      OS << ", " << S.Started;
    if (!S.Command.empty())
      OS << ":";
    for (const std::string &Word : S.Command)
      OS << " " << Word;
    if (S.Command.empty() && !S.File.empty())
      OS << ": " << sys::path::filename(S.File);
    OS << "\n";
  }
  const DeviceInfo &D = P.Device;
  if (!D.Name.empty()) {
    OS << D.Name;
    if (D.Sms)
      OS << ", " << D.Sms << " SMs";
    if (!D.DriverVersion.empty())
      OS << ", driver " << D.DriverVersion;
    OS << "\n";
  }
  showStates(OS, D);
  OS << summaryLine(P) << "\n";
}

static std::string dims(const Dim3 &D) {
  std::string Text = std::to_string(D[0]);
  for (unsigned I = 1; I < 3 && (D[1] != 1 || D[2] != 1); ++I)
    if (I == 1 || D[2] != 1)
      Text += "," + std::to_string(D[I]);
  return Text;
}

/// The shape with the most time, and how many others there are.
static std::string shapeOf(const KernelStats &K) {
  if (K.Shapes.empty())
    return "";
  auto Main = llvm::max_element(K.Shapes, [](const auto &A, const auto &B) {
    return std::tie(A.TotalNs, A.Launches) < std::tie(B.TotalNs, B.Launches);
  });
  std::string Text = dims(Main->Grid) + " x " + dims(Main->Block);
  if (K.Shapes.size() > 1)
    Text += " +" + std::to_string(K.Shapes.size() - 1);
  return Text;
}

static std::vector<const KernelStats *> byTime(const Profile &P) {
  std::vector<const KernelStats *> Kernels;
  for (const KernelStats &K : P.Kernels)
    Kernels.push_back(&K);
  llvm::sort(Kernels, [](const KernelStats *A, const KernelStats *B) {
    return std::tie(B->TotalNs, A->Symbol) < std::tie(A->TotalNs, B->Symbol);
  });
  return Kernels;
}

static double percent(double Part, double Whole) {
  return Whole ? 100 * Part / Whole : 0;
}

static void showKernels(raw_ostream &OS, ArrayRef<const KernelStats *> Kernels,
                        unsigned Top) {
  uint64_t TotalNs = 0, LeftOut = 0;
  for (const KernelStats *K : Kernels)
    TotalNs += K->TotalNs;
  OS << "\n   time      total     median  launches  regs    smem  grid x block        "
        "kernel\n";
  for (size_t I = 0; I < Kernels.size(); ++I) {
    const KernelStats &K = *Kernels[I];
    if (Top && I >= Top) {
      LeftOut += K.TotalNs;
      continue;
    }
    uint64_t Shared = K.StaticShared;
    for (const LaunchShape &S : K.Shapes)
      Shared = std::max(Shared, K.StaticShared + S.DynamicShared);
    std::string Shape = shapeOf(K);
    OS << format("%5.1f %% %10s %10s %9llu %5u %7llu  ",
                 percent(double(K.TotalNs), double(TotalNs)),
                 duration(double(K.TotalNs)).c_str(), duration(double(K.MedianNs)).c_str(),
                 (unsigned long long)K.Launches, K.Registers, (unsigned long long)Shared)
       << left_justify(Shape, 18) << "  "
       << fitted(canonicalSymbol(K.Symbol), Columns - 74 + 60) << "\n";
  }
  if (Top && Kernels.size() > Top)
    OS << format("%5.1f %% ", percent(double(LeftOut), double(TotalNs))) << "in "
       << counted(Kernels.size() - Top, "more kernel") << " (--top=0 shows all)\n";
}

/// Letters in proportion to the reasons, the line's share of the heaviest in all.
static std::string barOf(const LineWeight &W, uint64_t Heaviest, std::set<char> &Used) {
  std::vector<std::pair<uint64_t, StringRef>> Reasons;
  for (const auto &[Name, N] : W.Reasons)
    Reasons.push_back({N, Name});
  llvm::sort(Reasons, [](const auto &A, const auto &B) {
    return std::tie(B.first, A.second) < std::tie(A.first, B.second);
  });
  double Scale = double(BarWidth) / double(Heaviest), Sum = 0;
  std::string Bar;
  for (const auto &[N, Name] : Reasons) {
    Sum += double(N) * Scale;
    size_t To = size_t(std::lround(Sum));
    char Letter = letterOf(Name);
    if (To > Bar.size()) {
      Bar.resize(To, Letter);
      Used.insert(Letter);
    }
  }
  if (Bar.empty() && !Reasons.empty()) { // less than a letter is not nothing
    Bar = letterOf(Reasons.front().second);
    Used.insert(Bar[0]);
  }
  return Bar;
}

static void showLegend(raw_ostream &OS, const std::set<char> &Used) {
  OS << "       ";
  for (const auto &[Reason, Letter] : Letters)
    if (Used.count(Letter))
      OS << "  " << Letter << " " << Reason;
  OS << (Used.count('.') ? "  . other\n" : "\n");
}

static void showLines(raw_ostream &OS, const FunctionSamples &F, SourceTexts &Texts,
                      unsigned Top) {
  std::vector<LineWeight> Lines = linesOf(F);
  uint64_t Total = 0, LeftOut = 0;
  for (const LineWeight &W : Lines)
    Total += W.Samples;
  OS << "\n" << fitted(canonicalSymbol(F.Symbol), Columns) << "\n";
  if (Lines.empty()) {
    OS << "  no stall was sampled\n";
    return;
  }
  OS << "  share  stalls                source\n";
  std::set<char> Used;
  for (size_t I = 0; I < Lines.size(); ++I) {
    const LineWeight &W = Lines[I];
    if (Top && I >= Top) {
      LeftOut += W.Samples;
      continue;
    }
    std::string Place =
        W.File.empty() ? "no line information"
                       : (sys::path::filename(W.File) + ":" + Twine(W.Line)).str();
    std::string Bar = barOf(W, Lines.front().Samples, Used);
    std::string Text = Texts.line(W.File, W.Line);
    OS << format("%5.1f %%  ", percent(double(W.Samples), double(Total)))
       << left_justify(Bar, BarWidth) << "  ";
    if (Text.empty())
      OS << Place << "\n";
    else
      OS << left_justify(Place, 16) << " "
         << fitted(Text, Columns - 28 - std::max<size_t>(Place.size() + 1, 17)) << "\n";
  }
  if (Top && Lines.size() > Top)
    OS << format("%5.1f %%  ", percent(double(LeftOut), double(Total))) << "in "
       << counted(Lines.size() - Top, "more line") << " (--top=0 shows all)\n";
  showLegend(OS, Used);
}

static void showCounters(raw_ostream &OS, const Profile &P, StringRef Symbol) {
  static const std::pair<const char *, const char *> Shown[] = {
      {"dram__bytes.sum", "DRAM traffic"},
      {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "of DRAM peak"},
      {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "of SM peak"},
      {"sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy achieved"}};
  std::string Text;
  raw_string_ostream Line(Text);
  unsigned Others = 0;
  for (const CounterValue &C : P.Counters) {
    if (C.Symbol != Symbol)
      continue;
    auto At = find_if(Shown, [&](const auto &S) { return C.Name == S.first; });
    if (At == std::end(Shown)) {
      ++Others;
      continue;
    }
    Line << "  ";
    if (C.Unit == "byte")
      Line << format("%.1f MB ", C.Median * 1e-6);
    else
      Line << format("%.1f %% ", C.Median);
    Line << At->second;
  }
  if (!Text.empty() || Others)
    OS << Text << "  " << counted(Others, Text.empty() ? "counter" : "more counter")
       << "\n";
}

static void showQuality(raw_ostream &OS, const Profile &P, const SourceTexts &Texts) {
  const ProfileQuality &Q = P.Quality;
  uint64_t Samples = 0, WithLine = 0;
  for (const FunctionSamples &F : P.Functions)
    for (const PcSample &Pc : F.Pcs) {
      Samples += samplesOf(Pc);
      WithLine += Pc.Frames.empty() || !Pc.Frames.front().Line ? 0 : samplesOf(Pc);
    }
  OS << "\nquality: ";
  if (Q.TotalSamples || Samples)
    OS << format("%.1f", percent(double(WithLine), double(Samples)))
       << " % of samples have a source line, " << Q.DroppedSamples << " of "
       << Q.TotalSamples << " dropped, " << Q.NonUserSamples
       << " in kernels of others, hardware buffer "
       << (Q.HardwareBufferFull ? "FULL" : "not full");
  else
    OS << "no samples";
  OS << "\n";
  for (const std::string &Note : Q.Notes)
    OS << "note: " << Note << "\n";
  for (const std::string &File : Texts.changed())
    OS << "note: " << File << " has changed since: its text is not shown\n";
}

/// The runs of a sweep: what each took, and the kernel that took most of it.
static void showConfigurations(raw_ostream &OS, const Profile &P, unsigned Top) {
  OS << "\nsweep: " << counted(P.Configurations.size(), "configuration") << "\n";
  for (size_t I = 0; I < P.Configurations.size(); ++I) {
    const SweepConfiguration &C = P.Configurations[I];
    if (Top && I == Top) {
      OS << "  " << counted(P.Configurations.size() - Top, "more configuration")
         << " (--top=0 shows all)\n";
      return;
    }
    uint64_t Ns = 0;
    const KernelStats *Hottest = nullptr;
    for (const KernelStats &K : C.Kernels) {
      Ns += K.TotalNs;
      if (!Hottest || K.TotalNs > Hottest->TotalNs)
        Hottest = &K;
    }
    OS << "  " << describe(C) << ": " << duration(double(Ns)) << " in "
       << counted(C.Kernels.size(), "kernel");
    if (Hottest)
      OS << ", most in " << fitted(baseName(canonicalSymbol(Hottest->Symbol)), 40)
         << " (median " << duration(double(Hottest->MedianNs)) << ")";
    OS << ", " << counted(C.Counters.size(), "counter") << "\n";
  }
}

void showProfile(raw_ostream &OS, const Profile &P, unsigned Top) {
  showOrigin(OS, P);
  SourceTexts Texts(P);
  std::vector<const KernelStats *> Kernels = byTime(P);
  if (!Kernels.empty())
    showKernels(OS, Kernels, Top);
  auto ShowFunctions = [&](StringRef Symbol) {
    for (const FunctionSamples &F : P.Functions)
      if (F.Symbol == Symbol)
        showLines(OS, F, Texts, Top);
    showCounters(OS, P, Symbol);
  };
  for (size_t I = 0; I < Kernels.size() && (!Top || I < Top); ++I)
    ShowFunctions(Kernels[I]->Symbol);
  // Functions that are called rather than inlined, and profiles without activity.
  std::vector<std::pair<uint64_t, const FunctionSamples *>> Others;
  for (const FunctionSamples &F : P.Functions)
    if (none_of(Kernels, [&](const KernelStats *K) { return K->Symbol == F.Symbol; })) {
      uint64_t N = 0;
      for (const PcSample &Pc : F.Pcs)
        N += samplesOf(Pc);
      Others.push_back({N, &F});
    }
  llvm::stable_sort(Others, [](auto &A, auto &B) { return A.first > B.first; });
  for (size_t I = 0; I < Others.size() && (!Top || I < Top); ++I)
    showLines(OS, *Others[I].second, Texts, Top);
  if (Top && Others.size() > Top)
    OS << "\n" << counted(Others.size() - Top, "more function") << " (--top=0 shows all)\n";
  if (!P.Configurations.empty())
    showConfigurations(OS, P, Top);
  showQuality(OS, P, Texts);
}

} // namespace optimas
