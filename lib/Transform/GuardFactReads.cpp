//===- GuardFactReads.cpp - What memory code reads -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Memory has the name of what its address comes from: a parameter, a global or shared
/// variable, a member of one. A pointer that was itself read from memory adds `[]` or the
/// member. Local pointers and references stand for whatever they were ever given. An
/// address that goes where it can't be followed (a call, memory) counts as read.
///
//===----------------------------------------------------------------------===//
#include "GuardFactReads.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace optimas {

using Names = std::set<std::string>;

static void add(Names &Into, const Names &From) { Into.insert(From.begin(), From.end()); }

static bool isPointer(const Expr *E) {
  QualType T = E->getType();
  return !T.isNull() && (T->isPointerType() || T->isArrayType() || T->isNullPtrType());
}

/// Functions whose first argument is only stored through, the second (if an address at
/// all) only loaded from.
static bool storesThroughFirst(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases({"__stcs", "__stcg", "__stwb", "__stwt"}, true)
      .Cases({"memcpy", "__builtin_memcpy", "memset", "__builtin_memset"}, true)
      .Default(false);
}

static std::string calleeName(const CallExpr *C) {
  if (const FunctionDecl *F = C->getDirectCallee())
    return F->getNameAsString();
  if (const auto *O = dyn_cast<OverloadExpr>(C->getCallee()->IgnoreParenImpCasts()))
    return O->getName().getAsString();
  return "";
}

namespace {
class Reads {
public:
  Reads(const ASTContext &Context, FileID File, const SourceRange &Range, Names &Out)
      : SM(Context.getSourceManager()), File(File), Range(Range), Out(Out) {}
  void run(const Stmt *Body) {
    for (size_t Before = SIZE_MAX; Before != Known;) {
      Before = Known;
      follow(Body);
    }
    visit(Body);
  }

private:
  Names pointer(const Expr *E) const;
  Names memory(const Expr *E) const;
  Names contents(const Expr *E) const;
  void learn(const VarDecl *V, const Names &From);
  void follow(const Stmt *S);
  void visit(const Stmt *S);
  void access(const Expr *E);
  void leaves(const Expr *E);
  bool inRange(const Stmt *S) const {
    auto [Id, Offset] = SM.getDecomposedExpansionLoc(S->getBeginLoc());
    return Id == File && Offset >= Range.Begin && Offset < Range.End;
  }

  const SourceManager &SM;
  FileID File;
  SourceRange Range;
  Names &Out;
  std::map<const VarDecl *, Names> Given; ///< what pointers were ever given
  size_t Known = 0;                       ///< names in Given
  std::vector<const Stmt *> Ancestors;
};
} // namespace

/// Memory that is known by this variable's name. Constants may be read anew.
static bool ownsName(const VarDecl *V) {
  if (isa<ParmVarDecl>(V))
    return true;
  QualType T = V->getASTContext().getBaseElementType(V->getType());
  return V->hasGlobalStorage() && !V->isConstexpr() &&
         !(T.isConstQualified() && V->hasInit());
}

/// A member of a parameter or a global: `args.out`.
static std::string memberName(const MemberExpr *M) {
  std::string Name = M->getMemberNameInfo().getAsString();
  const Expr *Base = M->getBase()->IgnoreParenImpCasts();
  if (const auto *Inner = dyn_cast<MemberExpr>(Base); Inner && !Inner->isArrow()) {
    std::string Outer = memberName(Inner);
    return Outer.empty() ? "" : Outer + "." + Name;
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(Base);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && ownsName(V) ? V->getNameAsString() + "." + Name : "";
}

/// The memory that the address \p E leads to.
Names Reads::pointer(const Expr *E) const {
  E = E->IgnoreParenCasts();
  if (E->getType()->isArrayType())
    return memory(E);
  Names Out;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (!V)
      return {"a function"};
    if (ownsName(V))
      Out.insert(V->getNameAsString());
    if (auto It = Given.find(V); It != Given.end())
      add(Out, It->second);
    return Out;
  }
  if (const auto *M = dyn_cast<MemberExpr>(E)) {
    if (!M->isArrow()) {
      if (std::string Name = memberName(M); !Name.empty())
        return {Name};
      return contents(M->getBase());
    }
    for (const std::string &Name : pointer(M->getBase()))
      Out.insert(Name + "->" + M->getMemberNameInfo().getAsString());
    return Out;
  }
  if (const auto *U = dyn_cast<UnaryOperator>(E)) {
    if (U->getOpcode() == UO_AddrOf)
      return memory(U->getSubExpr());
    if (U->getOpcode() != UO_Deref)
      return pointer(U->getSubExpr());
    for (const std::string &Name : pointer(U->getSubExpr()))
      Out.insert(Name + "[]");
    return Out;
  }
  if (const auto *S = dyn_cast<ArraySubscriptExpr>(E)) {
    // Of a local array the pointers in it are known.
    const auto *Ref = dyn_cast<DeclRefExpr>(S->getBase()->IgnoreParenImpCasts());
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (V && !ownsName(V) && V->getType()->isArrayType())
      return contents(Ref);
    for (const std::string &Name : pointer(S->getBase()))
      Out.insert(Name + "[]");
    return Out;
  }
  // Sums, choices, calls that hand an address on: any address inside.
  if (isa<CXXThisExpr>(E))
    return {"this"};
  if (isa<CallExpr>(E))
    Out.insert("what a call returns");
  for (const Stmt *Child : E->children())
    if (const auto *Part = dyn_cast_or_null<Expr>(Child);
        Part && (isPointer(Part) || isa<OpaqueValueExpr>(Part)))
      add(Out, pointer(Part));
  return Out;
}

