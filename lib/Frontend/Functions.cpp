//===- Functions.cpp - Kernels and device functions -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Builder.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Mangle.h"
#include "clang/Basic/CharInfo.h"
#include "llvm/Demangle/Demangle.h"

using namespace clang;
using llvm::StringRef;

namespace optimas {

bool isKernel(const FunctionDecl *F) { return F->hasAttr<CUDAGlobalAttr>(); }

bool hasDeviceCode(const FunctionDecl *F) {
  if (isKernel(F))
    return true;
  const auto *A = F->getAttr<CUDADeviceAttr>();
  return A && (!A->isImplicit() || F->isReferenced());
}

static void collectFrom(Decl *D, InstantiationMap &Map);

static void addInstantiation(const FunctionDecl *F, InstantiationMap &Map) {
  if (const FunctionDecl *Pattern = F->getTemplateInstantiationPattern())
    if (F->isDefined() || F->isReferenced())
      Map[Pattern->getCanonicalDecl()].push_back(F);
}

/// Members of an instantiated class.
static void collectFromClass(const CXXRecordDecl *Class, InstantiationMap &Map) {
  for (Decl *D : Class->decls()) {
    if (auto *F = dyn_cast<FunctionDecl>(D))
      addInstantiation(F, Map);
    else if (auto *Inner = dyn_cast<CXXRecordDecl>(D);
             Inner && !Inner->isInjectedClassName())
      collectFromClass(Inner, Map);
    else
      collectFrom(D, Map);
  }
}

static void collectFrom(Decl *D, InstantiationMap &Map) {
  if (auto *T = dyn_cast<FunctionTemplateDecl>(D)) {
    // The chain shares its specialisations: ask once.
    if (T->isCanonicalDecl())
      for (FunctionDecl *F : T->specializations())
        addInstantiation(F, Map);
  } else if (auto *C = dyn_cast<ClassTemplateDecl>(D)) {
    if (C->isCanonicalDecl())
      for (ClassTemplateSpecializationDecl *S : C->specializations())
        if (isTemplateInstantiation(S->getSpecializationKind()))
          collectFromClass(S, Map);
    for (Decl *Member : C->getTemplatedDecl()->decls())
      collectFrom(Member, Map);
  } else if (auto *F = dyn_cast<FriendDecl>(D)) {
    if (NamedDecl *N = F->getFriendDecl())
      collectFrom(N, Map);
  } else if (auto *S = dyn_cast<ClassTemplateSpecializationDecl>(D);
             S && isTemplateInstantiation(S->getSpecializationKind())) {
    // An explicit instantiation: listed by its template.
  } else if (isa<NamespaceDecl, LinkageSpecDecl, ExportDecl, CXXRecordDecl>(D)) {
    for (Decl *Member : cast<DeclContext>(D)->decls())
      collectFrom(Member, Map);
  }
}

InstantiationMap collectInstantiations(llvm::ArrayRef<Decl *> Decls) {
  InstantiationMap Map;
  for (Decl *D : Decls)
    collectFrom(D, Map);
  return Map;
}

namespace {

/// Calls back for every definition with device code. The callback must outlive it.
class DefinitionFinder : public ConstDynamicRecursiveASTVisitor {
public:
  using Callback = llvm::function_ref<void(const FunctionDecl *, const LambdaExpr *)>;
  explicit DefinitionFinder(Callback Found) : Found(Found) {
    ShouldWalkTypesOfTypeLocs = false;
  }

  bool VisitFunctionDecl(const FunctionDecl *F) override {
    if (F->doesThisDeclarationHaveABody() && !F->isImplicit() &&
        !F->isDefaulted() && hasDeviceCode(F))
      Found(F, nullptr);
    return true;
  }

  bool VisitLambdaExpr(const LambdaExpr *L) override {
    const CXXMethodDecl *Call = L->getCallOperator();
    const auto *A = Call->getAttr<CUDADeviceAttr>();
    // Inside device code its statements are the enclosing function's.
    if (A && !A->isImplicit() && !insideDeviceCode(L->getLambdaClass()))
      Found(Call, L);
    return true;
  }

private:
  static bool insideDeviceCode(const Decl *D) {
    for (const DeclContext *C = D->getParentFunctionOrMethod(); C;
         C = cast<Decl>(C)->getParentFunctionOrMethod())
      if (const auto *F = dyn_cast<FunctionDecl>(C))
        if (const auto *A = F->getAttr<CUDADeviceAttr>();
            isKernel(F) || (A && !A->isImplicit()))
          return true;
    return false;
  }

