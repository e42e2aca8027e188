//===- DigestStmt.cpp - Statements as text without positions -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DigestWriter.h"
#include "clang/AST/Attr.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace optimas {

std::optional<SourceRange> DigestWriter::rangeOf(const Stmt *S) const {
  if (!S)
    return std::nullopt;
  // Attributes that stand in a hole are no part of what they precede.
  while (const auto *A = dyn_cast<AttributedStmt>(S)) {
    auto O = Places.offset(A->getBeginLoc());
    if (!O || !TheHoles.holds(O->first, O->second))
      break;
    S = A->getSubStmt();
  }
  return Places.expanded(S->getBeginLoc(), S->getEndLoc());
}

std::optional<SourceRange>
DigestWriter::withSemicolon(std::optional<SourceRange> R) const {
  // A hole holds the `;` of the statement that it replaces.
  return R ? Places.withSemicolon(*R) : R;
}

bool DigestWriter::markIfHeld(const std::optional<SourceRange> &R) {
  int Hole = R ? TheHoles.holding(*R) : -1;
  if (Hole >= 0)
    mark(Hole);
  return Hole >= 0;
}

void DigestWriter::sequence(llvm::ArrayRef<Item> Items,
                            std::optional<SourceRange> Context) {
  if (!Careful || !Context) {
    for (const Item &I : Items)
      I.Write();
    return;
  }
  // The holes of this level: in the context and not inside an item.
  std::vector<int> Level;
  for (size_t H = 0; H < TheHoles.all().size(); ++H) {
    const SourceRange &Hole = TheHoles.all()[H];
    bool Inside = llvm::any_of(Items, [&](const Item &I) {
      return I.Range && I.Range->File == Hole.File && I.Range->Begin <= Hole.Begin &&
             Hole.End <= I.Range->End && !Hole.contains(*I.Range) &&
             (Hole.Begin != Hole.End ||
              (I.Range->Begin < Hole.Begin && Hole.End < I.Range->End));
    });
    // A place of insertion at either end of a block stands outside it.
    bool AtEnd = Hole.Begin == Hole.End && (Hole.Begin == Context->Begin ||
                                            Hole.End == Context->End);
    if (Hole.File == Context->File && Context->Begin <= Hole.Begin &&
        Hole.End <= Context->End && !Inside && !AtEnd)
      Level.push_back(H);
  }
  llvm::sort(Level, [&](int A, int B) {
    return TheHoles.all()[A].Begin < TheHoles.all()[B].Begin;
  });
  size_t Next = 0;
  for (const Item &I : Items) {
    for (; I.Range && Next < Level.size() &&
           TheHoles.all()[Level[Next]].Begin <= I.Range->Begin;
         ++Next)
      mark(Level[Next]);
    if (!I.Range || TheHoles.holding(*I.Range) < 0)
      I.Write();
  }
  for (; Next < Level.size(); ++Next)
    mark(Level[Next]);
}

void DigestWriter::stmt(const Stmt *S) {
  if (!S) {
    Out << "-";
    return;
  }
  if (Careful && markIfHeld(rangeOf(S)))
    return;
  if (const auto *A = dyn_cast<AttributedStmt>(S)) {
    for (const Attr *Each : A->getAttrs()) {
      auto O = Places.offset(Each->getLocation());
      if (!O || !TheHoles.holds(O->first, O->second))
        Each->printPretty(Out, Policy);
    }
    stmt(A->getSubStmt());
    return;
  }
  if (const auto *C = dyn_cast<CompoundStmt>(S)) {
    std::vector<Item> Items;
    for (const Stmt *Child : C->body())
      Items.push_back({Careful ? withSemicolon(rangeOf(Child)) : std::nullopt,
                       [this, Child] { stmt(Child); }});
    Out << "{";
    sequence(Items, Careful ? rangeOf(S) : std::nullopt);
    Out << "}\n";
  } else if (const auto *D = dyn_cast<DeclStmt>(S)) {
    for (const Decl *Child : D->decls())
      decl(Child);
  } else if (const auto *E = dyn_cast<Expr>(S)) {
    expr(E);
    Out << ";\n";
  } else {
    control(S);
  }
}

