//===- Pipeline.h - One source through all stages -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PIPELINE_H
#define OPTIMAS_TOOLS_PIPELINE_H

#include "Progress.h"
#include "Settings.h"

namespace optimas {

/// What the process knows about itself.
struct ToolContext {
  std::string ToolDir; ///< folder of the executable
  std::vector<std::string> CommandLine;
  Progress *Say = nullptr;
};

/// Runs \p Source through frontend, evidence, proposals, guard, evaluation and report.
/// Returns the exit code of a run that came to its end; a stage that cannot go on
/// returns its error.
llvm::Expected<ExitCode> runPipeline(const Settings &S, llvm::StringRef Source,
                                     const ToolContext &Tool);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PIPELINE_H
