//===- LaunchSites.cpp - `<<<…>>>` expressions of the host pass -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Builder.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Lex/Lexer.h"

using namespace clang;
using llvm::StringRef;

namespace optimas {

/// The kernels that a launch's callee may name; empty when it is a pointer.
static llvm::SmallVector<const FunctionDecl *, 2> namedKernels(const Expr *Callee) {
  llvm::SmallVector<const FunctionDecl *, 2> Out;
  auto Add = [&](const NamedDecl *D) {
    D = D->getUnderlyingDecl();
    if (const auto *T = dyn_cast<FunctionTemplateDecl>(D))
      D = T->getTemplatedDecl();
    if (const auto *F = dyn_cast<FunctionDecl>(D); F && isKernel(F))
      Out.push_back(F);
  };
  Callee = Callee->IgnoreParenImpCasts();
  while (const auto *U = dyn_cast<UnaryOperator>(Callee)) {
    if (U->getOpcode() != UO_AddrOf && U->getOpcode() != UO_Deref)
      break;
    Callee = U->getSubExpr()->IgnoreParenImpCasts();
  }
  if (const auto *R = dyn_cast<DeclRefExpr>(Callee))
    Add(R->getDecl());
  else if (const auto *M = dyn_cast<MemberExpr>(Callee))
    Add(M->getMemberDecl());
  else if (const auto *O = dyn_cast<OverloadExpr>(Callee))
    for (const NamedDecl *D : O->decls())
      Add(D);
  return Out;
}

class LaunchFinder : public ConstDynamicRecursiveASTVisitor {
public:
  explicit LaunchFinder(SourceModelBuilder &B)
      : B(B), Model(B.Model), Places(*B.Model.Asts->Host.Places) {
    ShouldWalkTypesOfTypeLocs = false;
  }

  bool TraverseDecl(const Decl *D) override {
    const FunctionDecl *Saved = Caller;
    if (const auto *F = dyn_cast_or_null<FunctionDecl>(D))
      Caller = F;
    bool Go = ConstDynamicRecursiveASTVisitor::TraverseDecl(D);
    Caller = Saved;
    return Go;
  }

  bool VisitCUDAKernelCallExpr(const CUDAKernelCallExpr *Call) override {
    auto Whole = Places.tokens(Call->getBeginLoc(), Call->getEndLoc());
    if (!Whole)
      return true;
    LaunchSite L;
    L.Id = Model.LaunchSites.size() + 1;
    L.Whole = Whole->Range;
    L.InMacro = Whole->InMacro || Whole->BeginsInMacro;
    L.Caller = Caller ? Caller->getQualifiedNameAsString() : "(file scope)";
    L.CallerIsTemplate = Caller && Caller->isTemplated();
    L.Node = Call;
    L.Kernel = resolve(Call);
    addConfig(L, Call->getConfig());
    for (const Expr *A : Call->arguments())
      if (!isa<CXXDefaultArgExpr>(A))
        L.Arguments.push_back(rangeOf(A));
    if (L.Kernel == NoId)
      note(L.Whole, "the launched kernel is not known: it is a pointer, or it is "
                    "defined in another file");
    Model.LaunchSites.push_back(std::move(L));
    return true;
  }

  bool VisitCallExpr(const CallExpr *Call) override {
    const FunctionDecl *F = Call->getDirectCallee();
    if (!F || !F->getDeclName().isIdentifier())
      return true;
    StringRef Name = F->getName();
    if (Name.starts_with("cudaLaunch") || Name.starts_with("cuLaunch"))
      if (SourceRange R = rangeOf(Call); R.valid())
        note(R, ("a launch by " + Name + " is no launch site: its shape cannot be "
                                         "changed by an edit")
                    .str());
    return true;
  }

private:
  SourceRange rangeOf(const Expr *E) const {
    auto S = Places.tokens(E->getBeginLoc(), E->getEndLoc());
    return S ? S->Range : SourceRange();
  }

  void note(const SourceRange &R, std::string Message) {
    Model.Notes.push_back({R.File, R.BeginLine, std::move(Message)});
  }

  void addConfig(LaunchSite &L, const CallExpr *Config) {
    if (!Config)
      return;
    // Clang records `<<<` as the configuration's begin and `>>>` as its end.
    auto Open = Places.tokens(Config->getBeginLoc(), Config->getBeginLoc());
    auto Close = Places.tokens(Config->getRParenLoc(), Config->getRParenLoc());
    if (Open && Close && Open->Range.File == Close->Range.File &&
        Open->Range.End <= Close->Range.Begin)
      L.Config =
          Places.make(Open->Range.File, Open->Range.End, Close->Range.Begin);
    SourceRange *Parts[] = {&L.Grid, &L.Block, &L.Shared, &L.Stream};
    for (unsigned I = 0; I < Config->getNumArgs() && I < 4; ++I)
      if (!isa<CXXDefaultArgExpr>(Config->getArg(I)))
        *Parts[I] = rangeOf(Config->getArg(I));
  }

