//===- ParsedUnit.cpp - One pass over a translation unit -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ParsedUnit.h"
#include "OverlayFiles.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Driver/CreateInvocationFromArgs.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"

using namespace clang;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace optimas {

static constexpr StringRef NvccName = "__NVCC__";

namespace {

/// Keeps the diagnostics instead of printing them.
class Collector : public DiagnosticConsumer {
public:
  explicit Collector(std::vector<RawDiagnostic> &Out) : Out(Out) {}

  void HandleDiagnostic(DiagnosticsEngine::Level Level,
                        const Diagnostic &Info) override {
    DiagnosticConsumer::HandleDiagnostic(Level, Info);
    if (Level == DiagnosticsEngine::Note && !Out.empty() &&
        Info.getID() == diag::note_ovl_candidate_bad_target)
      Out.back().CandidateInOtherSpace = true;
    // The driver's remarks on versions and options have no place; what matters of
    // them the translation has said.
    if (Level < DiagnosticsEngine::Warning ||
        (Level < DiagnosticsEngine::Error && Info.getLocation().isInvalid()))
      return;
    llvm::SmallString<128> Text;
    Info.FormatDiagnostic(Text);
    Out.push_back({Info.getID(), Level, Info.getLocation(), Text.str().str()});
  }

private:
  std::vector<RawDiagnostic> &Out;
};

/// Takes a macro of the command line away while system headers are read. The toolkit's
/// and CCCL's choose by `__NVCC__` what only nvcc's front end understands; what they
/// have for Clang declares the same.
class HiddenMacro {
public:
  HiddenMacro(Preprocessor &PP, StringRef Name)
      : PP(PP), Name(PP.getIdentifierInfo(Name)) {}

  void enter(bool System, SourceLocation Loc) {
    if (System == Hidden)
      return;
    Hidden = System;
    MacroInfo *Now = PP.getMacroInfo(Name);
    if (System) {
      Saved = Now;
      if (Now)
        PP.appendMacroDirective(Name, new (PP.getPreprocessorAllocator()) UndefMacroDirective(Loc));
    } else if (Saved && !Now) {
      PP.appendDefMacroDirective(Name, Saved, Loc);
    }
  }

  bool is(const Token &Tok) const { return Tok.getIdentifierInfo() == Name; }

private:
  Preprocessor &PP;
  IdentifierInfo *Name;
  MacroInfo *Saved = nullptr;
  bool Hidden = false;
};

/// What the preprocessor tells about files that are no system headers.
class Watcher : public PPCallbacks {
public:
  Watcher(ParsedUnit &Unit, Preprocessor &PP, bool AsNvcc)
      : Unit(Unit), SM(PP.getSourceManager()), Nvcc(PP, NvccName), AsNvcc(AsNvcc) {}

  void FileChanged(SourceLocation Loc, FileChangeReason Reason,
                   SrcMgr::CharacteristicKind Kind, FileID) override {
    if (AsNvcc)
      Nvcc.enter(SrcMgr::isSystem(Kind), Loc);
    FileID File = SM.getFileID(Loc);
    if (Reason == SystemHeaderPragma)
      llvm::erase(Unit.UserFiles, File);
    if (Reason != EnterFile || SrcMgr::isSystem(Kind))
      return;
    if (SM.getFileEntryRefForID(File))
      Unit.UserFiles.push_back(File);
  }

  void SourceRangeSkipped(SourceRange Range, SourceLocation EndifLoc) override {
    auto [File, Begin] = SM.getDecomposedExpansionLoc(Range.getBegin());
    if (SM.isInSystemHeader(Range.getBegin()) || !SM.getFileEntryRefForID(File))
      return;
    // From the line after the first directive to the line of the last.
    StringRef Text = SM.getBufferData(File);
    size_t End = SM.getFileOffset(EndifLoc);
    size_t LineEnd = Text.find('\n', Begin);
    size_t LastLine = Text.rfind('\n', End);
    if (LineEnd != StringRef::npos && LastLine != StringRef::npos &&
        LineEnd < LastLine)
      Unit.Skipped.push_back(
          {File, unsigned(LineEnd + 1), unsigned(LastLine + 1)});
  }

  void InclusionDirective(SourceLocation HashLoc, const Token &,
                          StringRef FileName, bool IsAngled, CharSourceRange,
                          OptionalFileEntryRef, StringRef, StringRef,
                          const Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    FileID From = SM.getFileID(HashLoc);
    if (SM.isInSystemHeader(HashLoc) || !SM.getFileEntryRefForID(From))
      return;
    Unit.Includes.push_back({From, ((IsAngled ? "<" : "\"") + FileName +
                                    (IsAngled ? ">" : "\""))
                                       .str()});
  }

  void Ifdef(SourceLocation Loc, const Token &Name, const MacroDefinition &) override {
    ask(Loc, Name);
  }
  void Ifndef(SourceLocation Loc, const Token &Name, const MacroDefinition &) override {
    ask(Loc, Name);
  }
  void Elifdef(SourceLocation Loc, const Token &Name, const MacroDefinition &) override {
    ask(Loc, Name);
  }
  void Elifndef(SourceLocation Loc, const Token &Name, const MacroDefinition &) override {
    ask(Loc, Name);
  }
  void Defined(const Token &Name, const MacroDefinition &, SourceRange Range) override {
    ask(Range.getBegin(), Name);
  }
  void MacroExpands(const Token &Name, const MacroDefinition &, SourceRange Range,
                    const MacroArgs *) override {
    ask(Range.getBegin(), Name);
  }

private:
  void ask(SourceLocation Loc, const Token &Name) {
    if (Nvcc.is(Name) && !SM.isInSystemHeader(Loc))
      Unit.AsksForNvcc = true;
  }

  ParsedUnit &Unit;
  SourceManager &SM;
  HiddenMacro Nvcc;
  bool AsNvcc;
};

class TopLevelCollector : public ASTConsumer {
public:
  TopLevelCollector(ParsedUnit &Unit, SourceManager &SM) : Unit(Unit), SM(SM) {}

  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    for (Decl *D : Group) {
      SourceLocation Loc = SM.getExpansionLoc(D->getLocation());
      if (Loc.isInvalid() || SM.isInSystemHeader(Loc) || isInstantiation(D))
        continue;
      // Built-in and command-line declarations have no file.
      if (SM.getFileEntryRefForID(SM.getFileID(Loc)))
        Unit.TopLevel.push_back(D);
    }
    return true;
  }

  /// A system header's plain functions are needed by name only: that halves the time.
  /// Its templates must stay whole, since they instantiate the user's.
  bool shouldSkipFunctionBody(Decl *D) override {
    return !D->isTemplated() &&
           SM.isInSystemHeader(SM.getExpansionLoc(D->getLocation()));
  }

private:
  static bool isInstantiation(const Decl *D) {
    if (const auto *F = dyn_cast<FunctionDecl>(D))
      return F->isTemplateInstantiation();
    if (const auto *V = dyn_cast<VarDecl>(D))
      return isTemplateInstantiation(V->getTemplateSpecializationKind());
    return false;
  }

  ParsedUnit &Unit;
  SourceManager &SM;
};

class Action : public ASTFrontendAction {
public:
  Action(ParsedUnit &Unit, bool AsNvcc) : Unit(Unit), AsNvcc(AsNvcc) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 StringRef) override {
    CI.getPreprocessor().addPPCallbacks(
        std::make_unique<Watcher>(Unit, CI.getPreprocessor(), AsNvcc));
    return std::make_unique<TopLevelCollector>(Unit, CI.getSourceManager());
  }

private:
  ParsedUnit &Unit;
  bool AsNvcc;
};

} // namespace

