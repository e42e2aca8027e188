//===- PipelineAblate.cpp - Which edit pays -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The final result without each of its edits, measured beside the whole and the
/// unedited program. As in the search, one program can lack an edit of every member at
/// once: their kernels are timed apart.
///
//===----------------------------------------------------------------------===//
#include "PipelineImpl.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace optimas {

/// A program that lacks one edit of some members.
struct Pipeline::Part {
  struct Lack {
    size_t Member = 0;  ///< index of the candidate
    size_t Row = 0;     ///< of Result.Ablations
    unsigned Edit = 0;
  };
  std::vector<Lack> Lacks;
  std::unique_ptr<Version> V;
};

/// The whole without the edits of \p Lacks; null when nothing would be left.
static std::optional<EditSet> lacking(const EditSet &Whole, ArrayRef<unsigned> Edits,
                                      const SourceTexts &Texts) {
  std::optional<EditSet> Set = Whole;
  for (unsigned E : Edits)
    if (Set)
      Set = without(*Set, E, Texts);
  return Set;
}

std::vector<Pipeline::Part> Pipeline::parts() const {
  std::vector<Part> Out;
  size_t Row = 0;
  std::map<size_t, size_t> Depth; // edits of a member that have a place already
  for (const Ablation &A : Result.Ablations) {
    for (size_t I = 0; I < Outcomes.size(); ++I) {
      bool Mine = Outcomes[I].Kept && any_of(Outcomes[I].Set.Accepted, [&](const Edit &E) {
                    return E.Id == A.Edit;
                  });
      if (!Mine)
        continue;
      size_t Column = Depth[I]++;
      if (Out.size() <= Column)
        Out.resize(Column + 1);
      Out[Column].Lacks.push_back({I, Row, A.Edit});
      break;
    }
    ++Row;
  }
  return Out;
}

/// Builds the parts and drops those that do not build or compute something else: an edit
/// that others need says so. A part that lacks several edits is then split up.
Error Pipeline::checkParts(std::vector<Part> &Parts) {
  std::vector<Part> Good;
  while (!Parts.empty()) {
    std::vector<Version *> ToBuild;
    for (Part &P : Parts) {
      std::vector<unsigned> Edits;
      for (const Part::Lack &L : P.Lacks)
        Edits.push_back(L.Edit);
      std::optional<EditSet> Set = lacking(Result.Final->Set, Edits, S.Texts);
      if (!Set)
        continue; // nothing would be left
      P.V = std::make_unique<Version>();
      P.V->Set = std::move(*Set);
      P.V->Kernels = Baseline.Kernels;
      for (const auto &Other : Versions)
        append_range(P.V->Touched, Other->Touched);
      ToBuild.push_back(P.V.get());
    }
    if (Error E = buildAll(ToBuild))
      return E;
    std::vector<Part> Split;
    for (Part &P : Parts) {
      VerdictKind Fault =
          P.V ? VerdictKind::BuildFailed : VerdictKind::NotMeasured;
      bool Right = false;
      if (P.V && P.V->Ok) {
        Fault = VerdictKind::WrongResult;
        Expected<ValidationOutcome> Quick = Check->check(program(*P.V));
        if (!Quick)
          return Quick.takeError();
        Right = Quick->Mismatches.empty();
      }
      if (Right) {
        Good.push_back(std::move(P));
      } else if (P.Lacks.size() == 1) {
        Result.Ablations[P.Lacks[0].Row].Verdict = Fault;
      } else {
        for (const Part::Lack &L : P.Lacks) {
          Split.emplace_back();
          Split.back().Lacks = {L};
        }
      }
    }
    Parts = std::move(Split);
  }
  Parts = std::move(Good);
  return Error::success();
}

/// The comparison that stands for \p Kernels.
static Comparison editedRow(const PairedRuns &Pairs, ArrayRef<std::string> Kernels,
                            uint64_t Seed) {
  std::optional<Comparison> One;
  for (Comparison &C : compareKernels(Pairs, Kernels, Seed)) {
    if (C.Name == "edited kernels")
      return std::move(C);
    if (!One && is_contained(Kernels, kernelBase(C.Name)))
      One = std::move(C);
  }
  return One ? std::move(*One) : Comparison();
}

Error Pipeline::timeParts(std::vector<Part> &Parts, const Version &Whole,
                          unsigned Rounds) {
  std::vector<const Version *> List = {&Baseline, &Whole};
  for (Part &P : Parts)
    List.push_back(P.V.get());
  std::vector<std::string> Problems;
  Expected<std::vector<std::vector<RunTimes>>> Times = roundRobin(List, Rounds, Problems);
  if (!Times)
    return Times.takeError();
  for (size_t P = 0; P < Parts.size(); ++P)
    for (const Part::Lack &L : Parts[P].Lacks) {
      Ablation &A = Result.Ablations[L.Row];
      const std::vector<std::string> &Kernels = Versions[L.Member]->Kernels;
      auto Compare = [&](size_t X, size_t Y) {
        return editedRow({(*Times)[X], (*Times)[Y]}, Kernels, O.Seed);
      };
      if (!Problems[P + 2].empty()) {
        A.Verdict = VerdictKind::WrongResult;
        continue;
      }
      if ((*Times)[P + 2].empty())
        continue;
      A.SpeedupWith = Compare(0, 1).Speedup;
      A.SpeedupWithout = Compare(0, P + 2).Speedup;
      // Without the edit against with it: faster means that the edit pays.
      A.Verdict = judge(Compare(P + 2, 1), O.RelativeWidth);
    }
  return Error::success();
}

Error Pipeline::ablate() {
  const EditSet &Set = Result.Final->Set;
  const Version *Whole = finalVersion();
  if (Set.Accepted.size() < 2 || !Whole)
    return Error::success();
  for (const Edit &E : Set.Accepted) {
    Ablation A;
    A.Edit = E.Id;
    A.Transformation = E.Transformation;
    Result.Ablations.push_back(A);
  }
  std::vector<Part> Parts = parts();
  // Two rounds and the warm-up, a check of each part, are the least that says anything.
  double Round = Check->runSeconds() * double(Parts.size() + 2);
  double Checks = Check->runSeconds() * double(Parts.size());
  if (Until.left() < 4 * Round + Checks) {
    Result.Ablations.clear();
    Result.Notes.push_back("the time budget left no time to measure the edits one by one");
    return Error::success();
  }
  Say(formatv("measuring the result without each of {0} edits", Set.Accepted.size()).str());
  if (Error E = checkParts(Parts))
    return E;
  Round = Check->runSeconds() * double(Parts.size() + 2);
  unsigned Rounds =
      unsigned(std::clamp(Until.left() / std::max(Round, 0.01) - 1, 2.0, 10.0));
  return Parts.empty() ? Error::success() : timeParts(Parts, *Whole, Rounds);
}

} // namespace optimas
