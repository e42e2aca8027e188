//===- LoopPlan.cpp - Taking a counted loop apart -------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LoopPlan.h"

using namespace clang;

namespace optimas::recipes {

/// Reads nothing that the loop changes: no memory, no hazards, no variable of
/// \p Changed.
bool isInvariant(const Expr *E, const Effects &Loop, const VarDecl *Var) {
  Effects X = effectsOf(E);
  if (!X.Hazards.empty() || !X.Accesses.empty() || !X.Written.empty())
    return false;
  return llvm::none_of(X.Mentions, [&](const DeclRefExpr *R) {
    const auto *V = dyn_cast<VarDecl>(R->getDecl());
    return V && (V == Var || Loop.Written.count(V) || Loop.Declared.count(V) ||
                 Loop.Escaped.count(V));
  });
}

static bool keepsValue(QualType From, QualType To, const ASTContext &Ast) {
  if (!From->isIntegerType() || !To->isIntegerType())
    return false;
  uint64_t F = Ast.getTypeSize(From), T = Ast.getTypeSize(To);
  if (From->isUnsignedIntegerType())
    return To->isUnsignedIntegerType() ? T >= F : T > F;
  return To->isSignedIntegerType() && T >= F;
}

static bool isSimple(llvm::StringRef Text) {
  return llvm::all_of(
      Text, [](char C) { return llvm::isAlnum(C) || C == '_' || C == '.'; });
}

namespace {
/// One loop of one concrete body, on its way to a plan.
struct Planner {
  const KernelView &View;
  const Body &B;
  const Statement &Stmt;
  LoopPlan Plan{};
  unsigned Line = Stmt.Range.BeginLine;

