//===- RooflineSvg.cpp - The roofline as a picture --------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Explain.h"
#include "Internal.h"
#include "Phrases.h"
#include "optimas/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

namespace optimas {

namespace {
constexpr double Left = 84, PlotWidth = 560, PlotHeight = 400, Top = 56, LegendWidth = 370,
                 PanelHeight = Top + PlotHeight + 70, SectorBytes = 32;
/// Ceilings closer than this are one.
constexpr double SameCeiling = 0.02;
constexpr const char *Levels[] = {"dram", "l2", "l1"};
/// Told apart by those who do not see red or green, too (Okabe and Ito's palette).
constexpr const char *Colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                  "#e69f00", "#56b4e9", "#000000", "#999933"};

/// A straight roof: rate = min(Slope × x, Flat), one of them given.
struct Roof {
  std::string Name;
  double Slope = 0, Flat = 0;
  bool Dashed = false;
};

/// One panel: FLOP/s over FLOP/byte, or warp instructions per second over warp
/// instructions per transaction.
class Panel {
public:
  Panel(const Diagnosis &D, bool Integer);
  bool empty() const { return Kernels.empty(); }
  void print(llvm::raw_ostream &OS, double Y0) const;

private:
  void addRoofs(const DeviceInfo &D);
  void fit();
  double x(double Value) const {
    return Left + PlotWidth * (std::log10(Value) - LowX) / (HighX - LowX);
  }
  double y(double Value) const {
    return Top + PlotHeight * (HighY - std::log10(Value)) / (HighY - LowY);
  }
  void grid(llvm::raw_ostream &OS) const;
  void roofs(llvm::raw_ostream &OS) const;
  void points(llvm::raw_ostream &OS) const;
  void legend(llvm::raw_ostream &OS) const;

  bool Integer;
  std::vector<const KernelDiagnosis *> Kernels;
  std::vector<Roof> Roofs;
  double LowX = 0, HighX = 0, LowY = 0, HighY = 0; ///< decades
};
} // namespace

static std::string escaped(llvm::StringRef Text) {
  std::string Out;
  for (char C : Text) {
    if (C == '<')
      Out += "&lt;";
    else if (C == '>')
      Out += "&gt;";
    else if (C == '&')
      Out += "&amp;";
    else if (C == '"')
      Out += "&quot;";
    else if (static_cast<unsigned char>(C) >= 0x20)
      Out += C;
  }
  return Out;
}

static void text(llvm::raw_ostream &OS, double X, double Y, const llvm::Twine &Words,
                 const llvm::Twine &More = "") {
  OS << llvm::formatv("<text x=\"{0:F1}\" y=\"{1:F1}\" {2}>{3}</text>\n", X, Y, More.str(),
                      escaped(Words.str()));
}

static void line(llvm::raw_ostream &OS, double X1, double Y1, double X2, double Y2,
                 llvm::StringRef Style) {
  OS << llvm::formatv("<line x1=\"{0:F1}\" y1=\"{1:F1}\" x2=\"{2:F1}\" y2=\"{3:F1}\" {4}/>\n",
                      X1, Y1, X2, Y2, Style);
}

Panel::Panel(const Diagnosis &D, bool Integer) : Integer(Integer) {
  for (const KernelDiagnosis &K : D.Kernels)
    if (K.Hot && K.Roof.Available && K.Roof.FlopPerSecond > 0 && !K.Roof.Levels.empty() &&
        (K.Roof.Precision == "int") == Integer)
      Kernels.push_back(&K);
  if (empty())
    return;
  addRoofs(D.Device);
  fit();
}

