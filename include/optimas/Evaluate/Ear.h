//===- Ear.h - Evidence-aligned reasoning -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_EAR_H
#define OPTIMAS_EVALUATE_EAR_H

#include "optimas/Evaluate/Evaluation.h"

namespace optimas {

/// A 1-based line of a file by its path.
using LineKey = std::pair<std::string, unsigned>;

/// Lines of \p Old that an edit to \p New changes. An insertion changes the line that it
/// stands before (the last one, at the end). Lines that are blank or hold only a comment
/// are left out.
std::vector<unsigned> changedLines(llvm::StringRef Old, llvm::StringRef New);

/// Evidence coverage and edit localization (evaluation.md) of the edits \p Accepted:
/// EC: Σ weight of the cited evidence of a kernel, averaged over the kernels of all
/// cited evidence; EL: share of \p Changed lines that are lines of *cited* evidence
/// (consumer, producers, inlined calls, and what an edit of those needs). With no changed
/// line EL is 0.
EarScore scoreEdits(llvm::ArrayRef<Evidence> Items, llvm::ArrayRef<Edit> Accepted,
                    const std::vector<LineKey> &Changed);

/// The above for an edit set of a model.
EarScore scoreEdits(const SourceModel &Model, const Diagnosis &D, const EditSet &Set);

/// The value that a metric has in what measureMetrics() returns, per launch. A stall
/// metric `stall:reason@line` is summed over the kernel's lines: an edit moves the stall
/// along with its line, and that is no fix. Absent metrics are 0.
double metricPerLaunch(const std::map<std::string, double> &Metrics,
                       llvm::StringRef Metric);

/// In the expected direction, by more than the difference of the two baselines?
bool movedAsExpected(const MetricChange &Change);

/// Result agreement: the weight of the changes that went in the expected direction by
/// more than the difference of the two baselines, over the weight of all; nullopt for no
/// change.
std::optional<double> resultAgreement(llvm::ArrayRef<MetricChange> Changes);

/// EAR's result agreement, or why there is none, and its parts.
struct Agreement {
  std::optional<double> Value;
  std::string WhyNot;
  std::vector<MetricAgreement> Metrics;
};

/// Result agreement of the evidence that \p Set cites, by three profiles at one sampling
/// interval: the unedited program twice, the edited one.
Agreement agreementOf(const SourceModel &Model, const Diagnosis &D, const EditSet &Set,
                      llvm::ArrayRef<Profile> Three);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_EAR_H
