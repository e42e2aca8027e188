//===- CompileCommandsOptions.cpp - nvcc's option table and word splitting -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CompileCommandsOptions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

using A = NvccAction;

// From `nvcc --help` of CUDA 13.0, and the options of older releases that it no
// longer lists. Whether an option takes a value is what matters for the dropped ones.
static const NvccOption Table[] = {
    {"include-path", "I", A::Include, true, true},
    {"system-include", "isystem", A::SystemInclude, true, false},
    {"define-macro", "D", A::Define, true, true},
    {"undefine-macro", "U", A::Undefine, true, true},
    {"pre-include", "include", A::PreInclude, true, false},
    {"std", "std", A::Standard, true, false},
    {"x", "x", A::Language, true, false},
    {"compiler-options", "Xcompiler", A::HostOptions, true, false},
    {"no-exceptions", "noeh", A::NoExceptions, false, false},
    {"gpu-architecture", "arch", A::Arch, true, false},
    {"gpu-code", "code", A::Code, true, false},
    {"generate-code", "gencode", A::GenerateCode, true, false},
    {"relocatable-device-code", "rdc", A::Rdc, true, false},
    {"device-c", "dc", A::DeviceC, false, false},
    {"device-w", "dw", A::DeviceW, false, false},
    {"dlink-time-opt", "dlto", A::LinkTimeOptimization, false, false},
    {"lto", "lto", A::LinkTimeOptimization, false, false},
    {"expt-relaxed-constexpr", "expt-relaxed-constexpr", A::RelaxedConstexpr, false, false},
    {"extended-lambda", "extended-lambda", A::ExtendedLambda, false, false},
    {"expt-extended-lambda", "expt-extended-lambda", A::ExtendedLambda, false, false},
    {"default-stream", "default-stream", A::DefaultStream, true, false},
    {"use_fast_math", "use_fast_math", A::FastMath, false, false},
    {"fmad", "fmad", A::Fmad, true, false},
    {"maxrregcount", "maxrregcount", A::MaxRegCount, true, false},
    {"generate-line-info", "lineinfo", A::LineInfo, false, false},
    {"device-debug", "G", A::DeviceDebug, false, false},
    {"options-file", "optf", A::OptionsFile, true, false},

    // Dropped, with a value.
    {"output-file", "o", A::Drop, true, false},
    {"library", "l", A::Drop, true, true},
    {"library-path", "L", A::Drop, true, true},
    {"output-directory", "odir", A::Drop, true, false},
    {"compiler-bindir", "ccbin", A::Drop, true, false},
    {"archiver-binary", "arbin", A::Drop, true, false},
    {"cudart", "cudart", A::Drop, true, false},
    {"cudadevrt", "cudadevrt", A::Drop, true, false},
    {"libdevice-directory", "ldir", A::Drop, true, false},
    {"target-directory", "target-dir", A::Drop, true, false},
    {"optimization-info", "opt-info", A::Drop, true, false},
    {"optimize", "O", A::Drop, true, true},
    {"Ofast-compile", "Ofc", A::Drop, true, false},
    {"dopt", "dopt", A::Drop, true, false},
    {"ftemplate-backtrace-limit", "ftemplate-backtrace-limit", A::Drop, true, false},
    {"ftemplate-depth", "ftemplate-depth", A::Drop, true, false},
    {"machine", "m", A::Drop, true, false},
    {"linker-options", "Xlinker", A::Drop, true, false},
    {"archive-options", "Xarchive", A::Drop, true, false},
    {"ptxas-options", "Xptxas", A::Drop, true, false},
    {"nvlink-options", "Xnvlink", A::Drop, true, false},
    {"fatbin-options", "Xfatbin", A::Drop, true, false},
    {"cudafe-options", "Xcudafe", A::Drop, true, false},
    {"cicc-options", "Xcicc", A::Drop, true, false},
    {"static-global-template-stub", "static-global-template-stub", A::Drop, true, false},
    {"device-entity-has-hidden-visibility", "device-entity-has-hidden-visibility", A::Drop, true, false},
    {"threads", "t", A::Drop, true, true},
    {"split-compile", "split-compile", A::Drop, true, false},
    {"split-compile-extended", "split-compile-extended", A::Drop, true, false},
    {"fdevice-time-trace", "fdevice-time-trace", A::Drop, true, false},
    {"keep-dir", "keep-dir", A::Drop, true, false},
    {"time", "time", A::Drop, true, false},
    {"run-args", "run-args", A::Drop, true, false},
    {"input-drive-prefix", "idp", A::Drop, true, false},
    {"dependency-drive-prefix", "ddp", A::Drop, true, false},
    {"drive-prefix", "dp", A::Drop, true, false},
    {"dependency-target-name", "MT", A::Drop, true, false},
    {"dependency-output", "MF", A::Drop, true, false},
    {"entries", "e", A::Drop, true, false},
    {"ftz", "ftz", A::Drop, true, false},
    {"prec-div", "prec-div", A::Drop, true, false},
    {"prec-sqrt", "prec-sqrt", A::Drop, true, false},
    {"Werror", "Werror", A::Drop, true, false},
    {"qpp-config", "qpp-config", A::Drop, true, false},
    {"diag-error", "diag-error", A::Drop, true, false},
    {"diag-suppress", "diag-suppress", A::Drop, true, false},
    {"diag-warn", "diag-warn", A::Drop, true, false},
    {"host-linker-script", "hls", A::Drop, true, false},
    {"brief-diagnostics", "brief-diag", A::Drop, true, false},
    {"jump-table-density", "jtd", A::Drop, true, false},
    {"device-stack-protector", "device-stack-protector", A::Drop, true, false},
    {"compress-mode", "compress-mode", A::Drop, true, false},
    {"frandom-seed", "frandom-seed", A::Drop, true, false},
    {"sanitize", "sanitize", A::Drop, true, false},
    {"maxntid", "maxntid", A::Drop, true, false},
    {"minnctapersm", "minnctapersm", A::Drop, true, false},

    // Dropped, without a value.
    {"compile", "c", A::Drop, false, false},
    {"cuda", "cuda", A::Drop, false, false},
    {"cubin", "cubin", A::Drop, false, false},
    {"fatbin", "fatbin", A::Drop, false, false},
    {"ptx", "ptx", A::Drop, false, false},
    {"optix-ir", "optix-ir", A::Drop, false, false},
    {"ltoir", "ltoir", A::Drop, false, false},
    {"preprocess", "E", A::Drop, false, false},
    {"generate-dependencies", "M", A::Drop, false, false},
    {"generate-nonsystem-dependencies", "MM", A::Drop, false, false},
    {"generate-dependencies-with-compile", "MD", A::Drop, false, false},
    {"generate-nonsystem-dependencies-with-compile", "MMD", A::Drop, false, false},
    {"generate-dependency-targets", "MP", A::Drop, false, false},
    {"device-link", "dlink", A::Drop, false, false},
    {"link", "link", A::Drop, false, false},
    {"lib", "lib", A::Drop, false, false},
    {"run", "run", A::Drop, false, false},
    {"objdir-as-tempdir", "objtemp", A::Drop, false, false},
    {"allow-unsupported-compiler", "allow-unsupported-compiler", A::Drop, false, false},
    {"use-local-env", "use-local-env", A::Drop, false, false},
    {"force-cl-env-setup", "force-cl-env-setup", A::Drop, false, false},
    {"profile", "pg", A::Drop, false, false},
    {"debug", "g", A::Drop, false, false},
    {"gen-opt-lto", "gen-opt-lto", A::Drop, false, false},
    {"shared", "shared", A::Drop, false, false},
    {"no-host-device-initializer-list", "nohdinitlist", A::Drop, false, false},
    {"no-host-device-move-forward", "nohdmoveforward", A::Drop, false, false},
    {"m64", "m64", A::Drop, false, false},
    {"m32", "m32", A::Drop, false, false},
    {"forward-unknown-to-host-compiler", "forward-unknown-to-host-compiler", A::Drop, false, false},
    {"forward-unknown-to-host-linker", "forward-unknown-to-host-linker", A::Drop, false, false},
    {"forward-unknown-opts", "forward-unknown-opts", A::Drop, false, false},
    {"dont-use-profile", "noprof", A::Drop, false, false},
    {"dryrun", "dryrun", A::Drop, false, false},
    {"verbose", "v", A::Drop, false, false},
    {"fdevice-syntax-only", "fdevice-syntax-only", A::Drop, false, false},
    {"keep", "keep", A::Drop, false, false},
    {"save-temps", "save-temps", A::Drop, false, false},
    {"clean-targets", "clean", A::Drop, false, false},
    {"no-align-double", "no-align-double", A::Drop, false, false},
    {"no-device-link", "nodlink", A::Drop, false, false},
    {"extra-device-vectorization", "extra-device-vectorization", A::Drop, false, false},
    {"disable-warnings", "w", A::Drop, false, false},
    {"keep-device-functions", "keep-device-functions", A::Drop, false, false},
    {"source-in-ptx", "src-in-ptx", A::Drop, false, false},
    {"restrict", "restrict", A::Drop, false, false},
    {"Wreorder", "Wreorder", A::Drop, false, false},
    {"Wdefault-stream-launch", "Wdefault-stream-launch", A::Drop, false, false},
    {"Wmissing-launch-bounds", "Wmissing-launch-bounds", A::Drop, false, false},
    {"Wext-lambda-captures-this", "Wext-lambda-captures-this", A::Drop, false, false},
    {"Wno-deprecated-declarations", "Wno-deprecated-declarations", A::Drop, false, false},
    {"Wno-deprecated-gpu-targets", "Wno-deprecated-gpu-targets", A::Drop, false, false},
    {"resource-usage", "res-usage", A::Drop, false, false},
    {"extensible-whole-program", "ewp", A::Drop, false, false},
    {"no-compress", "no-compress", A::Drop, false, false},
    {"compile-as-tools-patch", "astoolspatch", A::Drop, false, false},
    {"display-error-number", "err-no", A::Drop, false, false},
    {"no-display-error-number", "no-err-no", A::Drop, false, false},
    {"augment-host-linker-script", "aug-hls", A::Drop, false, false},
    {"relocatable-link", "r", A::Drop, false, false},
    {"relocatable-ptx", "reloc-ptx", A::Drop, false, false},
    {"jobserver", "jobserver", A::Drop, false, false},
};