void Panel::addRoofs(const DeviceInfo &D) {
  const double PerByte = Integer ? 1 / SectorBytes : 1;
  for (const char *Level : Levels) {
    // Of L2 and L1 each kernel's counters give a ceiling; the highest is the device's.
    double Best = 0;
    for (const KernelDiagnosis *K : Kernels)
      for (const RooflineLevel &L : K->Roof.Levels)
        if (L.Level == Level)
          Best = std::max(Best, L.CeilingBytesPerSecond);
    if (Best > 0)
      Roofs.push_back({llvm::StringRef(Level).upper() + " " + rateText(Best), Best * PerByte, 0,
                       false});
  }
  // Two transfers a clock. It may be the ceiling already, when none was measured.
  double Sheet = 2.0 * D.MemoryClockKHz * 1e3 * D.MemoryBusBits / 8;
  bool Known = llvm::any_of(Roofs, [&](const Roof &R) {
    return std::abs(R.Slope / (Sheet * PerByte) - 1) < SameCeiling;
  });
  if (Sheet > 0 && !Known)
    Roofs.push_back({"DRAM data sheet " + rateText(Sheet), Sheet * PerByte, 0, true});
  std::map<std::string, double> Peaks;
  for (const KernelDiagnosis *K : Kernels)
    Peaks[K->Roof.Precision] = std::max(Peaks[K->Roof.Precision], K->Roof.PeakFlopPerSecond);
  for (auto &[Precision, Peak] : Peaks) {
    if (Peak <= 0)
      continue;
    Roofs.push_back({Integer ? llvm::formatv("issue {0:F0} GIPS", Peak / 1e9).str()
                             : llvm::formatv("{0} {1:F1} TFLOP/s", Precision, Peak / 1e12).str(),
                     0, Peak, false});
    double Lanes = Precision == "fp32" ? 128 : Precision == "fp64" ? 64 : 0;
    double PeakSheet = 2.0 * Lanes * D.Sms * D.SmClockKHz * 1e3;
    if (PeakSheet > 0 && std::abs(PeakSheet / Peak - 1) > SameCeiling)
      Roofs.push_back({llvm::formatv("{0} data sheet {1:F1} TFLOP/s", Precision,
                                     PeakSheet / 1e12)
                           .str(),
                       0, PeakSheet, true});
  }
}

/// Whole decades around all points and the ends of the roofs.
void Panel::fit() {
  double MinX = HUGE_VAL, MaxX = 0, MinY = HUGE_VAL, MaxY = 0, Flat = 0;
  for (const KernelDiagnosis *K : Kernels) {
    MinY = std::min(MinY, K->Roof.FlopPerSecond);
    MaxY = std::max(MaxY, K->Roof.FlopPerSecond);
    for (const RooflineLevel &L : K->Roof.Levels)
      if (L.Intensity > 0) {
        MinX = std::min(MinX, L.Intensity);
        MaxX = std::max(MaxX, L.Intensity);
      }
  }
  for (const Roof &R : Roofs)
    Flat = std::max(Flat, R.Flat);
  MaxY = std::max(MaxY, Flat);
  for (const Roof &R : Roofs)
    if (R.Slope > 0 && Flat > 0)
      MaxX = std::max(MaxX, Flat / R.Slope);
  LowX = std::floor(std::log10(MinX) - 0.15);
  HighX = std::max(LowX + 1, std::ceil(std::log10(MaxX) + 0.15));
  LowY = std::floor(std::log10(MinY) - 0.3);
  HighY = std::max(LowY + 1, std::ceil(std::log10(MaxY) + 0.1));
}

/// `0.01`, `100`, `1e7`.
static std::string decadeText(int Decade) {
  if (Decade < -3 || Decade > 5)
    return "1e" + std::to_string(Decade);
  if (Decade < 0)
    return "0." + std::string(-Decade - 1, '0') + "1";
  return "1" + std::string(Decade, '0');
}

void Panel::grid(llvm::raw_ostream &OS) const {
  OS << llvm::formatv("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" fill=\"#fff\" "
                      "stroke=\"#333\"/>\n",
                      Left, Top, PlotWidth, PlotHeight);
  const int Giga = 9;
  for (double Decade = LowX; Decade <= HighX; ++Decade) {
    double At = x(std::pow(10, Decade));
    text(OS, At, Top + PlotHeight + 18, decadeText(int(Decade)), "text-anchor=\"middle\"");
    for (int M = 1; M != 10 && Decade < HighX; ++M)
      line(OS, x(M * std::pow(10, Decade)), Top, x(M * std::pow(10, Decade)), Top + PlotHeight,
           M == 1 ? "stroke=\"#bbb\"" : "stroke=\"#eee\"");
  }
  for (double Decade = LowY; Decade <= HighY; ++Decade) {
    text(OS, Left - 8, y(std::pow(10, Decade)) + 4, decadeText(int(Decade) - Giga),
         "text-anchor=\"end\"");
    for (int M = 1; M != 10 && Decade < HighY; ++M)
      line(OS, Left, y(M * std::pow(10, Decade)), Left + PlotWidth, y(M * std::pow(10, Decade)),
           M == 1 ? "stroke=\"#bbb\"" : "stroke=\"#eee\"");
  }
  text(OS, Left + PlotWidth / 2, Top + PlotHeight + 44,
       Integer ? "warp instructions per 32-byte transaction" : "FLOP per byte",
       "text-anchor=\"middle\"");
  text(OS, 0, 0, Integer ? "billion warp instructions per second" : "GFLOP/s",
       llvm::formatv("text-anchor=\"middle\" transform=\"translate(22 {0:F1}) rotate(-90)\"",
                     Top + PlotHeight / 2)
           .str());
}

