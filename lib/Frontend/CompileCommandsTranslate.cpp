//===- CompileCommandsTranslate.cpp - From nvcc's command to Clang's -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CompileCommandsTranslate.h"
#include "CompileCommandsOptions.h"
#include "optimas/Frontend/CompileCommands.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

namespace {
/// Reads an expanded nvcc command. The words for Clang are put in nvcc's order: the
/// host's, -I, -isystem, -include, -D and -U.
class NvccReader {
public:
  explicit NvccReader(TranslatedCommand &Out) : Out(Out) {}

  Error read(ArrayRef<std::string> Words);
  /// Everything but the toolkit's part; chooses the language.
  void finish(const CudaToolkit &Toolkit);

  ArchRequest Archs;

private:
  Error apply(const NvccOption &Option, const std::string &Value);
  void applyFlag(NvccAction Action);
  void addList(std::vector<std::string> &To, StringRef Flag, StringRef Value,
               bool KeepQuotes = false);
  void addHostOptions(StringRef Value);
  void addInput(StringRef Word);

  TranslatedCommand &Out;
  std::vector<std::string> Host, Includes, Systems, PreIncludes, Defines;
  std::string Standard;
};
} // namespace

static bool isTrue(StringRef Value) { return Value == "true" || Value == "1"; }

/// Each part of a comma list behind its own flag; `-I/x` in one word, as compilers
/// take it, `-isystem` and `-include` in two.
void NvccReader::addList(std::vector<std::string> &To, StringRef Flag, StringRef Value,
                         bool KeepQuotes) {
  for (const std::string &Part : splitNvccList(Value, KeepQuotes)) {
    if (Flag.size() == 2) {
      To.push_back(Flag.str() + Part);
    } else {
      To.push_back(Flag.str());
      To.push_back(Part);
    }
  }
}

/// nvcc splits the value at its commas, then a shell splits it into words.
void NvccReader::addHostOptions(StringRef Value) {
  for (const std::string &Part : splitNvccList(Value, /*KeepQuotes=*/true)) {
    auto Words = splitCommand(Part);
    if (Words) {
      Host.insert(Host.end(), Words->begin(), Words->end());
    } else {
      consumeError(Words.takeError());
      Host.push_back(Part);
    }
  }
}

void NvccReader::applyFlag(NvccAction Action) {
  using A = NvccAction;
  switch (Action) {
  case A::NoExceptions:
    Host.push_back("-fno-exceptions");
    return;
  case A::DeviceC:
  case A::LinkTimeOptimization:
    Out.Rdc = true;
    return;
  case A::DeviceW:
    Out.Rdc = false;
    return;
  case A::RelaxedConstexpr:
    Defines.push_back("-D__CUDACC_RELAXED_CONSTEXPR__");
    return;
  case A::ExtendedLambda:
    // The compatibility header defines nvcc's macro. Before that, it would make
    // Clang's wrapper include <new> ahead of the device's malloc.
    Defines.push_back("-DOPTIMAS_CUDACC_EXTENDED_LAMBDA");
    return;
  case A::FastMath:
    Out.UseFastMath = true;
    return;
  case A::LineInfo:
    Out.LineInfo = true;
    return;
  case A::DeviceDebug:
    Out.DeviceDebug = true;
    Defines.push_back("-D__CUDACC_DEBUG__");
    return;
  default:
    return;
  }
}

Error NvccReader::apply(const NvccOption &Option, const std::string &Value) {
  using A = NvccAction;
  switch (Option.Action) {
  case A::Include:
    addList(Includes, "-I", Value);
    break;
  case A::SystemInclude:
    addList(Systems, "-isystem", Value);
    break;
  case A::PreInclude:
    addList(PreIncludes, "-include", Value);
    break;
  case A::Define:
    addList(Defines, "-D", Value, /*KeepQuotes=*/true);
    break;
  case A::Undefine:
    addList(Defines, "-U", Value);
    break;
  case A::Standard:
    Standard = Value;
    break;
  case A::Language:
    Out.Language = Value;
    break;
  case A::HostOptions:
    addHostOptions(Value);
    break;
  case A::Arch:
    Archs.Arch = Value;
    break;
  case A::Code:
    Archs.Codes = splitNvccList(Value, /*KeepQuotes=*/false);
    break;
  case A::GenerateCode:
    Archs.GenCodes.push_back(Value);
    break;
  case A::Rdc:
    Out.Rdc = isTrue(Value);
    break;
  case A::DefaultStream:
    if (Value == "per-thread")
      Defines.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM");
    break;
  case A::Fmad:
    Out.FmadEnabled = isTrue(Value);
    break;
  case A::MaxRegCount:
    if (StringRef(Value).getAsInteger(10, Out.MaxRegCount))
      return makeError(ExitCode::Usage,
                       "-maxrregcount is not a number: '" + Value + "'", Out.File,
                       "correct the compile command");
    break;
  default:
    break;
  }
  return Error::success();
}

