//===- DigestDecl.cpp - Declarations as text without positions -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DigestWriter.h"
#include "clang/AST/Attr.h"

using namespace clang;

namespace optimas {

DigestWriter::DigestWriter(const PassUnit &Pass, const Holes &H,
                           llvm::raw_ostream &Out)
    : Places(*Pass.Places), Context(Pass.Unit->context()), TheHoles(H), Out(Out),
      Policy(Context.getPrintingPolicy()) {
  Policy.AnonymousTagLocations = false;
  Policy.EntireContentsOfLargeArray = true;
  Policy.FullyQualifiedName = true;
}

std::optional<SourceRange> DigestWriter::rangeOf(const Decl *D) const {
  return Places.expanded(D->getBeginLoc(), D->getEndLoc());
}

void DigestWriter::topLevel(const Decl *D) {
  Locals.clear();
  auto R = rangeOf(D);
  Careful = !TheHoles.all().empty() && (!R || TheHoles.touch(*R));
  decl(D);
}

void DigestWriter::type(QualType T) {
  T.print(Out, Policy);
  // A name may have come to mean something else.
  if (QualType C = T.getCanonicalType(); C != T) {
    Out << "=";
    C.print(Out, Policy);
  }
  Out << " ";
}

void DigestWriter::attributes(const Decl *D) {
  for (const Attr *A : D->attrs()) {
    const auto *I = dyn_cast<InheritableAttr>(A);
    auto O = Places.offset(A->getLocation());
    if (A->isImplicit() || (I && I->isInherited()) ||
        (O && TheHoles.holds(O->first, O->second)))
      continue;
    A->printPretty(Out, Policy);
    Out << " ";
  }
}

void DigestWriter::declarations(const DeclContext *C,
                                std::optional<SourceRange> Range) {
  std::vector<Item> Items;
  for (const Decl *D : C->decls())
    if (!D->isImplicit())
      Items.push_back({Careful ? rangeOf(D) : std::nullopt, [this, D] { decl(D); }});
  Out << "{";
  sequence(Items, Range);
  Out << "}\n";
}

void DigestWriter::decl(const Decl *D) {
  if (D->isImplicit() || (Careful && markIfHeld(rangeOf(D))))
    return;
  Out << D->getDeclKindName() << " " << int(D->getAccessUnsafe()) << " ";
  if (const auto *F = dyn_cast<FunctionDecl>(D)) {
    function(F);
  } else if (const auto *V = dyn_cast<VarDecl>(D)) {
    variable(V);
    Out << ";\n";
  } else if (const auto *R = dyn_cast<CXXRecordDecl>(D)) {
    record(R);
  } else if (const auto *E = dyn_cast<EnumDecl>(D)) {
    enumeration(E);
  } else if (const auto *F = dyn_cast<FieldDecl>(D)) {
    attributes(F);
    Out << F->getName() << " " << F->isMutable();
    type(F->getType());
    expr(F->getBitWidth());
    expr(F->getInClassInitializer());
    Out << ";\n";
  } else if (const auto *N = dyn_cast<NamespaceDecl>(D)) {
    attributes(N);
    Out << N->getName() << " " << N->isInline();
    declarations(N, Careful ? rangeOf(D) : std::nullopt);
  } else if (const auto *L = dyn_cast<LinkageSpecDecl>(D)) {
    Out << int(L->getLanguage()) << L->hasBraces();
    declarations(L, Careful ? rangeOf(D) : std::nullopt);
  } else if (const auto *T = dyn_cast<TypedefNameDecl>(D)) {
    attributes(T);
    Out << T->getName() << " ";
    type(T->getUnderlyingType());
    Out << ";\n";
  } else if (const auto *T = dyn_cast<TemplateDecl>(D);
             T && T->getTemplatedDecl()) {
    Out << T->getNameAsString() << " ";
    if (!declaredInHole(T->getTemplatedDecl()))
      templateParameters(T->getTemplateParameters());
    decl(T->getTemplatedDecl());
    if (const auto *F = dyn_cast<FunctionTemplateDecl>(T))
      explicitInstantiations(F);
  } else if (const auto *S = dyn_cast<StaticAssertDecl>(D)) {
    expr(S->getAssertExpr());
    expr(S->getMessage());
  } else if (const auto *F = dyn_cast<FriendDecl>(D)) {
    if (const NamedDecl *N = F->getFriendDecl())
      decl(N);
    else if (const TypeSourceInfo *T = F->getFriendType())
      type(T->getType());
  } else {
    // using, using namespace, aliases, concepts, file-scope asm, …
    D->print(Out, Policy);
    Out << ";\n";
  }
}

void DigestWriter::templateParameters(const TemplateParameterList *L) {
  Out << "<";
  for (const NamedDecl *P : *L) {
    Out << P->getDeclKindName() << " " << P->isParameterPack();
    P->print(Out, Policy);
    Out << ",";
  }
  if (const Expr *R = L->getRequiresClause())
    expr(R);
  Out << ">";
}

void DigestWriter::explicitInstantiations(const FunctionTemplateDecl *T) {
  if (!T->isCanonicalDecl())
    return;
  for (const FunctionDecl *F :
       const_cast<FunctionTemplateDecl *>(T)->specializations()) {
    TemplateSpecializationKind Kind = F->getTemplateSpecializationKind();
    if (Kind != TSK_ExplicitInstantiationDeclaration &&
        Kind != TSK_ExplicitInstantiationDefinition)
      continue;
    auto O = Places.offset(F->getPointOfInstantiation());
    if (O && TheHoles.holds(O->first, O->second))
      continue;
    Out << "instantiate " << int(Kind) << " ";
    F->getNameForDiagnostic(Out, Policy, /*Qualified=*/true);
    Out << ";\n";
  }
}

void DigestWriter::function(const FunctionDecl *F) {
  F->printQualifiedName(Out, Policy);
  Out << " ";
  if (declaredInHole(F)) {
    Out << "<signature>";
  } else {
    attributes(F);
    Out << int(F->getStorageClass()) << F->isInlineSpecified()
        << int(F->getConstexprKind()) << F->isVirtualAsWritten()
        << F->isPureVirtual() << F->isDeletedAsWritten()
        << F->isExplicitlyDefaulted() << " ";
    type(F->getType());
    for (unsigned I = 0; I < F->getNumTemplateParameterLists(); ++I)
      templateParameters(F->getTemplateParameterList(I));
    if (const TemplateArgumentList *Args = F->getTemplateSpecializationArgs();
        Args && !F->isTemplateInstantiation())
      F->getNameForDiagnostic(Out, Policy, /*Qualified=*/true);
    for (const ParmVarDecl *P : F->parameters())
      variable(P);
    if (const auto &R = F->getTrailingRequiresClause())
      expr(R.ConstraintExpr);
  }
  if (!F->doesThisDeclarationHaveABody()) {
    Out << ";\n";
    return;
  }
  if (const auto *C = dyn_cast<CXXConstructorDecl>(F))
    for (const CXXCtorInitializer *I : C->inits())
      if (I->isWritten()) {
        if (const FieldDecl *M = I->getAnyMember())
          Out << M->getName();
        else
          type(QualType(I->getBaseClass(), 0));
        expr(I->getInit());
      }
  stmt(F->getBody());
}

void DigestWriter::variable(const VarDecl *V) {
  number(V);
  attributes(V);
  V->printQualifiedName(Out, Policy);
  Out << " " << int(V->getStorageClass()) << int(V->getTSCSpec())
      << int(V->getInitStyle()) << V->isInlineSpecified() << V->isConstexpr() << " ";
  bool Tainted = false;
  if (const auto *P = dyn_cast<ParmVarDecl>(V)) {
    if (P->hasUninstantiatedDefaultArg())
      expr(P->getUninstantiatedDefaultArg());
    else if (P->hasDefaultArg() && !P->hasUnparsedDefaultArg())
      expr(P->getDefaultArg());
  } else if (const Expr *Init = V->getInit()) {
    Tainted = expr(Init);
  }
  typeOf(V, Tainted);
}

void DigestWriter::typeOf(const VarDecl *V, bool Tainted) {
  if (Tainted && V->getType()->getContainedAutoType()) {
    Deduced.insert(V);
    Out << "auto ";
  } else {
    type(V->getType());
  }
}

void DigestWriter::record(const CXXRecordDecl *R) {
  attributes(R);
  Out << R->getKindName() << " ";
  if (const auto *S = dyn_cast<ClassTemplateSpecializationDecl>(R)) {
    S->getNameForDiagnostic(Out, Policy, /*Qualified=*/true);
    Out << int(S->getSpecializationKind());
    if (isTemplateInstantiation(S->getSpecializationKind()))
      return; // An explicit instantiation says no more than that.
    if (const auto *P = dyn_cast<ClassTemplatePartialSpecializationDecl>(S))
      templateParameters(P->getTemplateParameters());
  } else {
    Out << R->getNameAsString();
  }
  if (!R->isThisDeclarationADefinition()) {
    Out << ";\n";
    return;
  }
  for (const CXXBaseSpecifier &B : R->bases()) {
    Out << ":" << int(B.getAccessSpecifierAsWritten()) << B.isVirtual();
    type(B.getType());
  }
  declarations(R, Careful ? rangeOf(R) : std::nullopt);
}

void DigestWriter::enumeration(const EnumDecl *E) {
  attributes(E);
  Out << E->getNameAsString() << E->isScoped() << E->isFixed();
  if (E->isFixed())
    type(E->getIntegerType());
  for (const EnumConstantDecl *C : E->enumerators()) {
    attributes(C);
    Out << C->getName() << "=" << C->getInitVal() << " ";
    expr(C->getInitExpr());
  }
  Out << ";\n";
}

} // namespace optimas
