//===- VectorizedAccess.cpp - optimas-vectorized-access -------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Elementwise.h"

namespace optimas {
using namespace recipes;

static void propose(const KernelView &View, Report &Out) {
  proposeVectorized(View, Out, /*Stream=*/false);
}

void recipes::proposeVectorized(const KernelView &View, Report &Out,
                                bool Stream) {
  static const llvm::StringRef Reasons[] = {"long_scoreboard", "lg_throttle",
                                            "drain", "mio_throttle"};
  std::vector<const Evidence *> Items =
      View.evidenceIn(View.function().Body, Reasons);
  // Loops are other transformations' business.
  llvm::erase_if(Items, [&](const Evidence *E) {
    return E->Kind != EvidenceKind::Stall || inLoop(View, *E);
  });
  if (Items.empty())
    return;
  Checked<ElementwisePlan> Plan = planElementwise(View);
  if (!Plan) {
    Out.decline(Plan.failure(), Items);
    return;
  }
  std::vector<const Evidence *> Own = View.evidenceIn(Plan->Work, Reasons);
  if (llvm::none_of(Own, [](const Evidence *E) {
        return E->Kind == EvidenceKind::Stall;
      }))
    return;
  if (auto Why = proveLaunches(View, *Plan)) {
    Out.decline(*Why, Own);
    return;
  }
  std::vector<llvm::StringRef> Uses = {"uint4", "size_t"};
  if (Stream)
    Uses.insert(Uses.end(), {"__ldcs", "__stcs"});
  for (llvm::StringRef Name : Uses)
    if (auto Why = View.nameTaken(Name)) {
      Out.decline(*Why, Own);
      return;
    }
  std::string Id = "optimas-vectorized-access";
  if (Stream)
    Id += "+optimas-streaming-hints";
  Edit E = newEdit(EditKind::Replace, Id, Own);
  E.First = Plan->First->Id;
  E.Last = Plan->Last->Id;
  E.Text = renderVectorized(View, *Plan, Stream);
  E.Reason = "Each thread waits for one element at " + placesOf(Own) +
             "; 16 bytes a thread keep more of the memory's bandwidth in "
             "flight for the "
             "same wait.";
  E.Precondition = "Every array is accessed at the thread's own index, `" +
                   Plan->Index + " < " + Plan->Bound +
                   "` guards it, and the launches cover all elements.";
  E.Postcondition =
      "The same elements get the same values; misaligned arrays and the last "
      "elements are done one by one.";
  std::vector<Edit> Edits;
  Edits.push_back(std::move(E));
  // A launch of many blocks that do one element a thread is a fact of its own.
  std::vector<const Evidence *> AtLaunch = Own;
  llvm::append_range(AtLaunch, View.evidenceIf([](const Evidence &Item) {
    return Item.Kind == EvidenceKind::Launch &&
           Item.Reason == "few_elements_per_thread";
  }));
  Checked<std::vector<Edit>> Launches =
      shrinkLaunches(View, *Plan, Id, AtLaunch);
  if (!Launches) {
    Out.decline(Launches.failure(), Own);
    return;
  }
  llvm::append_range(Edits, *Launches);
  Out.propose(View,
              Stream ? "vectorized access + streaming hints"
                     : "vectorized access",
              std::move(Edits), Own, Stream ? 1.58 : 1.6);
}

const Transformation &vectorizedAccess() {
  static const Entry T(
      "optimas-vectorized-access",
      "Lets each thread load and store 16 bytes of adjacent elements at once "
      "instead of one element.",
      "J. Luitjens, CUDA Pro Tip: Increase Performance with Vectorized Memory "
      "Access, NVIDIA 2013; NVIDIA, CUDA C++ Best Practices Guide, Coalesced "
      "Access to Global Memory",
      propose);
  return T;
}

} // namespace optimas
