//===- GuardRaw.cpp - From a byte range to what it is part of -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace optimas {

/// The innermost list of siblings that covers \p R; empty when none does.
static std::vector<const Statement *>
siblingsAround(const SourceModel &M, const Function &F, const SourceRange &R) {
  const Statement *Innermost = nullptr;
  for (StatementId Id : F.Statements) {
    const Statement *S = M.statement(Id);
    if (S && S->Range.contains(R) &&
        (!Innermost || Innermost->Range.contains(S->Range)))
      Innermost = S;
  }
  std::vector<const Statement *> Children;
  if (Innermost && Innermost->Kind == "compound")
    for (StatementId Id : F.Statements)
      if (const Statement *S = M.statement(Id); S && S->Parent == Innermost->Id)
        Children.push_back(S);
  // From the last child that begins at or before the range to the first that
  // ends at or after it; a range in a gap takes the statement next to it.
  auto First = std::find_if(Children.begin(), Children.end(),
                            [&](auto *S) { return S->Range.End > R.Begin; });
  auto Last = std::find_if(Children.rbegin(), Children.rend(),
                           [&](auto *S) { return S->Range.Begin < R.End; });
  if (!Children.empty() && R.Begin == R.End) {
    const Statement *Next = First == Children.end() ? Children.back() : *First;
    return {Next, Next};
  }
  if (First != Children.end() && Last != Children.rend() &&
      (*First)->Range.Begin <= R.Begin && (*Last)->Range.End >= R.End)
    return {*First, *Last};
  if (Innermost && Innermost->Kind != "compound")
    return {Innermost, Innermost};
  return {};
}

/// Drops what both texts have in common at their ends, then blanks of the old
/// one at line ends, so that a diff's whole lines become the statements on
/// them.
static SourceRange shrunk(const SourceModel &M, SourceRange R, StringRef &New) {
  StringRef Old = M.file(R.File).Text;
  Old = Old.slice(R.Begin, R.End);
  while (!Old.empty() && !New.empty() && Old.front() == New.front())
    Old = Old.drop_front(), New = New.drop_front(), ++R.Begin;
  while (!Old.empty() && !New.empty() && Old.back() == New.back())
    Old = Old.drop_back(), New = New.drop_back(), --R.End;
  return makeRange(M, R.File, R.Begin, R.End);
}

static MaybeHit rawSignatureOrLaunch(const GuardContext &C,
                                     const SourceRange &R, StringRef New,
                                     ResolvedEdit &Out) {
  auto Filled = [&](const SourceRange &Whole) {
    StringRef Text = C.Model.file(Whole.File).Text;
    return (Text.slice(Whole.Begin, R.Begin) + New +
            Text.slice(R.End, Whole.End))
        .str();
  };
  auto Covers = [&](const SourceRange &Whole) {
    return Whole.File == R.File && Whole.Begin <= R.Begin && R.End <= Whole.End;
  };
  for (const LaunchSite &L : C.Model.launchSites())
    if (L.Config.valid() && Covers(L.Config) && !L.InMacro) {
      Out.Kind = EditKind::LaunchSite;
      Out.Site = &L;
      Out.Function = L.Kernel;
      Out.Named = L.Config;
      Out.Text = Filled(L.Config);
      return std::nullopt;
    }
  for (const Function &F : C.Model.functions())
    if (Covers(F.Signature) && !F.InMacro) {
      Out.Kind = EditKind::Signature;
      Out.Function = F.Id;
      Out.Named = F.Signature;
      Out.Text = Filled(F.Signature);
      return std::nullopt;
    }
  return ruleHit(
      "guard-raw-range",
      "the changed bytes at " + placeText(C.Model, R) +
          " lie in no statement of device code, no kernel signature and "
          "no launch configuration");
}

MaybeHit mapRawRange(const GuardContext &C, const Edit &E, ResolvedEdit &Out) {
  const SourceModel &M = C.Model;
  if (E.Raw.File >= M.files().size() || E.Raw.Begin > E.Raw.End ||
      E.Raw.End > M.file(E.Raw.File).Text.size())
    return ruleHit("guard-unknown-target",
                   "the byte range is not part of an analysed file");
  StringRef New = E.Text;
  SourceRange R = shrunk(M, E.Raw, New);
  if (R.Begin == R.End && New.empty())
    return ruleHit("guard-no-change", "the text is what stands there already");
  FileEdit Change;
  Change.Path = M.file(R.File).Path;
  Change.File = R.File;
  Change.Offset = R.Begin;
  Change.Length = R.End - R.Begin;
  Change.Replacement = New.str();
  Change.Edit = E.Id;
  Out.Changes = {Change};
  for (const Function &F : M.functions()) {
    if (F.Body.File != R.File || R.Begin <= F.Body.Begin || R.End >= F.Body.End)
      continue;
    StringRef Text = M.file(R.File).Text;
    SourceRange Core = R;
    while (Core.Begin < Core.End && isSpace(Text[Core.Begin]))
      ++Core.Begin;
    while (Core.Begin < Core.End && isSpace(Text[Core.End - 1]))
      --Core.End;
    auto Around = siblingsAround(M, F, Core);
    if (Around.empty())
      break;
    Edit AsReplace = E;
    AsReplace.First = Around[0]->Id;
    AsReplace.Last = Around[1]->Id;
    Out.Source = AsReplace;
    Out.Kind = EditKind::Replace;
    Out.Function = F.Id;
    Out.Named =
        makeRange(M, R.File, Around[0]->Range.Begin, Around[1]->Range.End);
    // The gap that an insertion stands in belongs to what is compared.
    SourceRange Whole = makeRange(M, R.File, std::min(Out.Named.Begin, R.Begin),
                                  std::max(Out.Named.End, R.End));
    Out.Old = Whole;
    Out.Text =
        (Text.slice(Whole.Begin, R.Begin) + New + Text.slice(R.End, Whole.End))
            .str();
    return checkNamedStatements(C, AsReplace, Around[0], Around[1]);
  }
  MaybeHit H = rawSignatureOrLaunch(C, R, New, Out);
  Out.Old = Out.Named;
  return H;
}

} // namespace optimas
