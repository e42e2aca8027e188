//===- Effects.cpp - What a statement reads, writes and calls -------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Ast.h"
#include "clang/AST/Attr.h"

using namespace clang;

namespace optimas::recipes {

bool Effects::has(Hazard::KindTy K) const {
  return llvm::any_of(Hazards, [K](const Hazard &H) { return H.Kind == K; });
}

unsigned Effects::mentions(const VarDecl *V) const {
  return llvm::count_if(
      Mentions, [V](const DeclRefExpr *R) { return R->getDecl() == V; });
}

bool Effects::stores() const {
  return llvm::any_of(Accesses,
                      [](const Access &A) { return A.Kind != Access::Load; });
}

namespace {
class Scanner {
public:
  explicit Scanner(Effects &Out) : Out(Out) {}

  void value(const Stmt *S);

private:
  void lvalue(const Expr *E, Access::KindTy Kind);
  void subscript(const ArraySubscriptExpr *Sub, Access::KindTy Kind);
  void declaration(const VarDecl *V);
  void call(const CallExpr *C);
  void construct(const CXXConstructExpr *C);
  void conditionally(const Stmt *S);
  void argument(const Expr *Arg, const ParmVarDecl *Parameter);
  void addressOf(const UnaryOperator *Op);
  bool control(const Stmt *S);
  bool operation(const Expr *E);
  void lambda(const LambdaExpr *L);
  void unknown(const Stmt *S);
  void children(const Stmt *S) {
    for (const Stmt *Child : S->children())
      value(Child);
  }
  void hazard(Hazard::KindTy K, const Stmt *S) {
    Out.Hazards.push_back({K, S});
  }
  void access(Access A) {
    A.Conditional = Conditional > 0;
    if (A.Type.isVolatileQualified())
      hazard(Hazard::Volatile, A.Node);
    Out.Accesses.push_back(A);
  }

  Effects &Out;
  unsigned Conditional = 0, Loops = 0;
};
} // namespace

void Scanner::conditionally(const Stmt *S) {
  ++Conditional;
  value(S);
  --Conditional;
}

/// Statements that steer control; false for anything else.
bool Scanner::control(const Stmt *S) {
  if (const auto *If = dyn_cast<IfStmt>(S)) {
    value(If->getInit());
    value(If->getConditionVariableDeclStmt());
    value(If->getCond());
    conditionally(If->getThen());
    conditionally(If->getElse());
    return true;
  }
  if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S)) {
    if (const auto *For = dyn_cast<ForStmt>(S))
      value(For->getInit());
    ++Conditional, ++Loops;
    for (const Stmt *Child : S->children())
      if (!isa<ForStmt>(S) || Child != cast<ForStmt>(S)->getInit())
        value(Child);
    --Conditional, --Loops;
    return true;
  }
  if (isa<BreakStmt, ContinueStmt>(S)) {
    if (Loops == 0)
      hazard(Hazard::Jump, S);
    return true;
  }
  if (isa<ReturnStmt, GotoStmt, IndirectGotoStmt, LabelStmt, SwitchStmt>(S)) {
    hazard(Hazard::Jump, S);
    ++Conditional;
    children(S);
    --Conditional;
    return true;
  }
  return false;
}

void Scanner::declaration(const VarDecl *V) {
  Out.Declared.insert(V);
  if (V->getType().isVolatileQualified())
    hazard(Hazard::Volatile, V->getInit());
  else if (V->isStaticLocal() && !V->hasAttr<CUDASharedAttr>())
    hazard(Hazard::Unsupported, V->getInit());
  if (V->getType()->isReferenceType())
    hazard(Hazard::Escape, V->getInit());
  if (isa<DecompositionDecl>(V)) // its parts have names of their own
    hazard(Hazard::Unsupported, V->getInit());
  if (V->needsDestruction(V->getASTContext()) != QualType::DK_none)
    hazard(Hazard::Call, V->getInit());
  value(V->getInit());
}

void Scanner::addressOf(const UnaryOperator *Op) {
  const Expr *Sub = Op->getSubExpr()->IgnoreParens();
  if (const VarDecl *V = variable(Sub)) {
    Out.Escaped.insert(V);
    hazard(Hazard::Escape, Op);
  }
  if (const auto *A = dyn_cast<ArraySubscriptExpr>(Sub)) {
    // An address computed, nothing read. Of an array it lets the array escape.
    if (const VarDecl *V = variable(A->getBase()))
      if (V->getType()->isArrayType()) {
        Out.Escaped.insert(V);
        hazard(Hazard::Escape, Op);
      }
  }
  children(Op);
}

