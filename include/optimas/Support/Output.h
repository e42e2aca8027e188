//===- Output.h - Standard output that arrives -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_SUPPORT_OUTPUT_H
#define OPTIMAS_SUPPORT_OUTPUT_H

#include "llvm/Support/Error.h"

namespace optimas {

/// Opens /dev/null where standard input, output or error is closed: the next file that is
/// opened, a source or a pipe to a program, would take its number and get what is printed.
/// Call it before anything is opened.
llvm::Error openStandardStreams();

/// Flushes outs(). What could not be written, to a full disk say, is an error (Usage).
llvm::Error finishOutput();

} // namespace optimas

#endif // OPTIMAS_SUPPORT_OUTPUT_H
