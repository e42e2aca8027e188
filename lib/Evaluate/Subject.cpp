//===- Subject.cpp - From the source model to what is evaluated -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Pipeline.h"
#include "optimas/Evaluate/Trace.h"
#include "optimas/Support/Files.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace llvm;

namespace optimas {

namespace {
/// Names of the functions that a body may call; unresolved calls of templates by name.
class Callees : public clang::RecursiveASTVisitor<Callees> {
public:
  std::set<std::string> Names;
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool VisitDeclRefExpr(clang::DeclRefExpr *E) {
    if (auto *F = dyn_cast<clang::FunctionDecl>(E->getDecl()))
      Names.insert(F->getNameAsString());
    return true;
  }
  bool VisitMemberExpr(clang::MemberExpr *E) {
    if (auto *F = dyn_cast<clang::FunctionDecl>(E->getMemberDecl()))
      Names.insert(F->getNameAsString());
    return true;
  }
  bool VisitOverloadExpr(clang::OverloadExpr *E) {
    Names.insert(E->getName().getAsString());
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr *E) {
    Names.insert(E->getConstructor()->getNameAsString());
    return true;
  }
};
} // namespace

static std::set<std::string> calleesOf(const Function &F) {
  Callees C;
  if (F.Decl && F.Decl->hasBody())
    C.TraverseStmt(F.Decl->getBody());
  return std::move(C.Names);
}

static StringRef lastName(StringRef Qualified) {
  size_t At = Qualified.rfind("::");
  return At == StringRef::npos ? Qualified : Qualified.drop_front(At + 2);
}

/// Functions whose text, signature or declarations an edit changes.
static std::set<FunctionId> editedFunctions(const SourceModel &Model, const EditSet &Set) {
  std::set<FunctionId> Out;
  for (const FileEdit &E : Set.FileEdits) {
    std::optional<FileId> File = Model.findFile(E.Path);
    if (!File)
      continue;
    SourceRange R;
    R.File = *File;
    R.Begin = E.Offset;
    R.End = E.Offset + std::max(1u, E.Length);
    for (const Function &F : Model.functions())
      if (F.Definition.overlaps(R) ||
          any_of(F.Redeclarations, [&](const SourceRange &D) { return D.overlaps(R); }))
        Out.insert(F.Id);
  }
  return Out;
}

/// Adds every function that calls one of \p Ids, directly or not.
static void addCallers(const SourceModel &Model, std::set<FunctionId> &Ids) {
  std::vector<std::set<std::string>> Calls;
  for (const Function &F : Model.functions())
    Calls.push_back(calleesOf(F));
  for (bool Grew = true; Grew;) {
    Grew = false;
    for (const Function &F : Model.functions()) {
      if (Ids.count(F.Id))
        continue;
      bool Calls_ = any_of(Model.functions(), [&](const Function &G) {
        return Ids.count(G.Id) && !G.IsKernel &&
               Calls[&F - Model.functions().begin()].count(lastName(G.Name).str());
      });
      if (Calls_)
        Grew |= Ids.insert(F.Id).second;
    }
  }
}

Subject makeSubject(const SourceModel &Model, const Diagnosis &D,
                    std::vector<Candidate> Candidates, const EvaluationOptions &Options) {
  Subject S;
  S.Command = Model.originalCommand();
  S.Sm = Model.command().Sm;
  S.CudaPath = Model.command().CudaPath;
  S.ProjectRoot = Options.ProjectRoot.empty()
                      ? sys::path::parent_path(Model.mainFile().Path).str()
                      : canonicalPath(Options.ProjectRoot);
  for (Candidate &C : Candidates) {
    SubjectEntry E;
    std::set<FunctionId> Kernels(C.Kernels.begin(), C.Kernels.end());
    std::set<FunctionId> Edited = editedFunctions(Model, C.Set);
    std::set<FunctionId> Touched = Edited;
    addCallers(Model, Touched);
    // A launch-site edit lies in host code; its kernel is the candidate's.
    for (FunctionId F : Touched)
      if (Model.function(F).IsKernel)
        Kernels.insert(F);
    for (FunctionId F : Kernels) {
      if (F >= Model.functions().size())
        continue;
      std::string Name = Model.function(F).Name;
      E.Kernels.push_back(Name);
      E.Touched.push_back(Name);
      if (const KernelDiagnosis *K = D.kernel(F))
        if (K->Roof.Available)
          E.Headroom = std::max(E.Headroom, K->Roof.Headroom);
    }
    for (const auto &[Path, Content] : C.Set.NewContents)
      if (std::optional<FileId> File = Model.findFile(Path))
        S.Texts[Path] = Model.file(*File).Text;
    E.C = std::move(C);
    S.Entries.push_back(std::move(E));
  }
  return S;
}

} // namespace optimas
