//===- GuardFactVisitor.h - Walks code and notes what it does -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_GUARDFACTVISITOR_H
#define OPTIMAS_LIB_TRANSFORM_GUARDFACTVISITOR_H

#include "GuardFacts.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"

namespace optimas {

/// Collects CodeFacts of one range; see collectFacts.
class FactVisitor : public clang::RecursiveASTVisitor<FactVisitor> {
public:
  FactVisitor(const clang::ASTContext &Context, clang::FileID File,
              const SourceRange &Range, llvm::ArrayRef<SourceRange> Holes,
              CodeFacts &Facts)
      : Context(Context), SM(Context.getSourceManager()), File(File),
        Range(Range), Holes(Holes), Facts(Facts) {}

  /// Calls and leaks are counted in the pattern only, types in every
  /// instantiation.
  void run(const clang::FunctionDecl *F, bool AsSpelled) {
    Spelled = AsSpelled;
    if (clang::Stmt *Body = F->getBody())
      TraverseStmt(Body);
  }

  bool shouldVisitImplicitCode() const { return true; }
  bool dataTraverseStmtPre(clang::Stmt *S) {
    Ancestors.push_back(S);
    return true;
  }
  bool dataTraverseStmtPost(clang::Stmt *S) {
    Ancestors.pop_back();
    return true;
  }

  bool VisitStmt(clang::Stmt *S);
  bool VisitCallExpr(clang::CallExpr *C);
  bool VisitCXXConstructExpr(clang::CXXConstructExpr *C);
  bool VisitDeclStmt(clang::DeclStmt *D);
  bool VisitVarDecl(clang::VarDecl *V);
  bool VisitDeclRefExpr(clang::DeclRefExpr *D);
  bool VisitMemberExpr(clang::MemberExpr *M);
  bool VisitCastExpr(clang::CastExpr *C);
  bool VisitBinaryOperator(clang::BinaryOperator *B);
  bool VisitReturnStmt(clang::ReturnStmt *R) { return count(R, Facts.Returns); }
  bool VisitGotoStmt(clang::GotoStmt *G) { return count(G, Facts.Gotos); }
  bool VisitIndirectGotoStmt(clang::IndirectGotoStmt *G) {
    return count(G, Facts.Gotos);
  }
  bool VisitCXXThrowExpr(clang::CXXThrowExpr *T) {
    return count(T, Facts.Throws);
  }
  bool VisitCXXTryStmt(clang::CXXTryStmt *T) { return count(T, Facts.Throws); }
  bool VisitCXXNewExpr(clang::CXXNewExpr *N) { return count(N, Facts.News); }
  bool VisitCXXDeleteExpr(clang::CXXDeleteExpr *N) {
    return count(N, Facts.News);
  }
  bool VisitLambdaExpr(clang::LambdaExpr *L) { return count(L, Facts.Lambdas); }
  bool VisitBreakStmt(clang::BreakStmt *B) {
    return countJump(B, true, Facts.Breaks);
  }
  bool VisitContinueStmt(clang::ContinueStmt *C) {
    return countJump(C, false, Facts.Continues);
  }
  bool VisitLabelStmt(clang::LabelStmt *L) {
    if (inRange(L))
      Facts.Labels.insert(L->getName());
    return true;
  }
  bool VisitAsmStmt(clang::AsmStmt *A);
  bool VisitAtomicExpr(clang::AtomicExpr *A);
  bool VisitCXXBindTemporaryExpr(clang::CXXBindTemporaryExpr *T);

private:
  std::optional<unsigned> offsetOf(clang::SourceLocation L) const {
    if (L.isInvalid())
      return std::nullopt;
    auto [Id, Offset] = SM.getDecomposedExpansionLoc(L);
    return Id == File ? std::optional<unsigned>(Offset) : std::nullopt;
  }
  bool inside(clang::SourceLocation L, const SourceRange &R) const {
    auto O = offsetOf(L);
    return O && *O >= R.Begin && *O < R.End;
  }
  bool inRange(const clang::Stmt *S) const {
    return inside(S->getBeginLoc(), Range);
  }
  /// Where \p S runs: the initialiser of a member or the default of a parameter runs
  /// where it is left out, wherever it is written. Of the statement being visited.
  bool runsInRange(const clang::Stmt *S) const {
    for (const clang::Stmt *A : Ancestors) {
      if (const auto *D = llvm::dyn_cast<clang::CXXDefaultInitExpr>(A))
        return inside(D->getUsedLocation(), Range);
      if (const auto *D = llvm::dyn_cast<clang::CXXDefaultArgExpr>(A))
        return inside(D->getUsedLocation(), Range);
    }
    return inRange(S);
  }
  unsigned lineOf(const clang::Stmt *S) const {
    return SM.getExpansionLineNumber(S->getBeginLoc());
  }
  bool inProject(const clang::Decl *D) const {
    // A function that the compiler wrote is its class's.
    if (const auto *M = llvm::dyn_cast<clang::CXXMethodDecl>(D);
        M && M->isImplicit())
      D = M->getParent();
    clang::SourceLocation L = SM.getExpansionLoc(D->getLocation());
    if (L.isInvalid() || D->isImplicit() || SM.isInSystemHeader(L))
      return false;
    // What stands in for nvcc's own declarations is no system header to Clang.
    auto Name = SM.getFilename(L);
    return !Name.empty() && !Name.ends_with("optimas_cuda_compat.h");
  }
  bool count(const clang::Stmt *S, unsigned &Counter) {
    if (Spelled && inRange(S))
      ++Counter;
    return true;
  }
  bool countJump(const clang::Stmt *S, bool OrSwitch, unsigned &Counter);
  void addCall(llvm::StringRef Name, const clang::Decl *Callee,
               clang::SourceLocation At);
  void addDestructor(clang::QualType T, clang::SourceLocation At);
  void noteAddress(const clang::CastExpr *C);
  void noteDistance(const clang::BinaryOperator *B);
  bool onlyTestsAlignment() const;
  void addVolatile(llvm::StringRef Name, clang::QualType T);
  void addLeak(const clang::Decl *D);
  void addShared(const clang::VarDecl *V);
  bool keepsValue(const clang::Expr *Sub, clang::QualType To) const;
  std::string typeText(clang::QualType T) const {
    return T.getCanonicalType().getUnqualifiedType().getAsString(
        Context.getPrintingPolicy());
  }

  const clang::ASTContext &Context;
  const clang::SourceManager &SM;
  clang::FileID File;
  SourceRange Range;
  llvm::ArrayRef<SourceRange> Holes;
  CodeFacts &Facts;
  bool Spelled = true;
  std::vector<const clang::Stmt *> Ancestors;
  std::set<const clang::Decl *> LeakedDecls;
};

} // namespace optimas

#endif // OPTIMAS_LIB_TRANSFORM_GUARDFACTVISITOR_H