/// Everything in it, and a hazard: nothing may rely on what is not known here.
void Scanner::unknown(const Stmt *S) {
  hazard(isa<AsmStmt>(S) ? Hazard::Asm : Hazard::Unsupported, S);
  if (const auto *O = dyn_cast<OpaqueValueExpr>(S))
    value(O->getSourceExpr());
  ++Conditional;
  children(S);
  --Conditional;
}

void Scanner::lambda(const LambdaExpr *L) {
  for (const LambdaCapture &Capture : L->captures())
    if (Capture.capturesVariable() && Capture.getCaptureKind() == LCK_ByRef)
      if (const auto *V = dyn_cast<VarDecl>(Capture.getCapturedVar()))
        Out.Escaped.insert(V);
  unknown(L);
}

/// Operators and casts; false for anything else.
bool Scanner::operation(const Expr *E) {
  if (const auto *Cast = dyn_cast<ImplicitCastExpr>(E)) {
    if (Cast->getCastKind() == CK_LValueToRValue) {
      lvalue(Cast->getSubExpr(), Access::Load);
      return true;
    }
    if (Cast->getCastKind() == CK_ArrayToPointerDecay)
      if (const VarDecl *V = variable(Cast->getSubExpr())) {
        // Not under a subscript: the array's address goes elsewhere.
        Out.Escaped.insert(V);
        hazard(Hazard::Escape, E);
      }
    children(E);
    return true;
  }
  if (const auto *Op = dyn_cast<BinaryOperator>(E)) {
    if (Op->isAssignmentOp()) {
      lvalue(Op->getLHS(),
             Op->isCompoundAssignmentOp() ? Access::Update : Access::Store);
      value(Op->getRHS());
    } else if (Op->isLogicalOp()) {
      value(Op->getLHS());
      conditionally(Op->getRHS());
    } else {
      if (Op->isPtrMemOp())
        hazard(Hazard::Unsupported, E);
      children(E);
    }
    return true;
  }
  if (const auto *Op = dyn_cast<UnaryOperator>(E)) {
    if (Op->isIncrementDecrementOp())
      lvalue(Op->getSubExpr(), Access::Update);
    else if (Op->getOpcode() == UO_AddrOf)
      addressOf(Op);
    else if (Op->isArithmeticOp() || Op->getOpcode() == UO_Deref ||
             Op->getOpcode() == UO_Extension)
      children(E);
    else
      unknown(E);
    return true;
  }
  if (const auto *C = dyn_cast<ConditionalOperator>(E)) {
    value(C->getCond());
    conditionally(C->getTrueExpr());
    conditionally(C->getFalseExpr());
    return true;
  }
  if (const auto *C = dyn_cast<BinaryConditionalOperator>(E)) { // `a ?: b`
    value(C->getCommon());
    conditionally(C->getFalseExpr());
    return true;
  }
  return false;
}

/// Nodes that do nothing but hold others.
static bool onlyHolds(const Stmt *S) {
  return isa<CompoundStmt, NullStmt, AttributedStmt, CaseStmt, DefaultStmt,
             ParenExpr, CStyleCastExpr, CXXFunctionalCastExpr,
             CXXStaticCastExpr, CXXReinterpretCastExpr, CXXConstCastExpr,
             ConstantExpr, SubstNonTypeTemplateParmExpr, ExprWithCleanups,
             MaterializeTemporaryExpr, ArraySubscriptExpr>(S);
}

/// Values without parts.
static bool isLeaf(const Stmt *S) {
  return isa<IntegerLiteral, FloatingLiteral, CharacterLiteral, StringLiteral,
             CXXBoolLiteralExpr, CXXNullPtrLiteralExpr, GNUNullExpr,
             PredefinedExpr, SizeOfPackExpr, TypeTraitExpr, CXXNoexceptExpr,
             CXXScalarValueInitExpr, ImplicitValueInitExpr>(S);
}