/// The memory that the lvalue \p E is part of; none for a local variable.
Names Reads::memory(const Expr *E) const {
  E = E->IgnoreParens();
  if (const auto *C = dyn_cast<CastExpr>(E))
    return isPointer(C->getSubExpr()) && !C->getSubExpr()->isLValue()
               ? pointer(C->getSubExpr())
               : memory(C->getSubExpr());
  if (const auto *S = dyn_cast<ArraySubscriptExpr>(E))
    return pointer(S->getBase());
  if (const auto *M = dyn_cast<MemberExpr>(E))
    return M->isArrow() ? pointer(M->getBase()) : memory(M->getBase());
  if (const auto *U = dyn_cast<UnaryOperator>(E); U && U->getOpcode() == UO_Deref)
    return pointer(U->getSubExpr());
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (!V)
      return {};
    if (V->hasGlobalStorage())
      return ownsName(V) ? Names{V->getNameAsString()} : Names();
    if (V->getType()->isReferenceType()) {
      if (isa<ParmVarDecl>(V))
        return {V->getNameAsString()};
      auto It = Given.find(V);
      return It == Given.end() ? Names() : It->second;
    }
    return {};
  }
  if (const auto *C = dyn_cast<ConditionalOperator>(E)) {
    Names Out = memory(C->getTrueExpr());
    add(Out, memory(C->getFalseExpr()));
    return Out;
  }
  return {};
}

/// Every address that a value holds: a structure or an array of pointers.
Names Reads::contents(const Expr *E) const {
  Names Out;
  if (isPointer(E) && !E->getType()->isArrayType())
    return pointer(E);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts()))
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl())) {
      if (ownsName(V) && !V->getType()->isArithmeticType())
        Out.insert(V->getNameAsString());
      if (auto It = Given.find(V); It != Given.end())
        add(Out, It->second);
      return Out;
    }
  for (const Stmt *Child : E->children())
    if (const auto *Part = dyn_cast_or_null<Expr>(Child))
      add(Out, contents(Part));
  return Out;
}

void Reads::learn(const VarDecl *V, const Names &From) {
  Names &Has = Given[V];
  size_t Before = Has.size();
  add(Has, From);
  Known += Has.size() - Before;
}

/// What each variable that holds addresses is given.
void Reads::follow(const Stmt *S) {
  if (!S)
    return;
  if (const auto *D = dyn_cast<DeclStmt>(S))
    for (const Decl *Each : D->decls())
      if (const auto *V = dyn_cast<VarDecl>(Each); V && V->getInit())
        learn(V, V->getType()->isReferenceType() ? memory(V->getInit())
                                                 : contents(V->getInit()));
  const Expr *Target = nullptr, *Value = nullptr;
  if (const auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
    Target = B->getLHS(), Value = B->getRHS();
  else if (const auto *C = dyn_cast<CXXOperatorCallExpr>(S);
           C && C->isAssignmentOp() && C->getNumArgs() == 2)
    Target = C->getArg(0), Value = C->getArg(1);
  if (Target && !Value->getType()->isArithmeticType()) {
    while (true) {
      Target = Target->IgnoreParenImpCasts();
      if (const auto *M = dyn_cast<MemberExpr>(Target); M && !M->isArrow())
        Target = M->getBase();
      else if (const auto *A = dyn_cast<ArraySubscriptExpr>(Target))
        Target = A->getBase();
      else
        break;
    }
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Target))
      if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl()))
        learn(V, contents(Value));
  }
  for (const Stmt *Child : S->children())
    follow(Child);
}

