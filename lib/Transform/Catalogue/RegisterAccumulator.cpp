//===- RegisterAccumulator.cpp - optimas-register-accumulator -------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for (…)                       T acc = sums[t];
//   sums[t] += a[i] * b[i];  => for (…) acc += a[i] * b[i];
//                               sums[t] = acc;
//
//===----------------------------------------------------------------------===//
#include "Recipes.h"

namespace optimas {
using namespace recipes;

static void propose(const KernelView &View, Report &Out) {
  for (const HotLoop &Hot :
       hotLoops(View, {"long_scoreboard", "short_scoreboard", "mio_throttle",
                       "lg_throttle"})) {
    Checked<LoopPlan> Plan = planLoop(View, *Hot.Stmt);
    // A loop that stores nothing has no accumulator in memory: nothing to
    // decline.
    if (Plan && !Plan->Does.stores())
      continue;
    Checked<LoopAccumulator> Acc =
        Plan ? findAccumulator(View, *Hot.Stmt)
             : Checked<LoopAccumulator>(Plan.failure());
    if (!Acc) {
      Out.decline(Acc.failure(), Hot.Items);
      continue;
    }
    LoopChanges Changes;
    Changes.Accumulator = *Acc;
    Changes.Comment = "optimas-register-accumulator: `" + Acc->Lvalue +
                      "` is read and written once.";
    Edit E = loopEdit(View, *Plan, Changes, Out.Id, Hot.Items);
    E.Reason = "`" + Acc->Lvalue +
               "` goes through memory in every iteration of the loop "
               "that waits at " +
               placesOf(Hot.Items) + ".";
    E.Precondition =
        "Nothing else in the loop reaches that element, and no other thread "
        "may read it before the loop's end.";
    E.Postcondition =
        "The element holds the same value after the loop, summed in the "
        "same order.";
    Out.propose(View, "register accumulator", {std::move(E)}, Hot.Items, 1.05);
  }
}

const Transformation &registerAccumulator() {
  static const Entry T("optimas-register-accumulator",
                       "Keeps a sum that a loop accumulates in shared or "
                       "global memory in a register until the loop ends.",
                       "D. Callahan, S. Carr, K. Kennedy, Improving Register "
                       "Allocation for Subscripted Variables, PLDI 1990",
                       propose);
  return T;
}

} // namespace optimas