void Panel::roofs(llvm::raw_ostream &OS) const {
  double Flat = 0;
  for (const Roof &R : Roofs)
    Flat = std::max(Flat, R.Flat);
  const double X1 = std::pow(10, LowX), X2 = std::pow(10, HighX), Y1 = std::pow(10, LowY),
               Y2 = std::pow(10, HighY);
  double Steepest = 0;
  for (const Roof &R : Roofs)
    Steepest = std::max(Steepest, R.Slope);
  for (const Roof &R : Roofs) {
    std::string Style = std::string("stroke=\"#444\" stroke-width=\"") +
                        (R.Dashed ? "1\" stroke-dasharray=\"6 4\"" : "1.6\"");
    if (R.Flat > 0) {
      double From = Steepest > 0 ? std::clamp(R.Flat / Steepest, X1, X2) : X1;
      line(OS, x(From), y(R.Flat), x(X2), y(R.Flat), Style);
      text(OS, Left + PlotWidth - 6, y(R.Flat) + (R.Dashed ? 14 : -5), R.Name,
           "text-anchor=\"end\" class=\"roof\"");
      continue;
    }
    double From = std::max(X1, Y1 / R.Slope);
    double To = std::min({X2, (Flat > 0 ? Flat : Y2) / R.Slope, Y2 / R.Slope});
    if (From >= To)
      continue;
    line(OS, x(From), y(From * R.Slope), x(To), y(To * R.Slope), Style);
    double Angle = std::atan2(PlotHeight / (HighY - LowY), PlotWidth / (HighX - LowX));
    // Labels along the roof: DRAM's below it, out of the way of the data sheet's.
    bool Below = !R.Dashed && llvm::StringRef(R.Name).starts_with("DRAM");
    double At = std::pow(10, std::log10(From) + (R.Dashed ? 0.62 : 0.22) *
                                                     (std::log10(To) - std::log10(From)));
    text(OS, 0, 0, R.Name,
         llvm::formatv("class=\"roof\" transform=\"translate({0:F1} {1:F1}) rotate({2:F1}) "
                       "translate(0 {3})\"",
                       x(At), y(At * R.Slope), -Angle * 180 / M_PI, Below ? 14 : -5)
             .str());
  }
}

static void marker(llvm::raw_ostream &OS, llvm::StringRef Level, double X, double Y,
                   llvm::StringRef Color) {
  if (Level == "dram")
    OS << llvm::formatv("<circle cx=\"{0:F1}\" cy=\"{1:F1}\" r=\"5\" fill=\"{2}\"/>\n", X, Y,
                        Color);
  else if (Level == "l2")
    OS << llvm::formatv("<rect x=\"{0:F1}\" y=\"{1:F1}\" width=\"9\" height=\"9\" "
                        "fill=\"{2}\"/>\n",
                        X - 4.5, Y - 4.5, Color);
  else
    OS << llvm::formatv("<polygon points=\"{0:F1},{1:F1} {2:F1},{3:F1} {4:F1},{3:F1}\" "
                        "fill=\"{5}\"/>\n",
                        X, Y - 6, X - 5.5, Y + 4.5, X + 5.5, Color);
}

