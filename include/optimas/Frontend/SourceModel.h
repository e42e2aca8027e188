//===- SourceModel.h - Kernels, loops, statements and launch sites -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_FRONTEND_SOURCEMODEL_H
#define OPTIMAS_FRONTEND_SOURCEMODEL_H

#include "optimas/Frontend/CompileCommands.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>
#include <memory>
#include <optional>

namespace clang {
class ASTContext;
class ASTUnit;
class CUDAKernelCallExpr;
class Expr;
class FunctionDecl;
class SourceManager;
class Stmt;
} // namespace clang

namespace optimas {

using FileId = unsigned;
using FunctionId = unsigned;
using StatementId = unsigned; ///< printed `S12`
using LoopId = unsigned;
constexpr unsigned NoId = ~0u;

/// A half-open byte range of one file, with 1-based lines of its first and last byte.
struct SourceRange {
  FileId File = NoId;
  unsigned Begin = 0, End = 0;
  unsigned BeginLine = 0, EndLine = 0;

  bool valid() const { return File != NoId && Begin < End; }
  bool contains(const SourceRange &O) const {
    return File == O.File && Begin <= O.Begin && O.End <= End;
  }
  bool overlaps(const SourceRange &O) const {
    return File == O.File && Begin < O.End && O.Begin < End;
  }
  unsigned size() const { return End - Begin; }
};

struct SourceFile {
  std::string Path; ///< canonical, absolute
  std::string Text; ///< bytes as read
  std::string Sha256;
  bool IsMain = false;
  bool Editable = false;      ///< inside the project root and not a system header
  std::string WhyNotEditable; ///< empty when editable
  /// Ranges that the preprocessor skipped in either pass.
  std::vector<SourceRange> Inactive;
  /// Offset of each line's first byte; lines end at `\n`. Made by indexLines().
  std::vector<unsigned> LineStarts;

