//===- Attempts.h - From proposals to an evaluation -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_ATTEMPTS_H
#define OPTIMAS_TOOLS_ATTEMPTS_H

#include "Pipeline.h"
#include "optimas/Propose/Proposer.h"
#include "optimas/Report/Report.h"

namespace optimas {

/// How the source is compiled, and by which database.
struct Compilation {
  std::string BuildDir; ///< empty with `--`
  std::vector<CompileCommand> Database;
  CompileCommand Command;
};

/// \p P, when known, says which architecture was run.
FrontendOptions frontendOptions(const Settings &S, const Profile *P);

/// Attempts until the proposals stand, the attempts are used up, or the proposer has
/// nothing more to say. Fills \p R with proposals, refusals and the evaluation.
llvm::Error proposeAndEvaluate(const Settings &S, const Compilation &C,
                               const ToolContext &Tool, RunRecord &R,
                               const ProposalRequest &Request);

/// A hand-made version of the source (--candidate) as the one candidate, which may change
/// \p Kernels. The guard is not asked, so its edit cites no evidence and EAR has nothing to
/// score; validation and timing are the same.
llvm::Error evaluateFile(const Settings &S, const Compilation &C, const ToolContext &Tool,
                         RunRecord &R, llvm::ArrayRef<FunctionId> Kernels);

} // namespace optimas

#endif // OPTIMAS_TOOLS_ATTEMPTS_H
