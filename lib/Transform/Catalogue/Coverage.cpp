//===- Coverage.cpp - What grids and blocks amount to -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostProofs.h"

using namespace clang;

namespace optimas::recipes {

static VariableFacts factsOf(const FunctionDecl *F, const ASTContext &Ast) {
  Effects E = effectsOf(F->getBody());
  VariableFacts Facts;
  Facts.Escaped = E.Escaped;
  for (const VarDecl *V : E.Written)
    ++Facts.Writes[V];
  return Facts;
}

/// Casts between integers of 32 bits and more keep a size that fits in memory.
static bool keepsSizes(QualType T, const ASTContext &Host) {
  return T->isIntegerType() && !T->isBooleanType() && Host.getTypeSize(T) >= 32;
}

/// Through such casts, and locals that are initialised once and never written.
static const Expr *traced(const Expr *E, const VariableFacts &Facts,
                          const ASTContext &Host) {
  for (unsigned Steps = 0; Steps < 16; ++Steps) {
    E = strip(E);
    if (const auto *C = dyn_cast<ExplicitCastExpr>(E)) {
      if (!keepsSizes(C->getType(), Host) ||
          !keepsSizes(C->getSubExpr()->getType(), Host))
        return E;
      E = C->getSubExpr();
      continue;
    }
    const VarDecl *V = variable(E);
    const Expr *Init = V ? Facts.initialiser(V) : nullptr;
    if (!Init || !keepsSizes(V->getType(), Host) ||
        !keepsSizes(strip(Init)->getType(), Host))
      return E;
    E = Init;
  }
  return E;
}

static std::optional<LaunchDims> dims(const Expr *E,
                                      const VariableFacts &Facts) {
  LaunchDims D;
  for (unsigned Steps = 0; E && Steps < 8; ++Steps) {
    E = stripCasts(E);
    const auto *C = dyn_cast<CXXConstructExpr>(E);
    if (C && C->getConstructor()->isCopyOrMoveConstructor() &&
        C->getNumArgs() > 0) {
      E = C->getArg(0);
      continue;
    }
    if (C) {
      if (C->getConstructor()->getParent()->getName() != "dim3" ||
          C->getNumArgs() > 3)
        return std::nullopt;
      for (unsigned I = 0; I < C->getNumArgs(); ++I) {
        const Expr *Arg = C->getArg(I);
        if (isa<CXXDefaultArgExpr>(Arg))
          continue;
        // dim3(uint3) takes another's three dimensions.
        if (!strip(Arg)->getType()->isIntegerType())
          return std::nullopt;
        D.At[I] = Arg;
      }
      return D;
    }
    if (E->getType()->isIntegerType()) {
      D.At[0] = E;
      return D;
    }
    const VarDecl *V = variable(E);
    E = V ? Facts.initialiser(V) : nullptr;
  }
  return std::nullopt;
}

std::optional<LaunchDims> dimsOf(const Expr *E, const FunctionDecl *Caller,
                                 const ASTContext &Host) {
  return dims(E, factsOf(Caller, Host));
}

std::optional<int64_t> constantBlock(const HostLaunch &L, unsigned Dim,
                                     const ASTContext &Host) {
  if (!L.Call->getConfig() || L.Call->getConfig()->getNumArgs() < 2)
    return std::nullopt;
  VariableFacts Facts = factsOf(L.Caller, Host);
  auto D = dims(L.Call->getConfig()->getArg(1), Facts);
  if (!D)
    return std::nullopt;
  if (!D->At[Dim])
    return 1;
  return constantValue(traced(D->At[Dim], Facts, Host), Host);
}

namespace {
/// A sum taken apart: its terms with their signs, constants added up.
struct Sum {
  std::vector<std::pair<const Expr *, bool>> Terms; ///< true: subtracted
  int64_t Constant = 0;
};
} // namespace

static void addTerms(const Expr *E, bool Minus, const VariableFacts &Facts,
                     const ASTContext &Host, Sum &Out) {
  E = traced(E, Facts, Host);
  if (auto Value = constantValue(E, Host)) {
    Out.Constant += Minus ? -*Value : *Value;
    return;
  }
  if (const auto *Op = dyn_cast<BinaryOperator>(E); Op && Op->isAdditiveOp()) {
    addTerms(Op->getLHS(), Minus, Facts, Host, Out);
    addTerms(Op->getRHS(), Minus != (Op->getOpcode() == BO_Sub), Facts, Host,
             Out);
    return;
  }
  Out.Terms.push_back({E, Minus});
}

static bool equalValue(const Expr *A, const Expr *B, const VariableFacts &Facts,
                       const ASTContext &Host) {
  A = traced(A, Facts, Host), B = traced(B, Facts, Host);
  if (A == B) // the initialiser of one variable, which is never written again
    return true;
  auto X = constantValue(A, Host), Y = constantValue(B, Host);
  if (X || Y)
    return X && Y && *X == *Y;
  if (!sameExpr(A, B))
    return false;
  // The same words mean the same value only while nothing is written between.
  bool Stable = true;
  walk(A, [&](const Stmt *S) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
      if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl()))
        Stable &=
            !Facts.Writes.lookup(V) && !Facts.Escaped.count(V) &&
            !V->getType()->isReferenceType() &&
            (V->isLocalVarDeclOrParm() || V->getType().isConstQualified());
    return true;
  });
  return Stable;
}

