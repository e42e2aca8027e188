//===- Statements.cpp - Statements and loops of device code -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Builder.h"
#include "clang/AST/Attr.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using llvm::StringRef;

namespace optimas {

static const char *kindOf(const Stmt *S) {
  if (isa<Expr>(S))
    return "expr";
  switch (S->getStmtClass()) {
  case Stmt::CompoundStmtClass:
    return "compound";
  case Stmt::DeclStmtClass:
    return "decl";
  case Stmt::ForStmtClass:
    return "for";
  case Stmt::CXXForRangeStmtClass:
    return "range-for";
  case Stmt::WhileStmtClass:
    return "while";
  case Stmt::DoStmtClass:
    return "do";
  case Stmt::IfStmtClass:
    return "if";
  case Stmt::SwitchStmtClass:
    return "switch";
  case Stmt::CaseStmtClass:
    return "case";
  case Stmt::DefaultStmtClass:
    return "default";
  case Stmt::LabelStmtClass:
    return "label";
  case Stmt::ReturnStmtClass:
    return "return";
  case Stmt::BreakStmtClass:
    return "break";
  case Stmt::ContinueStmtClass:
    return "continue";
  case Stmt::GotoStmtClass:
  case Stmt::IndirectGotoStmtClass:
    return "goto";
  case Stmt::NullStmtClass:
    return "null";
  case Stmt::GCCAsmStmtClass:
  case Stmt::MSAsmStmtClass:
    return "asm";
  case Stmt::CXXTryStmtClass:
    return "try";
  default:
    return "other";
  }
}

/// Walks one body after the other and numbers what it meets.
class StatementWalker {
public:
  explicit StatementWalker(SourceModelBuilder &B)
      : Model(B.Model), Places(*B.Model.Asts->Device.Places) {}

  void walk(Function &F) {
    Owner = &F;
    Enclosing = NoId;
    CurrentLoop = NoId;
    if (const Stmt *Body = F.Decl->getBody())
      visit(Body);
  }

private:
  /// Numbers \p S and what it holds; returns where it ends, for the statement
  /// that ends with it.
  SourceRange visit(const Stmt *S, SourceLocation Attributes = {});
  void visitChildren(const Stmt *S, SourceRange &Last);
  void visitLoop(const Stmt *S, StatementId Id, SourceRange &Last);
  /// Statements inside expressions: lambdas, statement expressions.
  void visitExpr(const Stmt *E);
  std::optional<Spelled> place(const Stmt *S, SourceLocation Attributes) const;
  SourceRange header(const Stmt *S) const;

