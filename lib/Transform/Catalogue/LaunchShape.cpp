//===- LaunchShape.cpp - optimas-launch-shape -----------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// k<<<grid, 64>>>(…, n)  =>  k<<<(grid + 3) / 4, 256>>>(…, n)
//
//===----------------------------------------------------------------------===//
#include "Elementwise.h"
#include "clang/AST/Attr.h"

namespace optimas {
using namespace recipes;

/// Block sizes to try for what the evidence says, the present one left out.
static std::vector<unsigned> sizesFor(llvm::ArrayRef<const Evidence *> Items,
                                      unsigned Now) {
  static constexpr unsigned Larger[] = {256, 512}, Smaller[] = {64, 128};
  std::vector<unsigned> Sizes;
  for (const Evidence *E : Items) {
    bool Fuller = E->Reason == "occupancy";
    for (unsigned Size : Fuller ? Larger : Smaller)
      if (Size != Now && !llvm::is_contained(Sizes, Size) &&
          (Fuller || Size < Now))
        Sizes.push_back(Size);
  }
  if (Sizes.size() > 2)
    Sizes.resize(2);
  return Sizes;
}

/// As many threads as \p Grid blocks of \p Now have, in blocks of \p Size;
/// empty when neither size is a multiple of the other. Made from the grid, not
/// from `n`: what has no block keeps none, and no sum overflows that did not.
static std::string gridFor(std::string Grid, uint64_t Now, uint64_t Size) {
  if (!llvm::all_of(Grid, [](char C) { return llvm::isAlnum(C) || C == '_'; }))
    Grid = "(" + Grid + ")";
  if (Size < Now && Now % Size == 0)
    return Grid + " * " + std::to_string(Now / Size);
  uint64_t Fewer = Size / Now;
  if (Size < Now || Size % Now != 0)
    return "";
  return "(" + Grid + " + " + std::to_string(Fewer - 1) + ") / " +
         std::to_string(Fewer);
}

static Checked<std::vector<Edit>>
reshaped(const KernelView &View, const ElementwisePlan &Plan, unsigned Size,
         llvm::ArrayRef<const Evidence *> Items) {
  std::vector<Edit> Out;
  llvm::DenseMap<unsigned, int64_t> Before; // by site
  for (const CoveringLaunch &L : Plan.Launches) {
    const LaunchSite &Site = *L.Launch.Site;
    auto Now = constantBlock(L.Launch, 0, View.model().host());
    if (!Now || *Now <= 0 || !L.Block.valid())
      return Failure{"block-not-constant", "the block's size is not a constant",
                     L.Launch.line()};
    auto [At, New] = Before.try_emplace(Site.Id, *Now);
    if (At->second != *Now)
      return Failure{"block-not-constant",
                     "the block's size differs between instantiations",
                     L.Launch.line()};
    if (!New || *Now == int64_t(Size))
      continue;
    std::string Grid = gridFor(View.text(L.Grid).str(), *Now, Size);
    if (Grid.empty())
      return Failure{"block-not-divisible",
                     "blocks of " + std::to_string(*Now) +
                         " threads are neither a multiple nor a part of " +
                         std::to_string(Size),
                     L.Launch.line()};
    Edit E = newEdit(EditKind::LaunchSite, "optimas-launch-shape", Items);
    E.LaunchSiteId = Site.Id;
    E.Text = substitute(View.model(), Site.Config,
                        {{L.Grid, Grid}, {L.Block, std::to_string(Size)}});
    E.Reason = Items.front()->Sentence.empty()
                   ? "The launch does not fill the device."
                   : "The launch does not fill the device: " +
                         Items.front()->Sentence + ".";
    E.Precondition =
        "The kernel uses its block only to number its threads, and the grid "
        "covers `" +
        Plan.Bound + "` elements.";
    E.Postcondition = "Every element is done by one thread as before.";
    Out.push_back(std::move(E));
  }
  return Out;
}

static void propose(const KernelView &View, Report &Out) {
  std::vector<const Evidence *> Items = View.evidenceIf([](const Evidence &E) {
    return E.Kind == EvidenceKind::Launch &&
           (E.Reason == "occupancy" || E.Reason == "tail" ||
            E.Reason == "partial_wave");
  });
  if (Items.empty())
    return;
  Checked<ElementwisePlan> Plan = planElementwise(View);
  if (!Plan) {
    Failure F = Plan.failure();
    F.Rule = "depends-on-block-size";
    F.Message =
        "the kernel is not proved to be independent of its block's size: " +
        F.Message;
    Out.decline(F, Items);
    return;
  }
  if (auto Why = proveLaunches(View, *Plan)) {
    Out.decline(*Why, Items);
    return;
  }
  auto Now =
      constantBlock(Plan->Launches.front().Launch, 0, View.model().host());
  if (!Now) {
    Out.decline({"block-not-constant", "the block's size is not a constant",
                 Plan->Launches.front().Launch.line()},
                Items);
    return;
  }
  if (View.bodies().front().Decl->hasAttr<clang::CUDALaunchBoundsAttr>()) {
    Out.decline({"launch-bounds", "the kernel has __launch_bounds__",
                 View.function().Definition.BeginLine},
                Items);
    return;
  }
  for (unsigned Size : sizesFor(Items, *Now)) {
    // A block that needs more registers than an SM has is not launched at all
    // (65,536 on every architecture from 5.3 on, handed out by eights a thread).
    if (llvm::alignTo(View.diagnosis().Registers, 8) * Size > 65536) {
      Out.decline({"too-many-registers",
                   "blocks of " + std::to_string(Size) + " threads with " +
                       std::to_string(View.diagnosis().Registers) +
                       " registers each do not fit a multiprocessor",
                   View.function().Definition.BeginLine},
                  Items);
      continue;
    }
    Checked<std::vector<Edit>> Edits = reshaped(View, *Plan, Size, Items);
    if (!Edits) {
      Out.decline(Edits.failure(), Items);
      return;
    }
    Out.propose(View, "blocks of " + std::to_string(Size), std::move(*Edits),
                Items, 1.3);
  }
}

const Transformation &launchShape() {
  static const Entry T("optimas-launch-shape",
                       "Launches the same threads in blocks of another size.",
                       "NVIDIA, CUDA C++ Best Practices Guide, Execution "
                       "Configuration Optimizations",
                       propose);
  return T;
}

} // namespace optimas