void Panel::points(llvm::raw_ostream &OS) const {
  for (auto [Index, K] : llvm::enumerate(Kernels)) {
    const char *Color = Colors[Index % std::size(Colors)];
    double Y = y(K->Roof.FlopPerSecond), First = HUGE_VAL, Last = 0;
    for (const RooflineLevel &L : K->Roof.Levels)
      if (L.Intensity > 0) {
        First = std::min(First, x(L.Intensity));
        Last = std::max(Last, x(L.Intensity));
      }
    if (Last <= 0)
      continue;
    OS << "<g><title>" << escaped(K->Name) << "</title>\n";
    line(OS, First, Y, Last, Y,
         std::string("stroke=\"") + Color + "\" stroke-width=\"1.2\" opacity=\"0.6\"");
    for (const RooflineLevel &L : K->Roof.Levels)
      if (L.Intensity > 0)
        marker(OS, L.Level, x(L.Intensity), Y, Color);
    // Kernels of one rate share a height: their numbers step aside.
    text(OS, Last + 9 + 14 * (Index % 3), Y + 4, std::to_string(Index + 1),
         std::string("font-weight=\"bold\" fill=\"") + Color + "\"");
    OS << "</g>\n";
  }
}

void Panel::legend(llvm::raw_ostream &OS) const {
  double X = Left + PlotWidth + 24, Y = Top + 10;
  for (const char *Level : Levels) {
    marker(OS, Level, X + 6, Y - 4, "#444");
    text(OS, X + 18, Y, "at " + llvm::StringRef(Level).upper());
    X += 92;
  }
  X = Left + PlotWidth + 24;
  Y += 26;
  const size_t Fit = size_t((PlotHeight - 40) / 34);
  for (auto [Index, K] : llvm::enumerate(Kernels)) {
    if (Index == Fit) {
      text(OS, X, Y, std::to_string(Kernels.size() - Fit) + " more kernels are not listed");
      break;
    }
    std::string Name = K->Name.size() > 38 ? K->Name.substr(0, 35) + "..." : K->Name;
    text(OS, X, Y, std::to_string(Index + 1) + "  " + Name,
         std::string("font-weight=\"bold\" fill=\"") + Colors[Index % std::size(Colors)] + "\"");
    text(OS, X + 16, Y + 15,
         llvm::formatv("{0}, {1:F0} % of the roof, headroom {2:F2}x", K->Roof.Bound,
                       K->Roof.PercentOfRoof, K->Roof.Headroom)
             .str(),
         "class=\"small\"");
    Y += 34;
  }
}

void Panel::print(llvm::raw_ostream &OS, double Y0) const {
  OS << llvm::formatv("<g transform=\"translate(0 {0:F0})\">\n", Y0);
  grid(OS);
  roofs(OS);
  points(OS);
  legend(OS);
  OS << "</g>\n";
}

llvm::Expected<std::string> rooflineSvg(const Diagnosis &D) {
  std::vector<Panel> Panels;
  for (bool Integer : {false, true})
    if (Panel P(D, Integer); !P.empty())
      Panels.push_back(std::move(P));
  if (Panels.empty()) {
    std::string Why = "the hot kernels have no counters";
    for (const KernelDiagnosis &K : D.Kernels)
      if (K.Hot && !K.Roof.Why.empty())
        Why = K.Roof.Why;
    return makeError(ExitCode::EvidenceUnusable, "there is no roofline to draw: " + Why, "",
                     "Add --profile=raw.csv (ncu --set full, then --page raw --csv)");
  }
  std::string Svg;
  llvm::raw_string_ostream OS(Svg);
  double Width = Left + PlotWidth + LegendWidth, Height = 30 + PanelHeight * Panels.size();
  OS << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
     << llvm::formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
                      "width=\"{0:F0}\" height=\"{1:F0}\" viewBox=\"0 0 {0:F0} {1:F0}\" "
                      "font-family=\"sans-serif\" font-size=\"13\">\n",
                      Width, Height)
     << "<style>.roof { font-size: 12px; fill: #333 } .small { font-size: 11.5px; fill: #333 "
        "}</style>\n";
  OS << llvm::formatv("<rect width=\"{0:F0}\" height=\"{1:F0}\" fill=\"#fff\"/>\n", Width, Height);
  text(OS, Left, 28,
       "Roofline" + (D.Device.Name.empty() ? std::string() : " on " + D.Device.Name) +
           ": solid measured or from counters, dashed data sheet",
       "font-size=\"16\" font-weight=\"bold\"");
  for (auto [Index, P] : llvm::enumerate(Panels))
    P.print(OS, PanelHeight * Index);
  OS << "</svg>\n";
  return Svg;
}

} // namespace optimas
