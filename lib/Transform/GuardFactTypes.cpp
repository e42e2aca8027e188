//===- GuardFactTypes.cpp - What types code computes in -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardFactVisitor.h"
#include "clang/AST/Attr.h"

using namespace clang;
using llvm::APFloat;
using llvm::StringRef;

namespace optimas {

/// Bits of an arithmetic builtin type, 0 for others.
static unsigned bitsOf(const ASTContext &Context, QualType T, bool Float) {
  T = T.getCanonicalType();
  if (T->isDependentType() ||
      (Float
           ? !T->isRealFloatingType()
           : !T->isIntegerType() || T->isBooleanType() || T->isEnumeralType()))
    return 0;
  return Context.getTypeSize(T);
}

static bool isVolatile(QualType T) {
  if (T.isVolatileQualified())
    return true;
  if (const auto *A = T->getAsArrayTypeUnsafe())
    return isVolatile(A->getElementType());
  return !T->getPointeeType().isNull() && isVolatile(T->getPointeeType());
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
  if (!isa<ParmVarDecl>(V) && !V->getType()->isDependentType() &&
      V->needsDestruction(Context) == QualType::DK_cxx_destructor)
    addDestructor(Context.getBaseElementType(V->getType()), V->getLocation());
  return true;
}

void FactVisitor::addVolatile(StringRef Name, QualType T) {
  if (isVolatile(T))
    Facts.Volatile.insert(Name.str());
}

bool FactVisitor::VisitMemberExpr(MemberExpr *M) {
  // By string: a conversion, destructor or operator has no identifier.
  if (inRange(M))
    addVolatile(M->getMemberDecl()->getNameAsString(),
                M->getMemberDecl()->getType());
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
    Value.convert(Context.getFloatTypeSemantics(To),
                  APFloat::rmNearestTiesToEven, &Lost);
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
    // No instantiation may tell; a written cast to an arithmetic type counts, but for
    // an address, which C++ lets no narrower type take.
    Narrower =
        To->isArithmeticType() && !To->isBooleanType() && !From->isAnyPointerType();
    break;
  default:
    break;
  }
  if (Narrower && !keepsValue(C->getSubExpr(), To))
    Facts.Narrowings.insert(
        {From->isDependentType() ? "a dependent type" : typeText(From),
         typeText(To)});
  QualType Pointee = From->getPointeeType(), Target = To->getPointeeType();
  if (isa<ExplicitCastExpr>(C) && !Pointee.isNull() && !Target.isNull() &&
      ((Pointee.isConstQualified() && !Target.isConstQualified()) ||
       (Pointee.isVolatileQualified() && !Target.isVolatileQualified())))
    Facts.CastAways.insert({From.getCanonicalType().getAsString(),
                            To.getCanonicalType().getAsString()});
  noteAddress(C);
  return true;
}

bool FactVisitor::VisitBinaryOperator(BinaryOperator *B) {
  noteDistance(B);
  if (!inRange(B) || !(B->isAdditiveOp() || B->isMultiplicativeOp() ||
                       B->isCompoundAssignmentOp()))
    return true;
  QualType T = B->getType();
  if (const auto *A = dyn_cast<CompoundAssignOperator>(B))
    if (!A->getComputationResultType().isNull())
      T = A->getComputationResultType();
  widen(Facts.FloatOperators, B->getOpcodeStr().str(),
        bitsOf(Context, T, true));
  Facts.WidestInt = std::max(Facts.WidestInt, bitsOf(Context, T, false));
  return true;
}

} // namespace optimas