  void indexLines();
  /// Text of a 1-based line without its end (`\n` or `\r\n`); empty when there is none.
  llvm::StringRef line(unsigned Number) const;
  unsigned lineCount() const;
  unsigned lineOf(unsigned Offset) const; ///< 1-based
};

/// A statement as spelled (a template's pattern, not its instantiations). Numbered
/// from 1 in source order, an outer one before those in it; only functions of editable
/// files have statements. Those of a lambda in device code are the function's around it.
struct Statement {
  StatementId Id = NoId;
  FunctionId Function = NoId;
  /// With the closing `;` where it has one, and from its attributes or loop pragma
  /// (`#pragma unroll`) on. In a macro's body: the whole expansion.
  SourceRange Range;
  /// `for`, `range-for`, `while`, `do`, `if`, `switch`, `case`, `default`, `decl`, `expr`,
  /// `return`, `break`, `continue`, `goto`, `label`, `compound`, `asm`, `null`, `try`, `other`.
  std::string Kind;
  StatementId Parent = NoId; ///< nearest enclosing statement with an id
  LoopId InnermostLoop = NoId; ///< the loop whose body or header holds it (a loop statement: itself)
  /// Its structure comes from a macro (all of it, its keyword or brace, or a part of
  /// an expansion): not editable. `a = N;` and `__shared__ int a[N];` are spelled in the
  /// file although their first or last token is a macro's.
  bool InMacro = false;
  const clang::Stmt *Node = nullptr; ///< in the device AST
};

struct Loop {
  LoopId Id = NoId;
  StatementId Stmt = NoId;
  FunctionId Function = NoId;
  LoopId Parent = NoId;
  unsigned Depth = 1;
  /// `for (…)` without a pragma before it, up to and with the closing parenthesis; of a
  /// `do` loop the `while (…)` at its end.
  SourceRange Header;
  SourceRange Body;
};

struct Instantiation {
  std::string Mangled;   ///< by Clang's device-side mangling
  std::string Canonical; ///< demangled: `void copy<float>(float const*, float*, int)`
  std::vector<std::string> TemplateArgs; ///< printed, in order
  const clang::FunctionDecl *Decl = nullptr; ///< in the device AST
};

/// A function with device code, defined in a file of the translation unit.
struct Function {
  FunctionId Id = NoId;
  std::string Name;      ///< `ns::copy`
  bool IsKernel = false; ///< __global__
  bool IsDevice = false; ///< __device__ or __host__ __device__
  bool IsTemplate = false;
  bool InMacro = false;
  /// Some of its expressions have no type in the AST: Clang refused what nvcc
  /// accepts (a tolerated error). Nothing can be proved about those.
  bool Incomplete = false;
  SourceRange Definition; ///< from the first token (attributes, `template <…>`) to the closing brace
  SourceRange Signature;  ///< from the first token to just before the body's brace
  SourceRange Body;       ///< with both braces
  std::vector<SourceRange> Parameters; ///< one per parameter declaration, without commas
  std::vector<SourceRange> Redeclarations; ///< other declarations, explicit instantiations and specialisations
  /// One entry for a plain function; those seen in this unit for a template.
  std::vector<Instantiation> Instantiations;
  const clang::FunctionDecl *Decl = nullptr; ///< the definition (pattern), device AST
  std::vector<StatementId> Statements; ///< in source order
};

/// A `<<<…>>>` expression.
struct LaunchSite {
  unsigned Id = NoId; ///< printed `LS1`
  FunctionId Kernel = NoId;
  /// Qualified name of the host function that holds it, also from within a lambda.
  std::string Caller;
  bool CallerIsTemplate = false;
  bool InMacro = false;
  SourceRange Whole;  ///< the call expression without `;`
  SourceRange Config; ///< what stands between `<<<` and `>>>`
  SourceRange Grid, Block, Shared, Stream; ///< invalid when defaulted
  std::vector<SourceRange> Arguments;
  const clang::CUDAKernelCallExpr *Node = nullptr; ///< in the host AST
};

/// Something a reader of the model should know although it is no error.
struct ModelNote {
  FileId File = NoId;
  unsigned Line = 0;
  std::string Message;
};

/// An error of a pass. Warnings are the build's own compiler's to give.
struct ParseDiagnostic {
  CudaMode Mode;
  std::string File;
  unsigned Line = 0;
  bool IsError = false;
  /// True when the error cannot touch a kernel's AST and was let pass.
  bool Tolerated = false;
  std::string Message;
};

struct FrontendOptions {
  std::string ResourceDir; ///< empty: the one baked in at configure time
  std::string CudaPath;    ///< empty: from the command
  unsigned PreferredSm = 0;
  /// Files below it may be edited; empty: the folder of the compile database's
  /// common source root, or the source's own folder.
  std::string ProjectRoot;
  /// `__NVCC__` in the user's files: as the command's compiler has it when not set, but
  /// without when the device code parses only then. A candidate is parsed like its source.
  std::optional<bool> AsNvcc;
  /// Contents that replace files on disk, path → bytes (candidates, tests).
  std::map<std::string, std::string> Overlay;
};

/// One translation unit parsed for the device and for the host. Owns both ASTs;
/// all node pointers die with it.
class SourceModel {
public:
  ~SourceModel();
  SourceModel(SourceModel &&) noexcept;

  llvm::ArrayRef<SourceFile> files() const { return Files; }
  llvm::ArrayRef<Function> functions() const { return Functions; }
  llvm::ArrayRef<Statement> statements() const { return Statements; }
  llvm::ArrayRef<Loop> loops() const { return Loops; }
  llvm::ArrayRef<LaunchSite> launchSites() const { return LaunchSites; }
  llvm::ArrayRef<ParseDiagnostic> diagnostics() const { return Diagnostics; }
  /// In the order of the source: launches that are no launch sites (by
  /// cudaLaunchKernel, by pointer).
  llvm::ArrayRef<ModelNote> notes() const { return Notes; }
  /// The `<<<` of launches in host code that Clang did not understand (a tolerated
  /// error): while there is one, not every launch site of a kernel is known.
  llvm::ArrayRef<SourceRange> lostLaunches() const { return LostLaunches; }
  const TranslatedCommand &command() const { return Command; }
  const CompileCommand &originalCommand() const { return Original; }

