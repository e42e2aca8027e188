//===- LoadBatching.cpp - optimas-load-batching ---------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for (int i = t; i < n; i += s)        for (; i + 3 * s < n; i += 4 * s) {
//   sum += a[i];                  =>      load a[i], a[i + s], a[i + 2s], a[i +
//   3s];
//                                         sum += each, in that order;
//                                       }
//                                       … and the same with a test per slot for
//                                       the rest.
//
//===----------------------------------------------------------------------===//
#include "Recipes.h"

namespace optimas {
using namespace recipes;

static void propose(const KernelView &View, Report &Out) {
  for (const HotLoop &Hot : hotLoops(View, MemoryWaits)) {
    Checked<LoopPlan> Plan = batchable(View, *Hot.Stmt);
    if (!Plan) {
      Out.decline(Plan.failure(), Hot.Items);
      continue;
    }
    for (unsigned Batch : {8u, 16u, 4u}) {
      LoopChanges Changes;
      Changes.Batch = Batch;
      Changes.Comment = "optimas-load-batching: the loads of " +
                        std::to_string(Batch) +
                        " iterations, then their work in order.";
      Edit E = loopEdit(View, *Plan, Changes, Out.Id, Hot.Items);
      E.Factor = Batch;
      E.Reason = "Each iteration waits for the load of " + placesOf(Hot.Items) +
                 " before the next one's is issued; " + std::to_string(Batch) +
                 " in flight share one wait.";
      E.Precondition =
          "No store, barrier, atomic or exit in the loop lies between the "
          "loads, and no store of the loop can touch what they read.";
      E.Postcondition =
          "Every iteration does the same operations on the same values in "
          "the same order.";
      Out.propose(View, "load batching by " + std::to_string(Batch),
                  {std::move(E)}, Hot.Items,
                  batchGain(Batch) * (Plan->Does.stores() ? 0.8 : 1));
    }
  }
}

const Transformation &loadBatching() {
  static const Entry T(
      "optimas-load-batching",
      "Issues the loads of several loop iterations together, then does the "
      "iterations' work in the original order.",
      "V. Volkov, Better Performance at Lower Occupancy, GTC 2010; K. Zhou et "
      "al., GPA: A GPU Performance Advisor Based on Instruction Sampling, CGO "
      "2021 (loop unrolling)",
      propose);
  return T;
}

} // namespace optimas
