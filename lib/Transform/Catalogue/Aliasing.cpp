//===- Aliasing.cpp - Memory that is proved to be distinct -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostProofs.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringSwitch.h"
#include <functional>

using namespace clang;

namespace optimas::recipes {

/// The toolkit's functions, not ones of the user's with the same name.
static bool isAllocation(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || !Callee->getIdentifier() || isa<CXXMethodDecl>(Callee) ||
      !llvm::StringSwitch<bool>(Callee->getName())
           .Cases({"cudaMalloc", "cudaMallocManaged", "cudaMallocAsync",
                   "cudaMallocPitch"},
                  true)
           .Default(false))
    return false;
  const FunctionDecl *Pattern = Callee->getTemplateInstantiationPattern();
  if (!Pattern)
    Pattern = Callee;
  const auto &SM = Pattern->getASTContext().getSourceManager();
  auto OfToolkit = [&SM](const FunctionDecl *D) {
    return SM.isInSystemHeader(SM.getFileLoc(D->getLocation()));
  };
  // A definition of the user's interposes.
  return Pattern->getDeclContext()->getRedeclContext()->isTranslationUnit() &&
         llvm::all_of(Pattern->redecls(), OfToolkit);
}

/// True when every value that \p V ever has is null or an allocation of its
/// own.
static bool ownsAllocation(const FunctionDecl *Caller, const VarDecl *V,
                           const ASTContext &Host) {
  if (!V->isLocalVarDecl() || V->isStaticLocal() ||
      !V->getType()->isPointerType())
    return false;
  auto IsNull = [&Host](const Expr *E) {
    return E->isNullPointerConstant(const_cast<ASTContext &>(Host),
                                    Expr::NPC_ValueDependentIsNotNull) !=
           Expr::NPCK_NotNull;
  };
  if (V->getInit() && !IsNull(V->getInit()))
    return false;
  unsigned Allocations = 0;
  bool Other = false;
  std::function<bool(const Stmt *)> Visit = [&](const Stmt *S) {
    if (const auto *Call = dyn_cast<CallExpr>(S);
        Call && isAllocation(Call) && Call->getNumArgs() > 0) {
      const auto *Address =
          dyn_cast<UnaryOperator>(stripCasts(Call->getArg(0)));
      if (Address && Address->getOpcode() == UO_AddrOf &&
          variable(Address->getSubExpr()) == V) {
        ++Allocations;
        for (unsigned I = 1; I < Call->getNumArgs(); ++I)
          walk(Call->getArg(I), Visit);
        return false;
      }
    }
    if (const auto *Op = dyn_cast<BinaryOperator>(S);
        Op && Op->isAssignmentOp() && variable(Op->getLHS()) == V) {
      Other |= Op->isCompoundAssignmentOp() || !IsNull(Op->getRHS());
      walk(Op->getRHS(), Visit);
      return false;
    }
    if (const auto *Cast = dyn_cast<ImplicitCastExpr>(S);
        Cast && Cast->getCastKind() == CK_LValueToRValue &&
        variable(Cast->getSubExpr()) == V)
      return false; // a read
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
      Other |= Ref->getDecl() == V;
    if (const auto *L = dyn_cast<LambdaExpr>(S))
      for (const LambdaCapture &C : L->captures())
        Other |= C.capturesVariable() && C.getCapturedVar() == V &&
                 C.getCaptureKind() == LCK_ByRef;
    return true;
  };
  walk(Caller->getBody(), Visit);
  return Allocations > 0 && !Other;
}

/// Does the function make numbers of addresses? `b + (a - b)` points into `a`.
static bool countsAddresses(const FunctionDecl *Caller) {
  bool Found = false;
  walk(Caller->getBody(), [&Found](const Stmt *S) {
    if (const auto *C = dyn_cast<CastExpr>(S))
      Found |= C->getCastKind() == CK_PointerToIntegral;
    if (const auto *Op = dyn_cast<BinaryOperator>(S))
      Found |= Op->getOpcode() == BO_Sub &&
               Op->getLHS()->getType()->isPointerType() &&
               Op->getRHS()->getType()->isPointerType();
    return !Found;
  });
  return Found;
}

