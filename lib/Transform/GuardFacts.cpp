//===- GuardFacts.cpp - Collecting what code does -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardFacts.h"
#include "GuardNames.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using llvm::APFloat;
using llvm::ArrayRef;
using llvm::StringRef;

namespace optimas {

namespace {

class FactVisitor : public RecursiveASTVisitor<FactVisitor> {
public:
  FactVisitor(const ASTContext &Context, FileID File, const SourceRange &Range,
              ArrayRef<SourceRange> Holes, CodeFacts &Facts)
      : Context(Context), SM(Context.getSourceManager()), File(File), Range(Range),
        Holes(Holes), Facts(Facts) {}

  /// Calls and leaks are counted in the pattern only, types in every instantiation.
  void run(const FunctionDecl *F, bool AsSpelled) {
    Spelled = AsSpelled;
    if (Stmt *Body = F->getBody())
      TraverseStmt(Body);
  }

  bool shouldVisitImplicitCode() const { return true; }
  bool dataTraverseStmtPre(Stmt *S) {
    Ancestors.push_back(S);
    return true;
  }
  bool dataTraverseStmtPost(Stmt *S) {
    Ancestors.pop_back();
    return true;
  }

  bool VisitStmt(Stmt *S);
  bool VisitCallExpr(CallExpr *C);
  bool VisitCXXConstructExpr(CXXConstructExpr *C);
  bool VisitDeclStmt(DeclStmt *D);
  bool VisitVarDecl(VarDecl *V);
  bool VisitDeclRefExpr(DeclRefExpr *D);
  bool VisitMemberExpr(MemberExpr *M);
  bool VisitCastExpr(CastExpr *C);
  bool VisitBinaryOperator(BinaryOperator *B);
  bool VisitReturnStmt(ReturnStmt *R) { return count(R, Facts.Returns); }
  bool VisitGotoStmt(GotoStmt *G) { return count(G, Facts.Gotos); }
  bool VisitIndirectGotoStmt(IndirectGotoStmt *G) { return count(G, Facts.Gotos); }
  bool VisitCXXThrowExpr(CXXThrowExpr *T) { return count(T, Facts.Throws); }
  bool VisitCXXTryStmt(CXXTryStmt *T) { return count(T, Facts.Throws); }
  bool VisitCXXNewExpr(CXXNewExpr *N) { return count(N, Facts.News); }
  bool VisitCXXDeleteExpr(CXXDeleteExpr *N) { return count(N, Facts.News); }
  bool VisitLambdaExpr(LambdaExpr *L) { return count(L, Facts.Lambdas); }
  bool VisitBreakStmt(BreakStmt *B) { return countJump(B, true, Facts.Breaks); }
  bool VisitContinueStmt(ContinueStmt *C) {
    return countJump(C, false, Facts.Continues);
  }
  bool VisitLabelStmt(LabelStmt *L) {
    if (inRange(L))
      Facts.Labels.insert(L->getName());
    return true;
  }
  bool VisitAsmStmt(AsmStmt *A);

private:
  std::optional<unsigned> offsetOf(SourceLocation L) const {
    if (L.isInvalid())
      return std::nullopt;
    auto [Id, Offset] = SM.getDecomposedExpansionLoc(L);
    return Id == File ? std::optional<unsigned>(Offset) : std::nullopt;
  }
  bool inside(SourceLocation L, const SourceRange &R) const {
    auto O = offsetOf(L);
    return O && *O >= R.Begin && *O < R.End;
  }
  bool inRange(const Stmt *S) const { return inside(S->getBeginLoc(), Range); }
  unsigned lineOf(const Stmt *S) const {
    return SM.getExpansionLineNumber(S->getBeginLoc());
  }
  bool inProject(const Decl *D) const {
    SourceLocation L = SM.getExpansionLoc(D->getLocation());
    if (L.isInvalid() || D->isImplicit() || SM.isInSystemHeader(L))
      return false;
    // What stands in for nvcc's own declarations is no system header to Clang.
    auto Name = SM.getFilename(L);
    return !Name.empty() && !Name.ends_with("optimas_cuda_compat.h");
  }
  bool count(const Stmt *S, unsigned &Counter) {
    if (Spelled && inRange(S))
      ++Counter;
    return true;
  }
  bool countJump(const Stmt *S, bool OrSwitch, unsigned &Counter);
  void addCall(StringRef Name, const Decl *Callee, const Stmt *At);
  void addVolatile(StringRef Name, QualType T);
  void addLeak(const Decl *D);
  void addShared(const VarDecl *V);
  bool keepsValue(const Expr *Sub, QualType To) const;
  std::string typeText(QualType T) const {
    return T.getCanonicalType().getUnqualifiedType().getAsString(
        Context.getPrintingPolicy());
  }

