//===- Preflight.h - What profiling needs, looked at before it starts -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_PREFLIGHT_H
#define OPTIMAS_TOOLS_PROFILE_PREFLIGHT_H

#include "optimas/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace optimas {

/// The library to inject: $OPTIMAS_COLLECTOR, or `../lib/liboptimas_collector.so`
/// beside this program. \p Argv0 is how this program was started.
llvm::Expected<std::string> findCollector(const char *Argv0);

/// The CUDA toolkit whose CUPTI is used where none is on the loader's path: \p Given,
/// $OPTIMAS_CUPTI_PATH, $CUDA_PATH, $CUDA_HOME, the toolkit of the build, or
/// /usr/local/cuda; the first that exists, else empty.
std::string findToolkit(llvm::StringRef Given);

/// Whether libcuda.so.1 can be loaded here.
bool haveDriver();

/// Whether the file that \p Program names on PATH is an ELF file that knows the CUDA
/// driver or runtime. False for scripts and what cannot be read.
bool isCudaProgram(llvm::StringRef Program);

/// `--check`: prints a line for each thing that profiling needs and says what to do
/// about what is missing. \p Command may name a program to look at, which is not run.
/// Returns EvidenceUnusable when something needed is missing.
ExitCode checkSetup(llvm::raw_ostream &OS, const char *Argv0, llvm::StringRef Toolkit,
                    llvm::ArrayRef<std::string> Command);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_PREFLIGHT_H
