//===- GuardUnits.cpp - Other translation units of the database -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One unit was parsed; the others are read as text, which is cheap and errs on the
// safe side: what is found there needs a look, what is not found is not there.
//
//===----------------------------------------------------------------------===//
#include "GuardImpl.h"
#include "optimas/Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

/// Units beyond this many are not parsed again for one header.
constexpr unsigned MaxUnits = 8;

namespace {
/// What a unit reads, as far as its text tells.
struct UnitText {
  std::map<std::string, std::string> Files; ///< canonical path → text
  std::string Unreadable; ///< what could not be followed, empty when all was
};
} // namespace

static std::vector<std::string> includeFolders(const CompileCommand &Command) {
  std::vector<std::string> Args = Command.Args, Out;
  if (auto Expanded = expandResponseFiles(Command))
    Args = std::move(*Expanded);
  else
    consumeError(Expanded.takeError());
  for (size_t I = 0; I < Args.size(); ++I) {
    StringRef A = Args[I];
    for (StringRef Option : {"-I", "-isystem", "-iquote", "--include-path"}) {
      StringRef Value = A;
      if (!Value.consume_front(Option))
        continue;
      Value.consume_front("=");
      if (Value.empty() && I + 1 < Args.size())
        Value = Args[++I];
      for (StringRef Folder : split(Value, ','))
        Out.push_back(Folder.str());
      break;
    }
  }
  for (std::string &Folder : Out) {
    SmallString<256> Absolute(Folder);
    sys::path::make_absolute(Command.Directory, Absolute);
    Folder = Absolute.str().str();
  }
  return Out;
}

static std::string findInclude(StringRef Name, StringRef Includer,
                               ArrayRef<std::string> Folders) {
  auto Try = [&](StringRef Folder) -> std::string {
    SmallString<256> Path(Folder);
    sys::path::append(Path, Name);
    return sys::fs::is_regular_file(Path) ? canonicalPath(Path) : std::string();
  };
  std::string Found = Try(sys::path::parent_path(Includer));
  for (const std::string &Folder : Folders)
    if (Found.empty())
      Found = Try(Folder);
  return Found;
}

/// Follows `#include` through files that the command's own folders hold; conditions
/// are not looked at, so more may be followed than is compiled.
static void follow(const std::string &Path, ArrayRef<std::string> Folders,
                   UnitText &Out) {
  if (Out.Files.count(Path))
    return;
  auto Text = readFile(Path, ExitCode::Usage);
  if (!Text) {
    Out.Unreadable = toString(Text.takeError());
    return;
  }
  std::string &Stored = Out.Files[Path] = std::move(*Text);
  for (StringRef Line : split(Stored, '\n')) {
    Line = Line.trim();
    if (!Line.consume_front("#") || !(Line = Line.ltrim()).consume_front("include"))
      continue;
    Line = Line.ltrim();
    if (Line.empty() || (Line.front() != '"' && Line.front() != '<')) {
      Out.Unreadable = Path + " includes a file whose name is computed";
      continue;
    }
    char Close = Line.front() == '"' ? '"' : '>';
    StringRef Name = Line.drop_front().take_until([&](char C) { return C == Close; });
    std::string Found = findInclude(Name, Path, Folders);
    if (!Found.empty())
      follow(Found, Folders, Out);
  }
}

static UnitText readUnit(const CompileCommand &Command) {
  UnitText Out;
  follow(canonicalPath(Command.File), includeFolders(Command), Out);
  return Out;
}

static std::vector<const CompileCommand *> otherUnits(const GuardContext &C) {
  const CompileCommand &Mine = C.Model.originalCommand();
  std::vector<const CompileCommand *> Out;
  for (const CompileCommand &Command : C.Options.Database)
    if (Command.Args != Mine.Args ||
        canonicalPath(Command.File) != canonicalPath(Mine.File))
      Out.push_back(&Command);
  return Out;
}

static bool namesIdentifier(StringRef Text, StringRef Name) {
  if (!Text.contains(Name))
    return false;
  return any_of(lexSource(Text).Tokens, [&](const GuardToken &T) {
    return T.isIdentifier() && T.Text == Name;
  });
}

static bool isMine(const GuardContext &C, StringRef Path) {
  return any_of(C.Model.files(), [&](const SourceFile &F) { return F.Path == Path; });
}

MaybeHit checkOtherUnits(const GuardContext &C, const ResolvedEdit &E) {
  if (E.Kind != EditKind::Signature && E.Kind != EditKind::LaunchSite)
    return std::nullopt;
  const Function &F = C.Model.function(E.Function);
  if (!F.Decl->isExternallyVisible())
    return std::nullopt;
  StringRef Name = F.Name;
  Name = Name.drop_front(Name.rfind(':') + 1);
  StringRef Rule = E.Kind == EditKind::Signature ? "guard-signature-redeclaration"
                                                 : "guard-launch-sites";
  for (const CompileCommand *Unit : otherUnits(C)) {
    UnitText Text = readUnit(*Unit);
    if (!Text.Unreadable.empty())
      return ruleHit(Rule,
                     "whether " + Unit->File + " declares or launches '" + Name +
                         "' cannot be told: " + Text.Unreadable,
                     /*CannotProve=*/true);
    bool SameFile = canonicalPath(Unit->File) == C.Model.mainFile().Path;
    for (const auto &[Path, Content] : Text.Files)
      if ((SameFile || !isMine(C, Path)) && namesIdentifier(Content, Name))
        return ruleHit(Rule,
                       "'" + Name + "' is also named in " + Path +
                           (SameFile ? ", which another command compiles differently"
                                     : ", which another unit compiles") +
                           "; every declaration and launch must be seen to change it",
                       /*CannotProve=*/true);
  }
  return std::nullopt;
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
  for (const CompileCommand *Unit : otherUnits(C)) {
    UnitText Text = readUnit(*Unit);
    if (!Text.Unreadable.empty())
      return ruleHit("guard-shared-header",
                     "whether " + Unit->File +
                         " includes an edited header cannot be told: " +
                         Text.Unreadable,
                     /*CannotProve=*/true);
    if (none_of(Text.Files, [&](const auto &P) { return Headers.contains(P.first); }))
      continue;
    if (++Parsed > MaxUnits)
      return ruleHit("guard-shared-header",
                     "more than " + Twine(MaxUnits) +
                         " other units include the edited header; too many to check",
                     /*CannotProve=*/true);
    if (MaybeHit H = reparseUnit(C, *Unit, L))
      return H;
  }
  return std::nullopt;
}

} // namespace optimas
