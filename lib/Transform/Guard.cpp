//===- Guard.cpp - The order of the guard's steps -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardImpl.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace optimas {

MaybeHit checkEditText(const GuardContext &C, const ResolvedEdit &E) {
  bool Trusted = C.Options.Trusted;
  StringRef Old = C.Model.text(E.Old);
  switch (E.Kind) {
  case EditKind::Wrap:
    return checkWrapText(E.Text, Old, Trusted);
  case EditKind::Signature:
    return checkText(TextRole::Signature, E.Text, Old, Trusted);
  case EditKind::LaunchSite:
    return checkText(TextRole::LaunchConfig, E.Text, Old, Trusted);
  default:
    return checkText(TextRole::Statements, E.Text, Old, Trusted);
  }
}

/// Every rule that needs only this edit and no parse.
static MaybeHit checkAlone(const GuardContext &C, const Edit &E, ResolvedEdit &Out) {
  if (MaybeHit H = resolveEdit(C, E, Out))
    return H;
  if (MaybeHit H = checkEditText(C, Out))
    return H;
  if (Out.Kind == EditKind::Signature)
    if (MaybeHit H = checkSignature(C, Out))
      return H;
  if (Out.Kind == EditKind::LaunchSite)
    if (MaybeHit H = checkLaunch(C, Out))
      return H;
  return checkOtherUnits(C, Out);
}

/// True when no order of application makes sense of both.
static bool collide(const FileEdit &A, const FileEdit &B) {
  if (A.File != B.File)
    return false;
  unsigned AEnd = A.Offset + A.Length, BEnd = B.Offset + B.Length;
  if (A.Length == 0 || B.Length == 0)
    // An insertion at either end of a replacement is fine, inside it is not.
    return (A.Offset < B.Offset && B.Offset < AEnd) ||
           (B.Offset < A.Offset && A.Offset < BEnd);
  return A.Offset < BEnd && B.Offset < AEnd;
}

static MaybeHit checkPair(const ResolvedEdit &Earlier, const ResolvedEdit &E) {
  bool Same = Earlier.Changes.size() == E.Changes.size();
  for (size_t I = 0; Same && I < E.Changes.size(); ++I)
    Same = Earlier.Changes[I].File == E.Changes[I].File &&
           Earlier.Changes[I].Offset == E.Changes[I].Offset &&
           Earlier.Changes[I].Length == E.Changes[I].Length &&
           Earlier.Changes[I].Replacement == E.Changes[I].Replacement;
  std::string Other = idText('D', Earlier.Source.Id);
  if (Same)
    return ruleHit("guard-duplicate", "the edit is the same as " + Other);
  // Of a wrap and an insertion at one place, nothing says which stands outside.
  bool Pair = Earlier.Changes.size() > 1 || E.Changes.size() > 1;
  for (const FileEdit &A : Earlier.Changes)
    for (const FileEdit &B : E.Changes)
      if (collide(A, B) || (Pair && A.File == B.File && A.Offset == B.Offset &&
                            A.Length == 0 && B.Length == 0))
        return ruleHit("guard-overlap",
                       "the edit changes bytes that " + Other +
                           " changes too; make one edit of both");
  return std::nullopt;
}

namespace {
class Run {
public:
  Run(const GuardContext &C, const Proposal &P, EditSet &Set) : C(C), P(P), Set(Set) {}

  Error run() {
    resolveAll();
    if (stopped())
      return Error::success();
    checkTogether();
    if (stopped())
      return Error::success();
    return checkParsed();
  }

private:
  bool stopped() const {
    return Edits.empty() || (C.Options.AllOrNothing && !Set.Refusals.empty());
  }

  void refuse(const Edit &E, RuleHit Hit) {
    Refusal R;
    R.Rule = Hit.Rule.str();
    R.Message = std::move(Hit.Message);
    R.Edit = E.Id;
    R.Proposal = P.Id;
    R.Transformation = E.Transformation;
    R.CannotProve = Hit.CannotProve;
    Set.Refusals.push_back(std::move(R));
  }

