//===- Launches.cpp - Every launch of a kernel -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../OtherUnits.h"
#include "HostProofs.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace optimas::recipes {

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

/// True when \p D is the kernel: its definition, another declaration (also
/// `extern "C"` in another namespace), its template or an instantiation.
static bool isKernel(const NamedDecl *D, const Function &F,
                     const SourceModel &Model) {
  D = D->getUnderlyingDecl();
  if (const auto *T = dyn_cast<FunctionTemplateDecl>(D))
    D = T->getTemplatedDecl();
  const auto *Fn = dyn_cast<FunctionDecl>(D);
  if (!Fn)
    return false;
  const FunctionDecl *Pattern = Fn->getTemplateInstantiationPattern();
  if (!Pattern)
    Pattern = Fn;
  if (const FunctionDecl *Definition = Pattern->getDefinition())
    Pattern = Definition;
  // What else is defined within the kernel: lambdas, local classes.
  if (!Pattern->hasAttr<CUDAGlobalAttr>())
    return false;
  const SourceManager &SM = Pattern->getASTContext().getSourceManager();
  SourceLocation Loc = SM.getFileLoc(Pattern->getLocation());
  unsigned Offset = SM.getFileOffset(Loc);
  auto File = Model.findFile(SM.getFilename(Loc));
  return File && *File == F.Definition.File && Offset >= F.Definition.Begin &&
         Offset < F.Definition.End;
}

/// The site that a launch expression of either AST is spelled at.
static const LaunchSite *siteOf(const CUDAKernelCallExpr *Call,
                                const SourceManager &SM,
                                const SourceModel &Model) {
  SourceLocation Loc = SM.getFileLoc(Call->getBeginLoc());
  auto File = Model.findFile(SM.getFilename(Loc));
  if (!File)
    return nullptr;
  for (const LaunchSite &Site : Model.launchSites())
    if (Site.Whole.File == *File && Site.Whole.Begin == SM.getFileOffset(Loc))
      return &Site;
  return nullptr;
}

namespace {
/// Looks for the kernel's name wherever it stands, apart from the callee of a
/// launch that is a site of the model: in initialisers at namespace scope, of
/// members and of constructors, default and template arguments, lambdas,
/// templates and their instantiations.
class KernelMentions : public ConstDynamicRecursiveASTVisitor {
public:
  KernelMentions(const Function &F, const SourceModel &Model,
                 const ASTContext &Ast)
      : F(F), Model(Model), SM(Ast.getSourceManager()) {
    ShouldVisitTemplateInstantiations = true;
    ShouldVisitImplicitCode = true;
    // Every declaration of the kernel is in the main file.
    unsigned Begin = F.Definition.Begin;
    for (const SourceRange &R : F.Redeclarations)
      Begin = std::min(Begin, R.Begin);
    First = SM.getLocForStartOfFile(SM.getMainFileID()).getLocWithOffset(Begin);
    for (const Decl *D : Ast.getTranslationUnitDecl()->decls())
      if (mayMention(D->getLocation()))
        TraverseDecl(D);
  }
  /// Where the first one stands.
  std::optional<unsigned> Line;

