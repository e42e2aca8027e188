//===- Launches.cpp - Every launch of a kernel -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostProofs.h"
#include "clang/AST/DeclTemplate.h"
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

} // namespace optimas::recipes
