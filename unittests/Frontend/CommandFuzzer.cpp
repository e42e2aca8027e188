// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes as a compile database, as a command line, and as a response file: an answer
// or an error, never a crash or a hang. A line of the input that says `--` parts the
// command from the response file.

#include "FakeToolkit.h"
#include "optimas/Frontend/CompileCommands.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/Support/raw_ostream.h"

using namespace optimas;

namespace {
struct Place {
  Place() : Dir(llvm::cantFail(ScratchDir::create("optimas-fuzz"))) {
    makeToolkit(Dir.file("cuda"));
    put(Dir.file("a.cu"), "");
  }
  ScratchDir Dir;
};
} // namespace

/// Without the flush to disk that put() makes: thousands of times slower than the rest.
static void overwrite(const std::string &Path, llvm::StringRef Text) {
  std::error_code EC;
  llvm::raw_fd_ostream OS(Path, EC);
  OS << Text;
}

/// What any answer must hold, whatever the command was.
static void check(const TranslatedCommand &T) {
  for (CudaMode Mode : {CudaMode::Device, CudaMode::Host}) {
    std::vector<std::string> Argv = T.argvFor(Mode, "/res", "/compat.h");
    if (Argv.back() != T.File || (T.IsCuda && (T.Sm < 20 || T.GpuArch.empty())))
      __builtin_trap();
  }
}

static void translateText(const Place &P, llvm::StringRef Command,
                          const std::string &Compiler) {
  CompileCommand C;
  C.Directory = P.Dir.path();
  C.File = P.Dir.file("a.cu");
  C.Args = {Compiler};
  auto Words = splitCommand(Command);
  if (!Words)
    return llvm::consumeError(Words.takeError());
  // It would ask this machine's driver each time.
  for (const std::string &Word : *Words)
    if (!llvm::StringRef(Word).contains("native"))
      C.Args.push_back(Word);
  C.Args.push_back("@x.rsp");
  auto T = translate(C, /*PreferredSm=*/Command.size() % 2 ? 90 : 0, P.Dir.file("cuda"));
  if (!T)
    return llvm::consumeError(T.takeError());
  check(*T);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static const Place P;
  llvm::StringRef Input(reinterpret_cast<const char *>(Data), Size);
  auto [Command, Response] = Input.split("\n--\n");
  overwrite(P.Dir.file("x.rsp"), Response);
  translateText(P, Command, "nvcc");
  translateText(P, Command, "clang++");
  translateText(P, Command, "g++");
  overwrite(P.Dir.file("compile_commands.json"), Input);
  auto Database = loadCompileDatabase(P.Dir.path());
  if (!Database)
    return llvm::consumeError(Database.takeError()), 0;
  auto Found = commandsFor(*Database, P.Dir.file("a.cu"));
  if (!Found)
    llvm::consumeError(Found.takeError());
  return 0;
}
