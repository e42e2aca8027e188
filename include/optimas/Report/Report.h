//===- Report.h - Every output form -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_REPORT_REPORT_H
#define OPTIMAS_REPORT_REPORT_H

#include "optimas/Analysis/Calibration.h"
#include "optimas/Evaluate/Evaluation.h"
#include "optimas/Propose/Proposer.h"

namespace optimas {

/// All that one run found out, by reference; lives as long as its parts.
struct RunRecord {
  const SourceModel &Model;
  const Profile &Prof;
  const Diagnosis &D;
  std::vector<Proposal> Proposals;
  std::vector<EditSet> EditSets; ///< one per proposal that went through the guard
  std::vector<Refusal> Refusals; ///< all, in order of the weight of what they cite
  std::vector<Declined> Declines;
  EvaluationResult Evaluation;
  ProposerCost Cost;
  std::string ProposerName;
  std::string ProjectRoot; ///< paths below it are printed relative
  std::vector<std::string> CommandLine;
  std::vector<std::string> Notes;
  Calibration Measured = {}; ///< corrects estimates; empty without --calibration
};

struct TextOptions {
  unsigned Columns = 80;
  bool Color = false;
  bool Quiet = false; ///< verdict lines only
};

/// The terminal report, every line within Columns where no path forbids it, in two parts:
/// hot kernels and evidence, known before anything is proposed; and what came of it.
void printFindings(llvm::raw_ostream &OS, const RunRecord &R, const TextOptions &O);
void printOutcome(llvm::raw_ostream &OS, const RunRecord &R, const TextOptions &O);
/// Puts the measurements of this run beside their estimates, those of edits of one kernel
/// that were measured now and not recorded. Returns how many.
unsigned addMeasurements(const RunRecord &R, Calibration &To);
/// docs/schemas/report.schema.json; keys in the documented order.
std::string toJson(const RunRecord &R);

} // namespace optimas

#endif // OPTIMAS_REPORT_REPORT_H
