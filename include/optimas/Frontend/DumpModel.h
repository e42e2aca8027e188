//===- DumpModel.h - A SourceModel as JSON -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_FRONTEND_DUMPMODEL_H
#define OPTIMAS_FRONTEND_DUMPMODEL_H

#include "optimas/Frontend/SourceModel.h"
#include "llvm/Support/JSON.h"

namespace optimas {

/// Everything that the model holds, for tests and for a person's eyes: `files`,
/// `functions` (with their `statements`), `loops`, `launch_sites`, `notes`,
/// `diagnostics`. A range is `{"file", "begin", "end", "line", "end_line"}` with byte
/// offsets; files are named by their last component.
llvm::json::Value dumpModel(const SourceModel &Model);

} // namespace optimas

#endif // OPTIMAS_FRONTEND_DUMPMODEL_H