void DigestWriter::control(const Stmt *S) {
  Out << S->getStmtClassName() << " ";
  if (const auto *I = dyn_cast<IfStmt>(S)) {
    Out << int(I->getStatementKind());
    stmt(I->getInit());
    stmt(I->getConditionVariableDeclStmt());
    stmt(I->getCond());
    stmt(I->getThen());
    stmt(I->getElse());
  } else if (const auto *F = dyn_cast<ForStmt>(S)) {
    stmt(F->getInit());
    stmt(F->getConditionVariableDeclStmt());
    stmt(F->getCond());
    stmt(F->getInc());
    stmt(F->getBody());
  } else if (const auto *R = dyn_cast<CXXForRangeStmt>(S)) {
    stmt(R->getInit());
    bool Tainted = expr(R->getRangeInit());
    const VarDecl *V = R->getLoopVariable();
    number(V);
    Out << V->getName() << " ";
    typeOf(V, Tainted);
    stmt(R->getBody());
  } else if (const auto *W = dyn_cast<WhileStmt>(S)) {
    stmt(W->getConditionVariableDeclStmt());
    stmt(W->getCond());
    stmt(W->getBody());
  } else if (const auto *D = dyn_cast<DoStmt>(S)) {
    stmt(D->getBody());
    stmt(D->getCond());
  } else if (const auto *W = dyn_cast<SwitchStmt>(S)) {
    stmt(W->getInit());
    stmt(W->getConditionVariableDeclStmt());
    stmt(W->getCond());
    stmt(W->getBody());
  } else if (const auto *C = dyn_cast<CaseStmt>(S)) {
    stmt(C->getLHS());
    stmt(C->getRHS());
    stmt(C->getSubStmt());
  } else if (const auto *D = dyn_cast<DefaultStmt>(S)) {
    stmt(D->getSubStmt());
  } else if (const auto *L = dyn_cast<LabelStmt>(S)) {
    Out << L->getName() << ":";
    stmt(L->getSubStmt());
  } else if (const auto *R = dyn_cast<ReturnStmt>(S)) {
    stmt(R->getRetValue());
  } else if (const auto *T = dyn_cast<CXXTryStmt>(S)) {
    stmt(T->getTryBlock());
    for (unsigned H = 0; H < T->getNumHandlers(); ++H) {
      if (const VarDecl *V = T->getHandler(H)->getExceptionDecl())
        variable(V);
      stmt(T->getHandler(H)->getHandlerBlock());
    }
  } else {
    pretty(S);
    for (const Stmt *Child : S->children())
      structure(Child);
  }
}

void DigestWriter::pretty(const Stmt *S) {
  S->printPretty(Out, this, Policy, 0, "\n", &Context);
}

bool DigestWriter::expr(const Expr *E) {
  if (!E)
    return false;
  pretty(E);
  Out << " | ";
  return structure(E);
}

bool DigestWriter::isLineNumber(const Stmt *S) const {
  // __LINE__ says where it stands; an edit above moves it.
  return isa<IntegerLiteral>(S) && S->getBeginLoc().isMacroID() &&
         Lexer::getImmediateMacroName(S->getBeginLoc(), Places.SM,
                                      Places.LangOpts) == "__LINE__";
}

bool DigestWriter::handledStmt(Stmt *S, llvm::raw_ostream &) {
  if (isLineNumber(S)) {
    Out << "__LINE__";
    return true;
  }
  if (const auto *L = dyn_cast<LambdaExpr>(S)) {
    lambda(L);
    return true;
  }
  if (const auto *E = dyn_cast<StmtExpr>(S)) {
    stmt(E->getSubStmt());
    return true;
  }
  if (!Careful)
    return false;
  if (const auto *K = dyn_cast<CUDAKernelCallExpr>(S)) {
    launch(K, /*Text=*/true);
    return true;
  }
  // What has no place of its own (an implicit node) is asked by its operands.
  return S->getBeginLoc().isValid() && markIfHeld(rangeOf(S));
}

void DigestWriter::lambda(const LambdaExpr *L) {
  Out << "lambda " << int(L->getCaptureDefault()) << "[";
  for (const LambdaCapture &C : L->captures()) {
    if (C.isImplicit())
      continue;
    Out << int(C.getCaptureKind());
    if (C.capturesVariable())
      Out << C.getCapturedVar()->getName();
    Out << ",";
  }
  Out << "]";
  const CXXMethodDecl *Call = L->getCallOperator();
  attributes(Call);
  if (const TemplateParameterList *T = L->getTemplateParameterList())
    templateParameters(T);
  Out << (L->isMutable() ? "mutable " : "");
  for (const ParmVarDecl *P : Call->parameters())
    variable(P);
  if (L->hasExplicitResultType())
    type(Call->getReturnType());
  stmt(L->getBody());
}

/// A launch whose shape may be in a hole: then nothing of it is told.
void DigestWriter::launch(const CUDAKernelCallExpr *E, bool Text) {
  bool CalleeTainted = false;
  auto Each = [&](const Expr *X) {
    bool Tainted = false;
    if (Text)
      pretty(X);
    else
      Tainted = structure(X, CalleeTainted);
    Out << ",";
    return Tainted;
  };
  CalleeTainted = Each(E->getCallee());
  Out << "<<<";
  if (const CallExpr *Config = E->getConfig()) {
    auto Context = Places.expanded(Config->getBeginLoc(), Config->getRParenLoc());
    bool Hole = Context && llvm::any_of(TheHoles.all(), [&](const SourceRange &H) {
                  return Context->contains(H);
                });
    std::vector<Item> Items;
    for (const Expr *A : Config->arguments())
      // A default argument has no place; where the shape is open it may go.
      if (!Hole || !isa<CXXDefaultArgExpr>(A))
        Items.push_back({rangeOf(A), [&Each, A] { Each(A); }});
    sequence(Items, Context);
  }
  Out << ">>>(";
  for (const Expr *A : E->arguments())
    Each(A);
  Out << ")";
}

