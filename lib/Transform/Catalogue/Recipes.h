//===- Recipes.h - What transformations share when they propose -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_CATALOGUE_RECIPES_H
#define OPTIMAS_LIB_TRANSFORM_CATALOGUE_RECIPES_H

#include "LoopPlan.h"

namespace optimas::recipes {

/// Collects what one transformation says about one kernel.
class Report {
public:
  Report(llvm::StringRef Id, const KernelDiagnosis &Kernel,
         std::vector<Proposal> &Proposals, std::vector<Declined> &Declines)
      : Id(Id), Kernel(Kernel), Proposals(Proposals), Declines(Declines) {}

  void decline(const Failure &F, llvm::ArrayRef<const Evidence *> Items);
  /// \p Gain: how much faster the part of the kernel that \p Items weigh
  /// becomes.
  void propose(const KernelView &View, std::string Title,
               std::vector<Edit> Edits, llvm::ArrayRef<const Evidence *> Items,
               double Gain);

  const llvm::StringRef Id;

private:
  const KernelDiagnosis &Kernel;
  std::vector<Proposal> &Proposals;
  std::vector<Declined> &Declines;
};

/// One transformation: what its page says of it, and a function that looks at a
/// kernel of the program's own with evidence of any kind.
class Entry : public Transformation {
public:
  using Look = void (*)(const KernelView &View, Report &Out);
  Entry(llvm::StringRef Id, llvm::StringRef Summary, llvm::StringRef Source,
        Look LookAt)
      : Id(Id), Summary(Summary), Source(Source), LookAt(LookAt) {}

  llvm::StringRef id() const override { return Id; }
  llvm::StringRef summary() const override { return Summary; }
  /// What would change a result is never proposed.
  llvm::StringRef exactness() const override { return "yes"; }
  llvm::StringRef source() const override { return Source; }
  void propose(const CatalogueContext &Context, const KernelDiagnosis &Kernel,
               std::vector<Proposal> &Proposals,
               std::vector<Declined> &Declines) const override;

private:
  const llvm::StringRef Id, Summary, Source;
  const Look LookAt;
};

/// A loop with the evidence that lies in it and in none of its inner loops.
struct HotLoop {
  const Statement *Stmt = nullptr;
  std::vector<const Evidence *> Items;
};
std::vector<HotLoop> hotLoops(const KernelView &View,
                              llvm::ArrayRef<llvm::StringRef> Reasons);

/// Is what waits, or what it waits for, in \p R itself and not in a function called there?
bool liesIn(const Evidence &E, const SourceRange &R);

/// The loop's plan when its loads can be done in batches.
Checked<LoopPlan> batchable(const KernelView &View, const Statement &Loop);

/// The edit that puts \p Changes into the loop. \p Transformation may name
/// several ids, joined by `+`.
Edit loopEdit(const KernelView &View, const LoopPlan &Plan,
              const LoopChanges &Changes, llvm::StringRef Transformation,
              llvm::ArrayRef<const Evidence *> Items);

/// An edit with everything but its place and text filled in.
Edit newEdit(EditKind Kind, llvm::StringRef Transformation,
             llvm::ArrayRef<const Evidence *> Items);

/// `line 40` or `lines 40 and 52`: where the items' cause lies.
std::string placesOf(llvm::ArrayRef<const Evidence *> Items);

/// Stall reasons of waiting for memory.
extern const llvm::ArrayRef<llvm::StringRef> MemoryWaits;

/// Gain of the part of a kernel that waits for a loop's loads when \p Batch
/// iterations are in flight together (docs/catalogue/README.md says where the
/// numbers come from).
double batchGain(unsigned Batch);

/// True when the consumer or a producer of \p E lies in a loop of the kernel.
bool inLoop(const KernelView &View, const Evidence &E);

/// Evidence that the kernel moves more bytes than the memory likes.
std::vector<const Evidence *> streamingEvidence(const KernelView &View);

/// Proposals of which less is expected are not worth a measurement.
constexpr double WorthMeasuring = 1.01;

/// One vector a thread, with or without streaming hints; declines into \p Out.
void proposeVectorized(const KernelView &View, Report &Out, bool Stream);

/// The best of \p Singles that rewrite different places, as one more proposal.
void proposeUnion(const SourceModel &Model, std::vector<Proposal> &Singles);

/// Compositions of the transformations of one kernel that \p Enabled allows.
void proposeCompositions(const CatalogueContext &Context,
                         const KernelDiagnosis &Kernel,
                         llvm::function_ref<bool(llvm::StringRef)> Enabled,
                         std::vector<Proposal> &Proposals);

} // namespace optimas::recipes

namespace optimas {
// One a file, in the order of their ids.
const Transformation &constRestrict();
const Transformation &invariantLoadHoisting();
const Transformation &launchShape();
const Transformation &loadBatching();
const Transformation &registerAccumulator();
const Transformation &sharedPadding();
const Transformation &streamingHints();
const Transformation &unroll();
const Transformation &vectorizedAccess();
} // namespace optimas

#endif // OPTIMAS_LIB_TRANSFORM_CATALOGUE_RECIPES_H