ParsedUnit::~ParsedUnit() {
  if (Begun)
    Action->EndSourceFile();
}

static Error commandError(const ParsedUnit &Unit, StringRef MainFile) {
  std::string What = "Clang cannot make sense of the translated command";
  for (const RawDiagnostic &D : Unit.Diagnostics)
    if (D.Level >= DiagnosticsEngine::Error) {
      What += ": " + D.Message;
      break;
    }
  return makeError(ExitCode::ParseFailed, What, MainFile,
                   "check the file's entry in compile_commands.json, or give "
                   "the compiler's options after --");
}

Expected<std::unique_ptr<ParsedUnit>>
ParsedUnit::parse(const std::vector<std::string> &Argv, StringRef Directory,
                  StringRef MainFile,
                  const std::map<std::string, std::string> &Overlay, bool AsNvcc) {
  std::unique_ptr<ParsedUnit> Unit(new ParsedUnit);
  Unit->Directory = Directory.str();
  auto Files = openFiles(Directory, Overlay);
  if (!Files)
    return Files.takeError();
  if (!(*Files)->exists(MainFile))
    return makeError(ExitCode::ParseFailed, "there is no such file", MainFile,
                     "check the path, or generate the file first when the build "
                     "makes it");
  Unit->Consumer = std::make_unique<Collector>(Unit->Diagnostics);

  std::vector<const char *> Args;
  for (const std::string &A : Argv)
    Args.push_back(A.c_str());
  // Ahead of the user's own -D and -U, which win.
  std::string Define = "-D" + NvccName.str();
  if (AsNvcc && !Args.empty())
    Args.insert(Args.begin() + 1, Define.c_str());
  // Options that Clang does not know are the translation's business; -Werror and
  // the like must not turn a warning into a failed parse.
  auto DiagOpts = std::make_shared<DiagnosticOptions>();
  CreateInvocationOptions Options;
  Options.Diags = CompilerInstance::createDiagnostics(
      **Files, *DiagOpts, Unit->Consumer.get(), /*ShouldOwnClient=*/false);
  Options.VFS = *Files;
  std::shared_ptr<CompilerInvocation> Invocation =
      createInvocation(Args, std::move(Options));
  if (!Invocation)
    return commandError(*Unit, MainFile);
  Invocation->getDiagnosticOpts().Warnings.push_back("no-error");
  // The build's own compiler gives the warnings; looking for them takes time.
  Invocation->getDiagnosticOpts().IgnoreWarnings = true;
  Invocation->getDiagnosticOpts().ErrorLimit = 0;
  Invocation->getFrontendOpts().DisableFree = false;
  Invocation->getFrontendOpts().SkipFunctionBodies = true;

  Unit->Compiler = std::make_unique<CompilerInstance>(Invocation);
  CompilerInstance &CI = *Unit->Compiler;
  CI.setVirtualFileSystem(*Files);
  CI.createDiagnostics(Unit->Consumer.get(), /*ShouldOwnClient=*/false);
  // A missing header must not stop semantic analysis of the kernels below it.
  CI.getDiagnostics().setFatalsAsError(true);
  CI.createFileManager();
  CI.createSourceManager();
  if (!CI.createTarget() || CI.getFrontendOpts().Inputs.size() != 1)
    return commandError(*Unit, MainFile);
  Unit->Action = std::make_unique<class Action>(*Unit, AsNvcc);
  if (!Unit->Action->BeginSourceFile(CI, CI.getFrontendOpts().Inputs.front()))
    return commandError(*Unit, MainFile);
  Unit->Begun = true;
  if (Error E = Unit->Action->Execute())
    return std::move(E);
  return std::move(Unit);
}

} // namespace optimas
