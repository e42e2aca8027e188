//===- Rounding.cpp - Where a loop's layout decides how it rounds ---------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// nvcc turns `x * y + z` into one instruction that rounds once (-fmad, on by
/// default; CUDA C++ Programming Guide, Floating-Point Standard), where both
/// operations come to stand in one basic block. Two moves change that:
///
/// * Iterations laid side by side (unrolled, batched) bring a product that one
///   iteration hands to the next beside the addition that uses it there.
/// * A product of values that do not change in the loop leaves it as soon as
///   their loads do, and then stands in another block than the addition.
///
/// Loops of either kind are left alone, whatever -fmad the program is built with.
///
//===----------------------------------------------------------------------===//
#include "LoopPlan.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace optimas::recipes {

/// A number that rounds, or an object that may hold one and has operators.
static bool rounds(QualType T) {
  T = T.getNonReferenceType();
  return T->isFloatingType() || T->isRecordType();
}

static const VarDecl *baseOf(const Expr *Target);

namespace {
class LoopRounding {
public:
  LoopRounding(const Body &B, const Stmt *Loop)
      : B(B), Loop(Loop), Does(effectsOf(Loop)) {
    collectValues();
  }

  /// What stands in the way; null when nothing does.
  const Stmt *carriedProduct();
  const Stmt *movableProduct();

private:
  bool adds();
  bool mayBeProduct(const Expr *E);
  void collectValues();
  bool varies(const Expr *E, unsigned Depth = 0);
  bool varies(const VarDecl *V, unsigned Depth);
  void eachWrite(llvm::function_ref<void(const Expr *Target, const Expr *Value,
                                         const Stmt *At)>
                     Visit);
  bool readsBack(const Expr *Target);

  const Body &B;
  const Stmt *Loop;
  Effects Does;
  llvm::SmallPtrSet<const VarDecl *, 8> Products; ///< that may hold one
  llvm::SmallPtrSet<const VarDecl *, 2> Counts;   ///< the loop's own variables
  llvm::DenseMap<const VarDecl *, std::vector<const Expr *>> Values;
};
} // namespace

/// Is there a sum that a product could be fused with?
bool LoopRounding::adds() {
  bool Found = false;
  walk(Loop, [&](const Stmt *S) {
    if (const auto *Op = dyn_cast<BinaryOperator>(S))
      Found |= rounds(Op->getType()) &&
               (Op->isAdditiveOp() || Op->getOpcode() == BO_AddAssign ||
                Op->getOpcode() == BO_SubAssign);
    else if (const auto *Call = dyn_cast<CallExpr>(S))
      Found |= kindOf(Call) == CallKind::Unknown;
    return !Found;
  });
  return Found;
}

/// Functions whose last operation is no multiplication.
static bool endsOtherwise(const CallExpr *Call) {
  if (kindOf(Call) == CallKind::Load)
    return true;
  if (kindOf(Call) != CallKind::Math)
    return false;
  std::string Name = Call->getDirectCallee()->getNameAsString();
  llvm::StringRef N = Name;
  N.consume_front("__builtin_");
  N.consume_front("__nv_");
  N.consume_back("f");
  return llvm::StringSwitch<bool>(N)
      .Cases({"fma", "fmax", "fmin", "max", "min", "fabs", "fab", "abs"}, true)
      .Cases({"floor", "ceil", "round", "trunc", "rint", "copysign"}, true)
      .Cases({"__fmaf_rn", "__fma_rn", "__fadd_rn", "__dadd_rn"}, true)
      .Cases({"__fmul_rn", "__dmul_rn"}, true) // never fused, by definition
      .Default(false);
}

