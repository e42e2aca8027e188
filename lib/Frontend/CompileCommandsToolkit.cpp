//===- CompileCommandsToolkit.cpp - Finding the CUDA toolkit and its version -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CompileCommandsToolkit.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Json.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cstdlib>

using namespace llvm;

namespace optimas {

static constexpr StringLiteral ToolkitRemedy =
    "install the CUDA toolkit, or say where it is with --cuda-path=DIR (the folder "
    "that holds include/cuda.h)";

static std::string join(StringRef Dir, StringRef Name) {
  SmallString<256> Path(Dir);
  sys::path::append(Path, Name);
  return Path.str().str();
}

/// `#define CUDA_VERSION 13000` of cuda.h; 0 when it is not there.
static unsigned versionOfHeader(StringRef Header) {
  // The definition stands near the top of a file of a megabyte.
  uint64_t Size;
  if (sys::fs::file_size(Header, Size))
    return 0;
  auto Buffer = MemoryBuffer::getFileSlice(Header, std::min<uint64_t>(Size, 256 << 10),
                                           /*Offset=*/0, /*IsVolatile=*/true);
  if (!Buffer)
    return 0;
  StringRef Rest = (*Buffer)->getBuffer();
  while (!Rest.empty()) {
    auto [Line, After] = Rest.split('\n');
    Rest = After;
    Line = Line.trim();
    if (!Line.consume_front("#define"))
      continue;
    Line = Line.ltrim();
    unsigned Version;
    if (Line.consume_front("CUDA_VERSION") && !Line.ltrim().consumeInteger(10, Version))
      return Version;
  }
  return 0;
}

/// nvcc's build number of version.json, -1 when that does not say.
static int buildOfNvcc(StringRef Root) {
  auto Text = readFile(join(Root, "version.json"), ExitCode::Usage);
  if (!Text) {
    consumeError(Text.takeError());
    return -1;
  }
  auto Parsed = parseJson(*Text);
  if (!Parsed) {
    consumeError(Parsed.takeError());
    return -1;
  }
  const json::Object *O = Parsed->getAsObject();
  const json::Object *Nvcc = O ? O->getObject("cuda_nvcc") : nullptr;
  auto Version = Nvcc ? Nvcc->getString("version") : std::nullopt;
  unsigned Build;
  if (!Version || Version->rsplit('.').second.getAsInteger(10, Build))
    return -1;
  return int(Build);
}

static bool isToolkit(StringRef Root) {
  return !Root.empty() && sys::fs::exists(join(Root, "include/cuda.h"));
}

static Expected<CudaToolkit> readToolkit(StringRef Root) {
  CudaToolkit T;
  T.Path = Root.str();
  unsigned Version = versionOfHeader(join(Root, "include/cuda.h"));
  // 7.0 is the oldest that Clang knows; above 99 it is not a version.
  if (Version < 7000 || Version > 99999)
    return makeError(ExitCode::Usage,
                     "include/cuda.h there does not say a CUDA version (CUDA_VERSION)",
                     Root, ToolkitRemedy);
  // Without it Clang would only complain of __device__, in the user's own source.
  if (!sys::fs::exists(join(Root, "include/cuda_runtime.h")))
    return makeError(ExitCode::Usage,
                     "the CUDA toolkit there is not whole (no include/cuda_runtime.h)", Root,
                     ToolkitRemedy);
  T.Major = Version / 1000;
  T.Minor = Version % 1000 / 10;
  T.Build = buildOfNvcc(Root);
  return T;
}

/// The folder above the program's own, links resolved; empty when the program does
/// not exist.
static std::string rootOfProgram(StringRef Program) {
  SmallString<256> Real;
  if (sys::fs::real_path(Program, Real))
    return "";
  StringRef Dir = sys::path::parent_path(Real);
  return sys::path::parent_path(Dir).str();
}

/// What the compiler itself says: wrapper scripts and packages that spread the
/// toolkit over the system stand in no folder that tells.
static std::string rootByDryRun(StringRef Program) {
  SubprocessOptions O;
  O.Args = {Program.str(), "--dryrun", "-x", "cu", "-c", "/dev/null", "-o", "/dev/null"};
  O.TimeoutSeconds = 20;
  O.MaxOutputBytes = 1 << 20;
  O.MergeError = true;
  auto R = runSubprocess(O);
  if (!R) {
    consumeError(R.takeError());
    return "";
  }
  StringRef Rest = R->Output;
  while (!Rest.empty()) {
    auto [Line, After] = Rest.split('\n');
    Rest = After;
    if (Line.consume_front("#$ TOP="))
      return canonicalPath(Line.trim());
  }
  return "";
}

/// The path of \p Compiler as the build would run it; empty when there is none.
static std::string resolveProgram(StringRef Compiler, StringRef Directory) {
  if (!Compiler.contains('/')) {
    auto Found = sys::findProgramByName(Compiler);
    return Found ? *Found : "";
  }
  SmallString<256> Path(Compiler);
  sys::path::make_absolute(Directory, Path);
  return sys::fs::exists(Path) ? Path.str().str() : "";
}

Expected<CudaToolkit> findToolkit(StringRef Compiler, StringRef Directory,
                                  StringRef Override) {
  if (!Override.empty()) {
    std::string Root = canonicalPath(Override);
    if (!isToolkit(Root))
      return makeError(ExitCode::Usage, "this is no CUDA toolkit (no include/cuda.h)",
                       Override, ToolkitRemedy);
    return readToolkit(Root);
  }
  std::string Program = resolveProgram(Compiler, Directory);
  if (Program.empty())
    return makeError(ExitCode::Usage, "the command's compiler does not exist here",
                     Compiler, ToolkitRemedy);
  // Without resolving links first: /usr/local/cuda is a name that lasts.
  std::string Plain =
      sys::path::parent_path(sys::path::parent_path(Program)).str();
  for (const std::string &Root : {Plain, rootOfProgram(Program)})
    if (isToolkit(Root))
      return readToolkit(Root);
  std::string Root = rootByDryRun(Program);
  if (isToolkit(Root))
    return readToolkit(Root);
  return makeError(ExitCode::Usage,
                   "the compiler belongs to no CUDA toolkit (no include/cuda.h beside it)",
                   Program, ToolkitRemedy);
}

/// The roots to try when no command names one, in order.
static std::vector<std::string> usualRoots() {
  std::vector<std::string> Roots;
  for (const char *Name : {"CUDA_PATH", "CUDA_HOME"})
    if (const char *Value = std::getenv(Name))
      Roots.push_back(Value);
  if (auto Nvcc = sys::findProgramByName("nvcc"))
    Roots.push_back(rootOfProgram(*Nvcc));
  Roots.push_back("/usr/local/cuda");
  return Roots;
}

Expected<CudaToolkit> findDefaultToolkit(StringRef Override) {
  if (!Override.empty())
    return findToolkit("nvcc", "", Override);
  for (const std::string &Root : usualRoots())
    if (isToolkit(Root))
      return readToolkit(Root);
  return makeError(ExitCode::Usage,
                   "no CUDA toolkit was found (CUDA_PATH, nvcc on PATH, /usr/local/cuda)",
                   "", ToolkitRemedy);
}

std::string defaultNvcc() {
  for (const std::string &Root : usualRoots()) {
    std::string Nvcc = join(Root, "bin/nvcc");
    if (sys::fs::can_execute(Nvcc))
      return Nvcc;
  }
  return "nvcc";
}

} // namespace optimas