/// A word that is no option: the input, or something else to compile or link with it.
void NvccReader::addInput(StringRef Word) {
  SmallString<256> Path(Word);
  sys::path::make_absolute(Out.Directory, Path);
  sys::path::remove_dots(Path, false);
  static constexpr StringLiteral Sources[] = {".cu", ".cpp", ".cc", ".cxx", ".c"};
  if (Path != Out.File && is_contained(Sources, sys::path::extension(Path)) &&
      !sys::fs::equivalent(Path, Out.File))
    Out.Notes.push_back("the command compiles another source too, left out: " +
                        Word.str());
}

Error NvccReader::read(ArrayRef<std::string> Words) {
  for (size_t I = 0; I < Words.size(); ++I) {
    const std::string &Word = Words[I];
    if (Word.size() < 2 || Word[0] != '-') {
      addInput(Word);
      continue;
    }
    std::optional<NvccMatch> Match = matchNvccOption(Word);
    if (!Match) {
      // Forwarded to the host's compiler, or the build would fail.
      Host.push_back(Word);
      continue;
    }
    if (!Match->Option->TakesValue) {
      applyFlag(Match->Option->Action);
      continue;
    }
    if (!Match->Value && I + 1 == Words.size())
      return makeError(ExitCode::Usage, "no value follows " + Word, Out.File,
                       "correct the compile command");
    if (Error E = apply(*Match->Option, Match->Value ? *Match->Value : Words[++I]))
      return E;
  }
  return Error::success();
}

static std::string languageOf(StringRef Given, StringRef File) {
  if (Given == "cu")
    return "cuda";
  if (!Given.empty())
    return Given.str();
  StringRef Extension = sys::path::extension(File);
  if (Extension == ".cu" || Extension == ".cuh")
    return "cuda";
  return Extension == ".c" ? "c" : "c++";
}

void NvccReader::finish(const CudaToolkit &Toolkit) {
  Out.Language = languageOf(Out.Language, Out.File);
  Out.IsCuda = Out.Language == "cuda";
  translateHostOptions(Host, Out);
  for (const auto *Part : {&Includes, &Systems, &PreIncludes, &Defines})
    Out.ClangArgs.insert(Out.ClangArgs.end(), Part->begin(), Part->end());
  if (!Standard.empty())
    Out.ClangArgs.push_back("-std=" + Standard);
  else if (Out.Language != "c" && none_of(Out.ClangArgs, [](StringRef Word) {
             return Word.starts_with("-std=");
           }))
    // The host's compiler decides up to CUDA 11; its default has been this since GCC 11.
    Out.ClangArgs.push_back("-std=gnu++17");
  if (!Out.IsCuda)
    return;
  if (Out.Rdc)
    Out.ClangArgs.insert(Out.ClangArgs.end(), {"-fgpu-rdc", "-D__CUDACC_RDC__"});
}

void addToolkitArgs(const CudaToolkit &Toolkit, TranslatedCommand &Out) {
  Out.CudaPath = Toolkit.Path;
  Out.CudaMajor = Toolkit.Major;
  Out.CudaMinor = Toolkit.Minor;
  std::vector<std::string> &Args = Out.ClangArgs;
  if (!Out.IsCuda) {
    Args.insert(Args.end(), {"-isystem", Toolkit.Path + "/include"});
    return;
  }
  Args.push_back("--cuda-path=" + Toolkit.Path);
  std::string Cccl = Toolkit.Path + "/include/cccl";
  if (sys::fs::is_directory(Cccl))
    Args.insert(Args.end(), {"-isystem", Cccl});
  Args.push_back("-D__CUDACC_VER_MAJOR__=" + std::to_string(Toolkit.Major));
  Args.push_back("-D__CUDACC_VER_MINOR__=" + std::to_string(Toolkit.Minor));
  if (Toolkit.Build >= 0)
    Args.push_back("-D__CUDACC_VER_BUILD__=" + std::to_string(Toolkit.Build));
  Args.push_back("-Wno-unknown-cuda-version");
}

