//===- GuardFactMemory.cpp - What addresses code makes -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardFactVisitor.h"

using namespace clang;

namespace optimas {

/// The variable or field that the address \p E is computed from; nullptr when
/// there is none or more than one.
static const ValueDecl *baseOf(const Expr *E) {
  while (E) {
    E = E->IgnoreParenCasts();
    if (const auto *D = dyn_cast<DeclRefExpr>(E))
      return D->getDecl();
    if (const auto *M = dyn_cast<MemberExpr>(E))
      return M->getMemberDecl();
    if (const auto *S = dyn_cast<ArraySubscriptExpr>(E))
      E = S->getBase();
    else if (const auto *U = dyn_cast<UnaryOperator>(E))
      E = U->getSubExpr();
    else if (const auto *B = dyn_cast<BinaryOperator>(E);
             B && B->isAdditiveOp() && B->getType()->isPointerType())
      E = B->getLHS()->getType()->isPointerType() ? B->getLHS() : B->getRHS();
    else
      return nullptr;
  }
  return nullptr;
}

/// True when the address that is now a number (the last ancestor) only has its
/// low bits looked at: `(size_t)p % 16`, `((size_t)p | (size_t)q) & 15`.
bool FactVisitor::onlyTestsAlignment() const {
  constexpr int64_t MaxAlignment = 4096;
  const Expr *Child = nullptr;
  for (const Stmt *A : llvm::reverse(Ancestors)) {
    const auto *E = dyn_cast<Expr>(A);
    if (!E)
      return false;
    const auto *B = dyn_cast<BinaryOperator>(E);
    bool Masks = B && (B->getOpcode() == BO_And || B->getOpcode() == BO_Rem);
    if (Masks) {
      const Expr *Other = B->getLHS() == Child ? B->getRHS() : B->getLHS();
      if (B->getOpcode() == BO_Rem && Other == B->getLHS())
        return false;
      if (Other->isValueDependent())
        return true; // every instantiation tells
      Expr::EvalResult R;
      if (!Other->EvaluateAsInt(R, Context))
        return false;
      return R.Val.getInt().isNonNegative() &&
             llvm::APSInt::compareValues(
                 R.Val.getInt(), llvm::APSInt::get(MaxAlignment)) <= 0;
    }
    if (!isa<ParenExpr, CastExpr, ConstantExpr>(E) &&
        !(B && B->getOpcode() == BO_Or))
      return false;
    Child = E;
  }
  return false;
}

static bool pointsToPointer(QualType T) {
  return !T->getPointeeType().isNull() && T->getPointeeType()->isPointerType();
}

/// True when \p From is const (or volatile) behind more than one pointer and
/// \p To is not, which the outermost level does not show.
static bool dropsDeeper(QualType From, QualType To) {
  while (From->isPointerType() && To->isPointerType()) {
    From = From->getPointeeType();
    To = To->getPointeeType();
    if ((From.isConstQualified() && !To.isConstQualified()) ||
        (From.isVolatileQualified() && !To.isVolatileQualified()))
      return true;
  }
  return false;
}

void FactVisitor::noteAddress(const CastExpr *C) {
  QualType From = C->getSubExpr()->getType(), To = C->getType();
  auto Note = [&](llvm::StringRef What) {
    Facts.Addresses.insert((What + " ('" + typeText(From) + "' to '" +
                            typeText(To) + "')")
                               .str());
  };
  switch (C->getCastKind()) {
  case CK_IntegralToPointer:
    Note("a number becomes an address");
    return;
  case CK_PointerToIntegral:
    if (!onlyTestsAlignment())
      Note("an address becomes a number that is not just tested for alignment");
    return;
  case CK_LValueToRValueBitCast:
    if (To->isPointerType() || From->isPointerType())
      Note("bits of one type become an address, or an address bits");
    return;
  case CK_NoOp: // types that differ in const alone, at any depth
  case CK_BitCast:
  case CK_LValueBitCast:
    if (!isa<ExplicitCastExpr>(C))
      return;
    if (pointsToPointer(From) != pointsToPointer(To) ||
        From->isPointerType() != To->isPointerType())
      Note("the place of an address is taken for another type's");
    else if (pointsToPointer(From) && dropsDeeper(From, To))
      Note("the cast drops const or volatile");
    return;
  default:
    return;
  }
}

void FactVisitor::noteDistance(const BinaryOperator *B) {
  if (!inRange(B) || B->getOpcode() != BO_Sub ||
      !B->getLHS()->getType()->isPointerType() ||
      !B->getRHS()->getType()->isPointerType())
    return;
  const ValueDecl *L = baseOf(B->getLHS()), *R = baseOf(B->getRHS());
  if (L && L == R)
    return;
  auto Name = [](const ValueDecl *D) {
    return D ? D->getNameAsString() : std::string("an expression");
  };
  Facts.Addresses.insert("the distance between the addresses '" + Name(L) +
                         "' and '" + Name(R) + "' is taken");
}

} // namespace optimas
