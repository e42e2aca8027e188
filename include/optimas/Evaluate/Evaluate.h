//===- Evaluate.h - The evaluation of all candidates -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_EVALUATE_H
#define OPTIMAS_EVALUATE_EVALUATE_H

#include "optimas/Evaluate/Evaluation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace optimas {

/// A guarded proposal, ready to be built.
struct Candidate {
  EditSet Set;
  std::string Title, Group;
  std::vector<FunctionId> Kernels; ///< that it means to speed up
};

/// Builds every candidate, validates and measures those that build, keeps the best of
/// each group, and does the same for the union of what was kept (Final). Errors are for
/// what makes the whole evaluation impossible (the baseline does not build, crashes,
/// prints differently every run); what is wrong with a candidate is in its outcome.
/// \p Say is told each step, for a waiting person.
llvm::Expected<EvaluationResult>
evaluate(const SourceModel &Model, const Profile &P, const Diagnosis &D,
         std::vector<Candidate> Candidates, const EvaluationOptions &Options,
         llvm::function_ref<void(llvm::StringRef)> Say);

/// The result of `--evaluate=false`: nothing is built, every verdict is NotMeasured, the
/// first candidate of each group is the final set, and the parts of EAR that need no run
/// are there.
EvaluationResult withoutEvaluation(const SourceModel &Model, const Diagnosis &D,
                                   std::vector<Candidate> Candidates);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_EVALUATE_H
