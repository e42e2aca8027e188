//===- Bounds.cpp - How large an index can get ----------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Bounds.h"
#include "HostProofs.h"

using namespace clang;

namespace optimas::recipes {

BlockSizes blockSizes(const KernelView &View) {
  BlockSizes Sizes;
  Checked<std::vector<HostLaunch>> Launches = hostLaunches(View);
  if (!Launches)
    return Sizes;
  for (unsigned Dim = 0; Dim < 3; ++Dim) {
    std::optional<Interval> All;
    for (const HostLaunch &L : *Launches) {
      auto Size = constantBlock(L, Dim, View.model().host());
      if (!Size || *Size < 1) {
        All.reset();
        break;
      }
      if (!All)
        All = Interval{*Size, *Size};
      All->Low = std::min(All->Low, *Size);
      All->High = std::max(All->High, *Size);
    }
    Sizes.At[Dim] = All;
  }
  return Sizes;
}

namespace {
class Bounder {
public:
  Bounder(const KernelView &View, const Body &B, const BlockSizes &Blocks)
      : View(View), B(B), Blocks(Blocks) {}
  std::optional<Interval> of(const Expr *E, unsigned Depth = 0) const;

private:
  std::optional<Interval> counter(const VarDecl *V, unsigned Depth) const;
  std::optional<Interval> binary(const BinaryOperator *Op,
                                 unsigned Depth) const;

  const KernelView &View;
  const Body &B;
  const BlockSizes &Blocks;
};
} // namespace

std::optional<Interval> Bounder::of(const Expr *E, unsigned Depth) const {
  // Deep enough for any index; a cycle cannot happen but costs nothing to stop.
  if (!E || Depth > 32)
    return std::nullopt;
  if (auto Value = constantValue(E, View.ast()))
    return Interval{*Value, *Value};
  E = stripCasts(E);
  if (!E->getType()->isIntegerType())
    return std::nullopt;
  if (auto Builtin = indexBuiltin(E)) {
    const auto &Block = Blocks.At[Builtin->Dim];
    if (!Block)
      return std::nullopt;
    if (Builtin->Kind == IndexBuiltin::ThreadIdx)
      return Interval{0, Block->High - 1};
    if (Builtin->Kind == IndexBuiltin::BlockDim)
      return Block;
    return std::nullopt;
  }
  if (const VarDecl *V = variable(E)) {
    // The host may have set a device variable to something else.
    bool Fixed = V->isLocalVarDecl() || V->getType().isConstQualified();
    if (const Expr *Init = Fixed ? B.initialiser(V) : nullptr)
      return of(Init, Depth + 1);
    return counter(V, Depth + 1);
  }
  if (const auto *Op = dyn_cast<BinaryOperator>(E))
    return binary(Op, Depth + 1);
  return std::nullopt;
}

std::optional<Interval> Bounder::binary(const BinaryOperator *Op,
                                        unsigned Depth) const {
  auto L = of(Op->getLHS(), Depth), R = of(Op->getRHS(), Depth);
  bool NonNegative = L && L->Low >= 0;
  switch (Op->getOpcode()) {
  case BO_Rem:
    // Unsigned, or a dividend that is not negative.
    if (R && R->Low == R->High && R->Low > 0 &&
        (NonNegative || Op->getLHS()->getType()->isUnsignedIntegerType()))
      return Interval{0, R->High - 1};
    return std::nullopt;
  case BO_And:
    if (R && R->Low == R->High && R->Low >= 0)
      return Interval{0, R->High};
    if (L && L->Low == L->High && L->Low >= 0)
      return Interval{0, L->High};
    return std::nullopt;
  default:
    break;
  }
  // Sums and products that stay far from any wrap.
  constexpr int64_t Limit = int64_t(1) << 30;
  if (!L || !R || !NonNegative || R->Low < 0 || L->High > Limit ||
      R->High > Limit)
    return std::nullopt;
  Interval Out;
  switch (Op->getOpcode()) {
  case BO_Add:
    Out = {L->Low + R->Low, L->High + R->High};
    break;
  case BO_Sub:
    Out = {L->Low - R->High, L->High - R->Low};
    break;
  case BO_Mul:
    Out = {L->Low * R->Low, L->High * R->High};
    break;
  case BO_Div:
    if (R->Low == 0)
      return std::nullopt;
    Out = {L->Low / R->High, L->High / R->Low};
    break;
  default:
    return std::nullopt;
  }
  if (Out.High > Limit || Out.Low < 0)
    return std::nullopt;
  return Out;
}

/// `for (int j = 0; j < 32; j += 8)` with no other write to `j`.
std::optional<Interval> Bounder::counter(const VarDecl *V,
                                         unsigned Depth) const {
  if (B.Facts.Escaped.count(V) || isa<ParmVarDecl>(V) || !V->hasInit())
    return std::nullopt;
  const ForStmt *Loop = nullptr;
  unsigned Writes = 0;
  walk(B.Decl->getBody(), [&](const Stmt *S) {
    if (const auto *For = dyn_cast<ForStmt>(S))
      if (const auto *Init = dyn_cast_or_null<DeclStmt>(For->getInit()))
        if (Init->isSingleDecl() && Init->getSingleDecl() == V)
          Loop = For;
    if (const auto *Op = dyn_cast<BinaryOperator>(S))
      Writes += Op->isAssignmentOp() && variable(Op->getLHS()) == V;
    if (const auto *Op = dyn_cast<UnaryOperator>(S))
      Writes += Op->isIncrementDecrementOp() && variable(Op->getSubExpr()) == V;
    return true;
  });
  if (!Loop || Writes != 1 || !Loop->getInc() || !Loop->getCond())
    return std::nullopt;
  const Expr *Inc = strip(Loop->getInc());
  bool Up = false;
  int64_t Stride = 1;
  if (const auto *Op = dyn_cast<UnaryOperator>(Inc))
    Up = Op->isIncrementOp() && variable(Op->getSubExpr()) == V;
  if (const auto *Op = dyn_cast<BinaryOperator>(Inc))
    if (Op->getOpcode() == BO_AddAssign && variable(Op->getLHS()) == V)
      if (auto Step = of(Op->getRHS(), Depth)) {
        Up = Step->Low > 0;
        Stride = Step->Low == Step->High ? Step->Low : 1;
      }
  const auto *Test = dyn_cast<BinaryOperator>(strip(Loop->getCond()));
  if (!Up || !Test || variable(Test->getLHS()) != V ||
      (Test->getOpcode() != BO_LT && Test->getOpcode() != BO_LE))
    return std::nullopt;
  auto First = of(V->getInit(), Depth), Last = of(Test->getRHS(), Depth);
  if (!First || !Last)
    return std::nullopt;
  Interval Out{First->Low,
               Test->getOpcode() == BO_LT ? Last->High - 1 : Last->High};
  if (Out.High < Out.Low)
    Out.High = Out.Low;
  else if (First->Low == First->High) // the last multiple of the step
    Out.High -= (Out.High - Out.Low) % Stride;
  return Out;
}

std::optional<Interval> intervalOf(const Expr *E, const KernelView &View,
                                   const Body &B, const BlockSizes &Blocks) {
  return Bounder(View, B, Blocks).of(E);
}

} // namespace optimas::recipes
