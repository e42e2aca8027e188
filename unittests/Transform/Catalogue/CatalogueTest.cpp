//===- CatalogueTest.cpp - Snippets, globs, order -------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CatalogueTest.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "optimas/Transform/Guard.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace llvm;

namespace optimas {

static std::shared_ptr<SourceModel> parse(const std::string &Path,
                                          const std::string *Code) {
  CompileCommand C;
  C.Directory = "/";
  C.File = Path;
  C.Args = {"nvcc", "-arch=sm_90", "-std=c++17", "-c", Path};
  FrontendOptions Options;
  Options.ProjectRoot = Path.substr(0, Path.rfind('/'));
  if (Code)
    Options.Overlay[Path] = *Code;
  return std::make_shared<SourceModel>(cantFail(buildSourceModel(C, Options)));
}

Snippet::Snippet(const std::string &Code) {
  Model = parse("/optimas-snippet/snippet.cu", &Code);
  std::vector<std::pair<unsigned, std::string>> Hot;
  SmallVector<StringRef> Lines;
  StringRef(Code).split(Lines, '\n');
  for (size_t I = 0; I < Lines.size(); ++I) {
    if (size_t At = Lines[I].find("// launch:"); At != StringRef::npos)
      Hot.push_back(
          {I + 1, Lines[I].drop_front(At + strlen("// ")).rtrim().str()});
    size_t At = Lines[I].find("// hot");
    if (At == StringRef::npos)
      continue;
    StringRef Reason = Lines[I].drop_front(At + strlen("// hot")).rtrim();
    Reason.consume_front(":");
    Hot.push_back({I + 1, Reason.empty() ? "long_scoreboard" : Reason.str()});
  }
  diagnose(Hot);
}

Snippet
Snippet::fromFile(const std::string &Path,
                  const std::vector<std::pair<unsigned, std::string>> &Hot) {
  Snippet S;
  S.Model = parse(canonicalPath(Path), nullptr);
  S.diagnose(Hot);
  return S;
}

void Snippet::diagnose(
    const std::vector<std::pair<unsigned, std::string>> &Hot) {
  FileId Main = Model->findFile(Model->mainFile().Path).value();
  for (auto &[Line, Text] : Hot) {
    StringRef Reason = Text;
    const Function *F = Model->functionAt(Main, Line);
    Evidence E;
    if (Reason.consume_front("roofline:")) {
      E.Kind = EvidenceKind::Roofline;
    } else if (Reason.consume_front("launch:")) {
      E.Kind = EvidenceKind::Launch;
      auto [Name, Rest] = Reason.split(':');
      for (const Function &Other : Model->functions())
        if (Other.Name == Name)
          F = &Other;
      Reason = Rest;
    }
    ASSERT_TRUE(F) << "line " << Line << " is in no function";
    E.Id = D.Items.size() + 1;
    E.Kernel = F->Id;
    E.KernelName = F->Name;
    E.Reason = Reason.str();
    E.Consumer = {Main, Model->mainFile().Path, Line, F->Name,
                  Model->mainFile().line(Line).trim().str()};
    if (E.Kind == EvidenceKind::Stall) {
      E.Producers.emplace_back();
      E.Producers.back().Where = E.Consumer;
      E.Producers.back().Opcode = "LDG";
    }
    E.Lines = {E.Consumer};
    E.Metric = "latency_samples:" + E.Reason + "@line" + std::to_string(Line);
    D.Items.push_back(std::move(E));
  }
  for (const Function &F : Model->functions()) {
    unsigned Own =
        count_if(D.Items, [&](const Evidence &E) { return E.Kernel == F.Id; });
    for (Evidence &E : D.Items)
      if (E.Kernel == F.Id)
        E.Weight = 0.9 / Own;
    if (!F.IsKernel)
      continue;
    KernelDiagnosis K;
    K.Function = F.Id;
    K.Name = F.Name;
    K.Hot = true;
    D.Kernels.push_back(std::move(K));
  }
}

CatalogueResult Snippet::run(StringRef Checks) const {
  return proposeFromCatalogue({*Model, D}, Checks);
}

std::vector<Proposal> Snippet::proposals(StringRef Kernel,
                                         StringRef Checks) const {
  std::vector<Proposal> Out;
  for (Proposal &P : run(Checks).Proposals)
    if (P.Group == Kernel)
      Out.push_back(std::move(P));
  return Out;
}

std::vector<std::string> Snippet::declines(StringRef Kernel,
                                           StringRef Checks) const {
  std::vector<std::string> Out;
  for (const Declined &N : run(Checks).Declines)
    if (Model->function(N.Kernel).Name == Kernel)
      Out.push_back(N.Rule + "@" + std::to_string(N.Line));
  return Out;
}

static SourceRange rangeOf(const SourceModel &Model, const Edit &E) {
  if (E.Kind == EditKind::LaunchSite) {
    for (const LaunchSite &L : Model.launchSites())
      if (L.Id == E.LaunchSiteId)
        return L.Config;
    return {};
  }
  if (E.Kind == EditKind::Signature)
    return Model.function(E.Function).Signature;
  SourceRange R = Model.statement(E.First)->Range;
  R.End = Model.statement(E.Last)->Range.End;
  if (E.Kind == EditKind::InsertBefore)
    R.End = R.Begin;
  return R;
}

std::string Snippet::apply(const Proposal &P) const {
  std::vector<FileEdit> Edits;
  for (const Edit &E : P.Edits) {
    SourceRange R = rangeOf(*Model, E);
    EXPECT_NE(R.File, NoId);
    FileEdit F;
    F.Path = Model->file(R.File).Path;
    F.File = R.File;
    F.Offset = R.Begin;
    F.Length = R.End - R.Begin;
    F.Replacement = StringRef(E.Text).ltrim(" ").str();
    if (E.Kind == EditKind::InsertBefore)
      F.Replacement += "\n  "; // as the guard places it
    Edits.push_back(std::move(F));
  }
  sort(Edits, [](const FileEdit &A, const FileEdit &B) {
    return A.Offset < B.Offset;
  });
  return cantFail(applyEdits(Model->mainFile().Text, Edits));
}

std::string Snippet::text(const Proposal &P) const {
  for (const Edit &E : P.Edits)
    if (E.Kind != EditKind::LaunchSite)
      return StringRef(E.Text).ltrim(" ").str();
  return "";
}

std::string compileWithNvcc(const std::string &Code, std::string *Cubin) {
  ScratchDir Dir = cantFail(ScratchDir::create("optimas-catalogue"));
  cantFail(writeFileAtomically(Dir.file("a.cu"), Code));
  SubprocessOptions O;
  O.Args = {OPTIMAS_TEST_NVCC,
            "-std=c++17",
            "-arch=sm_90",
            "-O3",
            "-cubin",
            "-Xcudafe",
            "--display_error_number",
            "-o",
            Dir.file("a.cubin"),
            Dir.file("a.cu")};
  SubprocessResult R = cantFail(runSubprocess(O));
  if (Cubin && R.ok())
    *Cubin = cantFail(readFile(Dir.file("a.cubin"), ExitCode::Internal));
  return (R.ok() ? "" : "failed: ") + R.Error;
}

//===----------------------------------------------------------------------===//

TEST(CheckEnabledTest, ReadsGlobsInOrder) {
  EXPECT_TRUE(checkEnabled("*", "optimas-unroll"));
  EXPECT_FALSE(checkEnabled("", "optimas-unroll"));
  EXPECT_FALSE(checkEnabled("*,-optimas-unroll", "optimas-unroll"));
  EXPECT_TRUE(checkEnabled("*,-optimas-unroll", "optimas-load-batching"));
  EXPECT_TRUE(checkEnabled("-*,optimas-load-*", "optimas-load-batching"));
  EXPECT_FALSE(checkEnabled("-*,optimas-load-*", "optimas-unroll"));
  EXPECT_TRUE(checkEnabled(" -* , optimas-*ing ", "optimas-load-batching"));
  EXPECT_FALSE(checkEnabled("optimas", "optimas-unroll"));
  EXPECT_TRUE(checkEnabled("-optimas-unroll,*", "optimas-unroll"));
}

TEST(CatalogueTest, IdsAreSortedAndComplete) {
  StringRef Last;
  for (const Transformation *T : catalogue()) {
    EXPECT_TRUE(T->id().starts_with("optimas-")) << T->id().str();
    EXPECT_LT(Last, T->id());
    EXPECT_FALSE(T->summary().empty());
    EXPECT_TRUE(T->summary().ends_with(".")) << T->id().str();
    EXPECT_FALSE(T->source().empty());
    EXPECT_EQ(T->exactness(), "yes");
    Last = T->id();
  }
}

TEST(CatalogueTest, EveryPageBeginsWithTheSummary) {
  for (const Transformation *T : catalogue()) {
    std::string Path = OPTIMAS_TEST_DOCS "/catalogue/" +
                       T->id().drop_front(strlen("optimas-")).str() + ".md";
    std::string Page = cantFail(readFile(Path, ExitCode::Internal));
    EXPECT_TRUE(StringRef(Page).starts_with(
        ("# " + T->id() + "\n\n" + T->summary() + "\n").str()))
        << Path;
    EXPECT_TRUE(StringRef(Page).contains("## What calls for it")) << Path;
    EXPECT_TRUE(StringRef(Page).contains("## Declined by")) << Path;
  }
}

} // namespace optimas