bool LoopRounding::mayBeProduct(const Expr *E) {
  E = E->IgnoreParens();
  if (const auto *C = dyn_cast<FullExpr>(E))
    return mayBeProduct(C->getSubExpr());
  if (const auto *M = dyn_cast<MaterializeTemporaryExpr>(E))
    return mayBeProduct(M->getSubExpr());
  if (const auto *P = dyn_cast<SubstNonTypeTemplateParmExpr>(E))
    return mayBeProduct(P->getReplacement());
  if (const auto *I = dyn_cast<InitListExpr>(E))
    return llvm::any_of(I->inits(),
                        [this](const Expr *Part) { return mayBeProduct(Part); });
  if (const auto *C = dyn_cast<CXXConstructExpr>(E);
      C && C->getConstructor()->isCopyOrMoveConstructor())
    return mayBeProduct(C->getArg(0));
  if (const auto *Cast = dyn_cast<CastExpr>(E)) {
    switch (Cast->getCastKind()) {
    case CK_LValueToRValue:
    case CK_NoOp:
      return mayBeProduct(Cast->getSubExpr());
    default: // another type: the conversion stands between
      return Cast->getType()->isRecordType();
    }
  }
  if (const VarDecl *V = variable(E))
    return V->hasGlobalStorage() ? Does.Written.count(V) > 0
                                 : Products.count(V) > 0;
  if (isa<FloatingLiteral, IntegerLiteral>(E))
    return false;
  if (const auto *Sub = dyn_cast<ArraySubscriptExpr>(E)) {
    // What the loop keeps in an array of its own may be in a register.
    const VarDecl *Array = variable(Sub->getBase());
    return !Array || (Array->getType()->isArrayType() && Products.count(Array));
  }
  if (const auto *Op = dyn_cast<UnaryOperator>(E)) {
    if (Op->getOpcode() == UO_Minus || Op->getOpcode() == UO_Plus)
      return mayBeProduct(Op->getSubExpr());
    return Op->getOpcode() != UO_Deref && !Op->isIncrementDecrementOp();
  }
  if (const auto *Op = dyn_cast<BinaryOperator>(E)) {
    if (Op->getOpcode() == BO_Comma || Op->getOpcode() == BO_Assign)
      return mayBeProduct(Op->getRHS());
    return !Op->isAdditiveOp() && Op->getOpcode() != BO_Div &&
           Op->getOpcode() != BO_AddAssign && Op->getOpcode() != BO_SubAssign;
  }
  if (const auto *C = dyn_cast<ConditionalOperator>(E))
    return mayBeProduct(C->getTrueExpr()) || mayBeProduct(C->getFalseExpr());
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return !endsOtherwise(Call);
  if (const auto *M = dyn_cast<MemberExpr>(E)) {
    const VarDecl *V = M->isArrow() ? nullptr : variable(M->getBase());
    return V ? Products.count(V) > 0 : !M->isArrow();
  }
  return true;
}

/// Every assignment and initialisation of something that rounds.
void LoopRounding::eachWrite(
    llvm::function_ref<void(const Expr *, const Expr *, const Stmt *)> Visit) {
  walk(Loop, [&](const Stmt *S) {
    if (const auto *Op = dyn_cast<BinaryOperator>(S);
        Op && Op->isAssignmentOp() && rounds(Op->getLHS()->getType()))
      Visit(Op->getLHS(), Op->getOpcode() == BO_Assign ? Op->getRHS() : Op, S);
    else if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(S);
             Call && Call->isAssignmentOp())
      Visit(Call->getArg(0), Call, S);
    return true;
  });
}

/// Does the loop load through what \p Target is stored through?
bool LoopRounding::readsBack(const Expr *Target) {
  const Expr *E = Target->IgnoreParenImpCasts();
  while (const auto *M = dyn_cast<MemberExpr>(E))
    E = M->getBase()->IgnoreParenImpCasts();
  const VarDecl *Stored = nullptr;
  if (const auto *Sub = dyn_cast<ArraySubscriptExpr>(E))
    Stored = variable(Sub->getBase());
  else if (const auto *Op = dyn_cast<UnaryOperator>(E))
    Stored = variable(Op->getSubExpr());
  else
    Stored = variable(E);
  const VarDecl *Root = Stored ? B.root(Stored) : nullptr;
  return llvm::any_of(Does.Accesses, [&](const Access &A) {
    const VarDecl *Other = A.Base ? B.root(A.Base) : nullptr;
    return A.Kind != Access::Store && rounds(A.Type) &&
           (!Root || !Other || Root == Other);
  });
}

/// A product that is used, or may be, in a later iteration.
const Stmt *LoopRounding::carriedProduct() {
  if (!adds())
    return nullptr;
  // To a fixed point: products go from variable to variable.
  for (size_t Before = SIZE_MAX; Before != Products.size();) {
    Before = Products.size();
    eachWrite([&](const Expr *Target, const Expr *Value, const Stmt *) {
      if (const VarDecl *V = baseOf(Target); V && mayBeProduct(Value))
        Products.insert(V);
    });
    for (const VarDecl *V : Does.Declared)
      if (V->getInit() && rounds(V->getType()) && mayBeProduct(V->getInit()))
        Products.insert(V);
  }
  // What goes elsewhere by its address may come back as anything.
  for (const VarDecl *V : Does.Escaped)
    if (rounds(V->getType()) && !Does.Declared.count(V))
      return Loop;
  const Stmt *Found = nullptr;
  eachWrite([&](const Expr *Target, const Expr *Value, const Stmt *At) {
    if (Found || !mayBeProduct(Value))
      return;
    const VarDecl *V = variable(Target);
    if (V && !V->hasGlobalStorage())
      Found = Does.Declared.count(V) ? nullptr : At;
    else if (readsBack(Target))
      Found = At;
  });
  return Found;
}

