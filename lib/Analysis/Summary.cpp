//===- Summary.cpp - A kernel's evidence in a few kilobytes -----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "Phrases.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace optimas {

namespace {
constexpr size_t MaxSummary = 6 * 1024;
constexpr size_t MaxLineText = 100;
} // namespace

static std::string dimText(const Dim3 &D) {
  return llvm::formatv("{0}x{1}x{2}", D[0], D[1], D[2]).str();
}

static std::string factsText(const KernelDiagnosis &K) {
  std::string Text = llvm::formatv("kernel {0}: {1} of GPU time{2}, {3} launches", K.Name,
                                   percentText(K.TimeShare),
                                   K.TimeFromSamples ? " (estimated from samples)" : "",
                                   countText(K.Launches))
                         .str();
  if (K.MedianNs)
    Text += ", median " + timeText(double(K.MedianNs));
  if (const LaunchShape *S = mainShape(K.Shapes))
    Text += ", grid " + dimText(S->Grid) + ", block " + dimText(S->Block);
  if (K.Registers)
    Text += llvm::formatv(", {0} registers, {1} B shared", K.Registers, K.StaticShared);
  if (K.LocalPerThread)
    Text += llvm::formatv(", {0} B local a thread", K.LocalPerThread);
  if (K.TheoreticalOccupancy > 0)
    Text += ", occupancy " + percentText(K.TheoreticalOccupancy) + " (limited by " +
            K.OccupancyLimiter + ")";
  return Text + "\n";
}

/// `E1 long_scoreboard 62.1 % <- line 40 (LDG 4 B)`
static std::string reasonText(const Evidence &E, const SourceModel &Model,
                              double Total) {
  std::string Text = llvm::formatv("    {0} {1} {2}", idText('E', E.Id), E.Reason,
                                   percentText(E.Samples / Total))
                         .str();
  std::string From;
  std::set<std::pair<std::string, unsigned>> Seen;
  for (const ProducerRef &P : E.Producers) {
    if (!Seen.insert({P.Where.Path, P.Where.Line}).second || Seen.size() > 3)
      continue;
    From += From.empty() ? " <- " : ", ";
    From += lineWord(P.Where, E.Kernel, Model) + " (" + P.Opcode;
    if (P.AccessBytes)
      From += llvm::formatv(" {0} B", P.AccessBytes);
    From += ")";
  }
  if (From.empty())
    From = " (cause not resolved: " + E.UnresolvedWhy + ")";
  return Text + From + "\n";
}

/// The stall items by consumer line, heaviest line first.
static std::vector<std::string> stallBlocks(llvm::ArrayRef<const Evidence *> Items,
                                            const SourceModel &Model, double Total) {
  struct Line {
    const Evidence *First;
    double Samples = 0;
    std::string Reasons;
  };
  std::vector<Line> Lines;
  for (const Evidence *E : Items) {
    if (E->Kind != EvidenceKind::Stall)
      continue;
    auto It = llvm::find_if(
        Lines, [&](const Line &L) { return L.First->Consumer == E->Consumer; });
    if (It == Lines.end())
      It = Lines.insert(Lines.end(), Line{E, 0, ""});
    It->Samples += E->Samples;
    It->Reasons += reasonText(*E, Model, Total);
  }
  sortStably(Lines,
                    [](const Line &A, const Line &B) { return A.Samples > B.Samples; });
  std::vector<std::string> Blocks;
  for (const Line &L : Lines) {
    const LineRef &C = L.First->Consumer;
    llvm::StringRef Text = C.Text;
    Blocks.push_back(llvm::formatv("  {0} {1}:{2} in {3}: {4}{5}\n{6}",
                                   percentText(L.Samples / Total), fileName(C.Path),
                                   C.Line, C.Function, Text.take_front(MaxLineText),
                                   Text.size() > MaxLineText ? "..." : "", L.Reasons)
                         .str());
  }
  return Blocks;
}

static std::string rooflineText(const Roofline &R) {
  if (!R.Available)
    return "roofline: not available (" + R.Why + ")\n";
  std::string Text = llvm::formatv("roofline: bound by {0}, {1:F1} % of the nearest roof, "
                                   "headroom {2:F2}×\n",
                                   R.Bound, R.PercentOfRoof, R.Headroom)
                         .str();
  for (const RooflineLevel &L : R.Levels)
    Text += llvm::formatv("  {0}: {1:F1} MB a launch, {2} of {3}, {4:F3} {5}\n", L.Level,
                          L.Bytes / 1e6, rateText(L.AchievedBytesPerSecond),
                          rateText(L.CeilingBytesPerSecond), L.Intensity,
                          R.Precision == "int" ? "warp instructions per 32 bytes"
                                               : "FLOP per byte");
  if (R.Precision != "int" && R.PeakFlopPerSecond > 0)
    Text += llvm::formatv("  {0}: {1:F1} GFLOP/s of {2:F0}\n", R.Precision,
                          R.FlopPerSecond / 1e9, R.PeakFlopPerSecond / 1e9);
  return Text;
}

std::string summarize(const Diagnosis &D, const SourceModel &Model,
                      FunctionId Kernel) {
  const KernelDiagnosis *K = D.kernel(Kernel);
  if (!K)
    return "";
  std::vector<const Evidence *> Items = D.evidenceOf(Kernel);
  std::string Tail;
  for (const Evidence *E : Items)
    if (E->Kind == EvidenceKind::Counter || E->Kind == EvidenceKind::Launch)
      Tail += llvm::formatv("  {0} {1} = {2} {3} (should go {4}): {5}\n",
                            idText('E', E->Id), E->Metric, valueText(E->Value), E->Unit,
                            toString(E->Move), E->Sentence)
                  .str();
  if (!Tail.empty())
    Tail = "counters and launch:\n" + Tail;
  for (const Evidence *E : Items)
    if (E->Kind == EvidenceKind::Roofline)
      Tail += idText('E', E->Id) + " ";
  Tail += rooflineText(K->Roof);
  std::string Text = factsText(*K);
  Text += llvm::formatv("stall summary ({0} latency samples, heaviest line first):\n",
                        countText(K->LatencySamples));
  std::vector<std::string> Blocks =
      stallBlocks(Items, Model, std::max<double>(1, double(K->LatencySamples)));
  // The rest is short; the stall lines give way.
  const std::string Cut = "  (lighter lines are left out)\n";
  for (size_t I = 0; I != Blocks.size(); ++I) {
    if (Text.size() + Blocks[I].size() + Cut.size() + Tail.size() > MaxSummary) {
      Text += Cut;
      break;
    }
    Text += Blocks[I];
  }
  Text += Tail;
  if (Text.size() > MaxSummary) {
    Text.resize(MaxSummary - 4);
    // Not in the middle of a character.
    while (!Text.empty() && (static_cast<unsigned char>(Text.back()) & 0xC0) == 0x80)
      Text.pop_back();
    if (!Text.empty() && static_cast<unsigned char>(Text.back()) >= 0xC0)
      Text.pop_back();
    Text += "...\n";
  }
  return Text;
}

} // namespace optimas
