//===- Response.cpp - Reading a proposer's answer -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Propose/Proposer.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Json.h"

using namespace llvm;

namespace optimas {

static Error badAnswer(const Twine &What, StringRef Who) {
  return makeError(ExitCode::ModelFailed, What, Who,
                   "the answer must be one JSON object of edits (docs/proposals.md)");
}

/// The end of the JSON object that begins at \p Text[0]; npos when it never ends.
static size_t endOfObject(StringRef Text) {
  unsigned Depth = 0;
  bool InString = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (InString) {
      if (C == '\\')
        ++I;
      else if (C == '"')
        InString = false;
    } else if (C == '"') {
      InString = true;
    } else if (C == '{') {
      ++Depth;
    } else if (C == '}' && --Depth == 0) {
      return I + 1;
    }
  }
  return StringRef::npos;
}

/// The first JSON object in \p Text that has the shape of an answer; prose and fences
/// around it are passed over.
static Expected<json::Object> findObject(StringRef Text, StringRef Who) {
  bool SawTruncated = false;
  std::string FirstProblem;
  for (size_t At = Text.find('{'); At != StringRef::npos; At = Text.find('{', At + 1)) {
    size_t End = endOfObject(Text.substr(At));
    if (End == StringRef::npos) {
      SawTruncated = true;
      break;
    }
    Expected<json::Value> V = parseJson(Text.substr(At, End));
    if (!V) {
      std::string Problem = toString(V.takeError());
      if (FirstProblem.empty())
        FirstProblem = Problem;
      continue;
    }
    json::Object *O = V->getAsObject();
    if (O && (O->get("edits") || O->get("proposals")))
      return std::move(*O);
    At += End - 1;
  }
  if (SawTruncated)
    return badAnswer("the answer's JSON ends in the middle (truncated output?)", Who);
  if (!FirstProblem.empty())
    return badAnswer("the answer is not valid JSON: " + Twine(FirstProblem), Who);
  return badAnswer("the answer holds no JSON object with \"edits\"", Who);
}

/// `S12` → 12 for prefix 'S'; nullopt otherwise.
static std::optional<unsigned> idFrom(StringRef Text, StringRef Prefix) {
  unsigned Id;
  if (!Text.trim().consume_front(Prefix))
    return std::nullopt;
  if (Text.trim().drop_front(Prefix.size()).getAsInteger(10, Id))
    return std::nullopt;
  return Id;
}

namespace {
/// Reads one answer; every message names the edit by its place.
class AnswerReader {
public:
  AnswerReader(const ProposalRequest &R, StringRef Who) : R(R), Who(Who) {}

  Expected<Proposal> proposal(const json::Object &O, const Twine &Where) {
    Proposal P;
    P.Proposer = Who.str();
    P.Title = text(O, "title");
    const json::Array *Edits = O.getArray("edits");
    if (!Edits)
      return badAnswer(Where + "\"edits\" is not a list", Who);
    for (size_t I = 0; I < Edits->size(); ++I) {
      std::string Place = (Where + "edits[" + Twine(I) + "]").str();
      const json::Object *E = (*Edits)[I].getAsObject();
      if (!E)
        return badAnswer(Twine(Place) + " is not an object", Who);
      Expected<Edit> Read = edit(*E, Place);
      if (!Read)
        return Read.takeError();
      P.Edits.push_back(std::move(*Read));
    }
    if (const json::Array *S = O.getArray("suggested_but_not_applied"))
      for (const json::Value &V : *S)
        if (auto Text = V.getAsString())
          P.SuggestedButNotApplied.push_back(Text->str());
    nameKernels(P);
    return P;
  }

private:
  static std::string text(const json::Object &O, StringRef Key) {
    return O.getString(Key).value_or("").str();
  }

