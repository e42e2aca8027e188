//===- CompileCommands.h - From nvcc's command to Clang's -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_FRONTEND_COMPILECOMMANDS_H
#define OPTIMAS_FRONTEND_COMPILECOMMANDS_H

#include "optimas/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace optimas {

/// One entry of a compile database, as the build runs it.
struct CompileCommand {
  std::string Directory; ///< absolute
  std::string File;      ///< absolute
  std::vector<std::string> Args; ///< argv with argv[0]; response files unexpanded
  std::string Output;    ///< value of -o, empty when none
};

/// Which pass over a translation unit.
enum class CudaMode { Device, Host };

/// What the user's command means to Clang, and what of it has no meaning there but
/// matters to the build and the optimizer.
struct TranslatedCommand {
  std::string Directory, File;
  std::string CudaPath; ///< root of the toolkit
  unsigned CudaMajor = 0, CudaMinor = 0; ///< the toolkit's version
  /// Chosen architecture, 90 for sm_90: what `__CUDA_ARCH__ / 10` is in the kernels.
  unsigned Sm = 0;
  /// The same in Clang's spelling: `sm_90`, `sm_90a`.
  std::string GpuArch;
  /// False when the command compiles plain C or C++; argvFor() then gives the same
  /// pass for both modes.
  bool IsCuda = true;
  std::string Language; ///< Clang's `-x`: `cuda`, `c++`, `c`
  /// Arguments for Clang without mode, architecture, resource dir and input.
  std::vector<std::string> ClangArgs;
  /// nvcc compiles the file: `__NVCC__` is defined in the user's files. The source model
  /// clears it when the device code parses only without.
  bool AsNvcc = false;
  bool UseFastMath = false, LineInfo = false, DeviceDebug = false, Rdc = false;
  int FmadEnabled = -1; ///< -1 the compiler's default
  unsigned MaxRegCount = 0;
  /// Options that were dropped because nothing is known about them, and choices that
  /// had to be guessed.
  std::vector<std::string> Notes;

  /// The full argv (with argv[0] "clang++") for one pass, to be run in Directory.
  /// It stops after the semantic analysis. \p CompatHeader may be empty.
  std::vector<std::string> argvFor(CudaMode Mode, llvm::StringRef ResourceDir,
                                   llvm::StringRef CompatHeader) const;
};

/// Loads `<BuildDir>/compile_commands.json`. Usage error (exit 1) when it is
/// missing, empty or not a compile database, with the command that makes one.
llvm::Expected<std::vector<CompileCommand>>
loadCompileDatabase(llvm::StringRef BuildDir);

/// The commands for \p File (the same file may be compiled more than once); an
/// error naming the nearest entries when there is none.
llvm::Expected<std::vector<CompileCommand>>
commandsFor(llvm::ArrayRef<CompileCommand> Database, llvm::StringRef File);

/// A command from what follows `--` on the command line: with or without a compiler
/// in front (nvcc when there is none, from CUDA_PATH, CUDA_HOME, PATH or its usual
/// place), with or without the file and `-c`.
CompileCommand commandFromArgs(llvm::StringRef File,
                               llvm::ArrayRef<std::string> Args);

/// Expands `--options-file`, `-optf` and `@file`, recursively, relative to the
/// command's directory.
llvm::Expected<std::vector<std::string>>
expandResponseFiles(const CompileCommand &Command);

/// Translates an nvcc command (or passes a Clang command through).
/// \p PreferredSm is the profiled GPU's, 0 when unknown; \p CudaPath overrides what
/// the compiler's path says.
llvm::Expected<TranslatedCommand> translate(const CompileCommand &Command,
                                            unsigned PreferredSm,
                                            llvm::StringRef CudaPath);

/// The header of declarations that nvcc accepts and Clang lacks: beside the program
/// (`<exe>/../share/optimas/`), else where the build put it. For argvFor().
llvm::Expected<std::string> findCompatHeader();

} // namespace optimas

#endif // OPTIMAS_FRONTEND_COMPILECOMMANDS_H