/// The variable that an assignment's target is, or is a part of.
static const VarDecl *baseOf(const Expr *Target) {
  for (const Expr *E = Target->IgnoreParenImpCasts();;) {
    if (const auto *M = dyn_cast<MemberExpr>(E); M && !M->isArrow())
      E = M->getBase()->IgnoreParenImpCasts();
    else if (const auto *Sub = dyn_cast<ArraySubscriptExpr>(E))
      E = Sub->getBase()->IgnoreParenImpCasts();
    else
      return variable(E);
  }
}

/// Which values each variable that the loop declares for itself is given.
void LoopRounding::collectValues() {
  if (const auto *For = dyn_cast<ForStmt>(Loop))
    walk(For->getInit(), [this](const Stmt *S) {
      if (const auto *D = dyn_cast<DeclStmt>(S))
        for (const Decl *Each : D->decls())
          if (const auto *V = dyn_cast<VarDecl>(Each))
            Counts.insert(V);
      return true;
    });
  if (const auto *Range = dyn_cast<CXXForRangeStmt>(Loop))
    Counts.insert(Range->getLoopVariable());
  for (const VarDecl *V : Does.Declared)
    if (V->getInit())
      Values[V].push_back(V->getInit());
  walk(Loop, [this](const Stmt *S) {
    if (const auto *Op = dyn_cast<BinaryOperator>(S); Op && Op->isAssignmentOp())
      if (const VarDecl *V = baseOf(Op->getLHS()))
        Values[V].push_back(Op->getRHS());
    return true;
  });
}

/// Does it change from one iteration to the next? What the loop declares and makes of
/// values that do not change is the same each time.
bool LoopRounding::varies(const VarDecl *V, unsigned Depth) {
  if (Counts.count(V) || Does.Escaped.count(V) || Depth > 8)
    return true;
  if (!Does.Declared.count(V))
    return Does.Written.count(V) > 0;
  return llvm::any_of(Values[V],
                      [&](const Expr *E) { return varies(E, Depth + 1); });
}

bool LoopRounding::varies(const Expr *E, unsigned Depth) {
  bool Found = false;
  walk(E, [&](const Stmt *S) {
    const auto *Ref = dyn_cast<DeclRefExpr>(S);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    Found |= V && varies(V, Depth);
    return !Found;
  });
  return Found;
}

/// A product that does not change in the loop, where there are loads that do not
/// either: it leaves the loop with them, or stays behind when they leave.
const Stmt *LoopRounding::movableProduct() {
  bool Loads = llvm::any_of(Does.Accesses, [&](const Access &A) {
    return A.Kind == Access::Load && rounds(A.Type) && !varies(A.Node);
  });
  if (!Loads || !adds())
    return nullptr;
  const Stmt *Found = nullptr;
  llvm::SmallPtrSet<const Stmt *, 8> Factors; // of another product, not of a sum
  walk(Loop, [&](const Stmt *S) {
    const auto *Op = dyn_cast<BinaryOperator>(S);
    if (Op && Op->isMultiplicativeOp())
      for (const Expr *Side : {Op->getLHS(), Op->getRHS()})
        Factors.insert(Side->IgnoreParenImpCasts());
    bool Multiplies = Op && (Op->getOpcode() == BO_Mul || Op->getOpcode() == BO_MulAssign);
    if (!Found && Multiplies && rounds(Op->getType()) && !Factors.count(Op) &&
        !varies(Op))
      Found = Op;
    return !Found;
  });
  return Found;
}

std::optional<Failure> mayRoundOtherwise(const KernelView &View, const Body &B,
                                         const Stmt *Loop) {
  // A call that is not known is a reason of its own to whoever asks.
  if (effectsOf(Loop).has(Hazard::Call))
    return std::nullopt;
  LoopRounding R(B, Loop);
  if (const Stmt *At = R.carriedProduct())
    return Failure{"may-round-otherwise",
                   "an iteration hands a product to the next one, where nvcc "
                   "may or may not fuse it with an addition",
                   View.line(At)};
  if (const Stmt *At = R.movableProduct())
    return Failure{"may-round-otherwise",
                   "a product does not change in the loop: inside it nvcc may "
                   "fuse it with an addition, outside it can not",
                   View.line(At)};
  return std::nullopt;
}

} // namespace optimas::recipes