  Expected<Edit> edit(const json::Object &O, const std::string &Place) {
    Edit E;
    std::string Kind = text(O, "kind");
    std::optional<EditKind> K = editKindFrom(Kind);
    if (!K || *K == EditKind::RawRange)
      return badAnswer(Twine(Place) + ".kind: unknown kind '" + Kind + "'", Who);
    E.Kind = *K;
    E.Text = text(O, "text");
    E.Transformation = text(O, "transformation");
    E.Reason = text(O, "reason");
    E.Precondition = text(O, "precondition");
    E.Postcondition = text(O, "postcondition");
    E.Metric = text(O, "metric");
    E.Move = text(O, "direction") == "up" ? Direction::Up : Direction::Down;
    if (const json::Array *Ids = O.getArray("evidence"))
      for (const json::Value &V : *Ids) {
        auto Id = idFrom(V.getAsString().value_or(""), "E");
        if (!Id)
          return badAnswer(Twine(Place) + ".evidence: ids look like \"E1\"", Who);
        E.Evidence.push_back(*Id);
      }
    if (Error Err = target(O, Place, E))
      return std::move(Err);
    return E;
  }

  /// What the edit acts on. Ids that name nothing are the guard's to refuse, by rule.
  Error target(const json::Object &O, const std::string &Place, Edit &E) {
    if (E.Kind == EditKind::Signature) {
      std::string Name = text(O, "function");
      for (const Function &F : R.Model.functions())
        if (F.Name == Name)
          E.Function = F.Id;
      return Error::success();
    }
    if (E.Kind == EditKind::LaunchSite) {
      auto Id = idFrom(text(O, "launch_site"), "LS");
      if (!Id)
        return badAnswer(Twine(Place) + ".launch_site: ids look like \"LS1\"", Who);
      E.LaunchSiteId = *Id;
      return Error::success();
    }
    auto First = idFrom(text(O, "first"), "S");
    if (!First)
      return badAnswer(Twine(Place) + ".first: statement ids look like \"S12\"", Who);
    std::string LastText = text(O, "last");
    auto Last = LastText.empty() ? First : idFrom(LastText, "S");
    if (!Last)
      return badAnswer(Twine(Place) + ".last: statement ids look like \"S12\"", Who);
    E.First = *First;
    E.Last = *Last;
    return Error::success();
  }

  void nameKernels(Proposal &P) {
    for (const Edit &E : P.Edits)
      for (unsigned Id : E.Evidence)
        if (const Evidence *Item = R.D.evidence(Id))
          if (Item->Kernel != NoId && !is_contained(P.Kernels, Item->Kernel))
            P.Kernels.push_back(Item->Kernel);
    if (P.Title.empty()) {
      std::vector<StringRef> Names;
      for (const Edit &E : P.Edits)
        if (!E.Transformation.empty() && !is_contained(Names, StringRef(E.Transformation)))
          Names.push_back(E.Transformation);
      P.Title = Names.empty() ? "edits of the answer" : join(Names, " + ");
    }
    P.Group = P.Kernels.empty() ? Who.str() : R.Model.function(P.Kernels.front()).Name;
  }

  const ProposalRequest &R;
  StringRef Who;
};
} // namespace

Expected<std::vector<Proposal>> parseResponse(StringRef Response, const ProposalRequest &Request,
                                              StringRef ProposerName) {
  Expected<json::Object> O = findObject(Response, ProposerName);
  if (!O)
    return O.takeError();
  AnswerReader Reader(Request, ProposerName);
  std::vector<Proposal> Out;
  const json::Array *Several = O->getArray("proposals");
  if (!Several) {
    Expected<Proposal> P = Reader.proposal(*O, "");
    if (!P)
      return P.takeError();
    Out.push_back(std::move(*P));
    return Out;
  }
  for (size_t I = 0; I < Several->size(); ++I) {
    const json::Object *One = (*Several)[I].getAsObject();
    if (!One)
      return badAnswer("proposals[" + Twine(I) + "] is not an object", ProposerName);
    Expected<Proposal> P = Reader.proposal(*One, "proposals[" + Twine(I) + "].");
    if (!P)
      return P.takeError();
    Out.push_back(std::move(*P));
  }
  return Out;
}

} // namespace optimas
