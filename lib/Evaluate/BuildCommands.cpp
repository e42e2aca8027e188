//===- BuildCommands.cpp - Commands that build a candidate -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TreeCopy.h"
#include "optimas/Evaluate/Build.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <thread>

using namespace llvm;

namespace optimas {

namespace {
/// Walks an nvcc command and leaves out options, with their values.
class ArgFilter {
public:
  explicit ArgFilter(ArrayRef<std::string> Args) : Args(Args) {}

  /// Options that stand alone.
  ArgFilter &drop(std::initializer_list<StringRef> Names) {
    for (StringRef N : Names)
      Alone.insert(N);
    return *this;
  }
  /// Options with a value: `-o x`, `-o=x`.
  ArgFilter &dropValued(std::initializer_list<StringRef> Names) {
    for (StringRef N : Names)
      Valued.insert(N);
    return *this;
  }
  /// Values of the dropped options, in order.
  std::vector<std::string> Values;

  std::vector<std::string> rest() {
    std::vector<std::string> Out;
    for (size_t I = 0; I < Args.size(); ++I) {
      StringRef A = Args[I];
      if (I && Alone.count(A))
        continue;
      auto [Name, Value] = A.split('=');
      if (I && Valued.count(A)) {
        if (++I < Args.size())
          Values.push_back(Args[I]);
        continue;
      }
      if (I && Name.size() < A.size() && Valued.count(Name)) {
        Values.push_back(Value.str());
        continue;
      }
      Out.push_back(A.str());
    }
    return Out;
  }

private:
  ArrayRef<std::string> Args;
  std::set<StringRef> Alone, Valued;
};
} // namespace

/// What asks for an object, for dependency files, or for an output name.
static void dropOutputs(ArgFilter &F) {
  F.drop({"-c", "--compile", "-dc", "--device-c", "-dw", "--device-w", "-MD", "-MMD",
          "-M", "-MM", "-MP", "--generate-dependencies-with-compile", "-ptx", "--ptx",
          "-cubin", "--cubin", "-fatbin", "--fatbin"})
      .dropValued({"-o", "--output-file", "-MF", "-MT", "-MQ", "-odir",
                   "--output-directory", "--dependency-output",
                   "--dependency-target-name"});
}

static bool isRelocatable(ArrayRef<std::string> Args) {
  return is_contained(Args, "-dc") || is_contained(Args, "--device-c");
}

std::vector<std::string> programArgs(const CompileCommand &Command, StringRef Output) {
  ArgFilter F(Command.Args);
  dropOutputs(F);
  std::vector<std::string> Out = F.rest();
  if (isRelocatable(Command.Args))
    Out.push_back("-rdc=true");
  Out.push_back("-o");
  Out.push_back(Output.str());
  return Out;
}

/// `90`, `90a` or `100f` as the command spells architecture \p Sm in \p Specs.
static std::string spelledArch(ArrayRef<std::string> Specs, unsigned Sm) {
  std::string Plain = std::to_string(Sm);
  for (StringRef Spec : Specs)
    for (StringRef Suffix : {"a", "f"})
      if (Spec.contains("sm_" + Plain + Suffix.str()))
        return Plain + Suffix.str();
  return Plain;
}

/// The virtual architecture from which the command makes `sm_<Arch>`.
static std::string virtualArch(ArrayRef<std::string> Specs, StringRef Arch) {
  for (StringRef Spec : Specs) {
    size_t At = Spec.find("arch=compute_");
    if (At == StringRef::npos || !Spec.contains(("sm_" + Arch).str()))
      continue;
    return Spec.drop_front(At + 5).take_while([](char C) {
      return isAlnum(C) || C == '_';
    }).str();
  }
  return ("compute_" + Arch).str();
}

std::vector<std::string> cubinArgs(const CompileCommand &Command, unsigned Sm,
                                   StringRef Output) {
  ArgFilter F(Command.Args);
  dropOutputs(F);
  if (Sm)
    F.dropValued({"-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode",
                  "--generate-code"});
  std::vector<std::string> Out = F.rest();
  if (Sm) {
    std::string Arch = spelledArch(F.Values, Sm);
    Out.push_back("-gencode");
    Out.push_back("arch=" + virtualArch(F.Values, Arch) + ",code=sm_" + Arch);
  }
  if (isRelocatable(Command.Args))
    Out.push_back("-rdc=true");
  for (StringRef A : {StringRef("-Xptxas"), StringRef("-v"), StringRef("-cubin"),
                      StringRef("-o"), Output})
    Out.push_back(A.str());
  return Out;
}

/// The file that argv[0] names when it is started in \p Dir; empty for a name that is
/// looked up on PATH.
static std::string programPath(StringRef Argv0, StringRef Dir) {
  if (!Argv0.contains('/'))
    return "";
  SmallString<256> Path(Argv0);
  if (!sys::path::is_absolute(Path)) {
    Path = Dir;
    sys::path::append(Path, Argv0);
  }
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  // The file itself may not be built yet; its folder is there.
  SmallString<256> Real;
  if (!sys::fs::real_path(sys::path::parent_path(Path), Real)) {
    sys::path::append(Real, sys::path::filename(Path));
    Path = Real;
  }
  return Path.str().str();
}

static bool hasTool(StringRef Name) { return bool(sys::findProgramByName(Name)); }

/// The commands for a folder with build.ninja or a Makefile.
static std::vector<std::vector<std::string>> systemCommands(StringRef BuildDir,
                                                            StringRef Program) {
  bool Ninja = sys::fs::exists(BuildDir + "/build.ninja");
  std::string Jobs =
      std::to_string(std::min(4u, std::max(1u, std::thread::hardware_concurrency())));
  std::string Dir = BuildDir.str();
  std::vector<std::string> All =
      hasTool("cmake") && sys::fs::exists(BuildDir + "/CMakeCache.txt")
          ? std::vector<std::string>{"cmake", "--build", Dir, "-j", Jobs}
      : Ninja ? std::vector<std::string>{"ninja", "-C", Dir, "-j", Jobs}
              : std::vector<std::string>{"make", "-C", Dir, "-j", Jobs};
  std::vector<std::vector<std::string>> Out;
  if (!Program.empty() && isWithin(Program, BuildDir)) {
    std::vector<std::string> One = All;
    if (All[0] == "cmake")
      One.push_back("--target");
    // Ninja knows every output by its path; make knows CMake's targets by name.
    One.push_back(Ninja ? Program.drop_front(BuildDir.size() + 1).str()
                        : sys::path::filename(Program).str());
    Out.push_back(std::move(One));
  }
  Out.push_back(std::move(All));
  return Out;
}

BuildPlan planBuild(const CompileCommand &Command, const EvaluationOptions &Options,
                    ArrayRef<std::string> RunArgs, StringRef RunDir, StringRef Output) {
  BuildPlan P;
  StringRef BuildDir = Options.BuildDir;
  if (!RunArgs.empty())
    P.Executable = programPath(RunArgs[0], RunDir);
  if (!Options.BuildCommand.empty()) {
    P.How = BuildPlan::User;
    P.Commands = {{"sh", "-c", Options.BuildCommand}};
    P.Directory = BuildDir.empty() ? Command.Directory : BuildDir.str();
    return P;
  }
  bool IsSystem = !BuildDir.empty() && (sys::fs::exists(BuildDir + "/build.ninja") ||
                                        sys::fs::exists(BuildDir + "/Makefile"));
  if (IsSystem) {
    P.How = BuildPlan::System;
    P.Commands = systemCommands(BuildDir, P.Executable);
    P.Directory = BuildDir.str();
    return P;
  }
  P.Directory = Command.Directory;
  if (RunArgs.empty()) {
    ArgFilter F(Command.Args);
    F.dropValued({"-o", "--output-file", "-MF", "-MT", "-MQ"}).drop({"-MD", "-MMD", "-MP"});
    std::vector<std::string> Args = F.rest();
    if (none_of(Args, [](const std::string &A) {
          return A == "-c" || A == "--compile" || A == "-dc" || A == "--device-c";
        }))
      Args.push_back("-c");
    Args.push_back("-o");
    Args.push_back(Output.str());
    P.Commands = {std::move(Args)};
    return P;
  }
  P.How = BuildPlan::SingleFile;
  P.Commands = {programArgs(Command, Output)};
  P.ReplacesProgram = true;
  return P;
}

std::string BuildPlan::describe() const {
  return How == User ? Commands[0].back() : quoteCommand(Commands[0]);
}

} // namespace optimas