  bool VisitCUDAKernelCallExpr(const CUDAKernelCallExpr *Call) override {
    const Expr *Callee = stripCasts(Call->getCallee());
    while (const auto *Op = dyn_cast<UnaryOperator>(Callee)) {
      if (Op->getOpcode() != UO_AddrOf && Op->getOpcode() != UO_Deref)
        break;
      Callee = stripCasts(Op->getSubExpr());
    }
    const LaunchSite *Site = siteOf(Call, SM, Model);
    // Of overloads in a template the model knows which one all of its
    // instantiations launch.
    if (Site && (Site->Kernel == F.Id ||
                 (isa<OverloadExpr>(Callee) && Site->Kernel != NoId)))
      Launched.insert(Callee);
    return true;
  }
  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    return mention(E, E->getDecl());
  }
  bool VisitMemberExpr(const MemberExpr *E) override {
    return mention(E, E->getMemberDecl());
  }
  bool VisitUnresolvedLookupExpr(const UnresolvedLookupExpr *E) override {
    return overloads(E);
  }
  bool VisitUnresolvedMemberExpr(const UnresolvedMemberExpr *E) override {
    return overloads(E);
  }

private:
  /// System headers are most of the unit, and cannot know the kernel unless
  /// they spell its name.
  bool mayMention(SourceLocation Loc) {
    Loc = SM.getFileLoc(Loc);
    if (Loc.isInvalid())
      return false; // Clang's own
    if (!SM.isInSystemHeader(Loc))
      return true;
    auto [It, New] = Spelled.try_emplace(SM.getFileID(Loc), false);
    if (New) {
      llvm::StringRef Name = F.Name;
      if (size_t At = Name.rfind("::"); At != llvm::StringRef::npos)
        Name = Name.drop_front(At + 2);
      // The toolkit's and the library's headers come before the kernel.
      It->second =
          !SM.isBeforeInTranslationUnit(Loc, First) &&
          SM.getBufferData(It->first).contains(Name);
    }
    return It->second;
  }
  bool overloads(const OverloadExpr *E) {
    for (const NamedDecl *D : E->decls())
      if (!mention(E, D))
        return false;
    return true;
  }
  bool mention(const Expr *E, const NamedDecl *D) {
    if (Launched.contains(E) || !isKernel(D, F, Model))
      return true;
    Line = SM.getSpellingLineNumber(SM.getFileLoc(E->getBeginLoc()));
    return false;
  }

  const Function &F;
  const SourceModel &Model;
  const SourceManager &SM;
  SourceLocation First; ///< the kernel's first declaration
  llvm::DenseMap<FileID, bool> Spelled;
  llvm::SmallPtrSet<const Expr *, 8> Launched;
};
} // namespace

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
  if (OtherUnits *Others = View.context().Others)
    if (auto Why = Others->mention(F))
      return Failure{"cannot-prove-launch-sites", *Why, Line};
  std::vector<const LaunchSite *> Sites = Model.launchSitesOf(F.Id);
  if (Sites.empty())
    return Failure{"cannot-prove-launch-sites",
                   "no launch of the kernel is in this unit", Line};
  const SourceManager &SM = Model.host().getSourceManager();
  for (const LaunchSite *Site : Sites)
    if (Site->InMacro)
      return Failure{"in-macro", "a launch of the kernel comes from a macro",
                     Site->Whole.BeginLine};
  // The device pass sees what `#ifdef __CUDA_ARCH__` hides from the host's.
  for (const ASTContext *Ast : {&Model.host(), &Model.device()})
    if (auto At = KernelMentions(F, Model, *Ast).Line)
      return Failure{"cannot-prove-launch-sites",
                     "the kernel is also named outside a known `<<<>>>`, where "
                     "it may be launched by its address",
                     *At};
  std::vector<HostLaunch> Launches;
  for (const FunctionDecl *Caller : HostFunctions(Model).All)
    walk(Caller->getBody(), [&](const Stmt *S) {
      // In a generic lambda the arguments are not known.
      const auto *Call = dyn_cast<CUDAKernelCallExpr>(S);
      if (!Call || Call->isInstantiationDependent())
        return true;
      const FunctionDecl *Callee = Call->getDirectCallee();
      const LaunchSite *Site = siteOf(Call, SM, Model);
      if (Callee && Site && isKernel(Callee, F, Model))
        Launches.push_back({Site, Call, Caller});
      return true;
    });
  for (const LaunchSite *Site : Sites) {
    unsigned At = Site->Whole.BeginLine;
    if (llvm::none_of(Launches,
                      [Site](const HostLaunch &L) { return L.Site == Site; }))
      return Failure{"cannot-prove-launch-sites",
                     "a launch stands in code that is not instantiated here",
                     At};
  }
  return Launches;
}

} // namespace optimas::recipes
