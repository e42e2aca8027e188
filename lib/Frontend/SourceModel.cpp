//===- SourceModel.cpp - Building and asking the model -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Frontend/SourceModel.h"
#include "Builder.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/thread.h"

using namespace llvm;

namespace optimas {

void SourceFile::indexLines() {
  LineStarts.assign(1, 0);
  for (size_t N = Text.find('\n'); N != std::string::npos; N = Text.find('\n', N + 1))
    LineStarts.push_back(N + 1);
}

unsigned SourceFile::lineCount() const {
  // A final newline ends the last line and begins none.
  unsigned N = LineStarts.size();
  return N && LineStarts.back() == Text.size() ? N - 1 : N;
}

StringRef SourceFile::line(unsigned Number) const {
  if (Number == 0 || Number > LineStarts.size())
    return {};
  StringRef Rest = StringRef(Text).drop_front(LineStarts[Number - 1]);
  Rest = Rest.take_until([](char C) { return C == '\n'; });
  Rest.consume_back("\r");
  return Rest;
}

unsigned SourceFile::lineOf(unsigned Offset) const {
  return llvm::upper_bound(LineStarts, Offset) - LineStarts.begin();
}

SourceModel::SourceModel() = default;
SourceModel::~SourceModel() = default;
SourceModel::SourceModel(SourceModel &&) noexcept = default;

const Statement *SourceModel::statement(StatementId Id) const {
  return Id == 0 || Id > Statements.size() ? nullptr : &Statements[Id - 1];
}

const Loop *SourceModel::loop(LoopId Id) const {
  return Id == 0 || Id > Loops.size() ? nullptr : &Loops[Id - 1];
}

const LaunchSite *SourceModel::launchSite(unsigned Id) const {
  return Id == 0 || Id > LaunchSites.size() ? nullptr : &LaunchSites[Id - 1];
}

const SourceFile &SourceModel::mainFile() const {
  for (const SourceFile &F : Files)
    if (F.IsMain)
      return F;
  return Files.front();
}

clang::ASTContext &SourceModel::device() const { return Asts->Device.Unit->context(); }
clang::ASTContext &SourceModel::host() const { return Asts->Host.Unit->context(); }

StringRef SourceModel::text(const SourceRange &R) const {
  if (R.File >= Files.size())
    return {};
  return StringRef(Files[R.File].Text).slice(R.Begin, R.End);
}

static unsigned commonSuffix(StringRef A, StringRef B) {
  unsigned N = 0;
  auto I = sys::path::rbegin(A), AE = sys::path::rend(A);
  auto J = sys::path::rbegin(B), BE = sys::path::rend(B);
  for (; I != AE && J != BE && *I == *J; ++I, ++J)
    ++N;
  return N;
}

std::optional<FileId> SourceModel::findFile(StringRef Path) const {
  for (FileId I = 0; I < Files.size(); ++I)
    if (Files[I].Path == Path)
      return I;
  std::string Canonical = canonicalPath(Path);
  unsigned Best = 0, Holders = 0;
  FileId Found = NoId;
  for (FileId I = 0; I < Files.size(); ++I) {
    if (Files[I].Path == Canonical)
      return I;
    unsigned N = commonSuffix(Files[I].Path, Path);
    if (N > Best) {
      Best = N;
      Holders = 0;
      Found = I;
    }
    Holders += N == Best && N > 0;
  }
  return Holders == 1 ? std::optional<FileId>(Found) : std::nullopt;
}

const Function *SourceModel::functionAt(FileId File, unsigned Line) const {
  const Function *Best = nullptr;
  for (const Function &F : Functions)
    if (F.Definition.File == File && F.Definition.BeginLine <= Line &&
        Line <= F.Definition.EndLine &&
        (!Best || F.Definition.size() < Best->Definition.size()))
      Best = &F;
  return Best;
}

std::vector<const LaunchSite *> SourceModel::launchSitesOf(FunctionId Kernel) const {
  std::vector<const LaunchSite *> Out;
  for (const LaunchSite &L : LaunchSites)
    if (L.Kernel == Kernel)
      Out.push_back(&L);
  return Out;
}

/// True for what lends its lines to the statement that holds it: a body's braces
/// and a loop's first clause.
static bool isPartOfParent(const SourceModel &Model, const Statement &S) {
  const Statement *Parent = Model.statement(S.Parent);
  if (!Parent)
    return false;
  if (S.Kind == "compound")
    return Parent->Kind != "compound";
  const Loop *L = Model.loop(Parent->InnermostLoop);
  return L && L->Stmt == Parent->Id && L->Header.contains(S.Range);
}

std::vector<StatementId> SourceModel::statementsOnLine(FileId File,
                                                       unsigned Line) const {
  // Children come after their parent, so going backwards meets the innermost first.
  std::vector<StatementId> Out;
  std::vector<bool> Covered(Statements.size() + 1);
  for (size_t I = Statements.size(); I-- > 0;) {
    const Statement &S = Statements[I];
    if (S.Range.File != File || Line < S.Range.BeginLine || Line > S.Range.EndLine)
      continue;
    bool Part = isPartOfParent(*this, S);
    if (!Covered[S.Id] && !Part)
      Out.push_back(S.Id);
    // A header's clause leaves the line to the header.
    bool Clause = Part && S.Kind != "compound";
    if (S.Parent != NoId && !Clause && (!Part || Covered[S.Id]))
      Covered[S.Parent] = true;
  }
  std::reverse(Out.begin(), Out.end());
  return Out;
}

std::optional<SourceRange> SourceModel::rangeOf(const clang::Stmt *S,
                                                CudaMode Mode) const {
  if (!S)
    return std::nullopt;
  const PassUnit &Pass = Mode == CudaMode::Device ? Asts->Device : Asts->Host;
  auto P = Pass.Places->tokens(S->getBeginLoc(), S->getEndLoc());
  if (!P || P->InMacro)
    return std::nullopt;
  return P->Range;
}

/// Runs \p Work on a thread with a stack for deeply nested sources.
static llvm::thread startParse(llvm::function_ref<void()> Work) {
  constexpr unsigned StackBytes = 64u << 20;
  return llvm::thread(std::optional<unsigned>(StackBytes), [Work] { Work(); });
}

Expected<SourceModel> SourceModelBuilder::build(const CompileCommand &Command,
                                                const FrontendOptions &Options) {
  auto Translated = translate(Command, Options.PreferredSm, Options.CudaPath);
  if (!Translated)
    return Translated.takeError();
  if (Options.AsNvcc)
    Translated->AsNvcc = *Options.AsNvcc;
  bool AsksForNvcc = false;
  auto Model = build(Command, *Translated, Options, AsksForNvcc);
  if (Model || !Translated->AsNvcc || Options.AsNvcc || !AsksForNvcc)
    return Model;
  // What the file has for nvcc alone, Clang does not understand. The rest may do.
  Translated->AsNvcc = false;
  Translated->Notes.push_back("Clang does not understand what is there for __NVCC__: "
                              "analysed without");
  auto Without = build(Command, *Translated, Options, AsksForNvcc);
  if (!Without) {
    consumeError(Without.takeError());
    return Model;
  }
  consumeError(Model.takeError());
  return Without;
}

Expected<SourceModel> SourceModelBuilder::build(const CompileCommand &Command,
                                                const TranslatedCommand &Translated,
                                                const FrontendOptions &Options,
                                                bool &AsksForNvcc) {
  SourceModelBuilder B;
  SourceModel &M = B.Model;
  M.Original = Command;
  M.Command = Translated;
  M.Asts = std::make_unique<SourceModel::Units>();
  SourceModel::Units &U = *M.Asts;
  std::string MainPath = canonicalPath(Command.File);
  if (Error E = B.parseBoth(Options))
    return std::move(E);
  AsksForNvcc = U.Device.Unit->AsksForNvcc || U.Host.Unit->AsksForNvcc;

  std::string Root = Options.ProjectRoot.empty()
                         ? sys::path::parent_path(MainPath).str()
                         : canonicalPath(Options.ProjectRoot);
  for (PassUnit *Pass : {&U.Device, &U.Host}) {
    Pass->Places = std::make_unique<Spelling>(*Pass->Unit);
    B.addFiles(*Pass, MainPath, Root);
  }
  if (llvm::none_of(M.Files, [](const SourceFile &F) { return F.IsMain; }))
    return makeError(ExitCode::ParseFailed, "cannot be read as a source file",
                     MainPath, "check the path and its permissions");
  U.Device.Places->setFiles(M.Files);
  U.Host.Places->setFiles(M.Files);
  if (Error E = B.checkSameText())
    return std::move(E);
  B.addInactive();
  B.addFunctions();
  if (Error E = B.triageErrors())
    return std::move(E);
  B.addStatements();
  B.addLaunchSites();
  return std::move(M);
}

Error SourceModelBuilder::parseBoth(const FrontendOptions &Options) {
  auto ResourceDir = checkResourceDir(Options.ResourceDir);
  if (!ResourceDir)
    return ResourceDir.takeError();
  auto CompatHeader = findCompatHeader();
  if (!CompatHeader)
    return CompatHeader.takeError();
  SourceModel::Units &U = *Model.Asts;
  Error Failures[2] = {Error::success(), Error::success()};
  auto Parse = [&](CudaMode Mode, PassUnit &Out, Error &Failure) {
    ErrorAsOutParameter Guard(Failure);
    auto Unit = ParsedUnit::parse(
        Model.Command.argvFor(Mode, *ResourceDir, *CompatHeader),
        Model.Command.Directory, Model.Command.File, Options.Overlay,
        Model.Command.AsNvcc);
    if (Unit)
      Out.Unit = std::move(*Unit);
    else
      Failure = Unit.takeError();
  };
  auto Device = [&] { Parse(CudaMode::Device, U.Device, Failures[0]); };
  auto Host = [&] { Parse(CudaMode::Host, U.Host, Failures[1]); };
  llvm::thread First = startParse(Device);
  llvm::thread Second = startParse(Host);
  First.join();
  Second.join();
  if (Failures[0]) {
    consumeError(std::move(Failures[1]));
    return std::move(Failures[0]);
  }
  return std::move(Failures[1]);
}

Expected<SourceModel> buildSourceModel(const CompileCommand &Command,
                                       const FrontendOptions &Options) {
  return SourceModelBuilder::build(Command, Options);
}

} // namespace optimas
