//===- Estimates.h - Estimates of what was proposed -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_REPORT_ESTIMATES_H
#define OPTIMAS_LIB_REPORT_ESTIMATES_H

#include "optimas/Analysis/Estimate.h"
#include "optimas/Report/Report.h"

namespace optimas {

struct KernelEstimate {
  std::string Kernel; ///< base name
  std::string Transformations; ///< transformationsOf() its edits
  Estimate E;
};

/// For each kernel whose evidence the accepted edits cite, in the order of the diagnosis.
/// Empty for edits that cite none. With the registers of \p C where it was built.
std::vector<KernelEstimate> estimatesOf(const RunRecord &R, const CandidateOutcome &C);

} // namespace optimas

#endif // OPTIMAS_LIB_REPORT_ESTIMATES_H
