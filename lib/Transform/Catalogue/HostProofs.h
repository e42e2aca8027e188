//===- HostProofs.h - What the launches prove about a kernel ----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_CATALOGUE_HOSTPROOFS_H
#define OPTIMAS_LIB_TRANSFORM_CATALOGUE_HOSTPROOFS_H

#include "KernelView.h"
#include <array>

namespace optimas::recipes {

/// One launch in concrete host code: a site in a template counts once for each
/// instantiation.
struct HostLaunch {
  const LaunchSite *Site = nullptr;
  const clang::CUDAKernelCallExpr *Call = nullptr;
  const clang::FunctionDecl *Caller = nullptr;

  unsigned line() const { return Site->Whole.BeginLine; }
};

/// Every launch of the kernel that the program can make, or why they are not
/// all known: none here, one in a macro, the kernel named anywhere but as a
/// launch's callee, a declaration in a header.
Checked<std::vector<HostLaunch>> hostLaunches(const KernelView &View);

/// nullopt when memory reached through \p A and through \p B is distinct; else
/// why that is not known.
std::optional<std::string> mayAlias(const KernelView &View, const Body &B,
                                    const clang::VarDecl *A,
                                    const clang::VarDecl *Other);

/// The expressions of a grid or block; null for a dimension left at 1.
struct LaunchDims {
  std::array<const clang::Expr *, 3> At{};
};
/// Seen through `dim3` objects that are built once and never changed.
std::optional<LaunchDims> dimsOf(const clang::Expr *E,
                                 const clang::FunctionDecl *Caller,
                                 const clang::ASTContext &Host);

/// The block size of \p L in a dimension when it is a constant.
std::optional<int64_t> constantBlock(const HostLaunch &L, unsigned Dim,
                                     const clang::ASTContext &Host);

/// A one-dimensional launch with at least as many threads as the argument for
/// \p Bound is large: the grid is `(n + block - 1) / block`.
struct CoveringLaunch {
  HostLaunch Launch;
  SourceRange Grid, Block;
  const clang::Expr *BlockExpr = nullptr;
};
Checked<std::vector<CoveringLaunch>>
provedCoverage(const KernelView &View, const clang::ParmVarDecl *Bound);

} // namespace optimas::recipes

#endif // OPTIMAS_LIB_TRANSFORM_CATALOGUE_HOSTPROOFS_H
