//===- Pipeline.h - The evaluation, on plain data -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_PIPELINE_H
#define OPTIMAS_EVALUATE_PIPELINE_H

#include "optimas/Evaluate/Combine.h"
#include "optimas/Evaluate/Ear.h"
#include "optimas/Evaluate/Evaluate.h"
#include "optimas/Evaluate/Gpu.h"

namespace optimas {

/// A candidate and what is known of its kernels.
struct SubjectEntry {
  Candidate C;
  std::vector<std::string> Kernels; ///< base names of the kernels that it edits
  /// The same and every kernel that calls an edited device function: their machine code
  /// may change.
  std::vector<std::string> Touched;
  double Headroom = 0; ///< of the roofline, 0 when unknown
};

/// What an evaluation needs of the source model and the diagnosis, as plain data.
struct Subject {
  CompileCommand Command;
  unsigned Sm = 0;
  std::string CudaPath;
  std::string ProjectRoot; ///< absolute
  std::string Device;      ///< name of the card that was profiled; may be empty
  SourceTexts Texts;       ///< original text of every file that a candidate changes
  std::vector<SubjectEntry> Entries;
  /// Called once with the unedited and the final program, both built, while time is
  /// left: profiles them again and answers with EAR's result agreement, or why there is
  /// none. May be empty.
  std::function<Agreement(const ReprofileRequest &Before, const ReprofileRequest &After,
                          const EditSet &Final)>
      Profile;
};

/// The subject of a model: kernels by base name, callers of edited device functions.
Subject makeSubject(const SourceModel &Model, const Diagnosis &D,
                    std::vector<Candidate> Candidates, const EvaluationOptions &Options);

/// evaluate() without EAR. \p Gpu says whether programs can be run.
llvm::Expected<EvaluationResult> evaluateSubject(Subject S, const EvaluationOptions &Options,
                                                 const GpuInfo &Gpu,
                                                 llvm::function_ref<void(llvm::StringRef)> Say);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_PIPELINE_H
