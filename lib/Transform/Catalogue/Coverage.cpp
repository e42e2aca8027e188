//===- Coverage.cpp - What grids and blocks amount to -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostProofs.h"

using namespace clang;

namespace optimas::recipes {

/// Adds what \p S does, also within what a kernel's analysis stops at.
static void addFacts(const Stmt *S, VariableFacts &Facts) {
  if (!S)
    return;
  Effects E = effectsOf(S);
  Facts.Escaped.insert(E.Escaped.begin(), E.Escaped.end());
  for (const VarDecl *V : E.Written)
    ++Facts.Writes[V];
}

static VariableFacts factsOf(const FunctionDecl *F) {
  VariableFacts Facts;
  addFacts(F->getBody(), Facts);
  walk(F->getBody(), [&Facts](const Stmt *S) {
    if (const auto *L = dyn_cast<LambdaExpr>(S))
      addFacts(L->getBody(), Facts);
    else if (const auto *Inner = dyn_cast<StmtExpr>(S))
      addFacts(Inner->getSubStmt(), Facts);
    else if (const auto *K = dyn_cast<CUDAKernelCallExpr>(S))
      addFacts(K->getConfig(), Facts);
    else if (isa<CXXTryStmt, CXXCatchStmt, CXXNewExpr, CXXDeleteExpr,
                 CXXThrowExpr, AsmStmt>(S))
      for (const Stmt *Child : S->children())
        addFacts(Child, Facts);
    return true;
  });
  return Facts;
}

/// The initialiser of a variable that has no other value: a local that is never
/// written, or a constant. Another function may write any other global.
static const Expr *onlyValue(const VarDecl *V, const VariableFacts &Facts) {
  if (!V || V->getType()->isReferenceType() ||
      (!V->isLocalVarDecl() && !V->getType().isConstQualified()))
    return nullptr;
  return Facts.initialiser(V);
}

static bool isSize(QualType T, const ASTContext &Host) {
  return T->isIntegerType() && !T->isBooleanType() && Host.getTypeSize(T) >= 32;
}

/// True when every size of type \p From is the same size in \p To. Sizes are not
/// negative.
static bool keepsSizes(QualType From, QualType To, const ASTContext &Host) {
  if (!isSize(From, Host) || !isSize(To, Host))
    return false;
  uint64_t Before = Host.getTypeSize(From), After = Host.getTypeSize(To);
  return After > Before ||
         (After == Before && !(From->isUnsignedIntegerOrEnumerationType() &&
                               To->isSignedIntegerOrEnumerationType()));
}

/// \p E without parentheses and without casts that keep the value.
static const Expr *withoutCasts(const Expr *E, const ASTContext &Host) {
  while (true) {
    E = E->IgnoreParens();
    const Expr *Inner = nullptr;
    if (const auto *C = dyn_cast<CastExpr>(E)) {
      if (C->getCastKind() == CK_LValueToRValue || C->getCastKind() == CK_NoOp ||
          (C->getCastKind() == CK_IntegralCast &&
           keepsSizes(C->getSubExpr()->getType(), C->getType(), Host)))
        Inner = C->getSubExpr();
    } else if (const auto *M = dyn_cast<MaterializeTemporaryExpr>(E))
      Inner = M->getSubExpr();
    else if (const auto *X = dyn_cast<ExprWithCleanups>(E))
      Inner = X->getSubExpr();
    else if (const auto *P = dyn_cast<SubstNonTypeTemplateParmExpr>(E))
      Inner = P->getReplacement();
    if (!Inner)
      return E;
    E = Inner;
  }
}

/// Through such casts, and locals that are initialised once and never written.
static const Expr *traced(const Expr *E, const VariableFacts &Facts,
                          const ASTContext &Host) {
  for (unsigned Steps = 0; Steps < 16; ++Steps) {
    E = withoutCasts(E, Host);
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const Expr *Init =
        Ref ? onlyValue(dyn_cast<VarDecl>(Ref->getDecl()), Facts) : nullptr;
    if (!Init || !isSize(E->getType(), Host))
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
    E = onlyValue(V, Facts);
  }
  return std::nullopt;
}

std::optional<LaunchDims> dimsOf(const Expr *E, const FunctionDecl *Caller,
                                 const ASTContext &) {
  return dims(E, factsOf(Caller));
}

std::optional<int64_t> constantBlock(const HostLaunch &L, unsigned Dim,
                                     const ASTContext &Host) {
  if (!L.Call->getConfig() || L.Call->getConfig()->getNumArgs() < 2)
    return std::nullopt;
  VariableFacts Facts = factsOf(L.Caller);
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

/// The same value wherever both are evaluated: constants, and the same
/// operations on the same scalars, which nothing writes after they got their
/// value. Memory (`sizes[0]`, `*p`) may change between the two.
static bool equalValue(const Expr *A, const Expr *B, const VariableFacts &Facts,
                       const ASTContext &Host) {
  A = traced(A, Facts, Host), B = traced(B, Facts, Host);
  if (A == B) // the initialiser of one variable, which is never written again
    return true;
  auto X = constantValue(A, Host), Y = constantValue(B, Host);
  if (X || Y)
    return X && Y && *X == *Y;
  if (const auto *Op = dyn_cast<BinaryOperator>(A)) {
    const auto *Other = dyn_cast<BinaryOperator>(B);
    return Other && (Op->isMultiplicativeOp() || Op->isAdditiveOp()) &&
           Op->getOpcode() == Other->getOpcode() &&
           Host.hasSameUnqualifiedType(Op->getType(), Other->getType()) &&
           equalValue(Op->getLHS(), Other->getLHS(), Facts, Host) &&
           equalValue(Op->getRHS(), Other->getRHS(), Facts, Host);
  }
  if (const auto *C = dyn_cast<CastExpr>(A)) {
    const auto *Other = dyn_cast<CastExpr>(B);
    return Other && C->getCastKind() == CK_IntegralCast &&
           Other->getCastKind() == CK_IntegralCast &&
           Host.hasSameUnqualifiedType(C->getType(), Other->getType()) &&
           equalValue(C->getSubExpr(), Other->getSubExpr(), Facts, Host);
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(A);
  const auto *Other = dyn_cast<DeclRefExpr>(B);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && Other && Other->getDecl() == V && V->getType()->isIntegerType() &&
         !V->getType().isVolatileQualified() && !Facts.Writes.lookup(V) &&
         !Facts.Escaped.count(V) && !V->isStaticLocal() &&
         (isa<ParmVarDecl>(V) || V->hasInit()) &&
         (V->isLocalVarDeclOrParm() || V->getType().isConstQualified());
}

/// `(n + b - 1) / b`, `(n - 1) / b + 1` or `n / b + 1`, with \p N and \p Block
/// for n and b.
static bool coversAll(const Expr *Grid, const Expr *N, const Expr *Block,
                      const VariableFacts &Facts, const ASTContext &Host) {
  auto BlockValue = constantValue(traced(Block, Facts, Host), Host);
  if (BlockValue && *BlockValue <= 0)
    return false;
  // The grid itself is an unsigned int; with such blocks a quotient that does
  // not fit stands for more elements (2^39) than memory holds.
  const Expr *Quotient = traced(Grid, Facts, Host);
  if (const auto *C = dyn_cast<CastExpr>(Quotient);
      C && C->getCastKind() == CK_IntegralCast && BlockValue &&
      *BlockValue >= 128 && isSize(C->getSubExpr()->getType(), Host) &&
      isSize(C->getType(), Host))
    Quotient = C->getSubExpr();
  Sum Outer;
  addTerms(Quotient, false, Facts, Host, Outer);
  if (Outer.Terms.size() != 1 || Outer.Terms[0].second || Outer.Constant < 0)
    return false;
  const auto *Div = dyn_cast<BinaryOperator>(Outer.Terms[0].first);
  if (!Div || Div->getOpcode() != BO_Div || !isSize(Div->getType(), Host) ||
      !equalValue(Div->getRHS(), Block, Facts, Host))
    return false;
  Sum Numerator;
  addTerms(Div->getLHS(), false, Facts, Host, Numerator);
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
    VariableFacts Facts = factsOf(L.Caller);
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
