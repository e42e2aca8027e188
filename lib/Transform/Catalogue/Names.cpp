//===- Names.cpp - Names that are free in a kernel ------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelView.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace clang;

namespace optimas::recipes {

static bool isNameChar(char C) { return llvm::isAlnum(C) || C == '_'; }

static void eachName(llvm::StringRef Text,
                     llvm::function_ref<void(llvm::StringRef)> Visit) {
  while (!Text.empty()) {
    llvm::StringRef Word = Text.take_while(isNameChar);
    if (!Word.empty() && !llvm::isDigit(Word.front()))
      Visit(Word);
    Text = Text.drop_front(std::max<size_t>(Word.size(), 1));
  }
}

/// The rest of the line that \p Text begins in, with the lines that a
/// backslash joins to it.
static llvm::StringRef logicalLine(llvm::StringRef Text) {
  for (size_t At = 0; (At = Text.find('\n', At)) != llvm::StringRef::npos;
       ++At)
    if (!Text.take_front(At).rtrim("\r \t").ends_with("\\"))
      return Text.take_front(At);
  return Text;
}

/// Every `#define` of a buffer: its name, and what follows the name.
static void eachMacro(
    llvm::StringRef Text,
    llvm::function_ref<void(llvm::StringRef, llvm::StringRef)> Visit) {
  for (size_t At; (At = Text.find("define")) != llvm::StringRef::npos;) {
    bool Directive = Text.take_front(At).rtrim(" \t").ends_with("#");
    Text = Text.drop_front(At + strlen("define"));
    if (!Directive || Text.empty() || isNameChar(Text.front()))
      continue;
    llvm::StringRef Line = logicalLine(Text).ltrim(" \t");
    llvm::StringRef Name = Line.take_while(isNameChar);
    Visit(Name, Line.drop_front(Name.size()));
  }
}

/// The buffers of the device pass, each once: the user's files, system
/// headers, and what `-D` defines.
static std::vector<llvm::StringRef> buffers(const SourceManager &SM) {
  std::vector<llvm::StringRef> Out;
  llvm::SmallPtrSet<const void *, 32> Seen;
  for (unsigned I = 0; I < SM.local_sloc_entry_size(); ++I) {
    const SrcMgr::SLocEntry &E = SM.getLocalSLocEntry(I);
    if (!E.isFile())
      continue;
    const SrcMgr::ContentCache &Content = E.getFile().getContentCache();
    if (auto Data = Content.getBufferDataIfLoaded();
        Data && Seen.insert(&Content).second)
      Out.push_back(*Data);
  }
  return Out;
}

void KernelView::collectNames() {
  eachName(text(F->Definition),
           [this](llvm::StringRef Word) { Names.insert(Word); });
  // A macro may paste a name together, but not what it then stands for.
  for (const Body &B : Bodies)
    walk(B.Decl->getBody(), [this](const Stmt *S) {
      if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
        Names.insert(Ref->getDecl()->getNameAsString());
      return true;
    });
}

/// The names of all macros, since ours would be expanded; and what stands in
/// the macros that the kernel's text names, and in the macros of those.
void KernelView::collectMacroNames() {
  llvm::StringMap<std::vector<llvm::StringRef>> Bodies;
  for (llvm::StringRef Text : buffers(ast().getSourceManager()))
    eachMacro(Text, [&](llvm::StringRef Name, llvm::StringRef Rest) {
      Bodies[Name].push_back(Rest);
    });
  std::vector<std::string> Todo;
  for (const auto &Name : Names)
    Todo.push_back(Name.getKey().str());
  while (!Todo.empty()) {
    std::string Name = std::move(Todo.back());
    Todo.pop_back();
    auto It = Bodies.find(Name);
    if (It == Bodies.end())
      continue;
    for (llvm::StringRef Rest : It->second)
      eachName(Rest, [&](llvm::StringRef Word) {
        if (Names.insert(Word).second)
          Todo.push_back(Word.str());
      });
  }
  for (const auto &Macro : Bodies) {
    Names.insert(Macro.getKey());
    Macros.insert(Macro.getKey());
  }
}

static bool isProgramsOwn(const NamedDecl *D) {
  D = D->getUnderlyingDecl();
  if (const auto *T = dyn_cast<TemplateDecl>(D); T && T->getTemplatedDecl())
    D = T->getTemplatedDecl();
  if (const auto *F = dyn_cast<FunctionDecl>(D))
    return !isCudas(F);
  const SourceManager &SM = D->getASTContext().getSourceManager();
  return D->getLocation().isValid() &&
         !SM.isInSystemHeader(SM.getFileLoc(D->getLocation()));
}

/// Anything of that name in a context, or in a namespace of the program's that it
/// could be taken from, that is not CUDA's own.
static bool declaresOther(const DeclContext *C, DeclarationName Name) {
  if (llvm::any_of(C->lookup(Name), isProgramsOwn))
    return true;
  const SourceManager &SM = C->getParentASTContext().getSourceManager();
  return llvm::any_of(C->decls(), [&](const Decl *D) {
    return isa<NamespaceDecl, LinkageSpecDecl, ExportDecl>(D) &&
           !SM.isInSystemHeader(SM.getFileLoc(D->getLocation())) &&
           declaresOther(cast<DeclContext>(D), Name);
  });
}

std::optional<Failure> KernelView::nameTaken(llvm::StringRef Wanted) const {
  unsigned Line = F->Definition.BeginLine;
  auto Fail = [&](llvm::StringRef Why) {
    return Failure{"name-taken",
                   ("`" + Wanted + "` " + Why + ", so CUDA's cannot be used here").str(),
                   Line};
  };
  if (Macros.contains(Wanted))
    return Fail("is a macro");
  // An overload or a namespace's may be found first, wherever the kernel stands.
  const ASTContext &Ast = ast();
  DeclarationName Name = &Ast.Idents.get(Wanted);
  const TranslationUnitDecl *Unit = Ast.getTranslationUnitDecl();
  if (Unit->lookup(Name).empty())
    return Fail("is not declared");
  if (declaresOther(Unit, Name))
    return Fail("is also the program's own");
  bool Local = false;
  for (const Body &B : Bodies) {
    for (const ParmVarDecl *P : B.Decl->parameters())
      Local |= P->getDeclName() == Name;
    walk(B.Decl->getBody(), [&](const Stmt *S) {
      if (const auto *D = dyn_cast<DeclStmt>(S))
        for (const Decl *Each : D->decls())
          if (const auto *Named = dyn_cast<NamedDecl>(Each))
            Local |= Named->getDeclName() == Name;
      return !Local;
    });
  }
  if (Local)
    return Fail("is a name of the kernel's own");
  return std::nullopt;
}

std::string KernelView::freshName(llvm::StringRef Wanted) {
  std::string Name = Wanted.str();
  for (unsigned Suffix = 2; Names.contains(Name); ++Suffix)
    Name = (Wanted + llvm::Twine(Suffix)).str();
  Names.insert(Name);
  return Name;
}

} // namespace optimas::recipes
