//===- StreamingHints.cpp - optimas-streaming-hints -----------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// c[i] = a[i] + b[i];  =>  __stcs(&c[i], __ldcs(&a[i]) + __ldcs(&b[i]));
//
//===----------------------------------------------------------------------===//
#include "Elementwise.h"

namespace optimas {
using namespace recipes;
using clang::BinaryOperator;

/// The assignment of the plan's last statement in the first body.
static const BinaryOperator *assignment(const KernelView &View,
                                        const ElementwisePlan &Plan) {
  const clang::Stmt *Node = View.concrete(View.bodies().front(), *Plan.Last);
  const auto *E = clang::dyn_cast_or_null<clang::Expr>(Node);
  return E ? clang::dyn_cast<BinaryOperator>(strip(E)) : nullptr;
}

static Checked<std::string> hinted(const KernelView &View,
                                   const ElementwisePlan &Plan) {
  const BinaryOperator *Assign = assignment(View, Plan);
  unsigned Line = Plan.Last->Range.BeginLine;
  if (!Assign || Assign->getOpcode() != clang::BO_Assign)
    return Failure{"compound-assignment",
                   "the store is not of the form `c[i] = …`", Line};
  unsigned Stores = llvm::count_if(
      effectsOf(Assign).Accesses,
      [](const Access &A) { return A.Kind != Access::Load; });
  if (Stores != 1)
    return Failure{"compound-assignment",
                   "the assignment stores more than one element", Line};
  auto Target = View.range(Assign->getLHS()),
       Value = View.range(Assign->getRHS());
  if (!Target || !Value)
    return Failure{"in-macro", "the assignment comes from a macro", Line};
  std::vector<Hole> Loads;
  for (const ElementPointer &P : Plan.Pointers) {
    clang::QualType T = P.Param->getType()->getPointeeType();
    if (T->isBooleanType() || !T->isArithmeticType())
      return Failure{"unsupported-element-type",
                     "no streaming access exists for the elements of `" +
                         P.Name + "`",
                     Line};
    for (const SourceRange &Use : P.Uses)
      if (!Target->contains(Use))
        Loads.push_back({Use, "__ldcs(&" + View.text(Use).str() + ")"});
  }
  // What stands before the assignment, then the assignment as a call.
  SourceRange Before = Plan.Work;
  Before.End = Target->Begin;
  std::vector<Hole> Early, Late;
  for (const Hole &H : Loads)
    (Value->contains(H.Range) ? Late : Early).push_back(H);
  return substitute(View.model(), Before, Early) + "__stcs(&" +
         View.text(*Target).str() + ", " +
         substitute(View.model(), *Value, Late) + ");";
}

static void propose(const KernelView &View, Report &Out) {
  std::vector<const Evidence *> Items = streamingEvidence(View);
  // Loops are other transformations' business.
  if (Items.empty() || llvm::any_of(View.model().loops(), [&](const Loop &L) {
        return L.Function == View.function().Id;
      }))
    return;
  Checked<ElementwisePlan> Plan = planElementwise(View);
  if (!Plan) {
    Out.decline(Plan.failure(), Items);
    return;
  }
  // What waits for these accesses is the part of the kernel that may gain.
  static const llvm::StringRef Waits[] = {"long_scoreboard", "lg_throttle",
                                          "drain"};
  for (const Evidence *E : View.evidenceIn(Plan->Work, Waits))
    if (E->Kind == EvidenceKind::Stall)
      Items.push_back(E);
  llvm::stable_sort(Items, [](const Evidence *A, const Evidence *B) {
    return A->Weight > B->Weight;
  });
  for (llvm::StringRef Function : {"__ldcs", "__stcs"})
    if (auto Why = View.nameTaken(Function)) {
      Out.decline(*Why, Items);
      return;
    }
  Checked<std::string> Text = hinted(View, *Plan);
  if (!Text) {
    Out.decline(Text.failure(), Items);
    return;
  }
  Edit E = newEdit(EditKind::Replace, Out.Id, Items);
  E.First = Plan->First->Id;
  E.Last = Plan->Last->Id;
  E.Text = *Text;
  E.Reason = "The kernel is bound by memory and touches each element once: "
             "keeping it in "
             "the caches helps nobody.";
  E.Precondition = "Every element is loaded or stored by one thread, once.";
  E.Postcondition = "The same values are loaded and stored.";
  Out.propose(View, "streaming hints", {std::move(E)}, Items, 1.03);
}

std::vector<const Evidence *>
recipes::streamingEvidence(const KernelView &View) {
  return View.evidenceIf([&](const Evidence &E) {
    if (E.Kind != EvidenceKind::Roofline ||
        (E.Reason != "dram" && E.Reason != "l2"))
      return false;
    const SourceRange &Body = View.function().Body;
    return llvm::any_of(E.Lines, [&Body](const LineRef &L) {
      return L.File == Body.File && L.Line >= Body.BeginLine &&
             L.Line <= Body.EndLine;
    });
  });
}

const Transformation &streamingHints() {
  static const Entry T(
      "optimas-streaming-hints",
      "Marks loads and stores of data that a kernel touches once as streaming, "
      "so that they leave the caches to others.",
      "NVIDIA, Parallel Thread Execution ISA, Cache Operators (.cs); NVIDIA, "
      "CUDA C++ Programming Guide, Load/Store Functions Using Cache Hints",
      propose);
  return T;
}

} // namespace optimas