  SourceModel &Model;
  const Spelling &Places;
  Function *Owner = nullptr;
  StatementId Enclosing = NoId;
  LoopId CurrentLoop = NoId;
};

static bool isLoop(const Stmt *S) {
  return isa<ForStmt, CXXForRangeStmt, WhileStmt, DoStmt>(S);
}

/// Statements that end with their own `;`, which Clang leaves out of their range.
static bool endsWithSemicolon(const Stmt *S) {
  return isa<Expr, DeclStmt, ReturnStmt, BreakStmt, ContinueStmt, GotoStmt,
             IndirectGotoStmt, GCCAsmStmt, DoStmt>(S);
}

std::optional<Spelled> StatementWalker::place(const Stmt *S,
                                              SourceLocation Attributes) const {
  SourceLocation End = S->getEndLoc();
  // What a declaration statement ends with may be a `;` after a macro that holds
  // all of the declaration.
  if (const auto *D = dyn_cast<DeclStmt>(S); D && !D->decls().empty())
    End = (*std::prev(D->decl_end()))->getEndLoc();
  auto P = Places.tokens(S->getBeginLoc(), End);
  if (!P)
    return P;
  // Expressions and declarations may begin with a macro's value and still be
  // spelled in the file; a keyword or brace from a macro is the macro's structure.
  if (P->BeginsInMacro && !isa<Expr, DeclStmt>(S))
    P->InMacro = true;
  if (Attributes.isValid())
    if (auto A = Places.offset(Attributes);
        A && A->first == P->Range.File && A->second < P->Range.Begin) {
      StringRef Text = Model.Files[A->first].Text;
      // A pragma's location is its name's: take the line's `#` too.
      size_t Line = Text.take_front(A->second).rfind('\n') + 1;
      StringRef Before = Text.slice(Line, A->second);
      size_t Hash = Before.find('#');
      size_t Bracket = Before.rfind("[[");
      if (Hash != StringRef::npos && Before.take_front(Hash).trim().empty())
        A->second = Line + Hash;
      else if (Bracket != StringRef::npos)
        A->second = Line + Bracket;
      P->Range = Places.make(A->first, A->second, P->Range.End);
      P->InMacro |= Attributes.isMacroID();
    }
  // Behind a macro stands the `;` of the outermost of its statements.
  const Statement *Parent = Model.statement(Enclosing);
  if (endsWithSemicolon(S) && !(P->InMacro && Parent && Parent->InMacro))
    P->Range = Places.withSemicolon(P->Range);
  return P;
}

SourceRange StatementWalker::visit(const Stmt *S, SourceLocation Attributes) {
  if (!S)
    return {};
  if (const auto *A = dyn_cast<AttributedStmt>(S))
    return visit(A->getSubStmt(),
                 Attributes.isValid() ? Attributes : A->getBeginLoc());
  auto P = place(S, Attributes);
  if (!P)
    return {}; // In a file that is not the model's (an #include in a body).
  StatementId Id = Model.Statements.size() + 1;
  Statement New;
  New.Id = Id;
  New.Function = Owner->Id;
  New.Kind = kindOf(S);
  New.Parent = Enclosing;
  New.InnermostLoop = CurrentLoop;
  New.InMacro = P->InMacro;
  New.Node = S;
  Model.Statements.push_back(std::move(New));
  Owner->Statements.push_back(Id);

  StatementId SavedEnclosing = Enclosing;
  Enclosing = Id;
  SourceRange Last;
  if (isLoop(S))
    visitLoop(S, Id, Last);
  else
    visitChildren(S, Last);
  Enclosing = SavedEnclosing;

  SourceRange R = P->Range;
  if (Last.File == R.File && Last.End > R.End)
    R = Places.make(R.File, R.Begin, Last.End);
  Model.Statements[Id - 1].Range = R;
  return R;
}

SourceRange StatementWalker::header(const Stmt *S) const {
  SourceLocation Begin = S->getBeginLoc(), End;
  if (const auto *F = dyn_cast<ForStmt>(S)) {
    End = F->getRParenLoc();
  } else if (const auto *R = dyn_cast<CXXForRangeStmt>(S)) {
    End = R->getRParenLoc();
  } else if (const auto *W = dyn_cast<WhileStmt>(S)) {
    End = W->getRParenLoc();
  } else {
    Begin = cast<DoStmt>(S)->getWhileLoc();
    End = cast<DoStmt>(S)->getRParenLoc();
  }
  return Places.expanded(Begin, End).value_or(SourceRange());
}

void StatementWalker::visitLoop(const Stmt *S, StatementId Id, SourceRange &Last) {
  LoopId SavedLoop = CurrentLoop;
  LoopId Me = Model.Loops.size() + 1;
  Loop L;
  L.Id = Me;
  L.Stmt = Id;
  L.Function = Owner->Id;
  L.Parent = SavedLoop;
  L.Depth = SavedLoop == NoId ? 1 : Model.Loops[SavedLoop - 1].Depth + 1;
  L.Header = header(S);
  Model.Loops.push_back(L);
  Model.Statements[Id - 1].InnermostLoop = Me;
  CurrentLoop = Me;

  const Stmt *Body = nullptr;
  if (const auto *F = dyn_cast<ForStmt>(S)) {
    visit(F->getInit());
    visitExpr(F->getCond());
    visitExpr(F->getInc());
    Body = F->getBody();
  } else if (const auto *R = dyn_cast<CXXForRangeStmt>(S)) {
    visit(R->getInit());
    visitExpr(R->getRangeInit());
    Body = R->getBody();
  } else if (const auto *W = dyn_cast<WhileStmt>(S)) {
    visitExpr(W->getConditionVariableDeclStmt());
    visitExpr(W->getCond());
    Body = W->getBody();
  } else {
    Body = cast<DoStmt>(S)->getBody();
  }
  SourceRange BodyRange = visit(Body);
  Model.Loops[Me - 1].Body = BodyRange;
  if (const auto *D = dyn_cast<DoStmt>(S))
    visitExpr(D->getCond());
  else
    Last = BodyRange;
  CurrentLoop = SavedLoop;
}

void StatementWalker::visitChildren(const Stmt *S, SourceRange &Last) {
  if (const auto *C = dyn_cast<CompoundStmt>(S)) {
    for (const Stmt *Child : C->body())
      visit(Child);
  } else if (const auto *I = dyn_cast<IfStmt>(S)) {
    visit(I->getInit());
    visitExpr(I->getConditionVariableDeclStmt());
    visitExpr(I->getCond());
    Last = visit(I->getThen());
    if (I->getElse())
      Last = visit(I->getElse());
  } else if (const auto *W = dyn_cast<SwitchStmt>(S)) {
    visit(W->getInit());
    visitExpr(W->getConditionVariableDeclStmt());
    visitExpr(W->getCond());
    Last = visit(W->getBody());
  } else if (const auto *C = dyn_cast<SwitchCase>(S)) {
    Last = visit(C->getSubStmt());
  } else if (const auto *L = dyn_cast<LabelStmt>(S)) {
    Last = visit(L->getSubStmt());
  } else if (isa<Expr>(S)) {
    visitExpr(S);
  } else if (const auto *T = dyn_cast<CXXTryStmt>(S)) {
    Last = visit(T->getTryBlock());
    for (unsigned H = 0; H < T->getNumHandlers(); ++H)
      Last = visit(T->getHandler(H)->getHandlerBlock());
  } else {
    for (const Stmt *Child : S->children())
      visitExpr(Child);
  }
}

void StatementWalker::visitExpr(const Stmt *E) {
  if (!E)
    return;
  if (const auto *L = dyn_cast<LambdaExpr>(E)) {
    for (const Expr *Init : L->capture_inits())
      visitExpr(Init);
    visit(L->getBody());
    return;
  }
  if (const auto *S = dyn_cast<StmtExpr>(E)) {
    visit(S->getSubStmt());
    return;
  }
  for (const Stmt *Child : E->children())
    visitExpr(Child);
}

void SourceModelBuilder::addStatements() {
  StatementWalker Walker(*this);
  for (Function &F : Model.Functions)
    if (Model.Files[F.Body.File].Editable)
      Walker.walk(F);
}

} // namespace optimas
