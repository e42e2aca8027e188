//===- Edit.cpp - Names and JSON of edits -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Transform/Edit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace optimas {

StringRef toString(EditKind K) {
  switch (K) {
  case EditKind::Replace:
    return "replace";
  case EditKind::InsertBefore:
    return "insert-before";
  case EditKind::InsertAfter:
    return "insert-after";
  case EditKind::Delete:
    return "delete";
  case EditKind::Wrap:
    return "wrap";
  case EditKind::Signature:
    return "signature";
  case EditKind::LaunchSite:
    return "launch-site";
  case EditKind::RawRange:
    return "raw-range";
  }
  llvm_unreachable("an edit kind has no name");
}

std::optional<EditKind> editKindFrom(StringRef Text) {
  return StringSwitch<std::optional<EditKind>>(Text)
      .Case("replace", EditKind::Replace)
      .Case("insert-before", EditKind::InsertBefore)
      .Case("insert-after", EditKind::InsertAfter)
      .Case("delete", EditKind::Delete)
      .Case("wrap", EditKind::Wrap)
      .Case("signature", EditKind::Signature)
      .Case("launch-site", EditKind::LaunchSite)
      .Case("raw-range", EditKind::RawRange)
      .Default(std::nullopt);
}

static json::Array evidenceIds(ArrayRef<unsigned> Ids) {
  json::Array Out;
  for (unsigned Id : Ids)
    Out.push_back(idText('E', Id));
  return Out;
}

/// JSON must be UTF-8; a source need not be.
static std::string utf8(StringRef Text) {
  return json::isUTF8(Text) ? Text.str() : json::fixUTF8(Text);
}

/// Where the edit lands, so that a reader needs no table of ids.
static SourceRange landing(const Edit &E, const SourceModel &Model) {
  if (E.Kind == EditKind::RawRange)
    return E.Raw;
  if (E.Kind == EditKind::LaunchSite) {
    if (E.LaunchSiteId < Model.launchSites().size())
      return Model.launchSites()[E.LaunchSiteId].Config;
    return {};
  }
  if (E.Kind == EditKind::Signature)
    return E.Function < Model.functions().size()
               ? Model.function(E.Function).Signature
               : SourceRange();
  const Statement *First = Model.statement(E.First);
  const Statement *Last = Model.statement(E.Last);
  if (!First || !Last)
    return {};
  SourceRange R = First->Range;
  R.End = Last->Range.End;
  R.EndLine = Last->Range.EndLine;
  return R;
}

json::Value toJson(const Edit &E, const SourceModel &Model) {
  json::Object Out{{"id", idText('D', E.Id)},
                   {"kind", toString(E.Kind)},
                   {"text", utf8(E.Text)},
                   {"evidence", evidenceIds(E.Evidence)},
                   {"transformation", utf8(E.Transformation)},
                   {"reason", utf8(E.Reason)},
                   {"metric", utf8(E.Metric)},
                   {"direction", toString(E.Move)}};
  if (E.Factor > 1)
    Out["factor"] = E.Factor;
  if (E.First != NoId)
    Out["first"] = idText('S', E.First);
  if (E.Last != NoId)
    Out["last"] = idText('S', E.Last);
  if (E.LaunchSiteId != NoId)
    Out["launch_site"] = ("LS" + Twine(E.LaunchSiteId)).str();
  FunctionId F = E.Function;
  if (F == NoId)
    if (const Statement *S = Model.statement(E.First))
      F = S->Function;
  if (F < Model.functions().size())
    Out["function"] = Model.function(F).Name;
  if (!E.Precondition.empty())
    Out["precondition"] = utf8(E.Precondition);
  if (!E.Postcondition.empty())
    Out["postcondition"] = utf8(E.Postcondition);
  SourceRange R = landing(E, Model);
  if (R.File < Model.files().size()) {
    Out["file"] = utf8(Model.file(R.File).Path);
    Out["line"] = R.BeginLine;
    Out["end_line"] = R.EndLine;
  }
  return Out;
}

json::Value toJson(const Proposal &P, const SourceModel &Model) {
  json::Array Kernels, Edits, Suggested;
  for (FunctionId F : P.Kernels)
    if (F < Model.functions().size())
      Kernels.push_back(Model.function(F).Name);
  for (const Edit &E : P.Edits)
    Edits.push_back(toJson(E, Model));
  for (StringRef S : P.SuggestedButNotApplied)
    Suggested.push_back(utf8(S));
  return json::Object{{"id", idText('P', P.Id)},
                      {"proposer", utf8(P.Proposer)},
                      {"title", utf8(P.Title)},
                      {"group", utf8(P.Group)},
                      {"kernels", std::move(Kernels)},
                      {"edits", std::move(Edits)},
                      {"suggested_but_not_applied", std::move(Suggested)}};
}

} // namespace optimas
