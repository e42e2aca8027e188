//===- CompileCommandsExpand.cpp - Response files of nvcc's and the others' -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Frontend/CompileCommands.h"
#include "CompileCommandsOptions.h"
#include "optimas/Support/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;

namespace optimas {

namespace {
/// Expands one command's words, keeping what it needs to stop at cycles and bombs.
class Expander {
public:
  Expander(StringRef Directory, bool Nvcc) : Directory(Directory), Nvcc(Nvcc) {}

  Error expand(ArrayRef<std::string> Words);
  std::vector<std::string> Out;

private:
  Error expandFile(StringRef Name);
  Error expandWord(ArrayRef<std::string> Words, size_t &I);

  // Far above any real command; files that include each other pass it quickly.
  static constexpr size_t MaxWords = 1 << 18;
  static constexpr uint64_t MaxBytes = 64 << 20;

  std::string Directory;
  bool Nvcc;
  std::vector<std::string> Open; ///< files being expanded, outermost first
};
} // namespace

static std::vector<std::string> splitGnu(StringRef Text) {
  BumpPtrAllocator Memory;
  StringSaver Saver(Memory);
  SmallVector<const char *, 64> Words;
  cl::TokenizeGNUCommandLine(Text, Saver, Words);
  return {Words.begin(), Words.end()};
}

Error Expander::expandFile(StringRef Name) {
  SmallString<256> Path(Name);
  sys::path::make_absolute(Directory, Path);
  std::string File = canonicalPath(Path);
  if (is_contained(Open, File))
    return makeError(ExitCode::Usage, "the response file includes itself", File,
                     "remove the cycle");
  // Reading a pipe or a device might never end.
  if (sys::fs::exists(File) && !sys::fs::is_regular_file(File))
    return makeError(ExitCode::Usage, "the command's response file is not a file", File,
                     "correct the command");
  uint64_t Size = 0;
  if (!sys::fs::file_size(File, Size) && Size > MaxBytes)
    return makeError(ExitCode::Usage, "the response file is over 64 MiB", File,
                     "check that it is a response file");
  auto Text = readFile(File, ExitCode::Usage);
  if (!Text) {
    consumeError(Text.takeError());
    return makeError(ExitCode::Usage,
                     "the command's response file cannot be read", File,
                     "configure or build the project again, so that it exists");
  }
  Open.push_back(File);
  std::vector<std::string> Words =
      Nvcc ? splitNvccOptionsFile(*Text) : splitGnu(*Text);
  if (Error E = expand(Words))
    return E;
  Open.pop_back();
  return Error::success();
}

/// Expands the word at \p I, or copies it with its value.
Error Expander::expandWord(ArrayRef<std::string> Words, size_t &I) {
  StringRef Word = Words[I];
  if (Word.size() > 1 && Word[0] == '@') {
    SmallString<256> Path(Word.drop_front(1));
    sys::path::make_absolute(Directory, Path);
    // What GCC and Clang do with an `@` that names no file.
    if (!Nvcc && !sys::fs::exists(Path)) {
      Out.push_back(Word.str());
      return Error::success();
    }
    return expandFile(Word.drop_front(1));
  }
  std::optional<NvccMatch> Match =
      Nvcc ? matchNvccOption(Word) : std::optional<NvccMatch>();
  bool ValueNext = Match && Match->Option->TakesValue && !Match->Value &&
                   I + 1 < Words.size();
  if (!Match || Match->Option->Action != NvccAction::OptionsFile) {
    Out.push_back(Word.str());
    // A value is never a response file, whatever it begins with.
    if (ValueNext)
      Out.push_back(Words[++I]);
    return Error::success();
  }
  if (!Match->Value && !ValueNext)
    return makeError(ExitCode::Usage, "no file follows " + Word, "the compile command",
                     "correct the command");
  std::string Value = Match->Value ? *Match->Value : Words[++I];
  for (const std::string &Name : splitNvccList(Value, /*KeepQuotes=*/false))
    if (Error E = expandFile(Name))
      return E;
  return Error::success();
}

Error Expander::expand(ArrayRef<std::string> Words) {
  for (size_t I = 0; I < Words.size(); ++I) {
    if (Out.size() > MaxWords)
      return makeError(ExitCode::Usage, "the command has more than " + Twine(MaxWords) + " words",
                       Open.empty() ? "the compile command" : Open.front(),
                       "check its response files");
    if (Error E = expandWord(Words, I))
      return E;
  }
  return Error::success();
}

Expected<std::vector<std::string>> expandResponseFiles(const CompileCommand &Command) {
  size_t Compiler = findCompiler(Command.Args);
  CompilerFamily Family = Compiler < Command.Args.size()
                              ? compilerFamily(Command.Args[Compiler])
                              : CompilerFamily::Unknown;
  Expander E(Command.Directory, Family == CompilerFamily::Nvcc);
  if (Error Failure = E.expand(Command.Args))
    return Failure;
  return std::move(E.Out);
}

} // namespace optimas