static Error translateNvcc(ArrayRef<std::string> Words, unsigned PreferredSm,
                           const CudaToolkit &Toolkit, TranslatedCommand &Out) {
  NvccReader Reader(Out);
  if (Error E = Reader.read(Words))
    return E;
  Reader.finish(Toolkit);
  if (Out.IsCuda)
    if (Error E = chooseArch(Reader.Archs, PreferredSm, Toolkit, Out))
      return E;
  addToolkitArgs(Toolkit, Out);
  addGccHeaders(Out);
  return Error::success();
}

Expected<TranslatedCommand> translate(const CompileCommand &Command,
                                      unsigned PreferredSm, StringRef CudaPath) {
  TranslatedCommand Out;
  Out.Directory = Command.Directory;
  Out.File = Command.File;
  auto Words = expandResponseFiles(Command);
  if (!Words)
    return Words.takeError();
  size_t First = findCompiler(*Words);
  CompilerFamily Family = First < Words->size() ? compilerFamily((*Words)[First])
                                                : CompilerFamily::Unknown;
  if (Family == CompilerFamily::Unknown)
    return makeError(ExitCode::Usage,
                     "the compile command runs neither nvcc nor Clang nor GCC: '" +
                         (First < Words->size() ? (*Words)[First] : "") + "'",
                     Command.File,
                     "give the compiler arguments yourself, after `--`");
  ArrayRef<std::string> Rest = ArrayRef(*Words).drop_front(First + 1);
  if (Family != CompilerFamily::Nvcc) {
    if (Error E = translateClang(Rest, Family == CompilerFamily::Gcc, PreferredSm,
                                 CudaPath, Out))
      return E;
    return Out;
  }
  Out.AsNvcc = true;
  auto Toolkit = findToolkit((*Words)[First], Command.Directory, CudaPath);
  if (!Toolkit)
    return Toolkit.takeError();
  if (Error E = translateNvcc(Rest, PreferredSm, *Toolkit, Out))
    return E;
  return Out;
}

// Errors of Clang's that nvcc and GCC give as warnings, if at all.
static constexpr StringLiteral OnlyWarnings[] = {
    "-Wno-register",
    "-Wno-c++11-narrowing",
    "-Wno-reserved-user-defined-literal",
    "-Wno-dynamic-exception-spec",
    "-Wno-missing-template-arg-list-after-template-kw",
    "-Wno-invalid-constexpr",
    "-Wno-non-pod-varargs",
    "-Wno-address-of-temporary",
    "-Wno-gnu-static-float-init",
    "-Wno-static-float-init"};

std::vector<std::string> TranslatedCommand::argvFor(CudaMode Mode, StringRef ResourceDir,
                                                    StringRef CompatHeader) const {
  std::vector<std::string> Argv = {"clang++"};
  if (IsCuda) {
    Argv.push_back(Mode == CudaMode::Device ? "--cuda-device-only" : "--cuda-host-only");
    Argv.push_back("--cuda-gpu-arch=" + GpuArch);
  }
  Argv.insert(Argv.end(), {"-resource-dir", ResourceDir.str()});
  // Before the user's own -include: nvcc has these names from the start.
  if (IsCuda && !CompatHeader.empty())
    Argv.insert(Argv.end(), {"-include", CompatHeader.str()});
  Argv.insert(Argv.end(), ClangArgs.begin(), ClangArgs.end());
  Argv.insert(Argv.end(), std::begin(OnlyWarnings), std::end(OnlyWarnings));
  Argv.insert(Argv.end(), {"-fsyntax-only", "-x", Language, File});
  return Argv;
}

} // namespace optimas
