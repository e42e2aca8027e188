//===- HostProofs.cpp - What the launches prove about a kernel ------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostProofs.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace optimas::recipes {

//===----------------------------------------------------------------------===//
// Finding the launches
//===----------------------------------------------------------------------===//

namespace {
/// The concrete functions with a body in the program's own files. System
/// headers are skipped without a look: they are most of the unit.
class HostFunctions {
public:
  explicit HostFunctions(const SourceModel &Model)
      : Model(Model), SM(Model.host().getSourceManager()) {
    context(Model.host().getTranslationUnitDecl());
  }
  std::vector<const FunctionDecl *> All;

private:
  bool ours(const Decl *D) {
    SourceLocation Loc = SM.getFileLoc(D->getLocation());
    FileID Id = SM.getFileID(Loc);
    if (Id.isInvalid()) // Clang's own
      return false;
    auto [It, New] = Known.try_emplace(Id, false);
    if (New && !SM.isInSystemHeader(Loc))
      if (auto Entry = SM.getFileEntryRefForID(Id)) {
        auto File = Model.findFile(Entry->getName());
        It->second = File && Model.file(*File).Editable;
      }
    return It->second;
  }
  void function(const FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody() && !F->isDependentContext())
      All.push_back(F);
  }
  void context(const DeclContext *C) {
    for (const Decl *D : C->decls()) {
      if (!ours(D))
        continue;
      if (const auto *F = dyn_cast<FunctionDecl>(D))
        function(F);
      else if (const auto *T = dyn_cast<FunctionTemplateDecl>(D)) {
        for (const FunctionDecl *S : T->specializations())
          if (const FunctionDecl *Definition = S->getDefinition())
            if (!llvm::is_contained(All, Definition))
              function(Definition);
      } else if (const auto *Inner = dyn_cast<DeclContext>(D))
        context(Inner);
    }
  }

  const SourceModel &Model;
  const SourceManager &SM;
  llvm::DenseMap<FileID, bool> Known;
};
} // namespace

/// The names under which host code may speak of the kernel.
static bool isKernel(const NamedDecl *D, const Function &F,
                     const SourceModel &Model) {
  const auto *Fn = dyn_cast<FunctionDecl>(D);
  if (!Fn || Fn->getQualifiedNameAsString() != F.Name)
    return false;
  // Overloads of one name are told apart by where the pattern is spelled.
  const FunctionDecl *Pattern = Fn->getTemplateInstantiationPattern();
  if (!Pattern)
    Pattern = Fn;
  if (const FunctionDecl *Definition = Pattern->getDefinition())
    Pattern = Definition;
  const SourceManager &SM = Model.host().getSourceManager();
  SourceLocation Loc = SM.getFileLoc(Pattern->getLocation());
  unsigned Offset = SM.getFileOffset(Loc);
  auto File = Model.findFile(SM.getFilename(Loc));
  return File && *File == F.Definition.File && Offset >= F.Definition.Begin &&
         Offset < F.Definition.End;
}

Checked<std::vector<HostLaunch>> hostLaunches(const KernelView &View) {
  const SourceModel &Model = View.model();
  const Function &F = View.function();
  unsigned Line = F.Definition.BeginLine;
  if (!Model.file(F.Definition.File).IsMain)
    return Failure{
        "cannot-prove-launch-sites",
        "the kernel is defined in a header: other units may launch it", Line};
  for (const SourceRange &R : F.Redeclarations)
    if (R.File == NoId || !Model.file(R.File).IsMain)
      return Failure{
          "cannot-prove-launch-sites",
          "the kernel is declared in a header: other units may launch it",
          R.BeginLine};
  if (!Model.lostLaunches().empty())
    return Failure{"cannot-prove-launch-sites",
                   "a launch in this unit is not understood by Clang",
                   Model.lostLaunches().front().BeginLine};
  std::vector<const LaunchSite *> Sites = Model.launchSitesOf(F.Id);
  if (Sites.empty())
    return Failure{"cannot-prove-launch-sites",
                   "no launch of the kernel is in this unit", Line};
  const SourceManager &SM = Model.host().getSourceManager();
  std::vector<HostLaunch> Launches;
  std::optional<Failure> Problem;
  for (const FunctionDecl *Caller : HostFunctions(Model).All)
    walk(Caller->getBody(), [&](const Stmt *S) {
      if (const auto *Call = dyn_cast<CUDAKernelCallExpr>(S)) {
        const FunctionDecl *Callee = Call->getDirectCallee();
        if (!Callee || !isKernel(Callee, F, Model))
          return true;
        unsigned Offset = SM.getFileOffset(SM.getFileLoc(Call->getBeginLoc()));
        for (const LaunchSite *Site : Sites)
          if (Site->Whole.Begin == Offset)
            Launches.push_back({Site, Call, Caller});
        // The callee's name is no use of its address.
        for (const Stmt *Child : Call->children())
          if (Child != Call->getCallee())
            walk(Child, [](const Stmt *) { return true; });
        return false;
      }
      if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
        if (isKernel(Ref->getDecl(), F, Model))
          Problem = Failure{
              "cannot-prove-launch-sites",
              "the kernel is also named outside `<<<>>>`, where it may be "
              "launched by its address",
              SM.getSpellingLineNumber(SM.getFileLoc(Ref->getBeginLoc()))};
      return true;
    });
  if (Problem)
    return *Problem;
  for (const LaunchSite *Site : Sites) {
    unsigned At = Site->Whole.BeginLine;
    if (Site->InMacro)
      return Failure{"in-macro", "a launch of the kernel comes from a macro",
                     At};
    if (llvm::none_of(Launches,
                      [Site](const HostLaunch &L) { return L.Site == Site; }))
      return Failure{"cannot-prove-launch-sites",
                     "a launch stands in code that is not instantiated here",
                     At};
  }
  return Launches;
}

//===----------------------------------------------------------------------===//
// Aliasing
//===----------------------------------------------------------------------===//

static bool isAllocation(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  return Callee && Callee->getIdentifier() &&
         llvm::StringSwitch<bool>(Callee->getName())
             .Cases({"cudaMalloc", "cudaMallocManaged", "cudaMallocAsync",
                     "cudaMallocPitch"},
                    true)
             .Default(false);
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

/// The variable whose allocation a pointer argument points into.
static const VarDecl *pointedInto(const Expr *Arg) {
  const Expr *E = stripCasts(Arg);
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
    const VarDecl *X = pointedInto(L.Call->getArg(I));
    const VarDecl *Y = pointedInto(L.Call->getArg(J));
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

//===----------------------------------------------------------------------===//
// Grid and block
//===----------------------------------------------------------------------===//

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