/// An access to the memory of \p E, whose ancestors are known: does it read?
void Reads::access(const Expr *E) {
  const Stmt *Child = E;
  for (const Stmt *A : llvm::reverse(Ancestors)) {
    if (const auto *Sub = dyn_cast<ArraySubscriptExpr>(A);
        Sub && Sub->getIdx()->IgnoreParenImpCasts() != Child && Sub->getIdx() != Child)
      return; // the outer subscript is the access
    const auto *M = dyn_cast<MemberExpr>(A);
    const auto *Dependent = dyn_cast<CXXDependentScopeMemberExpr>(A);
    if ((M && !M->isArrow()) || (Dependent && !Dependent->isArrow())) {
      Child = A;
      continue;
    }
    if (const auto *C = dyn_cast<CastExpr>(A)) {
      if (C->getCastKind() == CK_ArrayToPointerDecay)
        return; // an address, not yet an access
      if (C->getCastKind() == CK_LValueToRValue)
        break;
      Child = A;
      continue;
    }
    if (isa<ParenExpr>(A)) {
      Child = A;
      continue;
    }
    if (const auto *U = dyn_cast<UnaryOperator>(A); U && U->getOpcode() == UO_AddrOf)
      return;
    if (isa<UnaryExprOrTypeTraitExpr>(A))
      return;
    if (const auto *B = dyn_cast<BinaryOperator>(A);
        B && B->getOpcode() == BO_Assign && B->getLHS() == Child)
      return; // a store
    if (const auto *C = dyn_cast<CXXOperatorCallExpr>(A);
        C && C->getOperator() == OO_Equal && C->getArg(0) == Child)
      return;
    // A reference of its own name is followed by that.
    if (const auto *D = dyn_cast<DeclStmt>(A)) {
      const auto *V = D->isSingleDecl() ? dyn_cast<VarDecl>(D->getSingleDecl()) : nullptr;
      if (V && V->getType()->isReferenceType() && !isa<DecompositionDecl>(V))
        return;
    }
    break;
  }
  add(Out, memory(E));
}

/// The address \p E goes where it is not followed.
void Reads::leaves(const Expr *E) {
  if (isPointer(E))
    add(Out, pointer(E));
  else if (E->isGLValue())
    add(Out, memory(E));
  else if (!E->getType()->isArithmeticType())
    add(Out, contents(E));
}

void Reads::visit(const Stmt *S) {
  if (!S)
    return;
  if (inRange(S)) {
    if (const auto *C = dyn_cast<CXXOperatorCallExpr>(S)) {
      for (const Expr *Arg : C->arguments())
        if (isPointer(Arg))
          leaves(Arg);
    } else if (const auto *C = dyn_cast<CallExpr>(S)) {
      bool Skip = storesThroughFirst(calleeName(C));
      for (const Expr *Arg : C->arguments()) {
        if (!Skip)
          leaves(Arg);
        Skip = false;
      }
    } else if (const auto *C = dyn_cast<CXXConstructExpr>(S)) {
      for (const Expr *Arg : C->arguments())
        if (isPointer(Arg))
          leaves(Arg);
    } else if (const auto *B = dyn_cast<BinaryOperator>(S);
               B && B->getOpcode() == BO_Assign && isPointer(B->getRHS()) &&
               !memory(B->getLHS()).empty()) {
      leaves(B->getRHS()); // kept in memory
    } else if (const auto *U = dyn_cast<UnaryOperator>(S);
               U && U->getOpcode() == UO_Deref) {
      access(U);
    } else if (const auto *M = dyn_cast<MemberExpr>(S)) {
      if (M->isArrow())
        access(M);
    } else if (isa<ArraySubscriptExpr>(S)) {
      access(cast<Expr>(S));
    } else if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      if (V && !V->getType()->isArrayType() &&
          (V->hasGlobalStorage() || V->getType()->isReferenceType()))
        access(Ref);
    }
  }
  // What stands behind `threadIdx.x` is Clang's business.
  if (isa<PseudoObjectExpr>(S))
    return;
  Ancestors.push_back(S);
  for (const Stmt *Child : S->children())
    visit(Child);
  Ancestors.pop_back();
}

std::set<std::string> memoryRead(const FunctionDecl *F, const SourceRange &Range) {
  Names Out;
  const Stmt *Body = F->getBody();
  if (!Body)
    return Out;
  const ASTContext &Context = F->getASTContext();
  const SourceManager &SM = Context.getSourceManager();
  FileID File = SM.getFileID(SM.getExpansionLoc(Body->getBeginLoc()));
  Reads(Context, File, Range, Out).run(Body);
  return Out;
}

} // namespace optimas