/// The variable whose allocation a pointer argument points into.
static const VarDecl *pointedInto(const Expr *Arg, const FunctionDecl *Caller) {
  const Expr *E = stripCasts(Arg);
  if (!variable(E) && countsAddresses(Caller))
    return nullptr;
  while (const auto *Op = dyn_cast<BinaryOperator>(E)) {
    if (!Op->isAdditiveOp())
      return nullptr;
    E = stripCasts(Op->getLHS()->getType()->isPointerType() ? Op->getLHS()
                                                            : Op->getRHS());
  }
  return variable(E);
}

static std::optional<std::string> mayAliasAtLaunches(const KernelView &View,
                                                     const ParmVarDecl *A,
                                                     const ParmVarDecl *B) {
  Checked<std::vector<HostLaunch>> Launches = hostLaunches(View);
  if (!Launches)
    return Launches.failure().Message;
  for (const HostLaunch &L : *Launches) {
    unsigned I = A->getFunctionScopeIndex(), J = B->getFunctionScopeIndex();
    if (I >= L.Call->getNumArgs() || J >= L.Call->getNumArgs())
      return "a launch has fewer arguments than the kernel has parameters";
    std::string Where = "the launch on line " + std::to_string(L.line());
    const VarDecl *X = pointedInto(L.Call->getArg(I), L.Caller);
    const VarDecl *Y = pointedInto(L.Call->getArg(J), L.Caller);
    if (!X || !Y)
      return Where + " passes pointers whose origin is not a variable";
    if (X == Y)
      return Where + " passes `" + X->getNameAsString() + "` for both";
    for (const VarDecl *V : {X, Y})
      if (!ownsAllocation(L.Caller, V, View.model().host()))
        return Where + " passes `" + V->getNameAsString() +
               "`, which is not proved to hold an allocation of its own";
  }
  return std::nullopt;
}

std::optional<std::string> mayAlias(const KernelView &View, const Body &B,
                                    const VarDecl *A, const VarDecl *Other) {
  const VarDecl *X = A ? B.root(A) : nullptr;
  const VarDecl *Y = Other ? B.root(Other) : nullptr;
  if (!X || !Y)
    return "the origin of a pointer is not known";
  if (X == Y)
    return "both are `" + X->getNameAsString() + "`";
  Space S = B.space(X), T = B.space(Y);
  if (S == Space::Unknown || T == Space::Unknown)
    return "the origin of a pointer is not known";
  if (S == Space::Local || T == Space::Local) {
    const VarDecl *Own = S == Space::Local ? X : Y;
    if (!B.Facts.Escaped.count(Own))
      return std::nullopt;
    return "the address of `" + Own->getNameAsString() + "` is taken";
  }
  if (S == Space::Constant || T == Space::Constant)
    return std::nullopt;
  // All of `extern __shared__` begins at one address (CUDA C++ Programming
  // Guide, __shared__).
  if (S == Space::Shared && T == Space::Shared && X->hasExternalStorage() &&
      Y->hasExternalStorage())
    return "`" + X->getNameAsString() + "` and `" + Y->getNameAsString() +
           "` are dynamic shared arrays, which begin at one address";
  // A parameter comes from the host, which has no addresses of shared memory.
  if (S == Space::Shared || T == Space::Shared)
    return std::nullopt;
  const auto *P = dyn_cast<ParmVarDecl>(X), *Q = dyn_cast<ParmVarDecl>(Y);
  if (!P || !Q)
    return "a device variable may be reached through a parameter";
  if (P->getType().isRestrictQualified() || Q->getType().isRestrictQualified())
    return std::nullopt;
  return mayAliasAtLaunches(View, P, Q);
}

} // namespace optimas::recipes