  void resolveAll() {
    for (const Edit &E : P.Edits) {
      ResolvedEdit Out;
      if (MaybeHit H = checkAlone(C, E, Out))
        refuse(E, std::move(*H));
      else
        Edits.push_back(std::move(Out));
    }
  }

  /// Drops edits until \p Check finds nothing; one may rest on another.
  void dropWhere(function_ref<MaybeHit(size_t)> Check) {
    for (bool Again = true; Again;) {
      Again = false;
      for (size_t I = 0; I < Edits.size(); ++I)
        if (MaybeHit H = Check(I)) {
          refuse(Edits[I].Source, std::move(*H));
          Edits.erase(Edits.begin() + I);
          Again = true;
          break;
        }
    }
  }

  void checkTogether() {
    dropWhere([&](size_t I) -> MaybeHit {
      for (size_t J = 0; J < I; ++J)
        if (MaybeHit H = checkPair(Edits[J], Edits[I]))
          return H;
      return std::nullopt;
    });
    dropWhere([&](size_t I) { return checkEveryLaunch(C, Edits[I], Edits); });
  }

  Error checkParsed() {
    while (!Edits.empty()) {
      Expected<Layout> L = layOut(C.Model, Edits);
      if (!L)
        return L.takeError();
      Expected<std::vector<Blame>> Found = reparse(C, Edits, *L);
      if (!Found)
        return Found.takeError();
      if (Found->empty()) {
        accept(*L);
        return Error::success();
      }
      for (Blame &B : *Found)
        refuse(Edits[B.Edit].Source, std::move(B.Hit));
      if (C.Options.AllOrNothing)
        return Error::success();
      std::set<size_t> Bad;
      for (const Blame &B : *Found)
        Bad.insert(B.Edit);
      for (size_t I : reverse(Bad))
        Edits.erase(Edits.begin() + I);
      // What is left must still change every launch of a kernel.
      dropWhere([&](size_t I) { return checkEveryLaunch(C, Edits[I], Edits); });
    }
    return Error::success();
  }

  void accept(Layout &L) {
    std::vector<FileEdit> All;
    for (ResolvedEdit &E : Edits) {
      Set.Accepted.push_back(E.Source);
      All.insert(All.end(), E.Changes.begin(), E.Changes.end());
    }
    std::vector<size_t> Order(All.size());
    for (size_t I = 0; I < Order.size(); ++I)
      Order[I] = I;
    llvm::sort(Order, [&](size_t A, size_t B) {
      return std::make_tuple(All[A].File, All[A].Offset, All[A].Length != 0, A) <
             std::make_tuple(All[B].File, All[B].Offset, All[B].Length != 0, B);
    });
    for (size_t I : Order)
      addFileEdit(std::move(All[I]));
    Set.NewContents = std::move(L.NewContents);
  }

  /// Insertions at one place and the replacement there become one: the order of
  /// separate ones would be lost on other tools.
  void addFileEdit(FileEdit F) {
    FileEdit *Last = Set.FileEdits.empty() ? nullptr : &Set.FileEdits.back();
    if (Last && Last->File == F.File && Last->Length == 0 && Last->Offset == F.Offset) {
      Last->Replacement += F.Replacement;
      Last->Length = F.Length;
      return;
    }
    Set.FileEdits.push_back(std::move(F));
  }

  const GuardContext &C;
  const Proposal &P;
  EditSet &Set;
  std::vector<ResolvedEdit> Edits;
};
} // namespace

Expected<EditSet> guard(const SourceModel &Model, const Diagnosis &D, const Proposal &P,
                        const GuardOptions &Options) {
  EditSet Set;
  Set.Proposal = P.Id;
  OtherUnits Others(Model, Options.Database);
  GuardContext C{Model, D, Options, Others};
  if (Error E = Run(C, P, Set).run())
    return std::move(E);
  return Set;
}

} // namespace optimas
