//===- ConstRestrict.cpp - optimas-const-restrict -------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// __global__ void k(float *in, float *out)
//   =>  __global__ void k(const float *__restrict__ in, float *__restrict__
//   out)
//
//===----------------------------------------------------------------------===//
#include "HostProofs.h"
#include "Recipes.h"

namespace optimas {
using namespace recipes;
using clang::ParmVarDecl;

/// Pointer parameters that a body loads from or stores to.
static std::vector<const ParmVarDecl *> pointers(const Body &B) {
  std::vector<const ParmVarDecl *> Out;
  for (const ParmVarDecl *P : B.Decl->parameters())
    if (P->getType()->isPointerType())
      Out.push_back(P);
  return Out;
}

static bool storesThrough(const Body &B, const ParmVarDecl *P) {
  unsigned Seen = 0;
  for (const Access &A : B.Whole.Accesses) {
    if (A.Kind != Access::Load && A.Base && B.root(A.Base) == P)
      return true;
    Seen += A.Base == P;
  }
  // Passed on to an atomic, compared, kept in another variable: who knows.
  return B.Whole.mentions(P) != Seen;
}

/// Does the loop load through one parameter and store through another, neither
/// marked? Then each store makes the compiler load again.
static bool mayReload(const Body &B, const Effects &Loop) {
  for (const Access &Store : Loop.Accesses) {
    if (Store.Kind == Access::Load || B.space(Store.Base) != Space::Global)
      continue;
    for (const Access &Load : Loop.Accesses) {
      if (Load.Kind == Access::Store || B.space(Load.Base) != Space::Global)
        continue;
      const clang::VarDecl *P = B.root(Store.Base), *Q = B.root(Load.Base);
      if (P != Q && !P->getType().isRestrictQualified() &&
          !Q->getType().isRestrictQualified())
        return true;
    }
  }
  return false;
}

/// What may be loaded once before a loop may also be multiplied there.
static std::optional<Failure> movesProducts(const KernelView &View) {
  std::optional<Failure> Why;
  for (const Body &B : View.bodies())
    walk(B.Decl->getBody(), [&](const clang::Stmt *S) {
      if (!Why && clang::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt,
                             clang::CXXForRangeStmt>(S))
        Why = mayRoundOtherwise(View, B, S);
      return !Why;
    });
  return Why;
}

/// With __restrict__ the compiler takes it that only this thread writes what it
/// writes through a pointer, and keeps a loaded value across the barrier at which
/// another thread's arrives.
static std::optional<Failure> exchanges(const KernelView &View, const Body &B) {
  const Hazard *Meets = nullptr;
  for (const Hazard &H : B.Whole.Hazards)
    if (H.Kind == Hazard::Barrier || H.Kind == Hazard::Atomic ||
        H.Kind == Hazard::Volatile)
      Meets = &H;
  if (!Meets)
    return std::nullopt;
  for (const ParmVarDecl *P : pointers(B)) {
    bool Loads = llvm::any_of(B.Whole.Accesses, [&](const Access &A) {
      return A.Kind != Access::Store && A.Base && B.root(A.Base) == P;
    });
    if (Loads && storesThrough(B, P))
      return Failure{"exchanges-values",
                     "threads may hand each other values through `" +
                         P->getNameAsString() + "`: " +
                         wordsFor(Meets->Kind).str(),
                     View.line(Meets->Node)};
  }
  return std::nullopt;
}

static std::optional<Failure> mayAliasAnywhere(const KernelView &View) {
  unsigned Line = View.function().Definition.BeginLine;
  for (const Body &B : View.bodies()) {
    // A pointer that was loaded itself may hold what a parameter points to.
    for (const Access &A : B.Whole.Accesses)
      if (B.space(A.Base) == Space::Unknown)
        return Failure{"cannot-prove-alias",
                       "an access goes through a pointer whose origin is not "
                       "known",
                       View.line(A.Node)};
      else if (B.space(A.Base) == Space::Global &&
               !clang::isa<ParmVarDecl>(B.root(A.Base)))
        return Failure{"cannot-prove-alias",
                       "the kernel also uses a device variable, which a "
                       "pointer may point to",
                       View.line(A.Node)};
    for (const Hazard &H : B.Whole.Hazards)
      if (H.Kind == Hazard::Unsupported)
        return Failure{ruleFor(H.Kind).str(),
                       "the kernel cannot be looked through: " +
                           wordsFor(H.Kind).str(),
                       View.line(H.Node)};
    if (B.Whole.has(Hazard::Call) || B.Whole.has(Hazard::Asm))
      return Failure{"unknown-call",
                     "the kernel calls a function whose accesses are not known",
                     Line};
    if (auto Why = exchanges(View, B))
      return Why;
    for (const ParmVarDecl *P : pointers(B))
      for (const ParmVarDecl *Q : pointers(B)) {
        if (P == Q || !storesThrough(B, P))
          continue;
        if (auto Why = mayAlias(View, B, P, Q))
          return Failure{"cannot-prove-alias",
                         "`" + P->getNameAsString() + "` and `" +
                             Q->getNameAsString() +
                             "` may point to the same memory: " + *Why,
                         Line};
      }
  }
  return std::nullopt;
}

/// True when every mention of the parameter is the base of a load.
static bool onlyLoaded(const KernelView &View, unsigned Index) {
  return llvm::all_of(View.bodies(), [Index](const Body &B) {
    const ParmVarDecl *P = B.Decl->getParamDecl(Index);
    size_t Loads = llvm::count_if(B.Whole.Accesses, [P](const Access &A) {
      return A.Kind == Access::Load && A.Base == P;
    });
    return Loads > 0 && B.Whole.mentions(P) == Loads;
  });
}

/// The declaration `T *name` with what is missing; empty when it is written
/// otherwise.
static std::string qualified(llvm::StringRef Text, llvm::StringRef Name,
                             bool Const) {
  llvm::StringRef Before = Text;
  if (!Before.consume_back(Name) || !Before.rtrim().ends_with("*"))
    return "";
  std::string Out = (Before.rtrim() + "__restrict__ " + Name).str();
  if (Const)
    Out = "const " + Out;
  return Out;
}

static Checked<std::string> newSignature(const KernelView &View) {
  const Function &F = View.function();
  const Body &B = View.bodies().front();
  std::vector<Hole> Holes;
  for (const ParmVarDecl *P : pointers(B)) {
    unsigned Index = P->getFunctionScopeIndex();
    if (P->getType().isRestrictQualified() || Index >= F.Parameters.size())
      continue;
    bool Const = !P->getType()->getPointeeType().isConstQualified() &&
                 !P->getType()->getPointeeType()->isPointerType() &&
                 onlyLoaded(View, Index);
    std::string Text =
        qualified(View.text(F.Parameters[Index]), P->getName(), Const);
    if (Text.empty())
      return Failure{"signature-spelling",
                     "parameter `" + P->getNameAsString() +
                         "` is not written as `type *name`",
                     F.Parameters[Index].BeginLine};
    Holes.push_back({F.Parameters[Index], Text});
  }
  if (Holes.empty())
    return Failure{"already-restrict", "every pointer is marked __restrict__",
                   F.Signature.BeginLine};
  return substitute(View.model(), F.Signature, std::move(Holes));
}

static void propose(const KernelView &View, Report &Out) {
  std::vector<const Evidence *> Items;
  for (const HotLoop &Hot : hotLoops(View, MemoryWaits)) {
    const Body &B = View.bodies().front();
    if (const clang::Stmt *Node = View.concrete(B, *Hot.Stmt))
      if (mayReload(B, effectsOf(Node)))
        llvm::append_range(Items, Hot.Items);
  }
  if (Items.empty())
    return;
  const Function &F = View.function();
  if (!F.Redeclarations.empty()) {
    Out.decline({"has-redeclarations",
                 "the kernel is declared or instantiated elsewhere too, which "
                 "would have "
                 "to change with it",
                 F.Redeclarations.front().BeginLine},
                Items);
    return;
  }
  std::optional<Failure> Why = mayAliasAnywhere(View);
  if (!Why)
    Why = movesProducts(View);
  Checked<std::string> Text =
      Why ? Checked<std::string>(*Why) : newSignature(View);
  if (!Text) {
    Out.decline(Text.failure(), Items);
    return;
  }
  Edit E = newEdit(EditKind::Signature, Out.Id, Items);
  E.Function = F.Id;
  E.Text = *Text;
  E.Reason = "Each store of the loop may change what is loaded at " +
             placesOf(Items) +
             " as far as the compiler knows, so it loads again.";
  E.Precondition =
      "Every launch passes an allocation of its own for each pointer that is "
      "stored through.";
  E.Postcondition =
      "The kernel does the same; its symbol changes where const is new.";
  Out.propose(View, "const __restrict__", {std::move(E)}, Items, 1.2);
}

const Transformation &constRestrict() {
  static const Entry T("optimas-const-restrict",
                       "Tells the compiler that a kernel's pointers do not "
                       "alias, and which of them are only read.",
                       "NVIDIA, CUDA C++ Programming Guide, __restrict__",
                       propose);
  return T;
}

} // namespace optimas