  const SourceFile &file(FileId Id) const { return Files[Id]; }
  const Function &function(FunctionId Id) const { return Functions[Id]; }
  /// Statements, loops and launch sites are numbered from 1; nullptr when there is
  /// none of that number.
  const Statement *statement(StatementId Id) const;
  const Loop *loop(LoopId Id) const;
  const LaunchSite *launchSite(unsigned Id) const;
  const SourceFile &mainFile() const;

  clang::ASTContext &device() const;
  clang::ASTContext &host() const;

  llvm::StringRef text(const SourceRange &R) const;
  /// The file of that name: exact canonical path, else the longest common path
  /// suffix when only one file fits (profiles are recorded elsewhere).
  std::optional<FileId> findFile(llvm::StringRef Path) const;
  /// The function that a symbol names: mangled by nvcc (static, anonymous namespace,
  /// -rdc=true) or Clang, or demangled as Nsight Compute or c++filt print it. Another
  /// instantiation than those of this unit finds its template. nullptr when none fits.
  const Function *functionForSymbol(llvm::StringRef Symbol) const;
  /// The smallest statements that have that line, in source order. A loop's header
  /// (its first clause included) and the braces of a body are the loop's, the `if`'s, …;
  /// a function's closing brace is the function's block.
  std::vector<StatementId> statementsOnLine(FileId File, unsigned Line) const;
  /// The function whose definition holds that line.
  const Function *functionAt(FileId File, unsigned Line) const;
  std::vector<const LaunchSite *> launchSitesOf(FunctionId Kernel) const;

  /// Range of a Clang node's spelled source in this model (device AST unless
  /// \p Mode says otherwise); nullopt when it is in a macro body.
  std::optional<SourceRange> rangeOf(const clang::Stmt *S,
                                     CudaMode Mode = CudaMode::Device) const;

  /// What structuralDigest() and structuralText() return.
  std::vector<std::string> digest(llvm::ArrayRef<SourceRange> Holes,
                                  bool Full) const;

private:
  friend class SourceModelBuilder;
  friend class ErrorTriage;
  friend class LaunchFinder;
  friend class StatementWalker;
  SourceModel();
  std::vector<SourceFile> Files;
  std::vector<Function> Functions;
  std::vector<Statement> Statements;
  std::vector<Loop> Loops;
  std::vector<LaunchSite> LaunchSites;
  std::vector<ParseDiagnostic> Diagnostics;
  std::vector<ModelNote> Notes;
  std::vector<SourceRange> LostLaunches;
  TranslatedCommand Command;
  CompileCommand Original;
  struct Units;
  std::unique_ptr<Units> Asts;
};

/// Parses \p Command twice (device, host) and merges what it finds.
/// ParseFailed when a kernel's own code does not parse; every other error is
/// tolerated and listed in diagnostics().
llvm::Expected<SourceModel> buildSourceModel(const CompileCommand &Command,
                                             const FrontendOptions &Options);

/// A digest of every declaration of the unit's editable files outside \p Holes, in
/// both passes: kinds, names, types, values, attributes, loop pragmas, the list of
/// `#include`s, skipped code; never a position. Equal before and after an edit that
/// stays inside its holes, and different after any other; used by the guard after
/// the re-parse, whose holes are the edited ranges' new places, in the same order.
///
/// A hole is a range that holds whole statements (or nothing: a place of insertion),
/// a function's signature, a whole declaration, or what stands between `<<<` and
/// `>>>`. What a declaration in a hole changes for its users outside (an implicit
/// conversion, a deduced type) makes no difference; that a name comes to mean
/// another declaration does. `__LINE__` counts as such, not by its value.
///
/// One line per top-level declaration, `<pass> <file> <kind> <name>: <hash>`, so that a
/// difference can be named.
std::vector<std::string> structuralDigest(const SourceModel &Model,
                                          llvm::ArrayRef<SourceRange> Holes);

/// The same with the text that is hashed, to see what differs.
std::vector<std::string> structuralText(const SourceModel &Model,
                                        llvm::ArrayRef<SourceRange> Holes);

/// Checks the resource directory; its remedy names the package.
llvm::Expected<std::string> checkResourceDir(llvm::StringRef Override);

} // namespace optimas

#endif // OPTIMAS_FRONTEND_SOURCEMODEL_H
