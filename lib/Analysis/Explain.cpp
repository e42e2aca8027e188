//===- Explain.cpp - Evidence as a person reads it --------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Explain.h"
#include "Internal.h"
#include "Phrases.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace optimas {

namespace {
constexpr size_t BarWidth = 10;
/// More columns of arrows than this cannot be followed with the eye.
constexpr size_t MaxArrows = 6;
/// Lines shown around one that matters.
constexpr unsigned Around = 1;
/// What is in no statement is named from this share of the samples on.
constexpr double NamedGap = 0.005;

/// The marks of one line.
struct Row {
  double Samples = 0;
  /// By arrow: `+` waits, `>` is waited for.
  std::map<size_t, char> Marks;
};

/// One file's part of a kernel's evidence.
class Page {
public:
  Page(const SourceFile &File, unsigned Columns) : File(File), Columns(Columns) {}
  void add(const Evidence &E);
  void print(llvm::raw_ostream &OS, double Total) const;

private:
  std::string gutter(unsigned Line, const Row *R) const;

  const SourceFile &File;
  unsigned Columns;
  std::map<unsigned, Row> Rows;
  struct Arrow {
    unsigned Id, First, Last;
  };
  std::vector<Arrow> Arrows;
};
} // namespace

void Page::add(const Evidence &E) {
  bool Here = E.Consumer.Path == File.Path;
  if (Here)
    Rows[E.Consumer.Line].Samples += E.Samples;
  std::set<unsigned> From;
  for (const ProducerRef &P : E.Producers)
    if (P.Where.Path == File.Path && !(Here && P.Where.Line == E.Consumer.Line))
      From.insert(P.Where.Line);
  for (unsigned Line : From)
    Rows[Line];
  if (!Here || From.empty() || Arrows.size() == MaxArrows)
    return;
  size_t Number = Arrows.size();
  Rows[E.Consumer.Line].Marks[Number] = '+';
  for (unsigned Line : From)
    Rows[Line].Marks[Number] = '>';
  Arrows.push_back({E.Id, std::min(*From.begin(), E.Consumer.Line),
                    std::max(*From.rbegin(), E.Consumer.Line)});
}

/// A column for each arrow, and a dash from its marks to the line's number.
std::string Page::gutter(unsigned Line, const Row *R) const {
  std::string Text;
  bool Dash = false;
  for (size_t I = 0; I != Arrows.size(); ++I) {
    char C = Dash ? '-' : ' ';
    if (Line >= Arrows[I].First && Line <= Arrows[I].Last)
      C = '|';
    if (R)
      if (auto It = R->Marks.find(I); It != R->Marks.end()) {
        C = It->second;
        Dash = true;
      }
    Text += C;
    Text += Dash ? '-' : ' ';
  }
  return Text;
}

void Page::print(llvm::raw_ostream &OS, double Total) const {
  std::string Names;
  for (const Arrow &A : Arrows)
    Names += (Names.empty() ? "" : ", ") + idText('E', A.Id);
  if (!Names.empty())
    OS << "  columns from the left: " << Names << "; + waits for >\n";
  unsigned Shown = 0;
  for (auto &[Line, R] : Rows) {
    unsigned Begin = std::max(Shown + 1, Line > Around ? Line - Around : 1);
    // One hidden line takes as much room as the dots that would say so.
    if (Shown && Begin == Shown + 2)
      --Begin;
    if (Shown && Begin > Shown + 1)
      OS << "  " << gutter(Shown + 1, nullptr) << "   ...\n";
    for (unsigned L = Begin; L <= std::min(Line + Around, File.lineCount()); ++L) {
      auto It = Rows.find(L);
      const Row *Here = It == Rows.end() ? nullptr : &It->second;
      double Share = Here ? Here->Samples / Total : 0;
      std::string Bar(size_t(std::ceil(BarWidth * std::min(1.0, Share))), '#');
      std::string Text =
          llvm::formatv("  {0}{1,5} {2,7} {3,-10} | {4}", gutter(L, Here), L,
                        Share > 0 ? percentText(Share) : "", Bar,
                        File.line(L).rtrim())
              .str();
      if (Text.size() > Columns) {
        Text.resize(Columns - 3);
        // Not in the middle of a character.
        while (!Text.empty() && (static_cast<unsigned char>(Text.back()) & 0xC0) == 0x80)
          Text.pop_back();
        if (!Text.empty() && static_cast<unsigned char>(Text.back()) >= 0xC0)
          Text.pop_back();
        Text += "...";
      }
      OS << llvm::StringRef(Text).rtrim() << '\n';
      Shown = L;
    }
  }
}

static std::string relative(llvm::StringRef Path, llvm::StringRef Root) {
  if (!Root.empty() && Path.consume_front(Root.rtrim('/')))
    Path.consume_front("/");
  return Path.str();
}

/// `occupancy 25.0 % (registers); with blocks of 32 threads 25.0 %, of 64 …`.
static void explainOccupancy(llvm::raw_ostream &OS, const KernelDiagnosis &K) {
  if (K.TheoreticalOccupancy <= 0)
    return;
  OS << llvm::formatv("  occupancy {0}, limited by {1}", percentText(K.TheoreticalOccupancy),
                      K.OccupancyLimiter);
  std::string Sizes;
  for (const BlockSizeChoice &B : K.BlockSizes)
    Sizes += llvm::formatv("{0}{1}: {2:F0} %", Sizes.empty() ? "" : ", ", B.Threads,
                           100 * B.Occupancy)
                 .str();
  if (!Sizes.empty())
    OS << "; by threads a block, all else equal: " << Sizes;
  OS << '\n';
}

