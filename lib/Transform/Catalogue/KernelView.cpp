//===- KernelView.cpp - One kernel as a transformation sees it ------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelView.h"
#include "clang/AST/Attr.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace optimas::recipes {

const Expr *VariableFacts::initialiser(const VarDecl *V) const {
  if (!V || isa<ParmVarDecl>(V) || Writes.lookup(V) || Escaped.count(V) ||
      V->getType().isVolatileQualified() || V->isStaticLocal() ||
      V->getType()->isReferenceType())
    return nullptr;
  // Only the function's own variables are written by it alone. Any other kernel may write a
  // global, and so may the host (cudaMemcpyToSymbol, also into `const __constant__`).
  if (!V->isLocalVarDecl() && !V->isConstexpr() &&
      (!V->getType().isConstQualified() || V->hasAttr<CUDADeviceAttr>() ||
       V->hasAttr<CUDAConstantAttr>()))
    return nullptr;
  return V->getInit();
}

const VarDecl *Body::root(const VarDecl *Pointer) const {
  for (unsigned Steps = 0; Pointer && Steps < 8; ++Steps) {
    if (!Pointer->getType()->isPointerType())
      return Pointer;
    if (isa<ParmVarDecl>(Pointer))
      return Facts.Writes.lookup(Pointer) || Facts.Escaped.count(Pointer)
                 ? nullptr
                 : Pointer;
    const Expr *Init = initialiser(Pointer);
    if (!Init)
      return nullptr;
    // p, p + e, &p[e]
    const Expr *E = stripCasts(Init);
    while (true) {
      if (const auto *Op = dyn_cast<BinaryOperator>(E);
          Op && Op->isAdditiveOp()) {
        E = stripCasts(Op->getLHS()->getType()->isPointerType() ? Op->getLHS()
                                                                : Op->getRHS());
        continue;
      }
      if (const auto *Op = dyn_cast<UnaryOperator>(E);
          Op && Op->getOpcode() == UO_AddrOf)
        if (const auto *Sub = dyn_cast<ArraySubscriptExpr>(
                Op->getSubExpr()->IgnoreParens())) {
          E = stripCasts(Sub->getBase());
          continue;
        }
      break;
    }
    Pointer = variable(E);
  }
  return nullptr;
}

Space Body::space(const VarDecl *Base) const {
  const VarDecl *R = Base ? root(Base) : nullptr;
  if (!R)
    return Space::Unknown;
  if (R->hasAttr<CUDASharedAttr>())
    return Space::Shared;
  if (R->hasAttr<CUDAConstantAttr>())
    return Space::Constant;
  if (R->hasAttr<CUDADeviceAttr>())
    return Space::Global;
  if (isa<ParmVarDecl>(R))
    return R->getType()->isPointerType() ? Space::Global : Space::Local;
  return R->isLocalVarDecl() ? Space::Local : Space::Unknown;
}

static Body makeBody(const Instantiation &I, const FunctionDecl *D,
                     const ASTContext &Ast) {
  Body B;
  B.Of = &I;
  B.Decl = D;
  B.Whole = effectsOf(D->getBody());
  B.Facts.Escaped = B.Whole.Escaped;
  // Any write at all, those in control statements' headers included.
  for (const VarDecl *V : B.Whole.Written)
    ++B.Facts.Writes[V];
  walk(D->getBody(), [&B](const Stmt *S) {
    if (!isa<Expr>(S) || isa<BinaryOperator, UnaryOperator, CallExpr>(S))
      B.ByBegin[S->getBeginLoc().getRawEncoding()].push_back(S);
    return true;
  });
  return B;
}

Checked<KernelView> KernelView::create(const CatalogueContext &Context,
                                       const KernelDiagnosis &Kernel) {
  KernelView V;
  V.Context = &Context;
  V.Kernel = &Kernel;
  if (Kernel.Function == NoId)
    return Failure{"no-source",
                   "the source of this kernel is not in the translation unit",
                   0};
  V.F = &Context.Model.function(Kernel.Function);
  unsigned Line = V.F->Definition.BeginLine;
  if (V.F->InMacro)
    return Failure{"in-macro", "the kernel is defined by a macro", Line};
  if (V.F->Incomplete)
    return Failure{"incomplete-ast",
                   "Clang refuses a part of the kernel that nvcc accepts", Line};
  for (const Instantiation &I : V.F->Instantiations) {
    const FunctionDecl *Definition = nullptr;
    if (!I.Decl || !I.Decl->hasBody(Definition) || !Definition->getBody() ||
        Definition->isDependentContext())
      return Failure{"no-instantiation",
                     "an instantiation of this template has no body here",
                     Line};
    V.Bodies.push_back(makeBody(I, Definition, V.ast()));
  }
  if (V.Bodies.empty())
    return Failure{
        "no-instantiation",
        "this template is not instantiated here, so its types are not known",
        Line};
  V.collectNames();
  V.collectMacroNames();
  V.findUnit();
  return V;
}

const Statement *KernelView::statement(const Stmt *S) const {
  auto R = range(S);
  if (!R)
    return nullptr;
  const Statement *Best = nullptr;
  for (StatementId Id : F->Statements) {
    const Statement *Candidate = model().statement(Id);
    // With its `;` a statement is at most a little longer than its node.
    if (Candidate && Candidate->Range.File == R->File &&
        Candidate->Range.Begin == R->Begin && Candidate->Range.End >= R->End &&
        (!Best || Candidate->Range.End < Best->Range.End))
      Best = Candidate;
  }
  return Best;
}