void Scanner::value(const Stmt *S) {
  if (!S || isLeaf(S) || control(S))
    return;
  if (const auto *P = dyn_cast<PseudoObjectExpr>(S))
    return indexBuiltin(P) ? void() : unknown(S);
  if (const auto *D = dyn_cast<DeclStmt>(S)) {
    for (const Decl *Inner : D->decls())
      if (const auto *V = dyn_cast<VarDecl>(Inner))
        declaration(V);
      else if (!isa<TypedefNameDecl, StaticAssertDecl>(Inner))
        hazard(Hazard::Unsupported, S);
    return;
  }
  if (const auto *E = dyn_cast<Expr>(S); E && operation(E))
    return;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
    Out.Mentions.push_back(Ref);
    // Not read here, so bound to a reference.
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (V && Ref->isLValue())
      Out.Escaped.insert(V);
    return;
  }
  if (const auto *L = dyn_cast<LambdaExpr>(S))
    return lambda(L);
  if (const auto *C = dyn_cast<CallExpr>(S))
    return call(C);
  if (const auto *C = dyn_cast<CXXConstructExpr>(S))
    return construct(C);
  if (const auto *A = dyn_cast<CXXDefaultArgExpr>(S))
    return value(A->getExpr());
  if (const auto *I = dyn_cast<CXXDefaultInitExpr>(S))
    return value(I->getExpr());
  if (const auto *I = dyn_cast<InitListExpr>(S))
    value(I->getArrayFiller());
  else if (const auto *M = dyn_cast<MemberExpr>(S)) {
    if (!isa<FieldDecl>(M->getMemberDecl()) ||
        M->getMemberDecl()->getType()->isReferenceType())
      hazard(Hazard::Unsupported, S);
  } else if (isa<UnaryExprOrTypeTraitExpr>(S)) {
    // sizeof reads nothing, but an array's size may be what it says.
    return walk(S, [this](const Stmt *N) {
      if (const auto *Ref = dyn_cast<DeclRefExpr>(N))
        Out.Mentions.push_back(Ref);
      return true;
    });
  } else if (!onlyHolds(S))
    return unknown(S);
  children(S);
}

/// An argument; one that a reference to const binds is only read.
void Scanner::argument(const Expr *Arg, const ParmVarDecl *Parameter) {
  QualType T = Parameter ? Parameter->getType() : QualType();
  const Expr *Inner = Arg->IgnoreParens();
  if (!T.isNull() && T->isLValueReferenceType() &&
      T->getPointeeType().isConstQualified() && Inner->isLValue() &&
      !Inner->getType()->isFunctionType() && !Inner->getType()->isArrayType())
    return lvalue(Inner, Access::Load);
  value(Arg);
}

void Scanner::construct(const CXXConstructExpr *C) {
  const CXXConstructorDecl *D = C->getConstructor();
  if (D->isCopyOrMoveConstructor() && D->isTrivial() && C->getNumArgs() >= 1) {
    const Expr *From = C->getArg(0)->IgnoreParenImpCasts();
    if (From->isLValue())
      return lvalue(From, Access::Load);
    return value(From);
  }
  if (!D->isTrivial())
    hazard(Hazard::Call, C);
  for (unsigned I = 0; I < C->getNumArgs(); ++I)
    argument(C->getArg(I),
             I < D->getNumParams() ? D->getParamDecl(I) : nullptr);
}

void Scanner::call(const CallExpr *C) {
  const FunctionDecl *Callee = C->getDirectCallee();
  CallKind Kind = kindOf(C);
  auto Arguments = [&] {
    for (unsigned I = 0; I < C->getNumArgs(); ++I)
      argument(C->getArg(I),
               I < Callee->getNumParams() ? Callee->getParamDecl(I) : nullptr);
  };
  if (Kind == CallKind::Math)
    return Arguments();
  if (Kind == CallKind::Load) {
    const Expr *Arg = stripCasts(C->getArg(0));
    const auto *Address = dyn_cast<UnaryOperator>(Arg);
    const auto *Sub = Address && Address->getOpcode() == UO_AddrOf
                          ? dyn_cast<ArraySubscriptExpr>(
                                Address->getSubExpr()->IgnoreParens())
                          : nullptr;
    Access A;
    A.Node = C;
    A.Intrinsic = true;
    A.Type = C->getType();
    if (Sub) {
      A.Base = variable(Sub->getBase());
      A.Index = Sub->getIdx();
      A.Dimensions = 1;
    }
    access(A);
    return children(C);
  }
  hazard(Kind == CallKind::Barrier  ? Hazard::Barrier
         : Kind == CallKind::Atomic ? Hazard::Atomic
                                    : Hazard::Call,
         C);
  if (!Callee || isa<CXXMemberCallExpr, CXXOperatorCallExpr>(C))
    return children(C);
  value(C->getCallee());
  Arguments();
}

