//===- LoopPlan.h - A counted loop, taken apart and put together -*- C++
//-*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `for (T i = init; i < bound; i += step) body` is what load batching, the
// register accumulator, hoisting and streaming hints all rewrite, alone or
// together. The plan holds what the loop is; renderLoop() writes it anew with
// the chosen changes.
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_CATALOGUE_LOOPPLAN_H
#define OPTIMAS_LIB_TRANSFORM_CATALOGUE_LOOPPLAN_H

#include "KernelView.h"

namespace optimas::recipes {

/// The header of a counted loop.
struct LoopShape {
  const clang::ForStmt *Node = nullptr;
  const clang::VarDecl *Var = nullptr;
  std::string VarName, VarType; ///< as spelled
  bool VarIs64 = false;
  SourceRange Init; ///< without `;`, invalid when there is none
  std::string Test; ///< `<` or `<=`
  std::string
      BoundText; ///< the right side of Test, cast where the test converts it
  std::string StepText;
  std::string StepType; ///< in which the step is kept: as wide as the variable
  bool StepMayBeNegative = false;
  std::string Wide; ///< 64-bit type in which no sum of variable and steps wraps
  const clang::Expr *Bound = nullptr, *Step = nullptr; ///< Step null: 1
};

/// A load that is executed in each iteration and whose address is known from
/// the loop's variable, invariants, and other loads of the list before it.
struct LoopLoad {
  SourceRange Range;
  const clang::VarDecl *Base = nullptr;
  std::string Element; ///< spelled type
  std::string Name;    ///< of the pointer
  bool Intrinsic = false;
  bool Invariant = false;   ///< its address does not depend on the iteration
  bool BuiltinType = false; ///< streaming hints have an overload for it
  const clang::Expr *Node = nullptr;
};

/// `sums[t]`, only ever updated by the loop.
struct LoopAccumulator {
  std::string Lvalue, Element, Name;
  /// The element is another thread's too: only threads with an iteration may
  /// touch it.
  bool Shared = false;
  std::vector<SourceRange> Uses; ///< in the body
};

struct LoopPlan {
  const Statement *Stmt = nullptr;
  LoopShape Shape;
  SourceRange Body;
  bool BodyIsCompound = false;
  std::vector<SourceRange> VarUses; ///< in the body
  std::vector<LoopLoad> Loads;      ///< unconditional ones, inner before outer
  Effects Does;                     ///< of the body
};

/// Takes apart the loop \p Stmt for \p B; a Failure when it is not a counted
/// loop whose header is free of side effects.
Checked<LoopPlan> planLoop(const KernelView &View, const Body &B,
                           const Statement &Stmt);

/// The same for every instantiation; they must agree in shape.
Checked<LoopPlan> planLoop(const KernelView &View, const Statement &Stmt);

/// Fails unless the plan's loads (or its invariant ones) may all be done before
/// the statements of the iterations between: no store of the loop can touch
/// what they read.
std::optional<Failure> cannotMoveLoads(const KernelView &View,
                                       const Statement &Stmt,
                                       bool OnlyInvariant = false);

/// Why the arithmetic of \p Loop may round otherwise once iterations are laid
/// side by side or invariant loads leave it (Rounding.cpp). planLoop() asks.
std::optional<Failure> mayRoundOtherwise(const KernelView &View, const Body &B,
                                         const clang::Stmt *Loop);

/// The accumulator of the loop, in every instantiation.
Checked<LoopAccumulator> findAccumulator(const KernelView &View,
                                         const Statement &Stmt);

/// True when \p E reads no memory and nothing that the loop's body (\p Loop) or
/// its variable changes.
bool isInvariant(const clang::Expr *E, const Effects &Loop,
                 const clang::VarDecl *Var);

struct LoopChanges {
  unsigned Batch = 1; ///< iterations whose loads go first
  std::optional<LoopAccumulator> Accumulator;
  bool HoistInvariant = false;
  bool StreamLoads = false;
  std::string Comment; ///< names the transformations
};

/// The text that replaces the loop statement.
std::string renderLoop(KernelView View, const LoopPlan &Plan,
                       const LoopChanges &Changes);

} // namespace optimas::recipes

#endif // OPTIMAS_LIB_TRANSFORM_CATALOGUE_LOOPPLAN_H
