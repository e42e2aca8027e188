//===- GuardUnits.cpp - Other translation units of the database -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace optimas {

/// Units beyond this many are not parsed again for one header.
constexpr unsigned MaxUnits = 8;

MaybeHit checkOtherUnits(const GuardContext &C, const ResolvedEdit &E) {
  if (E.Kind != EditKind::Signature && E.Kind != EditKind::LaunchSite)
    return std::nullopt;
  std::optional<std::string> Mention = C.Others.mention(C.Model.function(E.Function));
  if (!Mention)
    return std::nullopt;
  return ruleHit(E.Kind == EditKind::Signature ? "guard-signature-redeclaration"
                                               : "guard-launch-sites",
                 *Mention, /*CannotProve=*/true);
}

static MaybeHit reparseUnit(const GuardContext &C, const CompileCommand &Unit,
                            const Layout &L) {
  FrontendOptions Before = C.Options.Frontend, After = Before;
  for (const auto &[Path, Text] : L.NewContents)
    After.Overlay[Path] = Text;
  auto Refuse = [&](const Twine &Why) {
    return ruleHit("guard-shared-header",
                   Unit.File + " includes an edited header and " + Why,
                   /*CannotProve=*/true);
  };
  auto Old = buildSourceModel(Unit, Before);
  if (!Old)
    return Refuse("cannot be parsed: " + toString(Old.takeError()));
  After.AsNvcc = Old->command().AsNvcc;
  auto New = buildSourceModel(Unit, After);
  if (!New)
    return Refuse("does not parse with the edit: " + toString(New.takeError()));
  if (const ParseDiagnostic *D = newError(*Old, *New))
    return Refuse("has an error with the edit: " + D->File + ":" + Twine(D->Line) +
                  ": " + D->Message);
  if (Old->functions().size() != New->functions().size() ||
      Old->launchSites().size() != New->launchSites().size())
    return Refuse("has other functions or launches with the edit");
  return std::nullopt;
}

MaybeHit reparseOtherUnits(const GuardContext &C, ArrayRef<ResolvedEdit> Edits,
                           const Layout &L) {
  StringSet<> Headers;
  for (const ResolvedEdit &E : Edits)
    for (const FileEdit &F : E.Changes)
      if (!C.Model.file(F.File).IsMain)
        Headers.insert(F.Path);
  if (Headers.empty())
    return std::nullopt;
  unsigned Parsed = 0;
  for (const OtherUnits::Unit &Unit : C.Others.units()) {
    if (!Unit.Unreadable.empty())
      return ruleHit("guard-shared-header",
                     "whether " + Unit.Command->File +
                         " includes an edited header cannot be told: " +
                         Unit.Unreadable,
                     /*CannotProve=*/true);
    if (none_of(Unit.Files,
                [&](const std::string &P) { return Headers.contains(P); }))
      continue;
    if (++Parsed > MaxUnits)
      return ruleHit("guard-shared-header",
                     "more than " + Twine(MaxUnits) +
                         " other units include the edited header; too many to check",
                     /*CannotProve=*/true);
    if (MaybeHit H = reparseUnit(C, *Unit.Command, L))
      return H;
  }
  return std::nullopt;
}

} // namespace optimas
