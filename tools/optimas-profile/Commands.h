//===- Commands.h - What optimas-profile does with files -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_COMMANDS_H
#define OPTIMAS_TOOLS_PROFILE_COMMANDS_H

#include "optimas/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"

namespace optimas {

/// The category of all options that --help shows.
llvm::cl::OptionCategory &profileOptions();

/// Whether --show, --diff or --export was given.
bool isFileCommand();

/// Does it on \p Files, which stood on the command line, into \p Output or standard
/// output.
llvm::Error runFileCommand(llvm::ArrayRef<std::string> Files, llvm::StringRef Output);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_COMMANDS_H
