//===- CompileCommands.cpp - The compile database and its look-up -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Frontend/CompileCommands.h"
#include "CompileCommandsOptions.h"
#include "CompileCommandsToolkit.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Json.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

static constexpr StringLiteral HowToMake =
    "make one with `cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON <build-dir>` (Ninja or "
    "Makefiles), or with `bear -- make` for a project without CMake";

static std::string absolutePath(StringRef Directory, StringRef Path) {
  SmallString<256> Full(Path);
  sys::path::make_absolute(Directory, Full);
  sys::path::remove_dots(Full, /*remove_dot_dot=*/false);
  return Full.str().str();
}

/// The value of the last `-o`, made absolute.
static std::string outputOf(const CompileCommand &Command) {
  std::string Output;
  for (size_t I = 0; I < Command.Args.size(); ++I) {
    StringRef Word = Command.Args[I];
    bool Next = I + 1 < Command.Args.size();
    if ((Word == "-o" || Word == "--output-file") && Next)
      Output = Command.Args[++I];
    else if (Word.consume_front("-o=") || Word.consume_front("--output-file="))
      Output = Word.str();
  }
  return Output.empty() ? Output : absolutePath(Command.Directory, Output);
}

static Error entryError(StringRef Path, size_t Index, const Twine &What) {
  return makeError(ExitCode::Usage, "entry " + Twine(Index + 1) + " " + What, Path,
                   HowToMake);
}

static Expected<CompileCommand> readEntry(const json::Value &Value, StringRef Path,
                                          StringRef BuildDir, size_t Index) {
  const json::Object *O = Value.getAsObject();
  if (!O)
    return entryError(Path, Index, "is not an object");
  auto Directory = O->getString("directory"), File = O->getString("file");
  if (!File || File->empty())
    return entryError(Path, Index, "has no \"file\"");
  CompileCommand C;
  // The format wants an absolute directory; a relative one can only mean this.
  C.Directory = absolutePath(BuildDir, Directory.value_or(""));
  C.File = absolutePath(C.Directory, *File);
  if (const json::Array *Words = O->getArray("arguments")) {
    for (const json::Value &Word : *Words) {
      auto Text = Word.getAsString();
      if (!Text)
        return entryError(Path, Index, "has \"arguments\" that are not strings");
      C.Args.push_back(Text->str());
    }
  } else if (auto Line = O->getString("command")) {
    auto Split = splitCommand(*Line);
    if (!Split) {
      consumeError(Split.takeError());
      return entryError(Path, Index, "has a \"command\" with an unclosed quote");
    }
    C.Args = std::move(*Split);
  }
  if (C.Args.empty())
    return entryError(Path, Index, "has neither \"command\" nor \"arguments\"");
  C.Output = outputOf(C);
  if (auto Output = O->getString("output"); Output && C.Output.empty())
    C.Output = absolutePath(C.Directory, *Output);
  return C;
}

/// Whether an entry can hold CUDA: nvcc runs it, or Clang with the language named.
static bool mayBeCuda(const CompileCommand &C) {
  if (sys::path::extension(C.File) == ".cu")
    return true;
  size_t Compiler = findCompiler(C.Args);
  if (Compiler < C.Args.size() &&
      compilerFamily(C.Args[Compiler]) == CompilerFamily::Nvcc)
    return true;
  return is_contained(C.Args, "cuda") || is_contained(C.Args, "-xcuda");
}

