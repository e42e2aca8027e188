//===- GuardTest.cpp - A program, its regions, and edits of it -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardTest.h"
#include "optimas/Support/Files.h"

using namespace llvm;

namespace optimas {

GuardProgram::GuardProgram(const OnDisk &Where, std::vector<std::string> Units,
                           std::map<std::string, std::string> Files) {
  auto pathOf = [&](StringRef Name) { return Where.Folder + "/" + Name.str(); };
  for (const std::string &Unit : Units) {
    CompileCommand C;
    C.Directory = "/";
    C.File = pathOf(Unit);
    C.Args = {"nvcc", "-arch=sm_90", "-std=c++17", "-c", C.File};
    Options.Database.push_back(C);
  }
  Options.Frontend.ProjectRoot = Where.Folder;
  for (const auto &[Name, Bytes] : Files)
    Options.Frontend.Overlay[pathOf(Name)] = Bytes;
  auto Built = buildSourceModel(Options.Database.front(), Options.Frontend);
  if (!Built) {
    ADD_FAILURE() << toString(Built.takeError());
    std::abort();
  }
  Model.emplace(std::move(*Built));
  for (const Function &F : Model->functions()) {
    StringRef Name = F.Name;
    if (!Name.drop_front(Name.rfind(':') + 1).starts_with("hot"))
      continue;
    SourceRange Inner = F.Body;
    ++Inner.Begin, --Inner.End;
    addRegion(RegionKind::Statement, F.Id, Inner, NoId);
    addRegion(RegionKind::Signature, F.Id, F.Signature, NoId);
    for (const LaunchSite *L : Model->launchSitesOf(F.Id))
      addRegion(RegionKind::LaunchSite, F.Id, L->Config, L->Id);
  }
}

void GuardProgram::addRegion(RegionKind Kind, FunctionId F,
                             const SourceRange &R, unsigned LaunchSite) {
  Evidence E;
  E.Id = D.Items.size() + 1;
  E.Kernel = F;
  E.Weight = 1;
  D.Items.push_back(E);
  Region New;
  New.Id = D.Regions.size() + 1;
  New.Kind = Kind;
  New.Function = F;
  New.LaunchSiteId = LaunchSite;
  New.Range = R;
  New.Sha256 = sha256(Model->text(R));
  New.Evidence = {E.Id};
  D.Regions.push_back(New);
}

StatementId GuardProgram::statement(StringRef Text) const {
  StatementId Found = NoId;
  for (const Statement &S : Model->statements())
    if (Model->text(S.Range).starts_with(Text)) {
      EXPECT_EQ(Found, NoId) << "two statements begin with " << Text.str();
      Found = S.Id;
    }
  EXPECT_NE(Found, NoId) << "no statement begins with " << Text.str();
  return Found;
}

const Function &GuardProgram::function(StringRef Name) const {
  for (const Function &F : Model->functions())
    if (F.Name == Name)
      return F;
  ADD_FAILURE() << "no function " << Name.str();
  std::abort();
}

std::vector<unsigned> GuardProgram::evidenceAt(const SourceRange &R) const {
  for (const Region &Each : D.Regions)
    if (Each.Range.contains(R))
      return Each.Evidence;
  return {1};
}

Edit GuardProgram::edit(EditKind Kind, StringRef First, StringRef Text,
                        StringRef Last) const {
  Edit E;
  E.Kind = Kind;
  E.First = statement(First);
  E.Last = Last.empty() ? E.First : statement(Last);
  E.Text = Text.str();
  if (const Statement *S = Model->statement(E.First))
    E.Evidence = evidenceAt(S->Range);
  return E;
}

Edit GuardProgram::signature(StringRef Name, StringRef Text) const {
  Edit E;
  E.Kind = EditKind::Signature;
  E.Function = function(Name).Id;
  E.Text = Text.str();
  E.Evidence = evidenceAt(function(Name).Signature);
  return E;
}

Edit GuardProgram::launch(StringRef Config, StringRef Text,
                          unsigned Nth) const {
  Edit E;
  E.Kind = EditKind::LaunchSite;
  E.Text = Text.str();
  for (const LaunchSite &L : Model->launchSites())
    if (Model->text(L.Config) == Config && Nth-- == 0) {
      E.LaunchSiteId = L.Id;
      E.Evidence = evidenceAt(L.Config);
    }
  EXPECT_NE(E.LaunchSiteId, NoId) << "no launch with " << Config.str();
  return E;
}

Edit GuardProgram::raw(StringRef From, StringRef To) const {
  Edit E;
  E.Kind = EditKind::RawRange;
  StringRef Text = Model->mainFile().Text;
  size_t At = Text.find(From);
  EXPECT_NE(At, StringRef::npos) << From.str();
  EXPECT_EQ(Text.find(From, At + 1), StringRef::npos) << From.str();
  E.Raw.File = *Model->findFile(Model->mainFile().Path);
  E.Raw.Begin = At;
  E.Raw.End = At + From.size();
  E.Text = To.str();
  SourceRange Byte = E.Raw;
  Byte.Begin += From.size() / 2;
  Byte.End = Byte.Begin + 1;
  E.Evidence = evidenceAt(Byte);
  return E;
}

EditSet GuardProgram::run(std::vector<Edit> Edits, bool AllOrNothing,
                          bool Trusted) const {
  Proposal P;
  P.Id = 1;
  for (Edit &E : Edits) {
    E.Id = P.Edits.size() + 1;
    P.Edits.push_back(E);
  }
  GuardOptions O = Options;
  O.AllOrNothing = AllOrNothing;
  O.Trusted = Trusted;
  auto Set = guard(*Model, D, P, O);
  if (!Set) {
    ADD_FAILURE() << toString(Set.takeError());
    return {};
  }
  return std::move(*Set);
}

void expectRefused(const GuardProgram &P, std::vector<Edit> Edits,
                   StringRef Rule, bool Trusted) {
  SCOPED_TRACE("edit: " + (Edits.empty() ? std::string()
                                         : Edits.front().Text.substr(0, 200)));
  EditSet Set = P.run(std::move(Edits), /*AllOrNothing=*/true, Trusted);
  EXPECT_TRUE(Set.empty());
  EXPECT_TRUE(Set.NewContents.empty());
  ASSERT_FALSE(Set.Refusals.empty()) << "accepted instead of " << Rule.str();
  EXPECT_EQ(Set.Refusals.front().Rule, Rule.str())
      << Set.Refusals.front().Message;
  EXPECT_FALSE(Set.Refusals.front().Message.empty());
}

RefusalBatch &RefusalBatch::add(Edit E, StringRef Rule) {
  Edits.push_back(std::move(E));
  Rules.push_back(Rule.str());
  return *this;
}

RefusalBatch &RefusalBatch::slot(StringRef Text, StringRef Rule) {
  return add(P.replace("slots[" + std::to_string(NextSlot++) + "]", Text),
             Rule);
}

RefusalBatch::~RefusalBatch() {
  EditSet Set = P.run(Edits, /*AllOrNothing=*/false);
  for (size_t I = 0; I < Edits.size(); ++I) {
    std::string Got;
    for (const Refusal &R : Set.Refusals)
      if (R.Edit == I + 1)
        Got += (Got.empty() ? "" : ", ") + R.Rule;
    EXPECT_EQ(Got, Rules[I]) << Edits[I].Text;
  }
}

std::string expectAccepted(const GuardProgram &P, std::vector<Edit> Edits,
                           bool Trusted) {
  size_t Count = Edits.size();
  EditSet Set = P.run(std::move(Edits), /*AllOrNothing=*/true, Trusted);
  for (const Refusal &R : Set.Refusals)
    ADD_FAILURE() << "D" << R.Edit << " " << R.Rule << ": " << R.Message;
  EXPECT_EQ(Set.Accepted.size(), Count);
  EXPECT_FALSE(Set.empty());
  auto It = Set.NewContents.find(P.model().mainFile().Path);
  return It == Set.NewContents.end() ? P.mainText() : It->second;
}

} // namespace optimas
