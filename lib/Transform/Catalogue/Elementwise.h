//===- Elementwise.h - Kernels of one element a thread ----------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// int i = blockIdx.x * blockDim.x + threadIdx.x;
// if (i < n)            (or: if (i >= n) return;)
//   c[i] = a[i] + b[i];
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_CATALOGUE_ELEMENTWISE_H
#define OPTIMAS_LIB_TRANSFORM_CATALOGUE_ELEMENTWISE_H

#include "HostProofs.h"
#include "Recipes.h"

namespace optimas::recipes {

/// One pointer that the work goes through.
struct ElementPointer {
  std::string Name;
  const clang::ParmVarDecl *Param = nullptr;
  bool Loaded = false, Stored = false;
  std::vector<SourceRange> Uses;    ///< `a[i]`
  std::vector<SourceRange> Indices; ///< the `i` in them
};

struct ElementwisePlan {
  /// What is done for one element: declarations, then one assignment.
  const Statement *First = nullptr, *Last = nullptr;
  SourceRange Work;
  std::string Index, Bound; ///< names
  const clang::ParmVarDecl *BoundParam = nullptr;
  std::string Element;                ///< spelled: `T`, `float`
  std::vector<uint64_t> ElementBytes; ///< one per instantiation
  std::vector<ElementPointer> Pointers;
  std::vector<CoveringLaunch> Launches;
};

/// The shape of the kernel when every thread does one element of each array
/// that it touches, and nothing else; in every instantiation.
Checked<ElementwisePlan> planElementwise(const KernelView &View);

/// Adds the proof that every launch covers all elements with its threads.
std::optional<Failure> proveLaunches(const KernelView &View,
                                     ElementwisePlan &Plan);

/// Statements in the order of the text that do one vector a thread.
std::string renderVectorized(KernelView View, const ElementwisePlan &Plan,
                             bool Stream);

/// One edit for each launch site: a `width`-th of the blocks.
Checked<std::vector<Edit>>
shrinkLaunches(const KernelView &View, const ElementwisePlan &Plan,
               llvm::StringRef Transformation,
               llvm::ArrayRef<const Evidence *> Items);

} // namespace optimas::recipes

#endif // OPTIMAS_LIB_TRANSFORM_CATALOGUE_ELEMENTWISE_H