Expected<std::vector<CompileCommand>> loadCompileDatabase(StringRef BuildDir) {
  std::string Dir = canonicalPath(BuildDir);
  SmallString<256> Path(Dir);
  if (!sys::fs::is_directory(Dir))
    return makeError(ExitCode::Usage, "there is no such build folder", BuildDir,
                     "give -p the folder that holds compile_commands.json");
  sys::path::append(Path, "compile_commands.json");
  if (!sys::fs::exists(Path))
    return makeError(ExitCode::Usage, "there is no compile_commands.json", BuildDir,
                     HowToMake);
  auto Text = readFile(Path, ExitCode::Usage);
  if (!Text)
    return Text.takeError();
  auto Parsed = parseJson(*Text);
  if (!Parsed)
    return makeError(ExitCode::Usage,
                     "is not JSON: " + toString(Parsed.takeError()), Path, HowToMake);
  const json::Array *Entries = Parsed->getAsArray();
  if (!Entries)
    return makeError(ExitCode::Usage, "is not a compile database (a list of commands)",
                     Path, HowToMake);
  std::vector<CompileCommand> Database;
  bool AnyCuda = false;
  for (size_t I = 0; I < Entries->size(); ++I) {
    auto Entry = readEntry((*Entries)[I], Path, Dir, I);
    if (!Entry)
      return Entry.takeError();
    AnyCuda |= mayBeCuda(*Entry);
    Database.push_back(std::move(*Entry));
  }
  if (Database.empty())
    return makeError(ExitCode::Usage, "holds no commands", Path,
                     "configure the project with its CUDA targets on; " + HowToMake);
  if (!AnyCuda)
    return makeError(
        ExitCode::Usage,
        "holds " + Twine(Database.size()) + " commands, none of which compiles CUDA",
        Path, "give -p the build folder of the CUDA program, configured with its CUDA "
              "targets on");
  return Database;
}

/// The \p Count database files whose names are most like \p File's.
static std::string nearestNames(ArrayRef<CompileCommand> Database, StringRef File,
                                size_t Count) {
  std::vector<std::pair<unsigned, StringRef>> Scored;
  StringRef Name = sys::path::filename(File);
  for (const CompileCommand &C : Database)
    Scored.emplace_back(sys::path::filename(C.File).edit_distance_insensitive(Name),
                        C.File);
  llvm::sort(Scored);
  Scored.erase(llvm::unique(Scored), Scored.end());
  std::string Text;
  for (const auto &[Distance, Path] : ArrayRef(Scored).take_front(Count))
    Text += "\n    " + Path.str();
  return Text;
}

Expected<std::vector<CompileCommand>> commandsFor(ArrayRef<CompileCommand> Database,
                                                  StringRef File) {
  std::string Wanted = canonicalPath(File);
  std::vector<CompileCommand> Found;
  for (const CompileCommand &C : Database) {
    // Resolving links costs a system call an entry: only where the name fits.
    if (C.File != Wanted && (sys::path::filename(C.File) != sys::path::filename(Wanted) &&
                             !sys::fs::is_symlink_file(C.File)))
      continue;
    if (canonicalPath(C.File) != Wanted)
      continue;
    bool Known = any_of(Found, [&](const CompileCommand &F) {
      return F.Args == C.Args && F.Directory == C.Directory;
    });
    if (!Known)
      Found.push_back(C);
  }
  if (!Found.empty())
    return Found;
  if (!sys::fs::exists(Wanted))
    return makeError(ExitCode::Usage, "there is no such file", File,
                     "check the path; the database's nearest names are" +
                         nearestNames(Database, File, 3));
  return makeError(ExitCode::Usage, "no command of the compile database compiles it",
                   File,
                   "add it to a target and configure again, or give its compiler "
                   "arguments after `--`; the nearest names there are" +
                       nearestNames(Database, File, 3));
}

CompileCommand commandFromArgs(StringRef File, ArrayRef<std::string> Args) {
  CompileCommand C;
  SmallString<256> Current;
  sys::fs::current_path(Current);
  C.Directory = Current.str().str();
  C.File = absolutePath(C.Directory, File);
  size_t Compiler = findCompiler(Args);
  bool HasCompiler = Compiler < Args.size() &&
                     compilerFamily(Args[Compiler]) != CompilerFamily::Unknown;
  if (!HasCompiler)
    C.Args.push_back(defaultNvcc());
  C.Args.insert(C.Args.end(), Args.begin(), Args.end());
  static constexpr StringLiteral Phases[] = {"-c", "--compile", "-dc", "--device-c",
                                             "-dw", "--device-w"};
  if (none_of(C.Args, [](StringRef Word) { return is_contained(Phases, Word); }))
    C.Args.push_back("-c");
  if (none_of(C.Args, [&](StringRef Word) {
        return !Word.starts_with("-") &&
               absolutePath(C.Directory, Word) == C.File;
      }))
    C.Args.push_back(C.File);
  C.Output = outputOf(C);
  return C;
}

} // namespace optimas
