//===- Builder.h - What fills a SourceModel -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_FRONTEND_BUILDER_H
#define OPTIMAS_LIB_FRONTEND_BUILDER_H

#include "ParsedUnit.h"
#include "Spelling.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseMap.h"
#include <set>

namespace optimas {

/// One pass with the places of its nodes.
struct PassUnit {
  std::unique_ptr<ParsedUnit> Unit;
  std::unique_ptr<Spelling> Places;
};

/// The places refer to the elements of Files, which stay where they are when the
/// model is moved.
struct SourceModel::Units {
  PassUnit Device, Host;
};

/// A function's name and place, the same in both passes.
struct FunctionKey {
  FileId File;
  unsigned Offset;
  std::string Name;
  bool operator<(const FunctionKey &O) const {
    return std::tie(File, Offset, Name) < std::tie(O.File, O.Offset, O.Name);
  }
};

/// Instantiations by the canonical declaration of their pattern.
using InstantiationMap =
    llvm::DenseMap<const clang::FunctionDecl *,
                   llvm::SmallVector<const clang::FunctionDecl *, 2>>;

/// Finds every instantiation of the templates among \p Decls.
InstantiationMap collectInstantiations(llvm::ArrayRef<clang::Decl *> Decls);

/// True for `__global__` functions.
bool isKernel(const clang::FunctionDecl *F);
/// True for kernels, `__device__` functions, and constexpr functions that device
/// code uses.
bool hasDeviceCode(const clang::FunctionDecl *F);

class SourceModelBuilder {
public:
  static llvm::Expected<SourceModel> build(const CompileCommand &Command,
                                           const FrontendOptions &Options);

private:
  SourceModelBuilder() = default;

  /// \p AsksForNvcc is set, also with a failure, as ParsedUnit's.
  static llvm::Expected<SourceModel> build(const CompileCommand &Command,
                                           const TranslatedCommand &Translated,
                                           const FrontendOptions &Options,
                                           bool &AsksForNvcc);

  llvm::Error parseBoth(const FrontendOptions &Options);

  // Files (ModelFiles.cpp)
  void addFiles(PassUnit &Pass, llvm::StringRef MainPath, llvm::StringRef Root);
  void addInactive();
  llvm::Error checkSameText();

  // Functions (Functions.cpp)
  void addFunctions();
  void addFunction(const clang::FunctionDecl *F, const clang::LambdaExpr *Lambda);
  void addInstantiations(Function &F, const InstantiationMap &Map);
  void addRedeclarations(Function &F, const InstantiationMap &Map);
  std::optional<FunctionKey> keyOf(const clang::FunctionDecl *F,
                                   const Spelling &Places) const;

  // Statements (Statements.cpp)
  void addStatements();

  // Launch sites (LaunchSites.cpp)
  void addLaunchSites();
  void addLostLaunches();
  FunctionId kernelOf(const clang::FunctionDecl *Callee) const;

  // Errors (ErrorTriage.cpp)
  llvm::Error triageErrors();

  friend class StatementWalker;
  friend class LaunchFinder;
  friend class ErrorTriage;

  SourceModel Model;
  std::map<FunctionKey, FunctionId> ByKey;
  /// The entries of each file that hold definitions; several mean that one text
  /// stands for several functions.
  std::map<FileId, std::set<clang::FileID>> CodeEntries;
};

} // namespace optimas

#endif // OPTIMAS_LIB_FRONTEND_BUILDER_H
