//===- Explain.h - Evidence as a person reads it ----------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_ANALYSIS_EXPLAIN_H
#define OPTIMAS_ANALYSIS_EXPLAIN_H

#include "optimas/Analysis/Diagnosis.h"

namespace optimas {

/// The source of every hot kernel around its evidence: a bar of the latency samples on
/// each line, a column for each stall item that leads from the line that waits (`+`)
/// to the lines it waits for (`>`), then the items in words. Lines of source are cut
/// at \p Columns. Paths below \p Root are printed relative to it.
std::string explainEvidence(const Diagnosis &D, const SourceModel &Model,
                            llvm::StringRef Root, unsigned Columns = 100);

/// An SVG 1.1 document: the hierarchical roofline (Yang et al., 2020) of the hot
/// kernels, each at DRAM, L2 and L1 with the intensity that it has there; ceilings as
/// measured, those of the data sheet dashed. Integer kernels have a second panel, the
/// instruction roofline (Ding & Williams, 2019). EvidenceUnusable with the reason when
/// no hot kernel has a roofline.
llvm::Expected<std::string> rooflineSvg(const Diagnosis &D);

} // namespace optimas

#endif // OPTIMAS_ANALYSIS_EXPLAIN_H
