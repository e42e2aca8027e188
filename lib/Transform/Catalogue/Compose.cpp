//===- Compose.cpp - Transformations that stack ---------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Recipes.h"
#include <numeric>

namespace optimas::recipes {

/// Register accumulator and load batching rewrite the same loop: together they
/// are worth more than their product, since the store of each iteration is what
/// keeps the compiler from moving the loads.
static void accumulateAndBatch(const KernelView &View, Report &Out) {
  for (const HotLoop &Hot : hotLoops(View, MemoryWaits)) {
    Checked<LoopPlan> Plan = batchable(View, *Hot.Stmt);
    if (!Plan || !Plan->Does.stores())
      continue;
    Checked<LoopAccumulator> Acc = findAccumulator(View, *Hot.Stmt);
    if (!Acc)
      continue;
    for (unsigned Batch : {16u, 8u, 4u}) {
      LoopChanges Changes;
      Changes.Batch = Batch;
      Changes.Accumulator = *Acc;
      Changes.Comment =
          "optimas-register-accumulator, optimas-load-batching: the loads "
          "of " +
          std::to_string(Batch) + " iterations, then their work in order.";
      Edit E = loopEdit(View, *Plan, Changes,
                        "optimas-register-accumulator+optimas-load-batching",
                        Hot.Items);
      E.Factor = Batch;
      E.Reason = "Each iteration waits for the load of " + placesOf(Hot.Items) +
                 " and then stores `" + Acc->Lvalue +
                 "`, before which the next load "
                 "cannot be issued.";
      E.Precondition =
          "Nothing else in the loop reaches that element, and no store, "
          "barrier, atomic or exit lies between the loads.";
      E.Postcondition =
          "The element holds the same value after the loop, summed in the "
          "same order.";
      Out.propose(View,
                  "register accumulator + load batching by " +
                      std::to_string(Batch),
                  {std::move(E)}, Hot.Items, batchGain(Batch) * 1.05);
    }
  }
}

/// What the edits replace; two that share bytes cannot be in one program.
static std::vector<SourceRange> placesOf(const SourceModel &Model,
                                         const Proposal &P) {
  std::vector<SourceRange> Out;
  for (const Edit &E : P.Edits) {
    if (E.Kind == EditKind::LaunchSite) {
      for (const LaunchSite &L : Model.launchSites())
        if (L.Id == E.LaunchSiteId)
          Out.push_back(L.Config);
    } else if (E.Kind == EditKind::Signature) {
      Out.push_back(Model.function(E.Function).Signature);
    } else if (const Statement *First = Model.statement(E.First)) {
      SourceRange R = First->Range;
      if (const Statement *Last = Model.statement(E.Last))
        R.End = Last->Range.End;
      Out.push_back(R);
    }
  }
  return Out;
}

void proposeUnion(const SourceModel &Model, std::vector<Proposal> &Singles) {
  std::vector<size_t> Order(Singles.size());
  std::iota(Order.begin(), Order.end(), 0);
  llvm::sort(Order, [&](size_t A, size_t B) {
    return Singles[A].Expected != Singles[B].Expected
               ? Singles[A].Expected > Singles[B].Expected
               : A < B;
  });
  Proposal Union;
  std::vector<SourceRange> Taken;
  unsigned Parts = 0;
  for (size_t I : Order) {
    const Proposal &P = Singles[I];
    std::vector<SourceRange> Places = placesOf(Model, P);
    if (llvm::any_of(Places, [&](const SourceRange &R) {
          return llvm::any_of(
              Taken, [&](const SourceRange &T) { return T.overlaps(R); });
        }))
      continue;
    llvm::append_range(Taken, Places);
    if (Parts++ == 0) {
      Union = P;
      continue;
    }
    Union.Title += " + " + P.Title;
    llvm::append_range(Union.Edits, P.Edits);
    Union.Expected *= P.Expected;
  }
  if (Parts > 1)
    Singles.push_back(std::move(Union));
}

void proposeCompositions(const CatalogueContext &Context,
                         const KernelDiagnosis &Kernel,
                         llvm::function_ref<bool(llvm::StringRef)> Enabled,
                         std::vector<Proposal> &Proposals) {
  Checked<KernelView> View = KernelView::create(Context, Kernel);
  if (!View)
    return;
  std::vector<Declined> None;
  Report Out("composition", Kernel, Proposals, None);
  if (Enabled("optimas-register-accumulator") &&
      Enabled("optimas-load-batching"))
    accumulateAndBatch(*View, Out);
  if (Enabled("optimas-vectorized-access") &&
      Enabled("optimas-streaming-hints"))
    proposeVectorized(*View, Out, /*Stream=*/true);
}

} // namespace optimas::recipes
