//===- DigestWriter.h - Declarations as text without positions -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_FRONTEND_DIGESTWRITER_H
#define OPTIMAS_LIB_FRONTEND_DIGESTWRITER_H

#include "Builder.h"
#include "clang/AST/PrettyPrinter.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/raw_ostream.h"

namespace optimas {

/// The holes of one digest. A hole may be empty (a place where text is inserted).
class Holes {
public:
  explicit Holes(llvm::ArrayRef<SourceRange> Ranges) : Ranges(Ranges) {}

  llvm::ArrayRef<SourceRange> all() const { return Ranges; }
  /// Index of the hole that holds all of \p R, -1 when none does.
  int holding(const SourceRange &R) const;
  bool holds(FileId File, unsigned Offset) const;
  /// True when a hole lies in, crosses or touches \p R.
  bool touch(const SourceRange &R) const;

private:
  llvm::ArrayRef<SourceRange> Ranges;
};

/// Writes what a declaration says: kinds, names, types, values, attributes; never
/// where. What lies in a hole becomes a mark, one a hole however many nodes it holds
/// (none included), so that the text is the same whatever stands there.
///
/// Code outside the holes may still look different to Clang when a declaration in a
/// hole changes its type (an implicit conversion comes or goes). Expressions that
/// use such a declaration are *tainted*: their implicit nodes are left out.
class DigestWriter : private clang::PrinterHelper {
public:
  DigestWriter(const PassUnit &Pass, const Holes &H, llvm::raw_ostream &Out);

  /// Writes \p D, a top-level declaration.
  void topLevel(const clang::Decl *D);

private:
  /// One of several nodes that follow each other in the source.
  struct Item {
    std::optional<SourceRange> Range;
    std::function<void()> Write;
  };
  /// Writes \p Items that are outside the holes of \p Context, and a mark for each
  /// hole at its place among them.
  void sequence(llvm::ArrayRef<Item> Items, std::optional<SourceRange> Context);
  void mark(int Hole) { Out << "<hole " << Hole << ">"; }
  bool markIfHeld(const std::optional<SourceRange> &R);

  // Declarations (DigestDecl.cpp)
  void decl(const clang::Decl *D);
  void declarations(const clang::DeclContext *C, std::optional<SourceRange> Range);
  void function(const clang::FunctionDecl *F);
  void variable(const clang::VarDecl *V);
  void record(const clang::CXXRecordDecl *R);
  void enumeration(const clang::EnumDecl *E);
  void templateParameters(const clang::TemplateParameterList *L);
  void explicitInstantiations(const clang::FunctionTemplateDecl *T);
  void attributes(const clang::Decl *D);
  void type(clang::QualType T);
  /// \p V's type, but not what it deduces from a tainted initialiser.
  void typeOf(const clang::VarDecl *V, bool Tainted);
  std::optional<SourceRange> rangeOf(const clang::Decl *D) const;

  // Statements (DigestStmt.cpp)
  void stmt(const clang::Stmt *S);
  void control(const clang::Stmt *S);
  /// A full expression: its text, then what the text does not show.
  /// \returns true when it is tainted.
  bool expr(const clang::Expr *E);
  /// Kinds, conversions and referents, operands first.
  bool structure(const clang::Stmt *E, bool SkipConversions = false);
  /// True when \p S refers to a declaration in a hole.
  bool usesHole(const clang::Stmt *S);
  bool call(const clang::CallExpr *E);
  void launch(const clang::CUDAKernelCallExpr *E, bool Text);
  void lambda(const clang::LambdaExpr *L);
  /// \returns true when the referent's type depends on what stands in a hole.
  bool refer(const clang::ValueDecl *D);
  bool declaredInHole(const clang::Decl *D);
  void number(const clang::Decl *D);
  bool isLineNumber(const clang::Stmt *S) const;
  bool handledStmt(clang::Stmt *S, llvm::raw_ostream &OS) override;
  std::optional<SourceRange> rangeOf(const clang::Stmt *S) const;
  std::optional<SourceRange> withSemicolon(std::optional<SourceRange> R) const;
  void pretty(const clang::Stmt *S);

  const Spelling &Places;
  const clang::ASTContext &Context;
  const Holes &TheHoles;
  llvm::raw_ostream &Out;
  clang::PrintingPolicy Policy;
  /// False while the current top-level declaration has no hole in it.
  bool Careful = false;
  llvm::DenseMap<const clang::Decl *, unsigned> Locals;
  llvm::DenseMap<const clang::Decl *, bool> InHole;
  /// Variables outside the holes whose deduced type depends on a declaration in one.
  llvm::DenseSet<const clang::Decl *> Deduced;
};

} // namespace optimas

#endif // OPTIMAS_LIB_FRONTEND_DIGESTWRITER_H
