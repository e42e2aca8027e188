//===- GuardResolve.cpp - From ids to bytes -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardImpl.h"
#include "optimas/Support/Files.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

const LaunchSite *findLaunchSite(const SourceModel &Model, unsigned Id) {
  auto *It = find_if(Model.launchSites(),
                     [&](const LaunchSite &L) { return L.Id == Id; });
  return It == Model.launchSites().end() ? nullptr : &*It;
}

SourceRange makeRange(const SourceModel &Model, FileId File, unsigned Begin,
                      unsigned End) {
  SourceRange R;
  R.File = File;
  R.Begin = Begin;
  R.End = End;
  R.BeginLine = Model.file(File).lineOf(Begin);
  R.EndLine = Model.file(File).lineOf(End > Begin ? End - 1 : Begin);
  return R;
}

std::string placeText(const SourceModel &Model, const SourceRange &R) {
  return (sys::path::filename(Model.file(R.File).Path) + ":" + Twine(R.BeginLine))
      .str();
}

static bool isHeaderPart(const clang::Stmt *Parent, const clang::Stmt *Node) {
  if (const auto *F = dyn_cast<clang::ForStmt>(Parent))
    return F->getBody() != Node;
  if (const auto *F = dyn_cast<clang::CXXForRangeStmt>(Parent))
    return F->getBody() != Node;
  if (const auto *W = dyn_cast<clang::WhileStmt>(Parent))
    return W->getBody() != Node;
  if (const auto *D = dyn_cast<clang::DoStmt>(Parent))
    return D->getBody() != Node;
  if (const auto *I = dyn_cast<clang::IfStmt>(Parent))
    return I->getThen() != Node && I->getElse() != Node;
  if (const auto *S = dyn_cast<clang::SwitchStmt>(Parent))
    return S->getBody() != Node;
  return false;
}

MaybeHit checkNamedStatements(const GuardContext &C, const Edit &E,
                              const Statement *First, const Statement *Last) {
  const SourceModel &M = C.Model;
  bool Range = E.Kind == EditKind::Replace || E.Kind == EditKind::Delete ||
               E.Kind == EditKind::Wrap || E.Kind == EditKind::RawRange;
  if (First != Last && !Range)
    return ruleHit("guard-not-siblings",
                   "an insertion names one statement, not " + idText('S', E.First) +
                       " to " + idText('S', E.Last));
  for (const Statement *S : {First, Last})
    if (S->InMacro)
      return ruleHit("guard-macro", idText('S', S->Id) + " at " +
                                        placeText(M, S->Range) +
                                        " comes from a macro; statements spelled in "
                                        "the file may be edited");
  const clang::FunctionDecl *F = M.function(First->Function).Decl;
  const clang::Stmt *Parent = enclosingStatement(F, First->Node);
  if (Parent && isHeaderPart(Parent, First->Node))
    return ruleHit("guard-header-statement",
                   idText('S', First->Id) + " at " + placeText(M, First->Range) +
                       " is part of a loop's or condition's header; edit the whole "
                       "statement around it");
  if (First == Last)
    return std::nullopt;
  if (First->Function != Last->Function || First->Parent != Last->Parent ||
      First->Range.File != Last->Range.File ||
      First->Range.Begin > Last->Range.Begin || !Parent ||
      !isa<clang::CompoundStmt>(Parent) ||
      enclosingStatement(F, Last->Node) != Parent)
    return ruleHit("guard-not-siblings",
                   idText('S', First->Id) + " and " + idText('S', Last->Id) +
                       " are not statements of one block in this order; name the "
                       "statement that holds both");
  return std::nullopt;
}

static MaybeHit resolveStatements(const GuardContext &C, const Edit &E,
                                  ResolvedEdit &Out) {
  const Statement *First = C.Model.statement(E.First);
  const Statement *Last =
      E.Last == NoId ? First : C.Model.statement(E.Last);
  if (!First || !Last)
    return ruleHit("guard-unknown-target",
                   "there is no statement " +
                       idText('S', First ? E.Last : E.First) +
                       "; use the ids shown with the code");
  if (MaybeHit H = checkNamedStatements(C, E, First, Last))
    return H;
  Out.Function = First->Function;
  Out.Named = makeRange(C.Model, First->Range.File, First->Range.Begin,
                        Last->Range.End);
  return std::nullopt;
}

static MaybeHit resolveTarget(const GuardContext &C, const Edit &E,
                              ResolvedEdit &Out) {
  const SourceModel &M = C.Model;
  Out.Kind = E.Kind;
  switch (E.Kind) {
  case EditKind::RawRange:
    return mapRawRange(C, E, Out);
  case EditKind::Signature: {
    if (E.Function >= M.functions().size())
      return ruleHit("guard-unknown-target",
                     "the signature edit names no function of this program");
    const Function &F = M.function(E.Function);
    if (F.InMacro)
      return ruleHit("guard-macro", "the signature of '" + F.Name + "' at " +
                                        placeText(M, F.Signature) +
                                        " comes from a macro");
    Out.Function = F.Id;
    Out.Named = F.Signature;
    return std::nullopt;
  }
  case EditKind::LaunchSite:
    Out.Site = findLaunchSite(M, E.LaunchSiteId);
    if (!Out.Site)
      return ruleHit("guard-unknown-target",
                     "there is no launch site LS" + Twine(E.LaunchSiteId) +
                         "; use the ids shown with the code");
    if (Out.Site->InMacro || !Out.Site->Config.valid())
      return ruleHit("guard-macro", "the launch at " +
                                        placeText(M, Out.Site->Whole) +
                                        " is written by a macro");
    Out.Function = Out.Site->Kernel;
    Out.Named = Out.Site->Config;
    return std::nullopt;
  default:
    return resolveStatements(C, E, Out);
  }
}