  const ASTContext &Context;
  const SourceManager &SM;
  FileID File;
  SourceRange Range;
  ArrayRef<SourceRange> Holes;
  CodeFacts &Facts;
  bool Spelled = true;
  std::vector<const Stmt *> Ancestors;
  std::set<const Decl *> LeakedDecls;
};

/// Bits of an arithmetic builtin type, 0 for others.
unsigned bitsOf(const ASTContext &Context, QualType T, bool Float) {
  T = T.getCanonicalType();
  if (T->isDependentType() || (Float ? !T->isRealFloatingType()
                                     : !T->isIntegerType() || T->isBooleanType() ||
                                           T->isEnumeralType()))
    return 0;
  return Context.getTypeSize(T);
}

bool isVolatile(QualType T) {
  if (T.isVolatileQualified())
    return true;
  if (const auto *A = T->getAsArrayTypeUnsafe())
    return isVolatile(A->getElementType());
  return !T->getPointeeType().isNull() && isVolatile(T->getPointeeType());
}

} // namespace

bool FactVisitor::VisitStmt(Stmt *S) {
  if (!Spelled || Facts.EscapesAtLine || !inRange(S) || isa<AttributedStmt>(S) ||
      S->getEndLoc().isInvalid())
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

void FactVisitor::addCall(StringRef Name, const Decl *Callee, const Stmt *At) {
  auto [It, New] = Facts.Callees.try_emplace(Name.str());
  if (New)
    It->second.Line = lineOf(At);
  if (Callee)
    It->second.InProject |= inProject(Callee);
  if (Spelled && isBarrier(Name))
    ++Facts.Barriers[Name.str()];
  if (Spelled && isAtomic(Name))
    ++Facts.Atomics[Name.str()];
}

bool FactVisitor::VisitCallExpr(CallExpr *C) {
  if (!inRange(C))
    return true;
  if (const FunctionDecl *F = C->getDirectCallee()) {
    std::string Name = F->getNameAsString();
    // Reading threadIdx.x is a call inside; operators of library types are arithmetic.
    if (StringRef(Name).starts_with("__fetch_builtin_") ||
        (isa<CXXOperatorCallExpr>(C) && !inProject(F)))
      return true;
    addCall(Name, F, C);
    return true;
  }
  const Expr *Callee = C->getCallee()->IgnoreParenImpCasts();
  if (const auto *U = dyn_cast<OverloadExpr>(Callee))
    addCall(U->getName().getAsString(), nullptr, C);
  else if (const auto *M = dyn_cast<CXXDependentScopeMemberExpr>(Callee))
    addCall(M->getMember().getAsString(), nullptr, C);
  else if (const auto *D = dyn_cast<DependentScopeDeclRefExpr>(Callee))
    addCall(D->getDeclName().getAsString(), nullptr, C);
  else if (!isa<CXXPseudoDestructorExpr>(Callee))
    addCall("a function through a pointer", nullptr, C);
  return true;
}

bool FactVisitor::VisitCXXConstructExpr(CXXConstructExpr *C) {
  if (!inRange(C))
    return true;
  const CXXConstructorDecl *Constructor = C->getConstructor();
  if (Constructor->isTrivial() || Constructor->getParent()->isLambda())
    return true;
  std::string Name = Constructor->getParent()->getNameAsString();
  if (Name != "dim3")
    addCall(Name, Constructor, C);
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

void FactVisitor::addShared(const VarDecl *V) {
  SharedFact Fact;
  QualType T = V->getType();
  while (const ArrayType *A = Context.getAsArrayType(T)) {
    const auto *Sized = dyn_cast<ConstantArrayType>(A);
    Fact.Extents.push_back(Sized ? Sized->getSize().getZExtValue() : 0);
    T = A->getElementType();
  }
  Fact.Element = typeText(T);
  auto [It, New] = Facts.Shared.try_emplace(V->getNameAsString(), Fact);
  // An instantiation knows the extents that the pattern does not.
  if (!New && It->second.Extents.size() == Fact.Extents.size())
    for (size_t I = 0; I < Fact.Extents.size(); ++I)
      It->second.Extents[I] = std::max(It->second.Extents[I], Fact.Extents[I]);
}

static void widen(std::map<std::string, unsigned> &Map, const std::string &Name,
                  unsigned Bits) {
  if (Bits)
    Map[Name] = std::max(Map[Name], Bits);
}

bool FactVisitor::VisitVarDecl(VarDecl *V) {
  if (!inside(V->getLocation(), Range))
    return true;
  std::string Name = V->getNameAsString();
  if (V->hasAttr<CUDASharedAttr>())
    addShared(V);
  else if (V->isStaticLocal() || V->hasExternalStorage())
    Facts.Statics[Name] = typeText(V->getType());
  widen(Facts.FloatBits, Name, bitsOf(Context, V->getType(), true));
  widen(Facts.IntBits, Name, bitsOf(Context, V->getType(), false));
  return true;
}

void FactVisitor::addVolatile(StringRef Name, QualType T) {
  if (isVolatile(T))
    Facts.Volatile.insert(Name.str());
}

bool FactVisitor::VisitDeclRefExpr(DeclRefExpr *D) {
  if (!inRange(D)) {
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
      addCall(F->getNameAsString(), F, D);
    return true;
  }
  const auto *V = dyn_cast<VarDecl>(D->getDecl());
  if (!V)
    return true;
  addVolatile(V->getName(), V->getType());
  if (V->hasGlobalStorage() && !V->isStaticLocal() && inProject(V) &&
      !V->hasAttr<CUDASharedAttr>() && !V->isConstexpr() &&
      !(V->getType().isConstQualified() && V->hasInit()))
    Facts.Globals.insert(V->getQualifiedNameAsString());
  return true;
}

bool FactVisitor::VisitMemberExpr(MemberExpr *M) {
  if (inRange(M))
    addVolatile(M->getMemberDecl()->getName(), M->getMemberDecl()->getType());
  return true;
}

/// True when \p Sub is a constant that \p To holds exactly (`float x = 0.5;`).
bool FactVisitor::keepsValue(const Expr *Sub, QualType To) const {
  if (Sub->isValueDependent() || To->isDependentType())
    return false;
  Expr::EvalResult R;
  if (!Sub->EvaluateAsRValue(R, Context) || R.HasSideEffects)
    return false;
  if (R.Val.isInt() && To->isIntegerType()) {
    llvm::APSInt Value = R.Val.getInt();
    llvm::APSInt Cut = Value.extOrTrunc(Context.getTypeSize(To));
    Cut.setIsSigned(To->isSignedIntegerType());
    return llvm::APSInt::isSameValue(Cut, Value);
  }
  if (R.Val.isFloat() && To->isRealFloatingType()) {
    APFloat Value = R.Val.getFloat();
    bool Lost = false;
    Value.convert(Context.getFloatTypeSemantics(To), APFloat::rmNearestTiesToEven,
                  &Lost);
    return !Lost;
  }
  return false;
}

bool FactVisitor::VisitCastExpr(CastExpr *C) {
  if (!inRange(C))
    return true;
  QualType From = C->getSubExpr()->getType(), To = C->getType();
  bool Narrower = false;
  switch (C->getCastKind()) {
  case CK_FloatingCast:
    Narrower = bitsOf(Context, To, true) < bitsOf(Context, From, true);
    break;
  case CK_IntegralCast:
    Narrower = bitsOf(Context, To, false) < bitsOf(Context, From, false);
    break;
  case CK_FloatingToIntegral:
    Narrower = true;
    break;
  case CK_Dependent:
    // No instantiation may tell; a written cast to an arithmetic type counts.
    Narrower = To->isArithmeticType() && !To->isBooleanType();
    break;
  default:
    break;
  }
  if (Narrower && !keepsValue(C->getSubExpr(), To))
    Facts.Narrowings.insert({From->isDependentType() ? "a dependent type" : typeText(From),
                             typeText(To)});
  QualType Pointee = From->getPointeeType(), Target = To->getPointeeType();
  if (isa<ExplicitCastExpr>(C) && !Pointee.isNull() && !Target.isNull() &&
      ((Pointee.isConstQualified() && !Target.isConstQualified()) ||
       (Pointee.isVolatileQualified() && !Target.isVolatileQualified())))
    Facts.CastAways.insert({From.getCanonicalType().getAsString(),
                            To.getCanonicalType().getAsString()});
  return true;
}

bool FactVisitor::VisitBinaryOperator(BinaryOperator *B) {
  if (!inRange(B) || !(B->isAdditiveOp() || B->isMultiplicativeOp() ||
                       B->isCompoundAssignmentOp()))
    return true;
  QualType T = B->getType();
  if (const auto *A = dyn_cast<CompoundAssignOperator>(B))
    if (!A->getComputationResultType().isNull())
      T = A->getComputationResultType();
  widen(Facts.FloatOperators, B->getOpcodeStr().str(), bitsOf(Context, T, true));
  Facts.WidestInt = std::max(Facts.WidestInt, bitsOf(Context, T, false));
  return true;
}

bool FactVisitor::VisitAsmStmt(AsmStmt *A) {
  if (!inRange(A))
    return true;
  CharSourceRange R = SM.getExpansionRange(A->getSourceRange());
  Facts.Asm.insert(
      Lexer::getSourceText(R, SM, Context.getLangOpts()).str());
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
  FactVisitor Visitor(Context, File, Range, Holes, Facts);
  Visitor.run(F.Decl, /*AsSpelled=*/true);
  for (const Instantiation &I : F.Instantiations)
    if (I.Decl && I.Decl != F.Decl)
      Visitor.run(I.Decl, /*AsSpelled=*/false);
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
