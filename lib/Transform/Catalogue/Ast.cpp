//===- Ast.cpp - What the transformations ask of a kernel's AST -----------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Ast.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace optimas::recipes {

void walk(const Stmt *S, llvm::function_ref<bool(const Stmt *)> Visit) {
  if (!S || !Visit(S))
    return;
  // What stands behind `threadIdx.x` is Clang's business.
  if (isa<PseudoObjectExpr>(S))
    return;
  for (const Stmt *Child : S->children())
    walk(Child, Visit);
}

const Expr *strip(const Expr *E) {
  while (E) {
    const Expr *Inner = E->IgnoreParenImpCasts();
    if (const auto *M = dyn_cast<MaterializeTemporaryExpr>(Inner))
      Inner = M->getSubExpr();
    else if (const auto *C = dyn_cast<ExprWithCleanups>(Inner))
      Inner = C->getSubExpr();
    else if (const auto *P = dyn_cast<SubstNonTypeTemplateParmExpr>(Inner))
      Inner = P->getReplacement();
    else if (const auto *B = dyn_cast<CXXBindTemporaryExpr>(Inner))
      Inner = B->getSubExpr();
    if (Inner == E)
      return E;
    E = Inner;
  }
  return E;
}

const Expr *stripCasts(const Expr *E) {
  for (E = strip(E); E; E = strip(E)) {
    const auto *C = dyn_cast<ExplicitCastExpr>(E);
    if (!C)
      return E;
    E = C->getSubExpr();
  }
  return E;
}

const VarDecl *variable(const Expr *E) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(strip(E));
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

std::optional<IndexBuiltin> indexBuiltin(const Expr *E) {
  E = strip(E);
  if (const auto *P = dyn_cast_or_null<PseudoObjectExpr>(E))
    E = P->getSyntacticForm()->IgnoreParenImpCasts();
  const auto *Property = dyn_cast_or_null<MSPropertyRefExpr>(E);
  if (!Property)
    return std::nullopt;
  const Expr *Object = Property->getBaseExpr();
  if (const auto *Opaque = dyn_cast<OpaqueValueExpr>(Object))
    Object = Opaque->getSourceExpr();
  const VarDecl *Base = variable(Object);
  if (!Base || !Base->getIdentifier())
    return std::nullopt;
  int Kind = llvm::StringSwitch<int>(Base->getName())
                 .Case("threadIdx", IndexBuiltin::ThreadIdx)
                 .Case("blockIdx", IndexBuiltin::BlockIdx)
                 .Case("blockDim", IndexBuiltin::BlockDim)
                 .Case("gridDim", IndexBuiltin::GridDim)
                 .Default(-1);
  int Dim = llvm::StringSwitch<int>(Property->getPropertyDecl()->getName())
                .Case("x", 0)
                .Case("y", 1)
                .Case("z", 2)
                .Default(-1);
  if (Kind < 0 || Dim < 0)
    return std::nullopt;
  return IndexBuiltin{static_cast<IndexBuiltin::KindTy>(Kind),
                      static_cast<unsigned>(Dim)};
}

std::optional<int64_t> constantValue(const Expr *E, const ASTContext &Context) {
  if (!E || E->isValueDependent() || E->isTypeDependent())
    return std::nullopt;
  Expr::EvalResult R;
  if (!E->EvaluateAsInt(R, Context) || R.HasSideEffects)
    return std::nullopt;
  const llvm::APSInt &V = R.Val.getInt();
  if (!V.isRepresentableByInt64())
    return std::nullopt;
  return V.getExtValue();
}

bool sameExpr(const Expr *A, const Expr *B) {
  A = strip(A), B = strip(B);
  if (!A || !B)
    return A == B;
  auto BuiltinA = indexBuiltin(A), BuiltinB = indexBuiltin(B);
  if (BuiltinA || BuiltinB)
    return BuiltinA && BuiltinB && BuiltinA->Kind == BuiltinB->Kind &&
           BuiltinA->Dim == BuiltinB->Dim;
  if (A->getStmtClass() != B->getStmtClass())
    return false;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(A))
    return Ref->getDecl()->getCanonicalDecl() ==
           cast<DeclRefExpr>(B)->getDecl()->getCanonicalDecl();
  if (const auto *I = dyn_cast<IntegerLiteral>(A))
    return I->getValue().getZExtValue() ==
           cast<IntegerLiteral>(B)->getValue().getZExtValue();
  if (const auto *Op = dyn_cast<BinaryOperator>(A)) {
    const auto *Other = cast<BinaryOperator>(B);
    return !Op->isAssignmentOp() && Op->getOpcode() == Other->getOpcode() &&
           sameExpr(Op->getLHS(), Other->getLHS()) &&
           sameExpr(Op->getRHS(), Other->getRHS());
  }
  if (const auto *Op = dyn_cast<UnaryOperator>(A)) {
    const auto *Other = cast<UnaryOperator>(B);
    return !Op->isIncrementDecrementOp() &&
           Op->getOpcode() == Other->getOpcode() &&
           sameExpr(Op->getSubExpr(), Other->getSubExpr());
  }
  if (const auto *Sub = dyn_cast<ArraySubscriptExpr>(A)) {
    const auto *Other = cast<ArraySubscriptExpr>(B);
    return sameExpr(Sub->getBase(), Other->getBase()) &&
           sameExpr(Sub->getIdx(), Other->getIdx());
  }
  if (const auto *Cast = dyn_cast<ExplicitCastExpr>(A))
    return Cast->getType().getCanonicalType() ==
               B->getType().getCanonicalType() &&
           sameExpr(Cast->getSubExpr(),
                    cast<ExplicitCastExpr>(B)->getSubExpr());
  if (const auto *S = dyn_cast<UnaryExprOrTypeTraitExpr>(A)) {
    const auto *Other = cast<UnaryExprOrTypeTraitExpr>(B);
    return S->getKind() == Other->getKind() &&
           S->getTypeOfArgument().getCanonicalType() ==
               Other->getTypeOfArgument().getCanonicalType();
  }
  return false;
}

