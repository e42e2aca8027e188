//===- CompileCommandsHost.cpp - Options of the host's compilers, and Clang and GCC commands -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CompileCommandsTranslate.h"
#include "optimas/Frontend/CompileCommands.h"
#include "clang/Options/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace clang::options;

namespace optimas {

static opt::InputArgList parseWords(ArrayRef<std::string> Words) {
  SmallVector<const char *, 64> Pointers;
  for (const std::string &Word : Words)
    Pointers.push_back(Word.c_str());
  unsigned MissingIndex, MissingCount;
  return clang::getDriverOptTable().ParseArgs(
      Pointers, MissingIndex, MissingCount,
      opt::Visibility(clang::options::ClangOption));
}

bool clangKnows(StringRef Word) {
  std::vector<std::string> Words = {Word.str()};
  opt::InputArgList Args = parseWords(Words);
  return !Args.hasArg(OPT_UNKNOWN) && !Args.hasArg(OPT_INPUT);
}

/// An option of the host's compiler whose value is the next word, or joined to it.
static bool keepsValue(StringRef Word, StringRef &Name) {
  static constexpr StringLiteral Names[] = {"-isystem", "-iquote", "-idirafter",
                                            "-include", "-imacros", "-D", "-U", "-I"};
  for (StringRef N : Names)
    if (Word.starts_with(N)) {
      Name = N;
      return true;
    }
  return false;
}

static bool keepsAlone(StringRef Word) {
  static constexpr StringLiteral Exact[] = {
      "-fexceptions", "-fno-exceptions", "-frtti", "-fno-rtti", "-pthread",
      "-fopenmp", "-fopenmp-simd", "-fsigned-char", "-funsigned-char",
      "-fchar8_t", "-fno-char8_t", "-fms-extensions", "-fshort-enums", "-ansi"};
  return is_contained(Exact, Word) || Word.starts_with("-std=");
}

/// Known not to change the AST: code generation, warnings, debugging, linking.
static bool changesNothing(StringRef Word) {
  if (Word == "-s" || Word == "-w" || Word == "-c" || Word == "-shared" ||
      Word == "-static" || Word == "-rdynamic" || Word == "-Wl" || Word == "-save-temps")
    return true;
  for (StringRef Prefix : {"-f", "-W", "-O", "-g", "-p", "-l", "-L", "-M", "-T", "-n",
                           "-static-lib", "-no-pie", "-B"})
    if (Word.starts_with(Prefix))
      return true;
  return false;
}

void translateHostOptions(ArrayRef<std::string> Words, TranslatedCommand &Out) {
  for (size_t I = 0; I < Words.size(); ++I) {
    StringRef Word = Words[I], Name;
    if (Word.size() < 2 || Word[0] != '-') {
      Out.Notes.push_back("host compiler argument left out: " + Word.str());
    } else if (keepsValue(Word, Name)) {
      bool Next = Word == Name;
      if (Next && I + 1 == Words.size())
        return;
      Out.ClangArgs.push_back(Word.str());
      if (Next)
        Out.ClangArgs.push_back(Words[++I]);
    } else if (keepsAlone(Word)) {
      Out.ClangArgs.push_back(Word.str());
    } else if (Word.starts_with("-m")) {
      // The GPU's compiler would refuse them; one of GCC's alone, the host's too.
      if (clangKnows(Word))
        Out.ClangArgs.insert(Out.ClangArgs.end(), {"-Xarch_host", Word.str()});
    } else if (!changesNothing(Word)) {
      Out.Notes.push_back("unknown option left out: " + Word.str());
    }
  }
}

std::string gccHeaderFolder(StringRef Root) {
  std::string Best;
  unsigned BestVersion = 0;
  std::error_code EC;
  for (sys::fs::directory_iterator Target(Root, EC), End; !EC && Target != End;
       Target.increment(EC)) {
    std::error_code Inner;
    for (sys::fs::directory_iterator V(Target->path(), Inner); !Inner && V != End;
         V.increment(Inner)) {
      std::string Dir = V->path() + "/include";
      unsigned Version;
      StringRef Name = sys::path::filename(V->path());
      // `12` or `12.2.0`.
      if (Name.split('.').first.getAsInteger(10, Version) || Version <= BestVersion ||
          !sys::fs::exists(Dir + "/omp.h"))
        continue;
      Best = Dir;
      BestVersion = Version;
    }
  }
  return Best;
}

void addGccHeaders(TranslatedCommand &Out) {
  static const std::string Folder = gccHeaderFolder("/usr/lib/gcc");
  if (!Folder.empty())
    Out.ClangArgs.insert(Out.ClangArgs.end(), {"-idirafter", Folder});
}

/// Options of Clang's driver that say what to make of the AST, or where.
static bool dropsClangOption(const opt::Option &O) {
  static constexpr unsigned Ids[] = {
      OPT_c, OPT_S, OPT_E, OPT_o, OPT_emit_llvm, OPT_fsyntax_only, OPT_x,
      OPT_resource_dir, OPT_resource_dir_EQ, OPT_cuda_path_EQ, OPT_offload_arch_EQ,
      OPT_cuda_host_only, OPT_cuda_device_only, OPT_cuda_compile_host_device,
      OPT_no_offloadlib, OPT_v, OPT__HASH_HASH_HASH, OPT_pipe, OPT_l, OPT_L,
      OPT_save_temps, OPT_save_temps_EQ, OPT_include_pch, OPT_Xcuda_ptxas,
      OPT_Xcuda_fatbinary, OPT_Xlinker, OPT_Wl_COMMA, OPT_shared};
  for (unsigned Id : Ids)
    if (O.matches(Id))
      return true;
  // -M…, -W… (an error from a warning would be no error of the build's), -g….
  return O.matches(OPT_M_Group) || O.matches(OPT_W_Group) ||
         O.matches(OPT_g_Group) || O.matches(OPT_Link_Group);
}

static void rememberClangOption(const opt::Option &O, const opt::Arg &A,
                                TranslatedCommand &Out) {
  if (O.matches(OPT_g_Group) && !O.matches(OPT_g0))
    Out.LineInfo = true;
  if (O.matches(OPT_cuda_noopt_device_debug))
    Out.DeviceDebug = true;
  if (O.matches(OPT_ffast_math))
    Out.UseFastMath = true;
  if (O.matches(OPT_fgpu_rdc))
    Out.Rdc = true;
  if (O.matches(OPT_fno_gpu_rdc))
    Out.Rdc = false;
  if (O.matches(OPT_ffp_contract))
    Out.FmadEnabled = StringRef(A.getValue()) != "off";
}

Error translateClang(ArrayRef<std::string> Words, bool Gcc, unsigned PreferredSm,
                     StringRef CudaPath, TranslatedCommand &Out) {
  opt::InputArgList Args = parseWords(Words);
  ArchRequest Archs;
  std::string Toolkit = CudaPath.str();
  for (const opt::Arg *A : Args) {
    const opt::Option &O = A->getOption();
    rememberClangOption(O, *A, Out);
    if (O.matches(OPT_x))
      Out.Language = A->getValue();
    if (O.matches(OPT_offload_arch_EQ))
      for (const char *Value : A->getValues())
        Archs.GenCodes.push_back("arch=" + std::string(Value) + ",code=" + Value);
    if (O.matches(OPT_cuda_path_EQ) && CudaPath.empty())
      Toolkit = A->getValue();
    if (O.matches(OPT_INPUT) || dropsClangOption(O))
      continue;
    if (O.matches(OPT_UNKNOWN)) {
      // GCC has hundreds that Clang lacks; only Clang's own are worth a note.
      if (!Gcc)
        Out.Notes.push_back("unknown option left out: " + A->getAsString(Args));
      continue;
    }
    opt::ArgStringList Rendered;
    A->render(Args, Rendered);
    Out.ClangArgs.insert(Out.ClangArgs.end(), Rendered.begin(), Rendered.end());
  }
  if (Out.Language.empty()) {
    StringRef Extension = sys::path::extension(Out.File);
    Out.Language = Extension == ".cu" ? "cuda" : Extension == ".c" ? "c" : "c++";
  }
  Out.IsCuda = Out.Language == "cuda";
  if (Gcc)
    addGccHeaders(Out);
  if (!Out.IsCuda)
    return Error::success();
  auto Found = findDefaultToolkit(Toolkit);
  if (!Found)
    return Found.takeError();
  if (Archs.GenCodes.empty())
    Archs.Arch = "sm_52"; // Clang 22's default
  if (Error E = chooseArch(Archs, PreferredSm, *Found, Out))
    return E;
  addToolkitArgs(*Found, Out);
  return Error::success();
}

} // namespace optimas
