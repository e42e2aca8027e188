//===- Measure.cpp - Interleaved timing and the verdict rule -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Measure.h"

using namespace llvm;

namespace optimas {

static constexpr double Level = 0.95;

bool candidateRunsAt(unsigned Step) { return ((Step + 1) / 2) % 2 == 1; }

RunTimes runTimes(const TimeTrace &T, uint64_t WallNs) {
  RunTimes R;
  for (const KernelTimes &K : T.Kernels)
    R.Kernels[K.Label] += double(K.total());
  for (const auto &[Label, Ns] : R.Kernels)
    R.AllKernels += Ns;
  R.Wall = double(WallNs);
  return R;
}

Comparison compareSamples(StringRef Name, std::vector<double> Baseline,
                          std::vector<double> Candidate, uint64_t Seed) {
  Comparison C;
  C.Name = Name.str();
  C.BaselineNs = median(Baseline);
  C.CandidateNs = median(Candidate);
  Interval I = bootstrapMedian(pairedRatios(Baseline, Candidate), Level, Seed);
  Interval Noise = noiseFloor(Baseline, Level, Seed + 1);
  C.Speedup = I.Estimate;
  C.Low = I.Low;
  C.High = I.High;
  C.NoiseLow = Noise.Low;
  C.NoiseHigh = Noise.High;
  C.BaselineSamples = std::move(Baseline);
  C.CandidateSamples = std::move(Candidate);
  return C;
}

template <typename Fn>
static std::vector<double> samples(ArrayRef<RunTimes> Runs, size_t Count, Fn Of) {
  std::vector<double> Out;
  for (const RunTimes &R : Runs.take_front(Count))
    Out.push_back(Of(R));
  return Out;
}

template <typename Fn>
static Comparison compareBy(const PairedRuns &Runs, StringRef Name, uint64_t Seed,
                            Fn Of) {
  return compareSamples(Name, samples(Runs.Baseline, Runs.pairs(), Of),
                        samples(Runs.Candidate, Runs.pairs(), Of), Seed);
}

static bool isEdited(StringRef Label, ArrayRef<std::string> Edited) {
  return is_contained(Edited, kernelBase(Label));
}

static double editedTime(const RunTimes &R, ArrayRef<std::string> Edited) {
  double Sum = 0;
  for (const auto &[Label, Ns] : R.Kernels)
    if (isEdited(Label, Edited))
      Sum += Ns;
  return Sum;
}

std::vector<Comparison> compareKernels(const PairedRuns &Runs,
                                       ArrayRef<std::string> Edited, uint64_t Seed) {
  std::vector<Comparison> Out;
  std::set<std::string> Labels;
  unsigned EditedLabels = 0;
  for (const std::vector<RunTimes> *Side : {&Runs.Baseline, &Runs.Candidate})
    for (const RunTimes &R : *Side)
      for (const auto &[Label, Ns] : R.Kernels)
        if (Labels.insert(Label).second)
          EditedLabels += isEdited(Label, Edited);
  for (const std::string &Label : Labels)
    Out.push_back(compareBy(Runs, Label, Seed, [&](const RunTimes &R) {
      auto It = R.Kernels.find(Label);
      return It == R.Kernels.end() ? 0.0 : It->second;
    }));
  sort(Out, [](const Comparison &A, const Comparison &B) {
    return std::tie(B.BaselineNs, A.Name) < std::tie(A.BaselineNs, B.Name);
  });
  if (EditedLabels > 1)
    Out.push_back(compareBy(Runs, "edited kernels", Seed, [&](const RunTimes &R) {
      return editedTime(R, Edited);
    }));
  Out.push_back(compareBy(Runs, "all kernels", Seed,
                          [](const RunTimes &R) { return R.AllKernels; }));
  return Out;
}

Comparison compareWall(const PairedRuns &Runs, uint64_t Seed) {
  return compareBy(Runs, "wall", Seed, [](const RunTimes &R) { return R.Wall; });
}

bool preciseEnough(const PairedRuns &Runs, ArrayRef<std::string> Edited,
                   unsigned MinPairs, double RelativeWidth, uint64_t Seed) {
  if (Runs.pairs() < MinPairs)
    return false;
  for (const Comparison &C : compareKernels(Runs, Edited, Seed)) {
    if (C.Name != "all kernels" && C.Name != "edited kernels" &&
        !isEdited(C.Name, Edited))
      continue;
    if (C.Speedup <= 0 || (C.High - C.Low) / C.Speedup > RelativeWidth)
      return false;
  }
  return true;
}

VerdictKind judge(const Comparison &C, double RelativeWidth) {
  if (C.Speedup <= 0 || C.BaselineSamples.size() < 2)
    return VerdictKind::Ambiguous;
  if (C.Low > 1 && C.Low > C.NoiseHigh)
    return VerdictKind::Faster;
  if (C.High < 1 && C.High < C.NoiseLow)
    return VerdictKind::Slower;
  bool InNoise = C.Low >= C.NoiseLow && C.High <= C.NoiseHigh;
  bool NearOne = C.Low >= 1 / (1 + RelativeWidth) && C.High <= 1 + RelativeWidth;
  // A floor that is itself wide proves nothing.
  bool FloorIsFine = C.NoiseHigh <= 1 + RelativeWidth;
  return NearOne || (InNoise && FloorIsFine) ? VerdictKind::Unchanged
                                             : VerdictKind::Ambiguous;
}

bool isImplausible(double Speedup, double Headroom) {
  return Speedup > 10 || (Headroom > 0 && Speedup > Headroom * 1.1);
}

/// The row that stands for the candidate: the edited kernels together, else the one.
static const Comparison *mainRow(ArrayRef<Comparison> Kernels,
                                 ArrayRef<std::string> Edited) {
  const Comparison *Main = nullptr;
  for (const Comparison &C : Kernels)
    if (C.Name == "edited kernels" || (!Main && isEdited(C.Name, Edited)))
      Main = &C;
  return Main;
}

static std::string micros(double Ns) { return formatv("{0:F1}", Ns / 1000).str(); }

static std::string summary(const Comparison &C) {
  return formatv("{0} {1} \xe2\x86\x92 {2} \xc2\xb5s a run, {3:F2}\xc3\x97 (95 % interval "
                 "{4:F3} to {5:F3}, A/A {6:F3} to {7:F3}, {8} pairs)",
                 C.Name, micros(C.BaselineNs), micros(C.CandidateNs), C.Speedup, C.Low,
                 C.High, C.NoiseLow, C.NoiseHigh, C.CandidateSamples.size())
      .str();
}

Decision decide(ArrayRef<Comparison> Kernels, ArrayRef<std::string> Edited,
                const ValidationOutcome &V, ValidateMode Mode, double Headroom,
                double RelativeWidth, bool Explained) {
  Decision D;
  if (V.Ran && !V.Mismatches.empty() && !V.AcceptedByCommand)
    return {VerdictKind::WrongResult, V.label(), false};
  const Comparison *Main = mainRow(Kernels, Edited);
  if (!Main || Main->BaselineNs <= 0)
    return {VerdictKind::NotMeasured, "the edited kernels ran in no timed run", false};
  D.Verdict = judge(*Main, RelativeWidth);
  D.Why = summary(*Main);
  if (D.Verdict != VerdictKind::Faster)
    return D;
  for (const Comparison &C : Kernels)
    if (isEdited(C.Name, Edited) && judge(C, RelativeWidth) == VerdictKind::Slower)
      return {VerdictKind::Ambiguous,
              D.Why + formatv("; but {0} became slower, {1:F2}\xc3\x97", C.Name, C.Speedup).str(),
              false};
  if (isImplausible(Main->Speedup, Headroom) && !Explained)
    return {VerdictKind::Ambiguous,
            D.Why +
                (Headroom > 0 && Main->Speedup <= 10
                     ? formatv("; held as implausible: the roofline leaves {0:F2}\xc3\x97",
                               Headroom)
                           .str()
                     : std::string("; held as implausible: more than 10\xc3\x97")),
            true};
  bool Exact = V.Ran && V.MemoryChecked && V.MemoryIdentical && V.OutputIdentical;
  if (Exact || (Mode == ValidateMode::Command && V.AcceptedByCommand)) {
    D.Why += "; " + V.label();
    return D;
  }
  D.Verdict = VerdictKind::Ambiguous;
  D.Why += "; not accepted: " + V.label() +
           (V.MemoryWhyNot.empty() ? "" : ", device memory unchecked (" + V.MemoryWhyNot + ")");
  return D;
}

} // namespace optimas
