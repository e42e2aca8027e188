//===- CheckProgram.cpp - Whether a program is built for profiling -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Checklist.h"
#include "Preflight.h"
#include "optimas/Profile/Cubin.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include <set>

using namespace llvm;

namespace optimas {

static constexpr char BuildWithLines[] =
    "build with nvcc -lineinfo (CMake: add_compile_options("
    "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)); code is as fast with it";

namespace {
/// The kernels of a program's cubins, those of several architectures once.
struct Kernels {
  std::set<std::string> All, WithoutLines;
  std::set<unsigned> Architectures;
};
} // namespace

static Error readKernels(StringRef Bytes, StringRef Name, Kernels &K) {
  Expected<std::vector<std::string>> Images = Cubin::extract(Bytes);
  if (!Images)
    return Images.takeError();
  for (const std::string &Image : *Images) {
    Expected<Cubin> C = Cubin::parse(Image, Name);
    if (!C)
      return C.takeError();
    for (const CubinFunction &F : C->functions()) {
      if (!F.IsKernel)
        continue;
      K.Architectures.insert(C->sm());
      K.All.insert(F.Symbol);
      if (F.Lines.empty())
        K.WithoutLines.insert(F.Symbol);
    }
  }
  return Error::success();
}

static std::string architectures(const Kernels &K) {
  std::string Text;
  for (unsigned Sm : K.Architectures)
    Text += (Text.empty() ? "sm_" : ", sm_") + std::to_string(Sm);
  return Text;
}

static void checkLines(Checklist &List, StringRef Bytes, StringRef Path) {
  Kernels K;
  if (Error E = readKernels(Bytes, Path, K)) {
    std::string Why = toString(std::move(E));
    return List.warn("line information", "the program's kernels cannot be read: " + Why,
                     "samples are recorded nevertheless");
  }
  if (K.All.empty())
    return List.warn("line information", "no compiled kernel in " + Path,
                     "they may be in a shared library, or in PTX that the driver compiles; "
                     "there too lines need nvcc -lineinfo");
  std::string Of = std::to_string(K.All.size()) + " kernels (" + architectures(K) + ")";
  if (K.WithoutLines.empty())
    return List.good("line information", "all " + Of + " have it");
  if (K.WithoutLines.size() == K.All.size())
    return List.missing("line information", "none of " + Of + " has it: samples would have "
                                            "no source lines", BuildWithLines);
  List.warn("line information",
            std::to_string(K.WithoutLines.size()) + " of " + Of + " have none, " +
                *K.WithoutLines.begin() + " for one",
            BuildWithLines);
}

void checkProgram(Checklist &List, StringRef Program) {
  ErrorOr<std::string> Path = sys::findProgramByName(Program);
  // A name with a slash is not looked up.
  if (!Path || !sys::fs::exists(*Path))
    return List.missing("program", Program + " was not found",
                        "give its path, or check PATH");
  if (!isCudaProgram(Program))
    return List.warn("program", *Path + " does not itself contain or link CUDA",
                     "it may still load it (Python does); samples need code built with "
                     "nvcc -lineinfo");
  List.good("program", *Path + " uses CUDA");
  Expected<std::string> Bytes = readFile(*Path, ExitCode::EvidenceUnusable);
  if (!Bytes)
    return consumeError(Bytes.takeError());
  checkLines(List, *Bytes, *Path);
}

} // namespace optimas