const Stmt *KernelView::concrete(const Body &B, const Statement &S) const {
  if (!S.Node)
    return nullptr;
  auto It = B.ByBegin.find(S.Node->getBeginLoc().getRawEncoding());
  if (It == B.ByBegin.end())
    return nullptr;
  for (const Stmt *Node : It->second)
    if (Node->getStmtClass() == S.Node->getStmtClass() ||
        (isa<Expr>(Node) && isa<Expr>(S.Node)))
      return Node;
  return nullptr;
}

unsigned KernelView::line(const Stmt *S) const {
  if (!S)
    return F->Definition.BeginLine;
  const SourceManager &SM = ast().getSourceManager();
  return SM.getSpellingLineNumber(SM.getFileLoc(S->getBeginLoc()));
}

std::optional<std::string> KernelView::spelling(const Expr *E) const {
  const SourceManager &SM = ast().getSourceManager();
  bool Invalid = false;
  CharSourceRange R = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(E->getSourceRange()), SM,
      ast().getLangOpts());
  llvm::StringRef Text =
      Lexer::getSourceText(R, SM, ast().getLangOpts(), &Invalid);
  if (Invalid || Text.empty())
    return std::nullopt;
  return Text.str();
}

const VarDecl *KernelView::patternOf(const VarDecl *V) const {
  if (const auto *P = dyn_cast<ParmVarDecl>(V))
    if (F->Decl && P->getFunctionScopeIndex() < F->Decl->getNumParams() &&
        isa<FunctionDecl>(P->getDeclContext()))
      return F->Decl->getParamDecl(P->getFunctionScopeIndex());
  if (!F->Decl || !F->Decl->getBody())
    return V;
  const VarDecl *Found = nullptr;
  walk(F->Decl->getBody(), [&](const Stmt *S) {
    if (const auto *D = dyn_cast<DeclStmt>(S))
      for (const Decl *Inner : D->decls())
        if (Inner->getLocation() == V->getLocation())
          Found = dyn_cast<VarDecl>(Inner);
    return !Found;
  });
  return Found ? Found : V;
}

static std::string printed(QualType T, const ASTContext &Ast) {
  PrintingPolicy Policy(Ast.getLangOpts());
  Policy.SuppressTagKeyword = true;
  Policy.Bool = true;
  if (T.isNull() || T->getContainedAutoType())
    return "";
  return T.getUnqualifiedType().getAsString(Policy);
}

std::string KernelView::spelledElement(const VarDecl *V) const {
  QualType T = patternOf(V)->getType().getNonReferenceType();
  if (T->isPointerType())
    return printed(T->getPointeeType(), ast());
  while (const ArrayType *A = ast().getAsArrayType(T))
    T = A->getElementType();
  return printed(T, ast());
}

std::string KernelView::spelledType(const VarDecl *V) const {
  QualType T = patternOf(V)->getType();
  // `auto i = …` in plain code has a deduced type that can be spelled.
  if (const AutoType *A = T->getContainedAutoType())
    T = A->isDeduced() ? A->getDeducedType() : QualType();
  return printed(T, ast());
}

llvm::StringRef plainReason(llvm::StringRef Reason) {
  size_t At = Reason.rfind("stalled_");
  if (At != llvm::StringRef::npos)
    Reason = Reason.drop_front(At + strlen("stalled_"));
  Reason.consume_back("_not_issued");
  return Reason;
}

std::vector<const Evidence *> KernelView::evidenceIf(
    llvm::function_ref<bool(const Evidence &)> Wanted) const {
  std::vector<const Evidence *> Items;
  for (const Evidence &E : Context->D.Items)
    if (E.Kernel == F->Id && Wanted(E))
      Items.push_back(&E);
  llvm::sort(Items, [](const Evidence *A, const Evidence *B) {
    return A->Weight != B->Weight ? A->Weight > B->Weight : A->Id < B->Id;
  });
  return Items;
}

std::vector<const Evidence *>
KernelView::evidenceIn(const SourceRange &R,
                       llvm::ArrayRef<llvm::StringRef> Reasons) const {
  auto Inside = [&R](const LineRef &L) {
    return L.File == R.File && L.Line >= R.BeginLine && L.Line <= R.EndLine;
  };
  return evidenceIf([&](const Evidence &E) {
    if (E.Kind == EvidenceKind::Stall
            ? !llvm::is_contained(Reasons, plainReason(E.Reason))
            : E.Kind != EvidenceKind::Roofline)
      return false;
    return Inside(E.Consumer) || llvm::any_of(E.Lines, Inside) ||
           llvm::any_of(E.Producers,
                        [&](const ProducerRef &P) { return Inside(P.Where); });
  });
}

std::string KernelView::indentAt(FileId File, unsigned Offset) const {
  llvm::StringRef Text = model().file(File).Text;
  size_t Begin = Text.take_front(Offset).rfind('\n');
  Begin = Begin == llvm::StringRef::npos ? 0 : Begin + 1;
  return Text.drop_front(Begin)
      .take_while([](char C) { return C == ' ' || C == '\t'; })
      .str();
}

void KernelView::findUnit() {
  Unit = "  ";
  if (F->Statements.empty())
    return;
  std::string Outer = indentAt(F->Definition.File, F->Definition.Begin);
  for (StatementId Id : F->Statements) {
    const Statement *S = model().statement(Id);
    if (!S || S->Range.BeginLine == F->Body.BeginLine)
      continue;
    std::string Inner = indentAt(S->Range.File, S->Range.Begin);
    if (Inner.size() > Outer.size() &&
        llvm::StringRef(Inner).starts_with(Outer)) {
      Unit = Inner.substr(Outer.size());
      return;
    }
  }
}

} // namespace optimas::recipes
