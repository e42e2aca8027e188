//===- Unroll.cpp - optimas-unroll ----------------------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `#pragma unroll N` before a loop that spends its time on its own control,
// and
// `#pragma unroll 1` before one whose code does not fit the instruction cache.
//
//===----------------------------------------------------------------------===//
#include "Recipes.h"

namespace optimas {
using namespace recipes;

static std::optional<Failure> cannotMark(const KernelView &View,
                                         const Statement &Loop) {
  unsigned Line = Loop.Range.BeginLine;
  Checked<LoopPlan> Plan = planLoop(View, Loop);
  if (!Plan)
    return Plan.failure();
  // Where threads meet without saying who takes part, the code's layout decides.
  for (const Hazard &H : Plan->Does.Hazards) {
    const auto *Call = clang::dyn_cast_or_null<clang::CallExpr>(H.Node);
    const clang::FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    bool Named = Callee && Callee->getIdentifier() &&
                 (Callee->getName().starts_with("__sync") ||
                  Callee->getName().ends_with("_sync"));
    if ((H.Kind == Hazard::Barrier && !Named) || H.Kind == Hazard::Call ||
        H.Kind == Hazard::Asm || H.Kind == Hazard::Volatile ||
        H.Kind == Hazard::Unsupported)
      return Failure{ruleFor(H.Kind).str(),
                     "the loop cannot be laid out anew: " + wordsFor(H.Kind).str(),
                     View.line(H.Node)};
  }
  std::string Lead =
      View.model().file(Loop.Range.File).line(Line).ltrim().str();
  if (!llvm::StringRef(Lead).starts_with("for"))
    return Failure{"not-own-line", "the loop does not begin its line", Line};
  const Statement *Parent = View.model().statement(Loop.Parent);
  if (Parent && Parent->Kind != "compound")
    return Failure{"not-in-block",
                   "the loop is the only statement of another one", Line};
  return std::nullopt;
}

static void propose(const KernelView &View, Report &Out) {
  struct Choice {
    std::vector<llvm::StringRef> Reasons;
    unsigned Factor;
    const char *Why;
  };
  const Choice Choices[] = {{{"wait", "branch_resolving"},
                             4,
                             "The loop's own counting and branching takes "
                             "issue slots that four iterations "
                             "could share."},
                            {{"no_instructions"},
                             1,
                             "The loop's code is fetched more slowly than it "
                             "is executed; unrolled less it is "
                             "shorter."}};
  for (const Choice &C : Choices)
    for (const HotLoop &Hot : hotLoops(View, C.Reasons)) {
      std::vector<const Evidence *> Items = Hot.Items;
      // What a function called in the loop waits for is not the loop's own control.
      llvm::erase_if(Items, [&](const Evidence *E) {
        return E->Kind != EvidenceKind::Stall || !liesIn(*E, Hot.Stmt->Range);
      });
      // Too light to be worth a word when it cannot be done.
      if (expectedSpeedup(weightOf(Items), 1.5) < WorthMeasuring)
        continue;
      if (auto Why = cannotMark(View, *Hot.Stmt)) {
        Out.decline(*Why, Items);
        continue;
      }
      Edit E = newEdit(EditKind::InsertBefore, Out.Id, Items);
      E.First = E.Last = Hot.Stmt->Id;
      E.Text = "#pragma unroll " + std::to_string(C.Factor);
      E.Factor = C.Factor;
      E.Reason = C.Why;
      E.Precondition = "The loop counts up by a step that does not change.";
      E.Postcondition = "The compiler keeps the meaning of the loop.";
      Out.propose(View, "unroll by " + std::to_string(C.Factor), {std::move(E)},
                  Items, 1.5);
    }
}

const Transformation &unroll() {
  static const Entry T(
      "optimas-unroll",
      "Asks the compiler to unroll a loop, or not to, by a pragma.",
      "G. Murthy et al., Optimal Loop Unrolling for GPGPU Programs, IPDPS "
      "2010; NVIDIA, CUDA C++ Best Practices Guide, Branch Predication",
      propose);
  return T;
}

} // namespace optimas
