//===- ParsedUnit.h - One pass over a translation unit -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_FRONTEND_PARSEDUNIT_H
#define OPTIMAS_LIB_FRONTEND_PARSEDUNIT_H

#include "optimas/Frontend/CompileCommands.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include <map>
#include <memory>

namespace clang {
class Decl;
class FrontendAction;
} // namespace clang

namespace optimas {

/// A diagnostic as Clang gave it, notes left out but for what they mean.
struct RawDiagnostic {
  unsigned Id = 0; ///< clang::diag::…
  clang::DiagnosticsEngine::Level Level = clang::DiagnosticsEngine::Note;
  clang::SourceLocation Loc; ///< invalid for the command line's
  std::string Message;
  /// A candidate of a failed call differs only in the space (host, device) that
  /// its declaration is for.
  bool CandidateInOtherSpace = false;
};

/// An `#include` of a file that is no system header.
struct IncludeDirective {
  clang::FileID From;
  std::string Spelled; ///< with its quotes or brackets
};

/// A conditional branch that the preprocessor skipped: whole lines between two
/// directives, as offsets.
struct SkippedBranch {
  clang::FileID File;
  unsigned Begin = 0, End = 0;
};

/// The AST of one pass, with what the preprocessor saw of the files that are not
/// system headers. Everything hangs on the CompilerInstance, which lives here.
class ParsedUnit {
public:
  ~ParsedUnit();
  ParsedUnit(const ParsedUnit &) = delete;
  ParsedUnit &operator=(const ParsedUnit &) = delete;

  /// Parses \p Argv (`clang++ …`) in \p Directory. \p Overlay: canonical path →
  /// bytes that replace the file's. \p AsNvcc: `__NVCC__` is defined in every file that
  /// is no system header. Fails only when there is nothing to look at: a bad command
  /// line or an unreadable main file; errors in the source are in Diagnostics.
  static llvm::Expected<std::unique_ptr<ParsedUnit>>
  parse(const std::vector<std::string> &Argv, llvm::StringRef Directory,
        llvm::StringRef MainFile, const std::map<std::string, std::string> &Overlay,
        bool AsNvcc);

  clang::CompilerInstance &compiler() const { return *Compiler; }
  clang::ASTContext &context() const { return Compiler->getASTContext(); }
  clang::SourceManager &sources() const { return Compiler->getSourceManager(); }

  /// Top-level declarations located outside system headers, in source order,
  /// without instantiations.
  std::vector<clang::Decl *> TopLevel;
  /// Every entry of a file that is no system header, in order.
  std::vector<clang::FileID> UserFiles;
  std::vector<SkippedBranch> Skipped;
  std::vector<IncludeDirective> Includes;
  std::vector<RawDiagnostic> Diagnostics;
  /// A file that is no system header asks whether `__NVCC__` is defined, or uses it.
  bool AsksForNvcc = false;
  std::string Directory; ///< of the command: what relative names are relative to

private:
  ParsedUnit() = default;
  std::unique_ptr<clang::DiagnosticConsumer> Consumer;
  std::unique_ptr<clang::CompilerInstance> Compiler;
  std::unique_ptr<clang::FrontendAction> Action;
  bool Begun = false;
};

} // namespace optimas

#endif // OPTIMAS_LIB_FRONTEND_PARSEDUNIT_H