  Failure fail(llvm::StringRef Rule, const llvm::Twine &Message) const {
    return {Rule.str(), Message.str(), Line};
  }
  std::optional<Failure> variableAndStep();
  std::optional<Failure> test();
  std::optional<Failure> body();
  void loads();
  bool eligible(const Access &A, LoopLoad &Out) const;
};
} // namespace

std::optional<Failure> Planner::variableAndStep() {
  LoopShape &S = Plan.Shape;
  const ASTContext &Ast = View.ast();
  const auto *Init = dyn_cast_or_null<DeclStmt>(S.Node->getInit());
  if (!Init || !Init->isSingleDecl() || !isa<VarDecl>(Init->getSingleDecl()))
    return fail("loop-shape",
                "the loop does not declare one variable of its own "
                "(`for (int i = …; i < n; i += s)`)");
  S.Var = cast<VarDecl>(Init->getSingleDecl());
  QualType Type = S.Var->getType();
  if (!Type->isIntegerType() || Type->isBooleanType() ||
      Type->isEnumeralType() || Type.isVolatileQualified() ||
      Ast.getTypeSize(Type) < 32)
    return fail("loop-shape", "the loop variable is no 32- or 64-bit integer");
  S.VarName = S.Var->getNameAsString();
  S.VarType = View.spelledType(S.Var);
  S.VarIs64 = Ast.getTypeSize(Type) == 64;
  if (auto R = View.range(Init))
    S.Init = *R;
  if (!S.Init.valid() || S.VarType.empty())
    return fail("in-macro", "the loop's header comes from a macro");

  const Expr *Inc = S.Node->getInc() ? strip(S.Node->getInc()) : nullptr;
  if (const auto *Op = dyn_cast_or_null<UnaryOperator>(Inc);
      Op && Op->isIncrementOp() && variable(Op->getSubExpr()) == S.Var) {
    S.StepText = "1";
    S.StepType = S.VarType;
    return std::nullopt;
  }
  if (const auto *Op = dyn_cast_or_null<CompoundAssignOperator>(Inc);
      Op && Op->getOpcode() == BO_AddAssign && variable(Op->getLHS()) == S.Var)
    S.Step = Op->getRHS();
  else if (const auto *Op = dyn_cast_or_null<BinaryOperator>(Inc);
           Op && Op->getOpcode() == BO_Assign &&
           variable(Op->getLHS()) == S.Var)
    if (const auto *Sum = dyn_cast<BinaryOperator>(strip(Op->getRHS()));
        Sum && Sum->getOpcode() == BO_Add) {
      if (variable(Sum->getLHS()) == S.Var)
        S.Step = Sum->getRHS();
      else if (variable(Sum->getRHS()) == S.Var)
        S.Step = Sum->getLHS();
    }
  if (!S.Step || !strip(S.Step)->getType()->isIntegerType())
    return fail("loop-shape",
                "the loop variable does not advance by `++` or `+= step`");
  auto Spelled = View.spelling(S.Step->IgnoreImpCasts());
  if (!Spelled)
    return fail("in-macro", "the loop's step comes from a macro");
  S.StepText = *Spelled;
  const Expr *Source = strip(S.Step);
  if (Ast.getTypeSize(Source->getType()) > Ast.getTypeSize(Type))
    return fail("cannot-prove-stride",
                "the step is wider than the loop variable");
  // Unsigned where the user's is: `i += blockDim.x` wraps and does not
  // overflow.
  bool Unsigned = Source->getType()->isUnsignedIntegerType() ||
                  (constantValue(Source, Ast) && Type->isUnsignedIntegerType());
  S.StepType = S.VarIs64 ? "" : Unsigned ? "unsigned" : "int";
  S.StepMayBeNegative = !nonNegative(Source, Ast);
  if (S.StepMayBeNegative && Type->isUnsignedIntegerType())
    return fail("cannot-prove-stride",
                "the step may be negative while the loop variable is unsigned");
  return std::nullopt;
}

std::optional<Failure> Planner::test() {
  LoopShape &S = Plan.Shape;
  const ASTContext &Ast = View.ast();
  const auto *Op = dyn_cast_or_null<BinaryOperator>(
      S.Node->getCond() ? strip(S.Node->getCond()) : nullptr);
  bool Flip = Op && variable(Op->getRHS()) == S.Var;
  if (!Op || !Op->isRelationalOp() ||
      (!Flip && variable(Op->getLHS()) != S.Var))
    return fail("loop-shape", "the loop's test is not `i < n` or `i <= n`");
  BinaryOperatorKind K = Op->getOpcode();
  if (Flip)
    K = BinaryOperator::reverseComparisonOp(K);
  if (K != BO_LT && K != BO_LE)
    return fail("loop-shape", "the loop's test is not `i < n` or `i <= n`");
  S.Test = K == BO_LT ? "<" : "<=";
  const Expr *Bound = Flip ? Op->getLHS() : Op->getRHS();
  const Expr *VarSide = Flip ? Op->getRHS() : Op->getLHS();
  S.Bound = Bound;
  QualType Common = VarSide->getType();
  if (!keepsValue(S.Var->getType(), Common, Ast))
    return fail(
        "mixed-signedness",
        "the test converts the signed loop variable to an unsigned type");
  auto Spelled = View.spelling(Bound->IgnoreImpCasts());
  if (!Spelled)
    return fail("in-macro", "the loop's bound comes from a macro");
  S.BoundText = *Spelled;
  QualType Own = strip(Bound)->getType();
  if (Common->isUnsignedIntegerType() && !Own->isUnsignedIntegerType() &&
      !nonNegative(Bound, Ast))
    S.BoundText = "static_cast<" +
                  Common.getCanonicalType().getUnqualifiedType().getAsString(
                      PrintingPolicy(Ast.getLangOpts())) +
                  ">(" + S.BoundText + ")";
  else if (Flip && !isSimple(S.BoundText))
    S.BoundText = "(" + S.BoundText + ")";
  S.Wide = Common->isUnsignedIntegerType() && Ast.getTypeSize(Common) == 64
               ? "unsigned long long"
               : "long long";
  if (S.VarIs64)
    S.StepType = S.Wide;
  return std::nullopt;
}

std::optional<Failure> Planner::body() {
  const LoopShape &S = Plan.Shape;
  const clang::Stmt *Node = S.Node->getBody();
  Plan.Does = effectsOf(Node);
  Plan.BodyIsCompound = isa<CompoundStmt>(Node);
  auto R = View.range(Node);
  const Statement *Own = View.statement(Node);
  if (Own)
    R = Own->Range;
  if (!R || (!Plan.BodyIsCompound && !Own))
    return fail("in-macro", "the loop's body begins or ends in a macro");
  Plan.Body = *R;
  if (Plan.Does.Written.count(S.Var) || Plan.Does.Escaped.count(S.Var))
    return fail("loop-variable-written", "the body writes `" + S.VarName + "`");
  for (const Expr *E : {S.Bound, S.Step})
    if (E && !isInvariant(E, Plan.Does, S.Var))
      return fail(
          "bound-not-invariant",
          "the loop's bound or step reads memory or what the body changes");
  for (const DeclRefExpr *Ref : Plan.Does.Mentions)
    if (Ref->getDecl() == S.Var) {
      auto Use = View.range(Ref);
      if (!Use)
        return fail("in-macro", "a macro's body uses `" + S.VarName + "`");
      Plan.VarUses.push_back(*Use);
    }
  return std::nullopt;
}

bool Planner::eligible(const Access &A, LoopLoad &Out) const {
  if (A.Kind != Access::Load || A.Conditional || !A.Base || !A.Index ||
      A.Dimensions != 1 || !A.Base->getType()->isPointerType() ||
      Plan.Does.Written.count(A.Base) || Plan.Does.Declared.count(A.Base) ||
      Plan.Does.Escaped.count(A.Base) || A.Type.isVolatileQualified())
    return false;
  QualType Type = A.Type.getUnqualifiedType();
  if (!Type.isTrivialType(View.ast()))
    return false;
  auto R = View.range(A.Node);
  if (!R)
    return false;
  Effects Index = effectsOf(A.Index);
  if (!Index.Hazards.empty() || !Index.Written.empty())
    return false;
  bool UsesVar = false;
  for (const DeclRefExpr *Ref : Index.Mentions) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (V && (Plan.Does.Written.count(V) || Plan.Does.Declared.count(V)))
      return false;
    UsesVar |= V == Plan.Shape.Var;
  }
  bool Invariant = !UsesVar;
  for (const Access &Inner : Index.Accesses) {
    auto It = llvm::find_if(
        Plan.Loads, [&](const LoopLoad &L) { return L.Node == Inner.Node; });
    if (It == Plan.Loads.end())
      return false;
    Invariant &= It->Invariant;
  }
  Out.Range = *R;
  Out.Base = A.Base;
  Out.Element = View.spelledElement(A.Base);
  Out.Name = A.Base->getNameAsString();
  Out.Intrinsic = A.Intrinsic;
  Out.Invariant = Invariant;
  Out.BuiltinType = Type->isArithmeticType() && !Type->isBooleanType() &&
                    !Type->isHalfType() && !Type->isBFloat16Type();
  Out.Node = A.Node;
  return !Out.Element.empty();
}

