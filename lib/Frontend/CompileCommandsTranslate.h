//===- CompileCommandsTranslate.h - Parts of translate() -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_FRONTEND_COMPILECOMMANDSTRANSLATE_H
#define OPTIMAS_LIB_FRONTEND_COMPILECOMMANDSTRANSLATE_H

#include "CompileCommandsToolkit.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace optimas {

struct TranslatedCommand;

/// What a command says about GPU architectures, in nvcc's spellings.
struct ArchRequest {
  std::string Arch;               ///< the last -arch
  std::vector<std::string> Codes; ///< the last -code's list
  std::vector<std::string> GenCodes; ///< values of -gencode
};

/// Chooses the one architecture to parse for and sets Sm, GpuArch and Notes of
/// \p Out: the code that the GPU \p PreferredSm (0: unknown) would run, else the
/// highest real one. Usage error when the command names something that is none.
llvm::Error chooseArch(const ArchRequest &Request, unsigned PreferredSm,
                       const CudaToolkit &Toolkit, TranslatedCommand &Out);

/// Appends what Clang should see of the options meant for the host's compiler
/// (unpacked -Xcompiler words, and what -forward-unknown-to-host-compiler forwards).
void translateHostOptions(llvm::ArrayRef<std::string> Words, TranslatedCommand &Out);

/// True when Clang's driver knows the option; a flag of GCC's alone must not reach it.
bool clangKnows(llvm::StringRef Word);

/// The headers of the newest GCC below \p Root (`/usr/lib/gcc`) that has omp.h; empty
/// when there is none.
std::string gccHeaderFolder(llvm::StringRef Root);

/// Lets Clang find what only GCC has (omp.h, quadmath.h): nvcc's host compiler does.
/// Last in the search, so that everything Clang has comes from Clang.
void addGccHeaders(TranslatedCommand &Out);

/// Translates a Clang or GCC command (after expansion, compiler at \p First).
llvm::Error translateClang(llvm::ArrayRef<std::string> Args, bool Gcc,
                           unsigned PreferredSm, llvm::StringRef CudaPath,
                           TranslatedCommand &Out);

/// What stands behind every CUDA command's own arguments: the toolkit, its version,
/// and the headers that nvcc's profile adds.
void addToolkitArgs(const CudaToolkit &Toolkit, TranslatedCommand &Out);

} // namespace optimas

#endif // OPTIMAS_LIB_FRONTEND_COMPILECOMMANDSTRANSLATE_H
