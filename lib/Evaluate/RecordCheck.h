//===- RecordCheck.h - Is a recorded outcome what its samples say? -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_EVALUATE_RECORDCHECK_H
#define OPTIMAS_LIB_EVALUATE_RECORDCHECK_H

#include "optimas/Evaluate/Evaluation.h"

namespace optimas {

/// Works out the figures and the verdict of a recorded outcome again, from its samples
/// and what its validation found, by the code that judges measured ones. \p Edited: base
/// names of the edited kernels; \p Headroom: what this run's roofline leaves them.
/// EvidenceUnusable, naming the field of \p File, when the recording contradicts itself.
/// A verdict that this run's own options or roofline do not allow is taken back.
llvm::Error checkRecorded(CandidateOutcome &Out, llvm::ArrayRef<std::string> Edited,
                          double Headroom, const EvaluationOptions &O,
                          llvm::StringRef File);

} // namespace optimas

#endif // OPTIMAS_LIB_EVALUATE_RECORDCHECK_H
