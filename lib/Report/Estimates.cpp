//===- Estimates.cpp - Estimates of what was proposed -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Estimates.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

static PlannedEdit planned(const Edit &E, const SourceModel &Model) {
  PlannedEdit Out{E.Transformation, E.Evidence, E.Factor};
  // A pragma stands before its loop's header.
  if (const Statement *First = Model.statement(E.First)) {
    Out.File = First->Range.File;
    Out.Line = First->Range.BeginLine;
  }
  return Out;
}

std::vector<KernelEstimate> estimatesOf(const RunRecord &R, const CandidateOutcome &C) {
  std::map<FunctionId, std::vector<PlannedEdit>> ByKernel;
  for (const Edit &E : C.Set.Accepted) {
    std::set<FunctionId> Kernels;
    for (unsigned Id : E.Evidence)
      if (const Evidence *Item = R.D.evidence(Id))
        Kernels.insert(Item->Kernel);
    for (FunctionId Kernel : Kernels)
      ByKernel[Kernel].push_back(planned(E, R.Model));
  }
  EstimateFacts Facts;
  Facts.Measured = &R.Measured;
  Facts.SameCode = C.SameCode;
  for (const ResourceUsage &U : C.ResourcesAfter)
    Facts.Registers[canonicalSymbol(U.Symbol)] = U.Registers;
  std::vector<KernelEstimate> Out;
  for (const KernelDiagnosis &K : R.D.Kernels)
    if (auto It = ByKernel.find(K.Function); K.Function != NoId && It != ByKernel.end())
      Out.push_back({K.Name, transformationsOf(It->second),
                     estimate(R.D, K.Function, It->second, Facts)});
  return Out;
}

/// The measured speedup of all of a kernel's launches; 0 when there is none.
static double measured(const CandidateOutcome &C, StringRef Kernel) {
  double Single = 0;
  unsigned Count = 0;
  for (const Comparison &K : C.Kernels) {
    if (K.Name == "edited kernels")
      return K.Speedup;
    if (StringRef(K.Name).split('<').first == Kernel) {
      Single = K.Speedup;
      ++Count;
    }
  }
  return Count == 1 ? Single : 0;
}

unsigned addMeasurements(const RunRecord &R, Calibration &To) {
  unsigned Added = 0;
  for (const CandidateOutcome &C : R.Evaluation.Candidates) {
    // A recording was measured on a machine of its own, once; the same code says nothing.
    if (C.Recorded || C.SameCode || C.Verdict == VerdictKind::WrongResult)
      continue;
    std::vector<KernelEstimate> Estimates = estimatesOf(R, C);
    // What is measured of several kernels at once says nothing of one.
    if (Estimates.size() != 1 || !Estimates[0].E.known() || Estimates[0].E.AtMost)
      continue;
    double Speedup = measured(C, Estimates[0].Kernel);
    if (!(Speedup > 0))
      continue;
    To.add({R.D.Device.Name, Estimates[0].Transformations,
            sys::path::filename(R.Model.mainFile().Path).str(), Estimates[0].Kernel, C.Title,
            Estimates[0].E.Uncalibrated, Speedup});
    ++Added;
  }
  return Added;
}

} // namespace optimas
