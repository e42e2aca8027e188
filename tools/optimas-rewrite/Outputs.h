//===- Outputs.h - Files that a run writes -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_OUTPUTS_H
#define OPTIMAS_TOOLS_OUTPUTS_H

#include "Settings.h"
#include "optimas/Report/Report.h"

namespace optimas {

/// Errors that writing would end in after minutes of work: an output file that cannot be
/// written; with --fix, a source that may not be.
llvm::Error checkOutputs(const Settings &S);

/// Writes --report, --patch, --export-fixes and, for --fix, the sources, and names each
/// file on standard output.
llvm::Error writeOutputs(const Settings &S, const RunRecord &R);

} // namespace optimas

#endif // OPTIMAS_TOOLS_OUTPUTS_H