/// How much of the samples the source below can account for.
static void explainMapping(llvm::raw_ostream &OS, const SampleMapping &M,
                           llvm::StringRef Root) {
  if (!M.Total)
    return;
  OS << "  in statements: " << percentText(M.share());
  if (M.OnBraces)
    OS << ", of it " << percentText(double(M.OnBraces) / M.Total)
       << " on the braces of a function";
  OS << '\n';
  for (const SampleMapping::Gap &G : M.Gaps) {
    double Share = double(G.Samples) / M.Total;
    if (Share < NamedGap)
      break;
    OS << "  in none: " << percentText(Share) << ", ";
    if (!G.Where.Path.empty())
      OS << relative(G.Where.Path, Root) << ':' << G.Where.Line << ", ";
    OS << G.Why << '\n';
  }
}

/// \p Words behind \p Indent in lines of \p Columns at most, the later ones further in.
template <typename WordRange>
static void printWords(llvm::raw_ostream &OS, llvm::StringRef Indent, const WordRange &Words,
                       unsigned Columns) {
  size_t Used = 0;
  for (llvm::StringRef Word : Words) {
    std::string Before = Used ? " " : Indent.str();
    if (Used && Used + 1 + Word.size() > Columns) {
      OS << '\n';
      Used = 0;
      Before = Indent.str() + "  ";
    }
    OS << Before << Word;
    Used += Before.size() + Word.size();
  }
  OS << '\n';
}

/// What an edit that cites \p E may touch, kind by kind.
static void explainRegions(llvm::raw_ostream &OS, const Evidence &E, const Diagnosis &D,
                           const SourceModel &Model, unsigned Columns) {
  std::vector<std::pair<RegionKind, std::vector<std::string>>> Kinds;
  for (const Region &R : D.Regions) {
    if (!llvm::is_contained(R.Evidence, E.Id))
      continue;
    auto Kind = llvm::find_if(Kinds, [&](const auto &K) { return K.first == R.Kind; });
    if (Kind == Kinds.end())
      Kind = Kinds.insert(Kind, {R.Kind, {}});
    std::string Place = R.Range.File == E.Consumer.File
                            ? ""
                            : fileName(Model.file(R.Range.File).Path) + ":";
    Place += std::to_string(R.Range.BeginLine);
    if (R.Range.EndLine != R.Range.BeginLine)
      Place += "-" + std::to_string(R.Range.EndLine);
    Kind->second.push_back(Place + " (" + idText('R', R.Id) + ")");
  }
  std::vector<std::string> Words{"may change:"};
  for (const auto &[Kind, Places] : Kinds)
    for (const std::string &P : Places) {
      bool First = &P == &Places.front(), Last = &P == &Places.back();
      Words.push_back((First ? toString(Kind).str() + " " : "") + P +
                      (!Last ? "," : Kind == Kinds.back().first ? "" : ";"));
    }
  if (!Kinds.empty())
    printWords(OS, "     ", Words, Columns);
}

static void explainKernel(llvm::raw_ostream &OS, const KernelDiagnosis &K, const Diagnosis &D,
                          const SourceModel &Model, llvm::StringRef Root, unsigned Columns) {
  OS << llvm::formatv("{0}: {1} of the GPU time, {2} latency samples", K.Name,
                      percentText(K.TimeShare), countText(K.LatencySamples));
  // Shares below are of these; where they are few the kernel's time does not go to waiting.
  if (K.LatencySamples < K.TotalSamples)
    OS << " (" << percentText(double(K.LatencySamples) / double(K.TotalSamples)) << " of all)";
  OS << '\n';
  explainOccupancy(OS, K);
  explainMapping(OS, K.Mapping, Root);
  double Total = std::max<double>(1, double(K.LatencySamples));
  std::vector<std::pair<FileId, Page>> Pages; // in order of weight
  for (const Evidence *E : D.evidenceOf(K.Function)) {
    if (E->Kind != EvidenceKind::Stall)
      continue;
    std::vector<LineRef> Lines{E->Consumer};
    for (const ProducerRef &P : E->Producers)
      Lines.push_back(P.Where);
    std::set<FileId> Files;
    for (const LineRef &L : Lines)
      if (L.File != NoId && Files.insert(L.File).second &&
          llvm::none_of(Pages, [&](const auto &P) { return P.first == L.File; }))
        Pages.push_back({L.File, Page(Model.file(L.File), Columns)});
    for (auto &[File, P] : Pages)
      if (Files.count(File))
        P.add(*E);
  }
  for (const auto &[File, P] : Pages) {
    OS << "\n  " << relative(Model.file(File).Path, Root) << '\n';
    P.print(OS, Total);
  }
  OS << '\n';
  for (const Evidence *E : D.evidenceOf(K.Function)) {
    llvm::SmallVector<llvm::StringRef, 32> Words;
    std::string Text = idText('E', E->Id) + " " + E->Sentence;
    llvm::StringRef(Text).split(Words, ' ');
    printWords(OS, "  ", Words, Columns);
    if (E->AtMost > 1.005)
      OS << llvm::formatv("     worth {0:F2}x by itself\n", E->AtMost);
    explainRegions(OS, *E, D, Model, Columns);
  }
}

std::string explainEvidence(const Diagnosis &D, const SourceModel &Model,
                            llvm::StringRef Root, unsigned Columns) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  bool First = true;
  for (const KernelDiagnosis &K : D.Kernels) {
    if (!K.Hot || K.Function == NoId)
      continue;
    if (!First)
      OS << '\n';
    First = false;
    explainKernel(OS, K, D, Model, Root, Columns);
  }
  for (const std::string &N : D.Notes)
    OS << "note: " << N << '\n';
  return Text;
}

} // namespace optimas
