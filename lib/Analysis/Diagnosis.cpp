//===- Diagnosis.cpp - Looking things up in a diagnosis ---------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Diagnosis.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace optimas {

const Evidence *Diagnosis::evidence(unsigned Id) const {
  if (Id > 0 && Id <= Items.size() && Items[Id - 1].Id == Id)
    return &Items[Id - 1]; // as analyse() numbers them
  auto It = llvm::find_if(Items, [&](const Evidence &E) { return E.Id == Id; });
  return It == Items.end() ? nullptr : &*It;
}

const Region *Diagnosis::region(unsigned Id) const {
  auto It = llvm::find_if(Regions, [&](const Region &R) { return R.Id == Id; });
  return It == Regions.end() ? nullptr : &*It;
}

const KernelDiagnosis *Diagnosis::kernel(FunctionId F) const {
  auto It = llvm::find_if(
      Kernels, [&](const KernelDiagnosis &K) { return K.Function == F; });
  return F == NoId || It == Kernels.end() ? nullptr : &*It;
}

std::vector<const Evidence *> Diagnosis::evidenceOf(FunctionId Kernel) const {
  std::vector<const Evidence *> Found;
  for (const Evidence &E : Items)
    if (E.Kernel == Kernel)
      Found.push_back(&E);
  return Found;
}

double KernelDiagnosis::headroom() const {
  double Time = 0;
  for (const KernelInstance &I : Instances) {
    if (I.Headroom <= 0)
      return 0;
    Time += I.TimeShare / I.Headroom;
  }
  return Time > 0 ? 1 / Time : 0;
}

std::string idText(char Prefix, unsigned Id) {
  return Prefix == 'L' ? "LS" + std::to_string(Id)
                       : Prefix + std::to_string(Id);
}

llvm::StringRef toString(EvidenceKind K) {
  switch (K) {
  case EvidenceKind::Stall:
    return "stall";
  case EvidenceKind::Roofline:
    return "roofline";
  case EvidenceKind::Counter:
    return "counter";
  case EvidenceKind::Launch:
    return "launch";
  }
  llvm_unreachable("a kind without a name");
}

llvm::StringRef toString(RegionKind K) {
  switch (K) {
  case RegionKind::Statement:
    return "statement";
  case RegionKind::Loop:
    return "loop";
  case RegionKind::Declaration:
    return "declaration";
  case RegionKind::Signature:
    return "signature";
  case RegionKind::LaunchSite:
    return "launch-site";
  }
  llvm_unreachable("a kind without a name");
}

llvm::StringRef toString(Direction D) {
  return D == Direction::Down ? "down" : "up";
}

} // namespace optimas
