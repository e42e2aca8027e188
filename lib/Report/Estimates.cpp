//===- Estimates.cpp - Estimates of what was proposed -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Estimates.h"

using namespace llvm;

namespace optimas {

/// The catalogue says in a proposal's title how many iterations it puts together: `load
/// batching by 4 + register accumulator`.
static unsigned factorIn(StringRef Title, StringRef Transformation) {
  std::string Name = Transformation.str(); // optimas-load-batching → load batching
  StringRef Stem = Name;
  Stem.consume_front("optimas-");
  std::string Words = Stem.str();
  std::replace(Words.begin(), Words.end(), '-', ' ');
  size_t At = Title.find(Words + " by ");
  unsigned Factor = 1;
  if (At != StringRef::npos)
    Title.substr(At + Words.size() + 4)
        .take_while([](char C) { return C >= '0' && C <= '9'; })
        .getAsInteger(10, Factor);
  return std::max(1u, Factor);
}

static StringRef titleOf(const RunRecord &R, unsigned EditId) {
  for (const Proposal &P : R.Proposals)
    for (const Edit &E : P.Edits)
      if (E.Id == EditId)
        return P.Title;
  return "";
}

std::vector<KernelEstimate> estimatesOf(const RunRecord &R, const EditSet &Set) {
  std::map<FunctionId, std::vector<PlannedEdit>> ByKernel;
  for (const Edit &E : Set.Accepted) {
    PlannedEdit Planned;
    Planned.Transformation = E.Transformation;
    Planned.Evidence = E.Evidence;
    Planned.Factor = factorIn(titleOf(R, E.Id), E.Transformation);
    std::set<FunctionId> Kernels;
    for (unsigned Id : E.Evidence)
      if (const Evidence *Item = R.D.evidence(Id))
        Kernels.insert(Item->Kernel);
    for (FunctionId Kernel : Kernels)
      ByKernel[Kernel].push_back(Planned);
  }
  std::vector<KernelEstimate> Out;
  for (const KernelDiagnosis &K : R.D.Kernels)
    if (auto It = ByKernel.find(K.Function); K.Function != NoId && It != ByKernel.end())
      Out.push_back({K.Name, estimate(R.D, K.Function, It->second)});
  return Out;
}

} // namespace optimas