void Planner::loads() {
  for (const Access &A : Plan.Does.Accesses) {
    LoopLoad L;
    if (eligible(A, L))
      Plan.Loads.push_back(std::move(L));
  }
}

Checked<LoopPlan> planLoop(const KernelView &View, const Body &B,
                           const Statement &Stmt) {
  Planner P{View, B, Stmt};
  const auto *For = dyn_cast_or_null<ForStmt>(View.concrete(B, Stmt));
  if (Stmt.InMacro)
    return P.fail("in-macro", "the loop begins or ends in a macro");
  if (!For)
    return P.fail("loop-shape", "only `for` loops are analysed");
  if (holdsDirective(View.text(Stmt.Range)))
    return P.fail(
        "holds-directive",
        "the loop has a pragma or holds another preprocessor directive");
  P.Plan.Stmt = &Stmt;
  P.Plan.Shape.Node = For;
  if (auto F = P.variableAndStep())
    return *F;
  if (auto F = P.test())
    return *F;
  if (auto F = P.body())
    return *F;
  if (auto F = mayRoundOtherwise(View, B, For))
    return *F;
  P.loads();
  return std::move(P.Plan);
}

/// What is written into the text must not depend on the instantiation.
static bool agree(const LoopPlan &A, const LoopPlan &B) {
  const LoopShape &S = A.Shape, &T = B.Shape;
  if (S.Test != T.Test || S.BoundText != T.BoundText ||
      S.StepText != T.StepText || S.StepType != T.StepType ||
      S.StepMayBeNegative != T.StepMayBeNegative || S.Wide != T.Wide ||
      S.VarIs64 != T.VarIs64 || A.Loads.size() != B.Loads.size())
    return false;
  for (size_t I = 0; I < A.Loads.size(); ++I)
    if (A.Loads[I].Range.Begin != B.Loads[I].Range.Begin ||
        A.Loads[I].Range.End != B.Loads[I].Range.End ||
        A.Loads[I].Invariant != B.Loads[I].Invariant)
      return false;
  return true;
}

Checked<LoopPlan> planLoop(const KernelView &View, const Statement &Stmt) {
  std::optional<LoopPlan> First;
  for (const Body &B : View.bodies()) {
    Checked<LoopPlan> Plan = planLoop(View, B, Stmt);
    if (!Plan)
      return Plan.failure();
    if (!First) {
      First = std::move(*Plan);
      continue;
    }
    if (!agree(*First, *Plan))
      return Failure{
          "instantiations-differ",
          "the loop means different things in the template's instantiations",
          Stmt.Range.BeginLine};
    for (size_t I = 0; I < First->Loads.size(); ++I)
      First->Loads[I].BuiltinType &= Plan->Loads[I].BuiltinType;
  }
  return std::move(*First);
}

} // namespace optimas::recipes
