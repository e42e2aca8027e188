//===- OtherUnits.cpp - The database's other units, as text -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OtherUnits.h"
#include "GuardLexical.h"
#include "optimas/Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

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

OtherUnits::OtherUnits(const SourceModel &Model, ArrayRef<CompileCommand> Database)
    : Model(Model) {
  const CompileCommand &Mine = Model.originalCommand();
  for (const CompileCommand &Command : Database)
    if (Command.Args != Mine.Args ||
        canonicalPath(Command.File) != canonicalPath(Mine.File))
      Units.push_back({&Command, {}, "", false});
}

/// Follows `#include` through files that the command's own folders hold; conditions
/// are not looked at, so more may be followed than is compiled.
void OtherUnits::follow(const std::string &Path, ArrayRef<std::string> Folders,
                        Unit &Out) {
  if (!Out.Files.insert(Path).second)
    return;
  auto [Known, New] = Texts.try_emplace(Path);
  if (New) {
    Expected<std::string> Text = readFile(Path, ExitCode::Usage);
    if (!Text) {
      Out.Unreadable = toString(Text.takeError());
      Texts.erase(Known);
      return;
    }
    Known->second = std::move(*Text);
  }
  for (StringRef Line : split(Known->second, '\n')) {
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

ArrayRef<OtherUnits::Unit> OtherUnits::units() {
  for (Unit &U : Units)
    if (!std::exchange(U.Read, true))
      follow(canonicalPath(U.Command->File), includeFolders(*U.Command), U);
  return Units;
}

static bool namesIdentifier(StringRef Text, StringRef Name) {
  if (!Text.contains(Name))
    return false;
  return any_of(lexSource(Text).Tokens, [&](const GuardToken &T) {
    return T.isIdentifier() && T.Text == Name;
  });
}

/// The name, or the symbol that is made of it, in a string.
static bool namesInString(StringRef Text, StringRef Name) {
  if (!Text.contains(Name))
    return false;
  return any_of(lexSource(Text).Tokens, [&](const GuardToken &T) {
    return clang::tok::isStringLiteral(T.Kind) && T.Text.contains(Name);
  });
}

/// Does a text of the program's own look kernels up by their names?
static bool looksUpKernels(StringRef Path, StringRef Text) {
  static constexpr StringRef Headers[] = {"cuda.h", "cuda_runtime_api.h", "nvrtc.h",
                                          "cudaTypedefs.h", "cuda_runtime.h"};
  static constexpr StringRef Functions[] = {
      "cuModuleGetFunction", "cuLibraryGetKernel",  "cudaLibraryGetKernel",
      "nvrtcGetLoweredName", "nvrtcAddNameExpression"};
  return !is_contained(Headers, sys::path::filename(Path)) &&
         any_of(Functions, [&](StringRef F) { return namesIdentifier(Text, F); });
}

/// A file of \p Files with the name in a string, when one of them looks kernels up.
static std::string lookedUpIn(ArrayRef<std::pair<StringRef, StringRef>> Files,
                              StringRef Name) {
  std::string Found;
  bool LooksUp = false;
  for (const auto &[Path, Text] : Files) {
    LooksUp |= looksUpKernels(Path, Text);
    if (Found.empty() && namesInString(Text, Name))
      Found = Path.str();
  }
  return LooksUp ? Found : "";
}

std::optional<std::string> OtherUnits::mention(const Function &F) {
  StringRef Name = F.Name;
  Name = Name.drop_front(Name.rfind(':') + 1);
  auto LookedUp = [&](const std::string &Path) {
    return ("'" + Name + "' stands in a string of " + Path +
            ", where kernels are looked up by their names; every launch must be seen to "
            "change it")
        .str();
  };
  std::vector<std::pair<StringRef, StringRef>> Files;
  for (const SourceFile &File : Model.files())
    if (File.Editable || File.IsMain)
      Files.push_back({File.Path, File.Text});
  if (std::string Path = lookedUpIn(Files, Name); !Path.empty())
    return LookedUp(Path);
  auto IsMine = [&](StringRef Path) {
    return any_of(Model.files(), [&](const SourceFile &F) { return F.Path == Path; });
  };
  bool Visible = F.Decl->isExternallyVisible();
  for (const Unit &U : units()) {
    if (!U.Unreadable.empty() && Visible)
      return ("whether " + U.Command->File + " declares or launches '" + Name +
              "' cannot be told: " + U.Unreadable)
          .str();
    bool SameFile = canonicalPath(U.Command->File) == Model.mainFile().Path;
    Files.clear();
    for (const std::string &Path : U.Files) {
      auto Text = Texts.find(Path);
      if (Text == Texts.end())
        continue;
      Files.push_back({Path, Text->second});
      if (Visible && (SameFile || !IsMine(Path)) && namesIdentifier(Text->second, Name))
        return ("'" + Name + "' is also named in " + Path +
                (SameFile ? ", which another command compiles differently"
                          : ", which another unit compiles") +
                "; every declaration and launch must be seen to change it")
            .str();
    }
    if (std::string Path = lookedUpIn(Files, Name); !Path.empty())
      return LookedUp(Path);
  }
  return std::nullopt;
}

} // namespace optimas