/// `(n + b - 1) / b`, `(n - 1) / b + 1` or `n / b + 1`, with \p N and \p Block
/// for n and b.
static bool coversAll(const Expr *Grid, const Expr *N, const Expr *Block,
                      const VariableFacts &Facts, const ASTContext &Host) {
  Sum Outer;
  addTerms(Grid, false, Facts, Host, Outer);
  if (Outer.Terms.size() != 1 || Outer.Terms[0].second || Outer.Constant < 0)
    return false;
  const auto *Div = dyn_cast<BinaryOperator>(Outer.Terms[0].first);
  if (!Div || Div->getOpcode() != BO_Div || !keepsSizes(Div->getType(), Host) ||
      !equalValue(Div->getRHS(), Block, Facts, Host))
    return false;
  Sum Numerator;
  addTerms(Div->getLHS(), false, Facts, Host, Numerator);
  auto BlockValue = constantValue(traced(Block, Facts, Host), Host);
  if (BlockValue && *BlockValue <= 0)
    return false;
  bool HasN = false, HasBlock = false;
  for (auto &[Term, Minus] : Numerator.Terms) {
    if (Minus)
      return false;
    if (!HasN && equalValue(Term, N, Facts, Host))
      HasN = true;
    else if (!HasBlock && !BlockValue && equalValue(Term, Block, Facts, Host))
      HasBlock = true;
    else
      return false;
  }
  if (!HasN)
    return false;
  if (Outer.Constant >= 1)
    return Numerator.Constant >= -1;
  return BlockValue ? Numerator.Constant >= *BlockValue - 1
                    : HasBlock && Numerator.Constant >= -1;
}

/// True when the user wrote an integer where a dim3 is wanted.
static bool spelledAsInteger(const Expr *E) {
  E = strip(E);
  while (const auto *C = dyn_cast<CXXConstructExpr>(E)) {
    if (isa<CXXTemporaryObjectExpr>(C) || C->getNumArgs() == 0 ||
        (C->getConstructor()->isCopyOrMoveConstructor() && !C->isElidable()))
      return false;
    E = strip(C->getArg(0));
  }
  return E->getType()->isIntegerType();
}

Checked<std::vector<CoveringLaunch>> provedCoverage(const KernelView &View,
                                                    const ParmVarDecl *Bound) {
  Checked<std::vector<HostLaunch>> Launches = hostLaunches(View);
  if (!Launches)
    return Launches.failure();
  const ASTContext &Host = View.model().host();
  std::vector<CoveringLaunch> Out;
  for (const HostLaunch &L : *Launches) {
    auto Fail = [&L](llvm::StringRef Rule, llvm::StringRef Words) {
      return Failure{Rule.str(), Words.str(), L.line()};
    };
    const CallExpr *Config = L.Call->getConfig();
    VariableFacts Facts = factsOf(L.Caller, Host);
    auto Grid = Config && Config->getNumArgs() >= 2
                    ? dims(Config->getArg(0), Facts)
                    : std::nullopt;
    auto Block = Grid ? dims(Config->getArg(1), Facts) : std::nullopt;
    if (!Block || !Grid->At[0] || !Block->At[0] || Grid->At[1] || Grid->At[2] ||
        Block->At[1] || Block->At[2])
      return Fail(
          "launch-shape-unknown",
          "the launch is not one-dimensional with grid and block as integers");
    if (!spelledAsInteger(Config->getArg(0)) ||
        !spelledAsInteger(Config->getArg(1)))
      return Fail(
          "launch-shape-unknown",
          "the grid or the block is spelled as a dim3, not as an integer");
    unsigned Index = Bound->getFunctionScopeIndex();
    if (Index >= L.Call->getNumArgs() ||
        !coversAll(Grid->At[0], L.Call->getArg(Index), Block->At[0], Facts,
                   Host))
      return Fail(
          "cannot-prove-coverage",
          "the grid is not `(n + block - 1) / block` with the `" +
              Bound->getNameAsString() +
              "` that the launch passes, so other elements might be covered "
              "after the change");
    if (!L.Site->Grid.valid() || !L.Site->Config.valid())
      return Fail("in-macro", "the launch's configuration comes from a macro");
    Out.push_back({L, L.Site->Grid, L.Site->Block, Block->At[0]});
  }
  return Out;
}

} // namespace optimas::recipes
