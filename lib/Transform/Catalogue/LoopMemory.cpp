//===- LoopMemory.cpp - Which accesses of a loop may move -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Bounds.h"
#include "HostProofs.h"
#include "LoopPlan.h"

using namespace clang;

namespace optimas::recipes {

std::optional<Failure> cannotMoveLoads(const KernelView &View,
                                       const Statement &Stmt,
                                       bool OnlyInvariant) {
  for (const Body &B : View.bodies()) {
    Checked<LoopPlan> Plan = planLoop(View, B, Stmt);
    if (!Plan)
      return Plan.failure();
    for (const Hazard &H : Plan->Does.Hazards)
      return Failure{ruleFor(H.Kind).str(),
                     "the loop cannot be reordered: " + wordsFor(H.Kind).str(),
                     View.line(H.Node)};
    for (const Access &Store : Plan->Does.Accesses) {
      if (Store.Kind == Access::Load)
        continue;
      for (const LoopLoad &Load : Plan->Loads) {
        if (OnlyInvariant && !Load.Invariant)
          continue;
        if (auto Why = mayAlias(View, B, Store.Base, Load.Base))
          return Failure{"cannot-prove-alias",
                         "the loop stores to what `" + Load.Name +
                             "` may point to: " + *Why,
                         View.line(Store.Node)};
      }
    }
  }
  return std::nullopt;
}

/// The statement before which \p S stands in its block, and all before it, last
/// first.
static std::vector<const clang::Stmt *>
statementsBefore(const clang::Stmt *Root, const clang::Stmt *S) {
  std::vector<const clang::Stmt *> Before;
  walk(Root, [&](const clang::Stmt *N) {
    const auto *Block = dyn_cast<CompoundStmt>(N);
    if (Block && llvm::is_contained(Block->body(), S)) {
      for (const clang::Stmt *Child : Block->body()) {
        if (Child == S)
          break;
        Before.insert(Before.begin(), Child);
      }
      return false;
    }
    return true;
  });
  return Before;
}

/// Sets \p Synchronized when something at which threads may meet stands
/// between the assignment and the loop.
static bool assignedBefore(const KernelView &View, const Body &B,
                           const clang::Stmt *Loop, const Expr *Lvalue,
                           bool &Synchronized) {
  Effects Index = effectsOf(Lvalue);
  Synchronized = false;
  for (const clang::Stmt *S : statementsBefore(B.Decl->getBody(), Loop)) {
    if (const auto *E = dyn_cast<Expr>(S))
      if (const auto *Op = dyn_cast<BinaryOperator>(strip(E));
          Op && Op->getOpcode() == BO_Assign && sameExpr(Op->getLHS(), Lvalue))
        return true;
    Effects Does = effectsOf(S);
    Synchronized |= !Does.Hazards.empty();
    for (const DeclRefExpr *Ref : Index.Mentions)
      if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl()))
        if (Does.Written.count(V) || Does.Declared.count(V))
          return false;
  }
  return false;
}

/// True when each thread of a block has an element of its own: its index is
/// `threadIdx.x`, or the thread's index in the grid, and all blocks are rows.
static bool ownElement(const KernelView &View, const Body &B, const Access &A) {
  if (B.space(A.Base) == Space::Local)
    return true;
  if (B.space(A.Base) != Space::Shared)
    return false;
  BlockSizes Blocks = blockSizes(View);
  for (unsigned Dim : {1u, 2u})
    if (!Blocks.At[Dim] || Blocks.At[Dim]->High != 1)
      return false;
  auto Init = [&B](const VarDecl *V) { return B.initialiser(V); };
  if (isGlobalThreadIndex(A.Index, Init))
    return true;
  const Expr *E = strip(A.Index);
  for (unsigned Steps = 0; E && Steps < 8; ++Steps) {
    if (auto Builtin = indexBuiltin(E))
      return Builtin->Kind == IndexBuiltin::ThreadIdx && Builtin->Dim == 0;
    const VarDecl *V = variable(E);
    // A narrower variable would give several threads one value.
    if (!V || !V->getType()->isIntegerType() ||
        View.ast().getTypeSize(V->getType()) < 32)
      return false;
    const Expr *Value = B.initialiser(V);
    E = Value ? strip(Value) : nullptr;
  }
  return false;
}