static const NvccOption *optionNamed(StringRef Name) {
  static const StringMap<const NvccOption *> Names = [] {
    StringMap<const NvccOption *> M;
    for (const NvccOption &O : Table) {
      M[O.Long] = &O;
      M[O.Short] = &O;
    }
    return M;
  }();
  return Names.lookup(Name);
}

std::optional<NvccMatch> matchNvccOption(StringRef Word) {
  StringRef Rest = Word;
  if (!Rest.consume_front("-"))
    return std::nullopt;
  bool TwoDashes = Rest.consume_front("-");
  size_t Equals = Rest.find('=');
  StringRef Name = Rest.take_front(Equals);
  if (const NvccOption *O = optionNamed(Name)) {
    if (Equals == StringRef::npos)
      return NvccMatch{O, std::nullopt};
    return NvccMatch{O, Rest.drop_front(Equals + 1).str()};
  }
  if (TwoDashes || Rest.empty())
    return std::nullopt;
  const NvccOption *O = optionNamed(Rest.take_front(1));
  if (!O || !O->Joined)
    return std::nullopt;
  // `-t4` and `-O3`, but not `-trace`.
  bool Number = O->Short == "t";
  if (Number && !all_of(Rest.drop_front(1), isDigit))
    return std::nullopt;
  return NvccMatch{O, Rest.drop_front(1).str()};
}

