//===- CompileCommandsOptions.h - What each of nvcc's options means here -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_FRONTEND_COMPILECOMMANDSOPTIONS_H
#define OPTIMAS_LIB_FRONTEND_COMPILECOMMANDSOPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace optimas {

/// What translate() does with an nvcc option.
enum class NvccAction {
  Drop, ///< no effect on the AST
  Include, SystemInclude, Define, Undefine, PreInclude,
  Standard, Language, HostOptions, NoExceptions,
  Arch, Code, GenerateCode,
  Rdc, DeviceC, DeviceW, LinkTimeOptimization,
  RelaxedConstexpr, ExtendedLambda, DefaultStream,
  FastMath, Fmad, MaxRegCount, LineInfo, DeviceDebug,
  OptionsFile,
};

/// One of nvcc's options. nvcc itself insists on `--` before a long name and `-`
/// before a short one; here either will do.
struct NvccOption {
  llvm::StringLiteral Long, Short;
  NvccAction Action;
  bool TakesValue;
  bool Joined; ///< the value may follow the short name at once: `-Ifoo`
};

/// An option as it stands in a command.
struct NvccMatch {
  const NvccOption *Option;
  /// The value when it is in the same word (`-Dx`, `--std=c++17`); nullopt when the
  /// option has none or its value is the next word.
  std::optional<std::string> Value;
};

/// The option that \p Word is, nullopt when nvcc has none of that name.
std::optional<NvccMatch> matchNvccOption(llvm::StringRef Word);

/// Splits a value at its commas as nvcc does: a backslash takes the next character
/// as it is, a comma between double quotes does not split. \p KeepQuotes leaves the
/// quotes in (macro definitions).
std::vector<std::string> splitNvccList(llvm::StringRef Value, bool KeepQuotes);

/// Splits a response file into words as nvcc does (it takes quotes and backslashes
/// away twice).
std::vector<std::string> splitNvccOptionsFile(llvm::StringRef Text);

/// Where the compiler stands in \p Args, after launchers such as ccache and `env`.
/// `Args.size()` when there is none.
size_t findCompiler(llvm::ArrayRef<std::string> Args);

enum class CompilerFamily { Nvcc, Clang, Gcc, Unknown };
CompilerFamily compilerFamily(llvm::StringRef Program);

} // namespace optimas

#endif // OPTIMAS_LIB_FRONTEND_COMPILECOMMANDSOPTIONS_H
