//===- InvariantLoadHoisting.cpp - optimas-invariant-load-hoisting --------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for (…)                        if (…) {
//   out[i] = in[i] * scale[k];     const float scaleValue = scale[k];
//                            =>    for (…)
//                                    out[i] = in[i] * scaleValue;
//                                }
//
//===----------------------------------------------------------------------===//
#include "Recipes.h"

namespace optimas {
using namespace recipes;

/// Evidence that waits for one of the loop's invariant loads.
static std::vector<const Evidence *> waitingFor(const HotLoop &Hot,
                                                const LoopPlan &Plan) {
  std::vector<const Evidence *> Out;
  for (const Evidence *E : Hot.Items) {
    auto IsLine = [&](const LineRef &L) {
      return llvm::any_of(Plan.Loads, [&](const LoopLoad &Load) {
        return Load.Invariant && Load.Range.File == L.File &&
               Load.Range.BeginLine <= L.Line && L.Line <= Load.Range.EndLine;
      });
    };
    if (E->Kind == EvidenceKind::Stall &&
        llvm::any_of(E->Producers,
                     [&](const ProducerRef &P) { return IsLine(P.Where); }))
      Out.push_back(E);
  }
  return Out;
}

static void propose(const KernelView &View, Report &Out) {
  for (const HotLoop &Hot : hotLoops(View, MemoryWaits)) {
    Checked<LoopPlan> Plan = planLoop(View, *Hot.Stmt);
    // A loop that stores nothing keeps no compiler from hoisting.
    if (!Plan || !Plan->Does.stores())
      continue;
    std::vector<const Evidence *> Items = waitingFor(Hot, *Plan);
    if (Items.empty())
      continue;
    if (auto Why = cannotMoveLoads(View, *Hot.Stmt, /*OnlyInvariant=*/true)) {
      Out.decline(*Why, Items);
      continue;
    }
    LoopChanges Changes;
    Changes.HoistInvariant = true;
    Changes.Comment = "optimas-invariant-load-hoisting: loaded once, when "
                      "there is an iteration at all.";
    Edit E = loopEdit(View, *Plan, Changes, Out.Id, Items);
    E.Reason = "Every iteration waits for the load of " + placesOf(Items) +
               " from an address that does not change in the loop.";
    E.Precondition =
        "No store, barrier or atomic of the loop can change the value, and "
        "every iteration loads it.";
    E.Postcondition =
        "The same value is used in every iteration; nothing is loaded when "
        "there is none.";
    Out.propose(View, "invariant load hoisting", {std::move(E)}, Items, 1.5);
  }
}

const Transformation &invariantLoadHoisting() {
  static const Entry T(
      "optimas-invariant-load-hoisting",
      "Loads a value that does not change in a loop once, before the loop.",
      "A. Aho, M. Lam, R. Sethi, J. Ullman, Compilers, section 9.5 (code "
      "motion); S. Muchnick, Advanced Compiler Design and Implementation, "
      "section 13.2",
      propose);
  return T;
}

} // namespace optimas