  Callback Found;
};

} // namespace

/// Offset of `Opening` before \p Offset, or \p Offset when it is not near.
static unsigned openedBy(StringRef Text, unsigned Offset, StringRef Opening) {
  StringRef Before = Text.take_front(Offset).take_back(256);
  size_t N = Before.rfind(Opening);
  return N == StringRef::npos ? Offset : Offset - (Before.size() - N);
}

/// Where \p F's declaration begins: attributes, `template <…>`, `extern "C"` and
/// what macros stand for them included.
static std::optional<std::pair<FileId, unsigned>>
declarationBegin(const FunctionDecl *F, const Spelling &Places,
                 llvm::ArrayRef<SourceFile> Files) {
  auto Begin = Places.offset(F->getOuterLocStart());
  if (!Begin)
    return Begin;
  auto Include = [&](std::optional<std::pair<FileId, unsigned>> O) {
    if (O && O->first == Begin->first && O->second < Begin->second)
      Begin->second = O->second;
  };
  if (const FunctionTemplateDecl *T = F->getDescribedFunctionTemplate())
    Include(Places.offset(T->getBeginLoc()));
  for (unsigned I = 0; I < F->getNumTemplateParameterLists(); ++I)
    Include(Places.offset(F->getTemplateParameterList(I)->getTemplateLoc()));
  for (const Attr *A : F->attrs()) {
    const auto *Inheritable = dyn_cast<InheritableAttr>(A);
    if (A->isImplicit() || (Inheritable && Inheritable->isInherited()))
      continue;
    SourceLocation Loc = A->getRange().getBegin();
    auto O = Places.offset(Loc);
    if (O && Loc.isFileID() && A->isStandardAttributeSyntax())
      O->second = openedBy(Files[O->first].Text, O->second, "[[");
    else if (O && Loc.isFileID() && A->isGNUAttribute())
      O->second = openedBy(Files[O->first].Text, O->second, "__attribute__");
    Include(O);
  }
  if (const auto *L = dyn_cast<LinkageSpecDecl>(F->getLexicalDeclContext()))
    if (!L->hasBraces())
      Include(Places.offset(L->getBeginLoc()));
  return Begin;
}

static std::string lambdaName(const LambdaExpr *L) {
  const DeclContext *C = L->getLambdaClass()->getParentFunctionOrMethod();
  const auto *F = dyn_cast_or_null<FunctionDecl>(C);
  return (F ? F->getQualifiedNameAsString() + "::" : std::string()) + "(lambda)";
}

std::optional<FunctionKey>
SourceModelBuilder::keyOf(const FunctionDecl *F, const Spelling &Places) const {
  auto O = Places.offset(F->getLocation());
  if (!O)
    return std::nullopt;
  return FunctionKey{O->first, O->second, F->getQualifiedNameAsString()};
}

void SourceModelBuilder::addFunction(const FunctionDecl *D,
                                     const LambdaExpr *Lambda) {
  const Spelling &Places = *Model.Asts->Device.Places;
  const Stmt *Body = D->getBody();
  auto Key = keyOf(D, Places);
  auto BodyRange = Body ? Places.expanded(Body->getBeginLoc(), Body->getEndLoc())
                        : std::nullopt;
  auto Begin = Lambda ? Places.offset(Lambda->getBeginLoc())
                      : declarationBegin(D, Places, Model.Files);
  if (!Key || !BodyRange || !Begin || Begin->first != BodyRange->File)
    return;
  Function F;
  F.Id = Model.Functions.size();
  F.Name = Lambda ? lambdaName(Lambda) : D->getQualifiedNameAsString();
  F.IsKernel = isKernel(D);
  F.IsDevice = D->hasAttr<CUDADeviceAttr>();
  F.IsTemplate = D->isTemplated();
  F.InMacro = Body->getBeginLoc().isMacroID() || Body->getEndLoc().isMacroID() ||
              D->getLocation().isMacroID();
  F.Body = *BodyRange;
  F.Definition = Places.make(F.Body.File, Begin->second, F.Body.End);
  StringRef Text = Model.Files[F.Body.File].Text;
  unsigned SignatureEnd = std::max(F.Body.Begin, Begin->second);
  while (SignatureEnd > Begin->second && isWhitespace(Text[SignatureEnd - 1]))
    --SignatureEnd;
  F.Signature = Places.make(F.Body.File, Begin->second, SignatureEnd);
  for (const ParmVarDecl *P : D->parameters())
    F.Parameters.push_back(
        Places.expanded(P->getBeginLoc(), P->getEndLoc()).value_or(SourceRange()));
  F.Decl = D;
  CodeEntries[F.Body.File].insert(
      Places.SM.getFileID(Places.SM.getExpansionLoc(Body->getBeginLoc())));
  ByKey.try_emplace(std::move(*Key), F.Id);
  Model.Functions.push_back(std::move(F));
}

static void addTemplateArgs(const FunctionDecl *D, const PrintingPolicy &Policy,
                            std::vector<std::string> &Out) {
  auto Add = [&](llvm::ArrayRef<TemplateArgument> Args) {
    for (const TemplateArgument &A : Args) {
      if (A.getKind() == TemplateArgument::Pack && A.pack_size() == 0)
        continue;
      std::string Text;
      llvm::raw_string_ostream OS(Text);
      A.print(Policy, OS, /*IncludeType=*/false);
      Out.push_back(std::move(Text));
    }
  };
  std::vector<const ClassTemplateSpecializationDecl *> Classes;
  for (const DeclContext *C = D->getDeclContext(); C; C = C->getParent())
    if (const auto *S = dyn_cast<ClassTemplateSpecializationDecl>(C))
      Classes.push_back(S);
  for (const auto *S : llvm::reverse(Classes))
    Add(S->getTemplateArgs().asArray());
  if (const TemplateArgumentList *Args = D->getTemplateSpecializationArgs())
    Add(Args->asArray());
}

void SourceModelBuilder::addInstantiations(Function &F,
                                           const InstantiationMap &Map) {
  ASTContext &Context = F.Decl->getASTContext();
  std::unique_ptr<MangleContext> Mangler(Context.createMangleContext());
  auto Add = [&](const FunctionDecl *D) {
    Instantiation I;
    llvm::raw_string_ostream OS(I.Mangled);
    if (isa<CXXConstructorDecl, CXXDestructorDecl>(D))
      return; // Always inlined into a frame of their own name; nothing joins on it.
    if (Mangler->shouldMangleDeclName(D))
      Mangler->mangleName(GlobalDecl(D), OS);
    else
      OS << D->getNameAsString();
    I.Canonical = llvm::demangle(I.Mangled);
    addTemplateArgs(D, Context.getPrintingPolicy(), I.TemplateArgs);
    I.Decl = D;
    F.Instantiations.push_back(std::move(I));
  };
  if (!F.IsTemplate) {
    Add(F.Decl);
    return;
  }
  auto It = Map.find(F.Decl->getCanonicalDecl());
  if (It == Map.end())
    return;
  for (const FunctionDecl *D : It->second)
    Add(D);
}

/// The explicit instantiation around \p Offset: from `template` to before the `;`.
static std::optional<std::pair<unsigned, unsigned>>
explicitInstantiationAt(StringRef Text, unsigned Offset) {
  size_t Begin = Text.take_front(Offset).rfind("template");
  size_t End = Text.find(';', Offset);
  if (Begin == StringRef::npos || End == StringRef::npos ||
      Text.slice(Begin, Offset).find_first_of(";{}") != StringRef::npos)
    return std::nullopt;
  StringRef Before = Text.take_front(Begin).rtrim();
  if (Before.ends_with("extern"))
    Begin = Before.size() - 6;
  return std::make_pair(unsigned(Begin), unsigned(End));
}

void SourceModelBuilder::addRedeclarations(Function &F,
                                           const InstantiationMap &Map) {
  const Spelling &Places = *Model.Asts->Device.Places;
  auto Add = [&](const SourceRange &R) {
    if (R.valid() && !F.Definition.contains(R) &&
        llvm::none_of(F.Redeclarations, [&](const SourceRange &O) {
          return O.contains(R);
        }))
      F.Redeclarations.push_back(R);
  };
  auto AddDeclaration = [&](const FunctionDecl *D) {
    auto Begin = declarationBegin(D, Places, Model.Files);
    auto R = Places.expanded(D->getBeginLoc(), D->getEndLoc());
    if (Begin && R && Begin->first == R->File)
      Add(Places.make(R->File, std::min(Begin->second, R->Begin), R->End));
  };
  for (const FunctionDecl *D : F.Decl->redecls())
    if (D != F.Decl)
      AddDeclaration(D);
  const FunctionTemplateDecl *T = F.Decl->getDescribedFunctionTemplate();
  if (!T)
    return;
  for (const FunctionDecl *S : const_cast<FunctionTemplateDecl *>(T)->specializations()) {
    TemplateSpecializationKind Kind = S->getTemplateSpecializationKind();
    if (Kind == TSK_ExplicitSpecialization) {
      for (const FunctionDecl *D : S->redecls())
        AddDeclaration(D);
    } else if (Kind == TSK_ExplicitInstantiationDeclaration ||
               Kind == TSK_ExplicitInstantiationDefinition) {
      auto O = Places.offset(S->getPointOfInstantiation());
      if (!O)
        continue;
      if (S->getPointOfInstantiation().isMacroID()) {
        if (auto R = Places.expanded(S->getPointOfInstantiation(),
                                     S->getPointOfInstantiation()))
          Add(*R);
      } else if (auto R = explicitInstantiationAt(Model.Files[O->first].Text,
                                                  O->second)) {
        Add(Places.make(O->first, R->first, R->second));
      }
    }
  }
}

void SourceModelBuilder::addFunctions() {
  auto &Decls = Model.Asts->Device.Unit->TopLevel;
  auto Add = [this](const FunctionDecl *F, const LambdaExpr *L) {
    addFunction(F, L);
  };
  DefinitionFinder Finder(Add);
  for (const Decl *D : Decls)
    Finder.TraverseDecl(D);
  InstantiationMap Map = collectInstantiations(Decls);
  for (Function &F : Model.Functions) {
    addInstantiations(F, Map);
    addRedeclarations(F, Map);
  }
  for (const auto &[Id, Entries] : CodeEntries) {
    SourceFile &File = Model.Files[Id];
    if (Entries.size() < 2 || !File.Editable)
      continue;
    File.Editable = false;
    File.WhyNotEditable =
        "included more than once: each line stands for several functions";
  }
}

} // namespace optimas