static Checked<LoopAccumulator>
accumulatorOf(const KernelView &View, const Body &B, const LoopPlan &Plan) {
  unsigned Line = Plan.Stmt->Range.BeginLine;
  const Access *First = nullptr;
  for (const Access &A : Plan.Does.Accesses)
    if (A.Kind != Access::Load) {
      First = &A;
      break;
    }
  if (!First || !First->Base)
    return Failure{"no-accumulator", "the loop updates no array element", Line};
  LoopAccumulator Acc;
  for (const Hazard &H : Plan.Does.Hazards)
    return Failure{ruleFor(H.Kind).str(),
                   "memory must be up to date inside the loop: " +
                       wordsFor(H.Kind).str(),
                   View.line(H.Node)};
  const auto *Sub = dyn_cast<ArraySubscriptExpr>(First->Node);
  if (!Sub || !First->Index ||
      !isInvariant(First->Index, Plan.Does, Plan.Shape.Var))
    return Failure{
        "not-invariant",
        "the element that the loop updates changes from one iteration "
        "to the next",
        View.line(First->Node)};
  // What the header does at its start is done after the element is read.
  Effects Header = effectsOf(Plan.Shape.Node->getInit());
  if (!Header.Hazards.empty() || !Header.Written.empty() || Header.stores())
    return Failure{"loop-shape",
                   "the loop's header does more than begin the count", Line};
  bool Reads = false, Always = false;
  for (const Access &A : Plan.Does.Accesses) {
    if (A.Base && B.root(A.Base) == B.root(First->Base)) {
      if (!sameExpr(A.Node, First->Node))
        return Failure{"other-element-used",
                       "the loop also uses another element of `" +
                           First->Base->getNameAsString() + "`",
                       View.line(A.Node)};
      auto R = View.range(A.Node);
      if (!R)
        return Failure{"in-macro", "the update comes from a macro",
                       View.line(A.Node)};
      Acc.Uses.push_back(*R);
      Reads |= A.Kind != Access::Store;
      Always |= A.Kind != Access::Load && !A.Conditional;
    } else if (A.Kind != Access::Load) {
      return Failure{"other-store", "the loop also stores to other memory",
                     View.line(A.Node)};
    } else if (auto Why = mayAlias(View, B, First->Base, A.Base)) {
      return Failure{"cannot-prove-alias",
                     "another access of the loop may be to the same memory: " +
                         *Why,
                     View.line(A.Node)};
    }
  }
  if (!Reads)
    return Failure{"no-accumulator", "the loop stores but never accumulates",
                   Line};
  // Of a structure it would write back the members that others may have.
  if (!First->Type->isArithmeticType())
    return Failure{"unsupported-element-type",
                   "the accumulated type is not an arithmetic one", Line};
  // With no iteration nothing may be touched, unless it has been just before.
  bool Synchronized = false;
  if (!assignedBefore(View, B, Plan.Shape.Node, First->Node, Synchronized))
    return Failure{
        "cannot-prove-initialised",
        "no assignment to the element stands before the loop in its block, so "
        "a loop without iterations would touch it",
        Line};
  // Whoever touches the element without a barrier since the thread's own
  // assignment is in a race already; any other element may be in use by others
  // while this thread has no iteration that writes it.
  Acc.Shared = Synchronized || !ownElement(View, B, *First);
  if (Acc.Shared && !Always)
    return Failure{"element-not-own",
                   "another thread may use the element, which this one does "
                   "not write in every iteration",
                   View.line(First->Node)};
  Acc.Lvalue = View.text(Acc.Uses.front()).str();
  Acc.Name = First->Base->getNameAsString();
  Acc.Element = View.spelledElement(First->Base);
  if (Acc.Element.empty())
    return Failure{"unsupported-element-type",
                   "the element's type cannot be spelled", Line};
  return Acc;
}

Checked<LoopAccumulator> findAccumulator(const KernelView &View,
                                         const Statement &Stmt) {
  std::optional<LoopAccumulator> First;
  for (const Body &B : View.bodies()) {
    Checked<LoopPlan> Plan = planLoop(View, B, Stmt);
    if (!Plan)
      return Plan.failure();
    Checked<LoopAccumulator> Acc = accumulatorOf(View, B, *Plan);
    if (!Acc)
      return Acc.failure();
    if (First && First->Uses.size() != Acc->Uses.size())
      return Failure{"instantiations-differ",
                     "the update means different things in the instantiations",
                     Stmt.Range.BeginLine};
    bool Shared = Acc->Shared || (First && First->Shared);
    if (!First)
      First = std::move(*Acc);
    First->Shared = Shared;
  }
  return std::move(*First);
}

} // namespace optimas::recipes
