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

namespace {
class RegisterAccumulator : public Transformation {
public:
  llvm::StringRef id() const override { return "optimas-register-accumulator"; }
  llvm::StringRef summary() const override {
    return "Keeps a sum that a loop accumulates in shared or global memory in "
           "a register "
           "until the loop ends.";
  }
  llvm::StringRef exactness() const override { return "yes"; }
  llvm::StringRef source() const override {
    return "D. Callahan, S. Carr, K. Kennedy, Improving Register Allocation "
           "for "
           "Subscripted Variables, PLDI 1990";
  }
  void propose(const CatalogueContext &Context, const KernelDiagnosis &Kernel,
               std::vector<Proposal> &Proposals,
               std::vector<Declined> &Declines) const override;
};
} // namespace

void RegisterAccumulator::propose(const CatalogueContext &Context,
                                  const KernelDiagnosis &Kernel,
                                  std::vector<Proposal> &Proposals,
                                  std::vector<Declined> &Declines) const {
  Report Out(id(), Kernel, Proposals, Declines);
  Checked<KernelView> View = KernelView::create(Context, Kernel);
  if (!View)
    return;
  for (const HotLoop &Hot :
       hotLoops(*View, {"long_scoreboard", "short_scoreboard", "mio_throttle",
                        "lg_throttle"})) {
    Checked<LoopPlan> Plan = planLoop(*View, *Hot.Stmt);
    // A loop that stores nothing has no accumulator in memory: nothing to
    // decline.
    if (Plan && !Plan->Does.stores())
      continue;
    Checked<LoopAccumulator> Acc =
        Plan ? findAccumulator(*View, *Hot.Stmt)
             : Checked<LoopAccumulator>(Plan.failure());
    if (!Acc) {
      Out.decline(Acc.failure(), Hot.Items);
      continue;
    }
    LoopChanges Changes;
    Changes.Accumulator = *Acc;
    Changes.Comment = "optimas-register-accumulator: `" + Acc->Lvalue +
                      "` is read and written once.";
    Edit E = loopEdit(*View, *Plan, Changes, id(), Hot.Items);
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
    Out.propose(*View, "register accumulator", {std::move(E)}, Hot.Items, 1.05);
  }
}

const Transformation &registerAccumulator() {
  static const RegisterAccumulator T;
  return T;
}

} // namespace optimas