std::vector<std::string> splitNvccList(StringRef Value, bool KeepQuotes) {
  std::vector<std::string> Parts(1);
  bool Quoted = false;
  for (size_t I = 0; I < Value.size(); ++I) {
    char C = Value[I];
    if (C == '\\' && I + 1 < Value.size()) {
      Parts.back() += Value[++I];
    } else if (C == '"') {
      Quoted = !Quoted;
      if (KeepQuotes)
        Parts.back() += C;
    } else if (C == ',' && !Quoted) {
      Parts.emplace_back();
    } else {
      Parts.back() += C;
    }
  }
  erase_if(Parts, [](const std::string &P) { return P.empty(); });
  return Parts;
}

/// The second time: every quote goes, a backslash takes the next character as it is.
static std::string unescapeWord(StringRef Word) {
  std::string Out;
  for (size_t I = 0; I < Word.size(); ++I) {
    if (Word[I] == '\\' && I + 1 < Word.size())
      Out += Word[++I];
    else if (Word[I] != '"')
      Out += Word[I];
  }
  return Out;
}

std::vector<std::string> splitNvccOptionsFile(StringRef Text) {
  std::vector<std::string> Words;
  std::string Word;
  bool InWord = false, Quoted = false;
  auto Finish = [&] {
    if (InWord)
      Words.push_back(unescapeWord(Word));
    Word.clear();
    InWord = false;
  };
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (!Quoted && (isSpace(C) || C == '\0')) {
      Finish();
      continue;
    }
    InWord = true;
    bool Escape = C == '\\' && I + 1 < Text.size();
    if (Escape && (!Quoted || Text[I + 1] == '"'))
      Word += Text[++I];
    else if (C == '"')
      Quoted = !Quoted;
    else
      Word += C;
  }
  Finish();
  return Words;
}

