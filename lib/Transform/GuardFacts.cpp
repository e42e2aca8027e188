//===- GuardFacts.cpp - Collecting what code does -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardFactReads.h"
#include "GuardFactVisitor.h"
#include "GuardNames.h"
#include "clang/AST/Attr.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace optimas {

bool FactVisitor::VisitStmt(Stmt *S) {
  if (!Spelled || Facts.EscapesAtLine || !inRange(S) ||
      isa<AttributedStmt>(S) || S->getEndLoc().isInvalid())
    return true;
  auto End = offsetOf(SM.getExpansionRange(S->getEndLoc()).getEnd());
  if (!End || *End >= Range.End)
    Facts.EscapesAtLine = lineOf(S);
  return true;
}

bool FactVisitor::countJump(const Stmt *S, bool OrSwitch, unsigned &Counter) {
  if (!Spelled || !inRange(S))
    return true;
  for (const Stmt *A : llvm::reverse(Ancestors))
    if (isa<ForStmt, CXXForRangeStmt, WhileStmt, DoStmt>(A) ||
        (OrSwitch && isa<SwitchStmt>(A))) {
      Counter += !inRange(A);
      return true;
    }
  ++Counter;
  return true;
}

void FactVisitor::addCall(StringRef Name, const Decl *Callee, SourceLocation At) {
  auto [It, New] = Facts.Callees.try_emplace(Name.str());
  if (New)
    It->second.Line = SM.getExpansionLineNumber(At);
  if (Callee)
    It->second.InProject |= inProject(Callee);
  if (Spelled && isBarrier(Name))
    ++Facts.Barriers[Name.str()];
  if (Spelled && isAtomic(Name))
    ++Facts.Atomics[Name.str()];
}

bool FactVisitor::VisitCallExpr(CallExpr *C) {
  if (!runsInRange(C))
    return true;
  SourceLocation At = C->getBeginLoc();
  if (const FunctionDecl *F = C->getDirectCallee()) {
    std::string Name = F->getNameAsString();
    // Reading threadIdx.x is a call inside.
    if (StringRef(Name).starts_with("__fetch_builtin_"))
      return true;
    if (isa<CXXOperatorCallExpr>(C) || isa<CXXConversionDecl>(F)) {
      // Those of library types are arithmetic, those of the program anything: another
      // class's operator is another function.
      if (F->isTrivial() || !inProject(F))
        return true;
      Name = F->getQualifiedNameAsString();
    }
    addCall(Name, F, At);
    return true;
  }
  const Expr *Callee = C->getCallee()->IgnoreParenImpCasts();
  if (const auto *U = dyn_cast<OverloadExpr>(Callee))
    addCall(U->getName().getAsString(), nullptr, At);
  else if (const auto *M = dyn_cast<CXXDependentScopeMemberExpr>(Callee))
    addCall(M->getMember().getAsString(), nullptr, At);
  else if (const auto *D = dyn_cast<DependentScopeDeclRefExpr>(Callee))
    addCall(D->getDeclName().getAsString(), nullptr, At);
  else if (!isa<CXXPseudoDestructorExpr>(Callee))
    addCall("a function through a pointer", nullptr, At);
  return true;
}

bool FactVisitor::VisitCXXConstructExpr(CXXConstructExpr *C) {
  if (!runsInRange(C))
    return true;
  const CXXConstructorDecl *Constructor = C->getConstructor();
  if (Constructor->isTrivial() || Constructor->getParent()->isLambda())
    return true;
  std::string Name = Constructor->getParent()->getNameAsString();
  if (Name != "dim3")
    addCall(Name, Constructor, C->getBeginLoc());
  return true;
}

bool FactVisitor::VisitAtomicExpr(AtomicExpr *A) {
  if (!runsInRange(A))
    return true;
  // No call for Clang: the name is what was written, or stands for another spelling.
  StringRef Name = A->getOpAsString();
  addCall(isAtomic(Name) ? Name.str() : ("__atomic " + Name).str(), nullptr,
          A->getBeginLoc());
  return true;
}

void FactVisitor::addDestructor(QualType T, SourceLocation At) {
  const auto *Class = T->getAsCXXRecordDecl();
  if (!Class || !Class->hasDefinition() || Class->hasTrivialDestructor())
    return;
  const CXXDestructorDecl *D = Class->getDestructor();
  addCall("~" + Class->getNameAsString(), D ? static_cast<const Decl *>(D) : Class,
          At);
}

bool FactVisitor::VisitCXXBindTemporaryExpr(CXXBindTemporaryExpr *T) {
  if (runsInRange(T))
    addDestructor(T->getType(), T->getBeginLoc());
  return true;
}

