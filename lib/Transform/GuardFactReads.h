//===- GuardFactReads.h - What memory code reads -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_GUARDFACTREADS_H
#define OPTIMAS_LIB_TRANSFORM_GUARDFACTREADS_H

#include "optimas/Frontend/SourceModel.h"
#include "clang/AST/Decl.h"
#include <set>
#include <string>

namespace optimas {

/// The parameters and global or shared variables (by name, also `args.in`, `rows[]`)
/// through which the code of \p Range in the body of \p F reads memory, or may.
std::set<std::string> memoryRead(const clang::FunctionDecl *F, const SourceRange &Range);

} // namespace optimas

#endif // OPTIMAS_LIB_TRANSFORM_GUARDFACTREADS_H
