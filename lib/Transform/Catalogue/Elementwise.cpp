//===- Elementwise.cpp - Kernels of one element a thread ------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Elementwise.h"

using namespace clang;

namespace optimas::recipes {

namespace {
/// The parts of one concrete body.
struct Shape {
  const VarDecl *Index = nullptr;
  const ParmVarDecl *Bound = nullptr;
  std::vector<const clang::Stmt *> Work;
  unsigned GuardMentions = 0;
};

class Finder {
public:
  Finder(const KernelView &View, const Body &B) : View(View), B(B) {}
  std::optional<Failure> run(Shape &Out);

private:
  Failure fail(llvm::StringRef Rule, const llvm::Twine &Message,
               const clang::Stmt *At = nullptr) const {
    return {Rule.str(), Message.str(), View.line(At)};
  }
  bool guard(const Expr *Cond, bool Inverted, Shape &Out) const;
  std::optional<Failure> declaration(const DeclStmt *D) const;

  const KernelView &View;
  const Body &B;
};
} // namespace

static bool justReturns(const clang::Stmt *S) {
  if (const auto *Block = dyn_cast<CompoundStmt>(S))
    return Block->size() == 1 && justReturns(Block->body_front());
  return isa<ReturnStmt>(S);
}

/// `i < n`, or with \p Inverted `i >= n`, either way round.
bool Finder::guard(const Expr *Cond, bool Inverted, Shape &Out) const {
  const auto *Op = dyn_cast<BinaryOperator>(strip(Cond));
  if (!Op || !Op->isRelationalOp())
    return false;
  const VarDecl *L = variable(Op->getLHS()), *R = variable(Op->getRHS());
  if (!L || !R)
    return false;
  BinaryOperatorKind K = Op->getOpcode();
  if (isa<ParmVarDecl>(L)) {
    std::swap(L, R);
    K = BinaryOperator::reverseComparisonOp(K);
  }
  Out.Index = L;
  Out.Bound = dyn_cast<ParmVarDecl>(R);
  return Out.Bound && !isa<ParmVarDecl>(L) && K == (Inverted ? BO_GE : BO_LT);
}

/// Before the work only values may be computed, and from the thread's place
/// only the index.
std::optional<Failure> Finder::declaration(const DeclStmt *D) const {
  Effects Does = effectsOf(D);
  for (const Hazard &H : Does.Hazards)
    return fail(ruleFor(H.Kind),
                "a declaration of the kernel: " + wordsFor(H.Kind), D);
  if (!Does.Accesses.empty())
    return fail("kernel-shape", "memory is accessed outside the guarded work",
                D);
  return std::nullopt;
}

std::optional<Failure> Finder::run(Shape &Out) {
  const auto *Top = dyn_cast<CompoundStmt>(B.Decl->getBody());
  if (!Top)
    return fail("kernel-shape", "the kernel has no plain body");
  auto Children = llvm::ArrayRef(Top->body_begin(), Top->body_end());
  while (!Children.empty()) {
    const clang::Stmt *S = Children.front();
    Children = Children.drop_front();
    if (const auto *D = dyn_cast<DeclStmt>(S)) {
      if (auto Why = declaration(D))
        return Why;
      continue;
    }
    const auto *If = dyn_cast<IfStmt>(S);
    if (!If || If->getInit() || If->getConditionVariable())
      return fail("kernel-shape",
                  "the kernel does more than one guarded element a thread", S);
    if (If->getElse())
      return fail("guard-has-else", "the guard has an else branch", S);
    if (justReturns(If->getThen()) && guard(If->getCond(), true, Out)) {
      Out.Work.assign(Children.begin(), Children.end());
    } else if (guard(If->getCond(), false, Out)) {
      if (!Children.empty())
        return fail("kernel-shape", "statements stand after the guarded work",
                    Children.front());
      if (const auto *Block = dyn_cast<CompoundStmt>(If->getThen()))
        Out.Work.assign(Block->body_begin(), Block->body_end());
      else
        Out.Work = {If->getThen()};
    } else {
      return fail("no-tail-guard",
                  "the guard is not `i < n` with a parameter `n`", S);
    }
    Out.GuardMentions = effectsOf(If->getCond()).mentions(Out.Index);
    return std::nullopt;
  }
  return fail("no-tail-guard", "no `if (i < n)` guards the work");
}

/// Index and bound: who they are and that nothing else depends on the thread's
/// place.
static std::optional<Failure> checkIndex(const KernelView &View, const Body &B,
                                         const Shape &S) {
  const ASTContext &Ast = View.ast();
  unsigned Line = View.line(S.Work.empty() ? nullptr : S.Work.front());
  auto Init = [&B](const VarDecl *V) { return B.initialiser(V); };
  const Expr *First = B.initialiser(S.Index);
  std::string Name = "`" + S.Index->getNameAsString() + "`";
  if (!First || !isGlobalThreadIndex(First, Init))
    return Failure{"not-thread-index",
                   Name + " is not `blockIdx.x * blockDim.x + threadIdx.x`",
                   Line};
  QualType I = S.Index->getType(), N = S.Bound->getType();
  if (!I->isIntegerType() || !N->isIntegerType() || Ast.getTypeSize(I) < 32 ||
      Ast.getTypeSize(N) < 32 ||
      I->isUnsignedIntegerType() != N->isUnsignedIntegerType())
    return Failure{"mixed-signedness",
                   Name + " and `" + S.Bound->getNameAsString() +
                       "` are not both signed or both unsigned",
                   Line};
  if (B.Facts.Writes.lookup(S.Bound) || B.Facts.Escaped.count(S.Bound))
    return Failure{"bound-not-invariant", "the kernel writes the bound", Line};
  // Each thread will do other elements: nothing may depend on its place but
  // through i, and the variables that i alone is made of.
  llvm::SmallPtrSet<const VarDecl *, 4> Feeds = {S.Index};
  std::vector<const Expr *> Todo = {First};
  while (!Todo.empty()) {
    const Expr *E = Todo.back();
    Todo.pop_back();
    walk(E, [&](const clang::Stmt *Node) {
      const auto *X = dyn_cast<Expr>(Node);
      const VarDecl *V = X && !indexBuiltin(X) ? variable(X) : nullptr;
      if (!V || !isa<DeclRefExpr>(Node))
        return true;
      const Expr *Init = B.initialiser(V);
      if (Init &&
          (Feeds.count(V) || B.Whole.mentions(V) == effectsOf(E).mentions(V)) &&
          Feeds.insert(V).second)
        Todo.push_back(Init);
      return true;
    });
  }
  const clang::Stmt *Other = nullptr;
  walk(B.Decl->getBody(), [&](const clang::Stmt *Node) {
    if (const auto *D = dyn_cast<DeclStmt>(Node))
      if (llvm::all_of(D->decls(), [&](const Decl *Inner) {
            return Feeds.count(dyn_cast<VarDecl>(Inner)) > 0;
          }))
        return false;
    if (const auto *E = dyn_cast<Expr>(Node); E && indexBuiltin(E)) {
      Other = Node;
      return false;
    }
    return true;
  });
  if (Other)
    return Failure{"uses-thread-index",
                   "the kernel uses the thread's place for more than " + Name,
                   View.line(Other)};
  return std::nullopt;
}

static std::optional<Failure> addPointers(const KernelView &View,
                                          const Effects &Does, const Shape &S,
                                          ElementwisePlan &Plan) {
  for (const Access &A : Does.Accesses) {
    unsigned Line = View.line(A.Node);
    const auto *Param = dyn_cast_or_null<ParmVarDecl>(A.Base);
    if (A.Intrinsic || !Param || !A.Index || A.Dimensions != 1)
      return Failure{"not-elementwise",
                     "an access is not an element of a pointer parameter",
                     Line};
    if (variable(A.Index) != S.Index)
      return Failure{"not-stride-1",
                     "`" + Param->getNameAsString() + "` is not accessed at `" +
                         S.Index->getNameAsString() +
                         "`, so a thread's elements are not adjacent",
                     Line};
    if (A.Conditional)
      return Failure{"conditional-access",
                     "an access is only made under a condition", Line};
    auto Whole = View.range(A.Node),
         Index = View.range(A.Index->IgnoreImpCasts());
    if (!Whole || !Index)
      return Failure{"in-macro", "an access comes from a macro", Line};
    auto It = llvm::find_if(Plan.Pointers, [&](const ElementPointer &P) {
      return P.Param == Param;
    });
    if (It == Plan.Pointers.end()) {
      Plan.Pointers.emplace_back();
      It = std::prev(Plan.Pointers.end());
      It->Name = Param->getNameAsString();
      It->Param = Param;
    }
    It->Loaded |= A.Kind != Access::Store;
    It->Stored |= A.Kind != Access::Load;
    It->Uses.push_back(*Whole);
    It->Indices.push_back(*Index);
    QualType T = A.Type.getUnqualifiedType().getCanonicalType();
    uint64_t Bytes = View.ast().getTypeSizeInChars(T).getQuantity();
    if (!T->isArithmeticType() || Bytes > 8)
      return Failure{"unsupported-element-type",
                     "the elements are of type `" + T.getAsString() +
                         "`, not of an arithmetic type of at most 8 bytes",
                     Line};
    QualType Own = Plan.Pointers.front().Param->getType()->getPointeeType();
    if (Own.getUnqualifiedType().getCanonicalType() != T)
      return Failure{"mixed-element-types",
                     "the arrays have elements of several types", Line};
    if (Plan.ElementBytes.empty())
      Plan.ElementBytes.push_back(Bytes);
  }
  return std::nullopt;
}

static Checked<ElementwisePlan> planBody(const KernelView &View,
                                         const Body &B) {
  Shape S;
  if (auto Why = Finder(View, B).run(S))
    return *Why;
  if (S.Work.empty())
    return Failure{"kernel-shape", "the guard holds nothing",
                   View.line(nullptr)};
  if (auto Why = checkIndex(View, B, S))
    return *Why;
  ElementwisePlan Plan;
  Effects Does;
  for (size_t I = 0; I < S.Work.size(); ++I) {
    const clang::Stmt *W = S.Work[I];
    Effects One = effectsOf(W);
    for (const Hazard &H : One.Hazards)
      return Failure{ruleFor(H.Kind).str(),
                     "the work of a thread: " + wordsFor(H.Kind).str(),
                     View.line(H.Node)};
    bool Last = I + 1 == S.Work.size();
    const auto *Assign =
        isa<Expr>(W) ? dyn_cast<BinaryOperator>(strip(cast<Expr>(W))) : nullptr;
    if (Last ? !Assign || !Assign->isAssignmentOp() || !One.stores()
             : !isa<DeclStmt>(W))
      return Failure{
          "kernel-shape",
          "the work is not declarations followed by one assignment to an array",
          View.line(W)};
    llvm::append_range(Does.Accesses, One.Accesses);
    llvm::append_range(Does.Mentions, One.Mentions);
  }
  if (auto Why = addPointers(View, Does, S, Plan))
    return *Why;
  size_t Indexing = 0;
  for (const ElementPointer &P : Plan.Pointers)
    Indexing += P.Uses.size();
  if (Does.mentions(S.Index) != Indexing)
    return Failure{"index-used-as-value",
                   "`" + S.Index->getNameAsString() +
                       "` is used for more than subscripts",
                   View.line(S.Work.front())};
  if (B.Whole.mentions(S.Index) != Indexing + S.GuardMentions)
    return Failure{"kernel-shape", "the index is used outside the guarded work",
                   View.line(S.Work.front())};
  Plan.First = View.statement(S.Work.front());
  Plan.Last = View.statement(S.Work.back());
  if (!Plan.First || !Plan.Last || Plan.First->InMacro || Plan.Last->InMacro)
    return Failure{"in-macro", "the work comes from a macro",
                   View.line(S.Work.front())};
  Plan.Work = Plan.First->Range;
  Plan.Work.End = Plan.Last->Range.End;
  Plan.Work.EndLine = Plan.Last->Range.EndLine;
  if (holdsDirective(View.text(Plan.Work)))
    return Failure{"holds-directive", "the work holds a preprocessor directive",
                   View.line(S.Work.front())};
  Plan.Index = S.Index->getNameAsString();
  Plan.Bound = S.Bound->getNameAsString();
  Plan.BoundParam = S.Bound;
  Plan.Element = View.spelledElement(Plan.Pointers.front().Param);
  return Plan;
}

Checked<ElementwisePlan> planElementwise(const KernelView &View) {
  std::optional<ElementwisePlan> First;
  for (const Body &B : View.bodies()) {
    Checked<ElementwisePlan> Plan = planBody(View, B);
    if (!Plan)
      return Plan.failure();
    if (!First) {
      First = std::move(*Plan);
      continue;
    }
    if (First->Work.Begin != Plan->Work.Begin ||
        First->Work.End != Plan->Work.End ||
        First->Pointers.size() != Plan->Pointers.size())
      return Failure{"instantiations-differ",
                     "the kernel means different things in its instantiations",
                     View.function().Definition.BeginLine};
    First->ElementBytes.push_back(Plan->ElementBytes.front());
  }
  return std::move(*First);
}

std::optional<Failure> proveLaunches(const KernelView &View,
                                     ElementwisePlan &Plan) {
  Checked<std::vector<CoveringLaunch>> Launches =
      provedCoverage(View, Plan.BoundParam);
  if (!Launches)
    return Launches.failure();
  Plan.Launches = std::move(*Launches);
  return std::nullopt;
}

} // namespace optimas::recipes