bool nonNegative(const Expr *E, const ASTContext &Context) {
  if (auto Value = constantValue(E, Context))
    return *Value >= 0;
  // The value before the conversions that the compiler added, each of which
  // must then widen: `int` from `unsigned` may not keep it.
  const Expr *Inner = E->IgnoreParenImpCasts();
  if (indexBuiltin(Inner))
    return true; // at most 2^31 - 1 (gridDim.x)
  return Inner->getType()->isUnsignedIntegerType() &&
         (E->getType()->isUnsignedIntegerType() ||
          Context.getTypeSize(E->getType()) >
              Context.getTypeSize(Inner->getType()));
}

static const Expr *throughVariables(
    const Expr *E,
    llvm::function_ref<const Expr *(const VarDecl *)> Initialiser) {
  for (unsigned Steps = 0; Steps < 8; ++Steps) {
    E = stripCasts(E);
    const VarDecl *V = variable(E);
    const Expr *Init = V ? Initialiser(V) : nullptr;
    if (!Init)
      return E;
    E = Init;
  }
  return E;
}

static bool isBuiltin(const Expr *E, IndexBuiltin::KindTy Kind,
                      llvm::function_ref<const Expr *(const VarDecl *)> Init) {
  auto B = indexBuiltin(throughVariables(E, Init));
  return B && B->Kind == Kind && B->Dim == 0;
}

bool isGlobalThreadIndex(
    const Expr *E,
    llvm::function_ref<const Expr *(const VarDecl *)> Initialiser) {
  const auto *Sum =
      dyn_cast_or_null<BinaryOperator>(throughVariables(E, Initialiser));
  if (!Sum || Sum->getOpcode() != BO_Add)
    return false;
  for (bool Swap : {false, true}) {
    const Expr *Thread = Swap ? Sum->getLHS() : Sum->getRHS();
    const Expr *Block = Swap ? Sum->getRHS() : Sum->getLHS();
    if (!isBuiltin(Thread, IndexBuiltin::ThreadIdx, Initialiser))
      continue;
    const auto *Product =
        dyn_cast<BinaryOperator>(throughVariables(Block, Initialiser));
    if (!Product || Product->getOpcode() != BO_Mul)
      continue;
    const Expr *L = Product->getLHS(), *R = Product->getRHS();
    if ((isBuiltin(L, IndexBuiltin::BlockIdx, Initialiser) &&
         isBuiltin(R, IndexBuiltin::BlockDim, Initialiser)) ||
        (isBuiltin(R, IndexBuiltin::BlockIdx, Initialiser) &&
         isBuiltin(L, IndexBuiltin::BlockDim, Initialiser)))
      return true;
  }
  return false;
}

llvm::StringRef ruleFor(Hazard::KindTy K) {
  switch (K) {
  case Hazard::Barrier:
    return "barrier";
  case Hazard::Atomic:
    return "atomic";
  case Hazard::Volatile:
    return "volatile";
  case Hazard::Asm:
    return "inline-asm";
  case Hazard::Call:
    return "unknown-call";
  case Hazard::Jump:
    return "early-exit";
  case Hazard::Escape:
    return "address-taken";
  case Hazard::Unsupported:
    return "unsupported-construct";
  }
  return "unsupported-construct";
}

llvm::StringRef wordsFor(Hazard::KindTy K) {
  switch (K) {
  case Hazard::Barrier:
    return "it synchronizes or exchanges with other threads";
  case Hazard::Atomic:
    return "it holds an atomic operation";
  case Hazard::Volatile:
    return "it accesses volatile memory";
  case Hazard::Asm:
    return "it holds inline assembly";
  case Hazard::Call:
    return "it calls a function whose effects are not known";
  case Hazard::Jump:
    return "it can leave early (break, continue, return, goto, switch)";
  case Hazard::Escape:
    return "the address of a variable is taken or bound to a reference";
  case Hazard::Unsupported:
    return "it holds a construct that is not analysed";
  }
  return "";
}

} // namespace optimas::recipes