/// A program's name without folder, `.exe` and version: `/opt/bin/clang++-22` → `clang++`.
static StringRef programStem(StringRef Program) {
  StringRef Name = sys::path::filename(Program);
  if (Name.ends_with_insensitive(".exe"))
    Name = Name.drop_back(4);
  StringRef Version = Name;
  Version = Version.substr(Version.find_last_not_of("0123456789.") + 1);
  StringRef Stem = Name.drop_back(Version.size());
  return Version.empty() || !Stem.consume_back("-") ? Name : Stem;
}

CompilerFamily compilerFamily(StringRef Program) {
  StringRef Stem = programStem(Program);
  if (Stem.contains("nvcc"))
    return CompilerFamily::Nvcc;
  // Cross compilers carry the target before the name.
  for (StringRef Name : {"clang++", "clang"})
    if (Stem == Name || Stem.ends_with(("-" + Twine(Name)).str()))
      return CompilerFamily::Clang;
  for (StringRef Name : {"g++", "gcc", "c++", "cc"})
    if (Stem == Name || Stem.ends_with(("-" + Twine(Name)).str()))
      return CompilerFamily::Gcc;
  return CompilerFamily::Unknown;
}

static bool isLauncher(StringRef Program) {
  static constexpr StringLiteral Names[] = {
      "ccache", "sccache", "distcc", "icecc", "buildcache", "env",
      "cmake",  "nice",    "time",   "ionice"};
  return is_contained(Names, programStem(Program));
}

size_t findCompiler(ArrayRef<std::string> Args) {
  size_t I = 0;
  while (I < Args.size() && isLauncher(Args[I])) {
    StringRef Launcher = programStem(Args[I++]);
    // Its own options and assignments; `env -u NAME`, `nice -n 10` and `cmake -E env`
    // have a word more.
    while (I < Args.size()) {
      StringRef Word = Args[I];
      bool TakesWord = (Launcher == "env" && (Word == "-u" || Word == "-C")) ||
                       ((Launcher == "nice" || Launcher == "ionice") &&
                        (Word == "-n" || Word == "-c")) ||
                       (Launcher == "cmake" && Word == "-E");
      if (TakesWord)
        I += 2;
      else if (Word.starts_with("-") || Word.contains('=') || Word == "--")
        ++I;
      else
        break;
    }
  }
  return std::min(I, Args.size());
}

} // namespace optimas