void FactVisitor::addLeak(const Decl *D) {
  LeakedDecls.insert(D);
  const auto *Named = dyn_cast<NamedDecl>(D);
  std::string Name = Named ? Named->getNameAsString() : "using";
  if (const auto *V = dyn_cast<VarDecl>(D))
    Facts.Leaked[Name] = typeText(V->getType());
  else
    Facts.LeakedOther.insert(Name);
}

bool FactVisitor::VisitDeclStmt(DeclStmt *D) {
  if (!Spelled || !inRange(D) || Ancestors.empty())
    return true;
  // The last ancestor is the statement itself.
  const Stmt *Scope = nullptr;
  for (const Stmt *A : llvm::reverse(Ancestors))
    if (A != D && !isa<LabelStmt, SwitchCase, AttributedStmt>(A)) {
      Scope = A;
      break;
    }
  if (Scope && inRange(Scope))
    return true;
  for (const Decl *Each : D->decls())
    addLeak(Each);
  return true;
}

bool FactVisitor::VisitDeclRefExpr(DeclRefExpr *D) {
  if (!runsInRange(D)) {
    if (Spelled && LeakedDecls.count(D->getDecl()) &&
        llvm::none_of(Holes, [&](const SourceRange &H) {
          return inside(D->getLocation(), H);
        }))
      Facts.UsedOutside.insert(D->getDecl()->getNameAsString());
    return true;
  }
  if (const auto *F = dyn_cast<FunctionDecl>(D->getDecl())) {
    // A function's address is as good as a call of it.
    const Stmt *Parent = nullptr;
    for (const Stmt *A : llvm::reverse(Ancestors))
      if (A != D && !isa<ImplicitCastExpr, ParenExpr>(A)) {
        Parent = A;
        break;
      }
    if (!isa_and_nonnull<CallExpr>(Parent))
      addCall(F->getNameAsString(), F, D->getLocation());
    return true;
  }
  const auto *V = dyn_cast<VarDecl>(D->getDecl());
  if (!V)
    return true;
  addVolatile(V->getNameAsString(), V->getType());
  if (V->hasGlobalStorage() && !V->isStaticLocal() && inProject(V) &&
      !V->hasAttr<CUDASharedAttr>() && !V->isConstexpr() &&
      !(V->getType().isConstQualified() && V->hasInit()))
    Facts.Globals.insert(V->getQualifiedNameAsString());
  return true;
}

bool FactVisitor::VisitAsmStmt(AsmStmt *A) {
  if (!inRange(A))
    return true;
  CharSourceRange R = SM.getExpansionRange(A->getSourceRange());
  Facts.Asm.insert(Lexer::getSourceText(R, SM, Context.getLangOpts()).str());
  return true;
}

CodeFacts collectFacts(const SourceModel &Model, const Function &F,
                       const SourceRange &Range, ArrayRef<SourceRange> Holes) {
  CodeFacts Facts;
  const ASTContext &Context = Model.device();
  const SourceManager &SM = Context.getSourceManager();
  const Stmt *Body = F.Decl->getBody();
  if (!Body)
    return Facts;
  FileID File = SM.getFileID(SM.getExpansionLoc(Body->getBeginLoc()));
  std::vector<SourceRange> SameFile;
  llvm::copy_if(Holes, std::back_inserter(SameFile),
                [&](const SourceRange &H) { return H.File == Range.File; });
  FactVisitor Visitor(Context, File, Range, SameFile, Facts);
  Visitor.run(F.Decl, /*AsSpelled=*/true);
  bool Concrete = false;
  for (const Instantiation &I : F.Instantiations) {
    if (!I.Decl)
      continue;
    if (I.Decl != F.Decl)
      Visitor.run(I.Decl, /*AsSpelled=*/false);
    std::set<std::string> Reads = memoryRead(I.Decl, Range);
    Facts.Reads.insert(Reads.begin(), Reads.end());
    Concrete = true;
  }
  if (!Concrete)
    Facts.Reads = memoryRead(F.Decl, Range);
  return Facts;
}

static const Stmt *findParent(const Stmt *Root, const Stmt *Node) {
  for (const Stmt *Child : Root->children()) {
    if (!Child)
      continue;
    if (Child == Node)
      return Root;
    if (const Stmt *Found = findParent(Child, Node))
      return isa<AttributedStmt>(Found) ? Root : Found;
  }
  if (const auto *L = dyn_cast<LambdaExpr>(Root)) {
    const Stmt *Body = L->getBody();
    return Body == Node ? Root : findParent(Body, Node);
  }
  return nullptr;
}

const Stmt *enclosingStatement(const FunctionDecl *F, const Stmt *Node) {
  const Stmt *Body = F->getBody();
  return !Body || Body == Node ? nullptr : findParent(Body, Node);
}

} // namespace optimas