bool DigestWriter::declaredInHole(const Decl *D) {
  if (TheHoles.all().empty())
    return false;
  auto [It, New] = InHole.try_emplace(D, false);
  if (New) {
    auto O = Places.offset(D->getLocation());
    bool Held = O && TheHoles.holds(O->first, O->second);
    InHole[D] = Held; // It may have moved.
    return Held;
  }
  return It->second;
}

void DigestWriter::number(const Decl *D) { Locals.try_emplace(D, Locals.size()); }

bool DigestWriter::refer(const ValueDecl *D) {
  bool Hole = declaredInHole(D);
  Out << "@";
  if (Hole) {
    Out << "hole:" << D->getDeclName();
  } else if (D->getDeclContext()->isFunctionOrMethod() &&
             !isa<FunctionDecl>(D)) {
    number(D);
    Out << Locals.lookup(D) << D->getDeclName();
  } else {
    D->printQualifiedName(Out, Policy);
    Out << " ";
    D->getType().print(Out, Policy);
  }
  return Hole || Deduced.contains(D);
}

bool DigestWriter::usesHole(const Stmt *S) {
  if (!S || TheHoles.all().empty())
    return false;
  if (const auto *R = dyn_cast<DeclRefExpr>(S))
    return declaredInHole(R->getDecl()) || Deduced.contains(R->getDecl());
  if (const auto *M = dyn_cast<MemberExpr>(S))
    if (declaredInHole(M->getMemberDecl()))
      return true;
  return llvm::any_of(S->children(), [this](const Stmt *C) { return usesHole(C); });
}

bool DigestWriter::call(const CallExpr *E) {
  bool Tainted = structure(E->getCallee());
  bool Callee = Tainted;
  if (const auto *K = dyn_cast<CUDAKernelCallExpr>(E); K && K->getConfig())
    for (const Expr *A : K->getConfig()->arguments())
      structure(A);
  for (const Expr *A : E->arguments())
    Tainted |= structure(A, /*SkipConversions=*/Callee);
  return Tainted;
}

/// Nodes that say only how a value is converted or kept.
static bool isConversion(const Stmt *S) {
  return isa<ImplicitCastExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr,
             ExprWithCleanups, ConstantExpr>(S);
}

bool DigestWriter::structure(const Stmt *S, bool SkipConversions) {
  if (!S)
    return false;
  if (isConversion(S)) {
    bool Tainted = false;
    for (const Stmt *Child : S->children())
      Tainted |= structure(Child, SkipConversions);
    if (Tainted || SkipConversions)
      return Tainted;
    Out << S->getStmtClassName();
    if (const auto *C = dyn_cast<ImplicitCastExpr>(S)) {
      Out << ":" << C->getCastKindName() << " ";
      type(C->getType());
    }
    Out << ";";
    return false;
  }
  if (Careful && S->getBeginLoc().isValid() && markIfHeld(rangeOf(S)))
    return true;
  if (const auto *K = dyn_cast<CUDAKernelCallExpr>(S); K && Careful) {
    launch(K, /*Text=*/false);
    Out << "launch;";
    return true;
  }
  bool Tainted = false;
  if (const auto *L = dyn_cast<LambdaExpr>(S)) {
    for (const Expr *Init : L->capture_inits())
      Tainted |= structure(Init);
  } else if (isa<StmtExpr>(S)) {
    Tainted = true; // Its statements are told with the text.
  } else if (const auto *C = dyn_cast<CallExpr>(S)) {
    Tainted = call(C);
  } else {
    // One operand's type decides how the others are converted.
    bool Skip = isa<BinaryOperator, AbstractConditionalOperator>(S) && usesHole(S);
    for (const Stmt *Child : S->children())
      Tainted |= structure(Child, Skip);
  }
  Out << S->getStmtClassName();
  if (const auto *R = dyn_cast<DeclRefExpr>(S)) {
    Tainted |= refer(R->getDecl());
  } else if (const auto *M = dyn_cast<MemberExpr>(S)) {
    if (!Tainted)
      Tainted |= refer(M->getMemberDecl());
  } else if (const auto *C = dyn_cast<CXXConstructExpr>(S)) {
    if (!Tainted)
      refer(C->getConstructor());
  } else if (const auto *C = dyn_cast<ExplicitCastExpr>(S)) {
    Out << ":";
    type(C->getTypeAsWritten());
    if (!Tainted)
      Out << C->getCastKindName();
  } else if (const auto *U = dyn_cast<UnaryExprOrTypeTraitExpr>(S)) {
    if (U->isArgumentType())
      type(U->getArgumentType());
  } else if (const auto *N = dyn_cast<CXXNewExpr>(S)) {
    type(N->getAllocatedType());
  } else if (isa<IntegerLiteral, FloatingLiteral>(S) && !isLineNumber(S)) {
    type(cast<Expr>(S)->getType());
  }
  Out << ";";
  return Tainted;
}

} // namespace optimas