static MaybeHit checkEvidence(const GuardContext &C, const Edit &E) {
  if (E.Evidence.empty())
    return ruleHit("guard-no-evidence",
                   "the edit cites no evidence; name the evidence that calls for it");
  for (unsigned Id : E.Evidence)
    if (!C.D.evidence(Id))
      return ruleHit("guard-unknown-evidence",
                     idText('E', Id) + " is no evidence of this run; " +
                         (C.D.Items.empty()
                              ? std::string("there is none")
                              : idText('E', C.D.Items.front().Id) + " to " +
                                    idText('E', C.D.Items.back().Id) + " exist"));
  return std::nullopt;
}

static MaybeHit checkFile(const GuardContext &C, const ResolvedEdit &E) {
  const SourceFile &File = C.Model.file(E.Named.File);
  if (!File.Editable)
    return ruleHit("guard-foreign-file",
                   File.Path + " may not be edited: " +
                       (File.WhyNotEditable.empty() ? "it is outside the project"
                                                    : File.WhyNotEditable));
  for (const SourceRange &R : File.Inactive)
    if (R.overlaps(E.Named))
      return ruleHit("guard-conditional-code",
                     "lines " + Twine(R.BeginLine) + " to " + Twine(R.EndLine) +
                         " of " + sys::path::filename(File.Path) +
                         " are switched off by the preprocessor and lie inside the "
                         "edited range; edit the statements on one side of them");
  for (const GuardToken &T : lexSource(C.Model.text(E.Named)).Tokens)
    if (T.Kind == clang::tok::hash && T.StartOfLine &&
        !StringRef(C.Model.text(E.Named)).drop_front(T.Offset + 1).ltrim(" \t")
             .starts_with("pragma"))
      return ruleHit("guard-conditional-code",
                     "the edited range at " + placeText(C.Model, E.Named) +
                         " holds a preprocessor directive; edit the statements on one "
                         "side of it");
  return std::nullopt;
}

static std::string regionList(const GuardContext &C, FunctionId F,
                              ArrayRef<unsigned> Evidence) {
  std::string Out;
  for (const Region &R : C.D.Regions) {
    bool Cited = Evidence.empty() || any_of(Evidence, [&](unsigned Id) {
      return is_contained(R.Evidence, Id);
    });
    if (!Cited || (F != NoId && R.Function != F))
      continue;
    Out += (Out.empty() ? "" : ", ") + idText('R', R.Id) + " (" +
           toString(R.Kind).str() + ", line " + std::to_string(R.Range.BeginLine);
    if (R.Range.EndLine != R.Range.BeginLine)
      Out += "–" + std::to_string(R.Range.EndLine);
    Out += ")";
  }
  return Out.empty() ? "none" : Out;
}

static bool mayHold(const Region &R, const ResolvedEdit &E) {
  if (E.Kind == EditKind::Signature)
    return R.Kind == RegionKind::Signature && R.Function == E.Function;
  if (E.Kind == EditKind::LaunchSite)
    return R.Kind == RegionKind::LaunchSite &&
           (R.LaunchSiteId == E.Site->Id || R.Range.contains(E.Named));
  return R.Kind != RegionKind::Signature && R.Kind != RegionKind::LaunchSite &&
         R.Range.contains(E.Named);
}

static MaybeHit checkRegion(const GuardContext &C, const ResolvedEdit &E) {
  std::vector<const Region *> Around;
  for (const Region &R : C.D.Regions)
    if (mayHold(R, E))
      Around.push_back(&R);
  std::string Where = placeText(C.Model, E.Named);
  if (Around.empty())
    return ruleHit("guard-out-of-region",
                   Where + " lies in no region; edits may go to " +
                       regionList(C, E.Function, {}));
  auto Fit = find_if(Around, [&](const Region *R) {
    return any_of(E.Source.Evidence,
                  [&](unsigned Id) { return is_contained(R->Evidence, Id); });
  });
  if (Fit == Around.end())
    return ruleHit("guard-evidence-elsewhere",
                   "the cited evidence does not implicate " + Where +
                       "; it implicates " + regionList(C, NoId, E.Source.Evidence));
  const Region &R = **Fit;
  if (R.Range.valid() && sha256(C.Model.text(R.Range)) != R.Sha256)
    return ruleHit("guard-region-changed",
                   idText('R', R.Id) + " at " + placeText(C.Model, R.Range) +
                       " no longer has the content that was analysed; run the "
                       "analysis again");
  return std::nullopt;
}

MaybeHit resolveEdit(const GuardContext &C, const Edit &E, ResolvedEdit &Out) {
  Out.Source = E;
  Out.Text = E.Text;
  if (MaybeHit H = resolveTarget(C, E, Out))
    return H;
  if (MaybeHit H = checkEvidence(C, E))
    return H;
  if (MaybeHit H = checkFile(C, Out))
    return H;
  if (MaybeHit H = checkRegion(C, Out))
    return H;
  if (E.Kind == EditKind::RawRange)
    return std::nullopt;
  return placeEdit(C, Out);
}

} // namespace optimas