void Scanner::subscript(const ArraySubscriptExpr *Sub, Access::KindTy Kind) {
  Access A;
  A.Kind = Kind;
  A.Node = Sub;
  A.Type = Sub->getType();
  const ArraySubscriptExpr *Inner = Sub;
  for (;; ++A.Dimensions) {
    value(Inner->getIdx());
    const Expr *Base = Inner->getBase()->IgnoreParenImpCasts();
    const auto *Next = dyn_cast<ArraySubscriptExpr>(Base);
    // `p[i][j]` with an array of pointers loads a pointer between.
    if (!Next || !Next->getType()->isArrayType()) {
      A.Base = variable(Base);
      if (A.Base)
        Out.Mentions.push_back(cast<DeclRefExpr>(strip(Base)));
      else
        value(Inner->getBase());
      break;
    }
    Inner = Next;
  }
  ++A.Dimensions;
  if (A.Dimensions == 1)
    A.Index = Sub->getIdx();
  access(A);
}

void Scanner::lvalue(const Expr *E, Access::KindTy Kind) {
  E = E->IgnoreParens();
  if (E->getType().isVolatileQualified())
    hazard(Hazard::Volatile, E);
  if (isa<PseudoObjectExpr>(E))
    return value(E);
  if (const auto *Cast = dyn_cast<ImplicitCastExpr>(E);
      Cast && Cast->getCastKind() == CK_NoOp)
    return lvalue(Cast->getSubExpr(), Kind);
  if (const auto *P = dyn_cast<SubstNonTypeTemplateParmExpr>(E))
    return value(P->getReplacement());
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    Out.Mentions.push_back(Ref);
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (!V) // a structured binding
      return hazard(Hazard::Unsupported, E);
    bool Memory = V->hasGlobalStorage() && !V->getType().isConstQualified();
    if (V->getType()->isReferenceType()) {
      hazard(Hazard::Unsupported, E);
    } else if (Memory) { // __shared__ scalar, __device__ or __constant__
                         // variable
      Access A;
      A.Kind = Kind;
      A.Node = E;
      A.Base = V;
      A.Type = V->getType();
      access(A);
    }
    if (Kind != Access::Load)
      Out.Written.insert(V);
    return;
  }
  if (const auto *Sub = dyn_cast<ArraySubscriptExpr>(E))
    return subscript(Sub, Kind);
  if (const auto *Op = dyn_cast<UnaryOperator>(E);
      Op && Op->getOpcode() == UO_Deref) {
    Access A;
    A.Kind = Kind;
    A.Node = E;
    A.Base = variable(Op->getSubExpr());
    A.Type = E->getType();
    access(A);
    return value(Op->getSubExpr());
  }
  if (const auto *M = dyn_cast<MemberExpr>(E)) {
    // Neither is in the object.
    if (!isa<FieldDecl>(M->getMemberDecl()) ||
        M->getMemberDecl()->getType()->isReferenceType())
      hazard(Hazard::Unsupported, E);
    if (!M->isArrow())
      return lvalue(M->getBase(), Kind);
    Access A;
    A.Kind = Kind;
    A.Node = E;
    A.Base = variable(M->getBase());
    A.Type = E->getType();
    access(A);
    return value(M->getBase());
  }
  if (const auto *C = dyn_cast<ConditionalOperator>(E);
      C && Kind == Access::Load) {
    value(C->getCond());
    ++Conditional;
    lvalue(C->getTrueExpr(), Kind);
    lvalue(C->getFalseExpr(), Kind);
    --Conditional;
    return;
  }
  if (const auto *C = dyn_cast<BinaryConditionalOperator>(E);
      C && Kind == Access::Load) {
    lvalue(C->getCommon(), Kind);
    ++Conditional;
    lvalue(C->getFalseExpr(), Kind);
    --Conditional;
    return;
  }
  hazard(Hazard::Unsupported, E);
  value(E);
}

Effects effectsOf(const Stmt *S) {
  Effects Out;
  Scanner(Out).value(S);
  return Out;
}

} // namespace optimas::recipes