  FunctionId resolve(const CUDAKernelCallExpr *Call) {
    std::set<FunctionId> Found;
    auto Candidates = namedKernels(Call->getCallee());
    for (const FunctionDecl *F : Candidates)
      Found.insert(B.kernelOf(F));
    if (Found.size() == 1)
      return *Found.begin();
    if (!Caller || !Caller->isTemplated())
      return NoId;
    // Overloads, or a name that depends on a template parameter: what do the
    // instantiations of the caller launch here?
    Found.clear();
    if (!Instantiations)
      Instantiations =
          collectInstantiations(Model.Asts->Host.Unit->TopLevel);
    auto It = Instantiations->find(Caller->getCanonicalDecl());
    if (It != Instantiations->end())
      for (const FunctionDecl *I : It->second)
        launchedAt(Call->getBeginLoc(), I->getBody(), Found);
    return Found.size() == 1 ? *Found.begin() : NoId;
  }

  void launchedAt(SourceLocation Loc, const Stmt *S, std::set<FunctionId> &Out) {
    if (!S)
      return;
    if (const auto *Call = dyn_cast<CUDAKernelCallExpr>(S))
      if (Call->getBeginLoc() == Loc)
        for (const FunctionDecl *F : namedKernels(Call->getCallee()))
          Out.insert(B.kernelOf(F));
    for (const Stmt *Child : S->children())
      launchedAt(Loc, Child, Out);
  }

  SourceModelBuilder &B;
  SourceModel &Model;
  const Spelling &Places;
  const FunctionDecl *Caller = nullptr;
  std::optional<InstantiationMap> Instantiations;
};

FunctionId SourceModelBuilder::kernelOf(const FunctionDecl *Callee) const {
  if (const FunctionDecl *Pattern = Callee->getTemplateInstantiationPattern())
    Callee = Pattern;
  if (const FunctionDecl *Definition = Callee->getDefinition())
    Callee = Definition;
  auto Key = keyOf(Callee, *Model.Asts->Host.Places);
  if (!Key)
    return NoId;
  auto It = ByKey.find(*Key);
  return It == ByKey.end() ? NoId : It->second;
}

/// Calls \p Found with the offset of every `<<<` that stands in \p Text outside
/// comments, literals and directives.
static void forEachChevron(StringRef Text, const LangOptions &LangOpts,
                           llvm::function_ref<void(unsigned)> Found) {
  Lexer Raw(SourceLocation(), LangOpts, Text.begin(), Text.begin(), Text.end());
  Token Tok;
  bool InDirective = false, AtEnd = false;
  while (!AtEnd) {
    AtEnd = Raw.LexFromRawLexer(Tok);
    if (Tok.isAtStartOfLine())
      InDirective = Tok.is(tok::hash);
    if (Tok.is(tok::lesslessless) && !InDirective)
      Found(Raw.getBufferLocation() - Text.begin() - 3);
  }
}

void SourceModelBuilder::addLostLaunches() {
  // Without an error every launch is in the AST.
  if (llvm::none_of(Model.Diagnostics, [](const ParseDiagnostic &D) {
        return D.Mode == CudaMode::Host && D.IsError;
      }))
    return;
  const Spelling &Places = *Model.Asts->Host.Places;
  for (FileId Id = 0; Id < Model.Files.size(); ++Id)
    forEachChevron(Model.Files[Id].Text, Places.LangOpts, [&](unsigned Offset) {
      SourceRange R = Places.make(Id, Offset, Offset + 3);
      bool Known = llvm::any_of(Model.LaunchSites, [&](const LaunchSite &L) {
        return L.Whole.contains(R);
      });
      bool Skipped = llvm::any_of(Model.Files[Id].Inactive, [&](const SourceRange &I) {
        return I.contains(R);
      });
      if (Known || Skipped)
        return;
      Model.LostLaunches.push_back(R);
      Model.Notes.push_back({Id, R.BeginLine,
                             "a launch that Clang does not understand: the launch "
                             "sites of its kernel are not all known"});
    });
}

void SourceModelBuilder::addLaunchSites() {
  LaunchFinder Finder(*this);
  for (const Decl *D : Model.Asts->Host.Unit->TopLevel)
    Finder.TraverseDecl(D);
  addLostLaunches();
}

} // namespace optimas
