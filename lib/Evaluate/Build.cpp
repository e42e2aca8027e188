//===- Build.cpp - Building a candidate as the user does -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Build.h"
#include "optimas/Evaluate/Trace.h"
#include "optimas/Profile/Cubin.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace optimas {

/// The number before \p Unit in \p Line: `8 bytes spill stores`.
static uint64_t numberBefore(StringRef Line, StringRef Unit) {
  size_t At = Line.find(Unit);
  if (At == StringRef::npos)
    return 0;
  StringRef Head = Line.take_front(At).rtrim();
  StringRef Digits = Head.take_back(Head.size() - (Head.find_last_not_of("0123456789") + 1));
  uint64_t Value = 0;
  Digits.getAsInteger(10, Value);
  return Value;
}

std::vector<ResourceUsage> parsePtxas(StringRef Log) {
  std::vector<ResourceUsage> Out;
  // Properties may be listed for other functions (device functions that are not
  // inlined): only those of the entry being compiled count.
  bool Properties = false;
  for (StringRef Line : split(Log, '\n')) {
    if (Line.contains("Compiling entry function '")) {
      ResourceUsage R;
      R.Symbol = Line.split('\'').second.split('\'').first.str();
      Out.push_back(std::move(R));
      Properties = false;
    } else if (Line.contains("Function properties for ")) {
      StringRef Of = Line.split("Function properties for ").second.trim();
      Properties = !Out.empty() && Of == Out.back().Symbol;
    } else if (Properties && Line.contains("bytes stack frame")) {
      Out.back().Stack = numberBefore(Line, " bytes stack frame");
      Out.back().SpillStores = numberBefore(Line, " bytes spill stores");
      Out.back().SpillLoads = numberBefore(Line, " bytes spill loads");
    } else if (!Out.empty() && Line.contains("Used ") && Line.contains(" registers")) {
      Out.back().Registers = unsigned(numberBefore(Line, " registers"));
      Out.back().StaticShared = numberBefore(Line, " bytes smem");
    }
  }
  return Out;
}

std::string errorsOf(StringRef Log) {
  size_t At = 0, Found = StringRef::npos;
  while (At < Log.size() && Found == StringRef::npos) {
    StringRef Line = Log.substr(At).split('\n').first;
    // `nvcc fatal   : Unsupported gpu architecture`, and then make's own `Error 1`.
    if (Line.contains_insensitive("error") || Line.contains("fatal"))
      Found = At;
    At += Line.size() + 1;
  }
  StringRef Kept = Found == StringRef::npos ? Log.take_back(MaxBuildLog)
                                            : Log.substr(Found).take_front(MaxBuildLog);
  return Kept.trim().str();
}

static SubprocessOptions options(std::vector<std::string> Args, StringRef Directory,
                                 double TimeoutSeconds) {
  SubprocessOptions O;
  O.Args = std::move(Args);
  O.Directory = Directory.str();
  O.TimeoutSeconds = TimeoutSeconds;
  O.MergeError = true;
  O.MaxOutputBytes = 8 << 20;
  return O;
}

Expected<BuildOutcome> build(const BuildPlan &Plan, const ScratchView &View,
                             double TimeoutSeconds) {
  if (Error E = View.touchFiles())
    return std::move(E);
  BuildOutcome Out;
  for (const std::vector<std::string> &Args : Plan.Commands) {
    Expected<SubprocessResult> R =
        View.run(options(Args, Plan.Directory, TimeoutSeconds));
    if (!R)
      return R.takeError();
    Out.Seconds += double(R->WallNs) * 1e-9;
    Out.Ok = R->ok();
    Out.Log = Out.Ok ? "" : View.untranslate(errorsOf(R->Output));
    if (R->TimedOut)
      Out.Log = formatv("the build took longer than {0:F0} s\n", TimeoutSeconds).str() +
                Out.Log;
    // A compile error does not go away by building more.
    if (Out.Ok || R->TimedOut || StringRef(R->Output).contains(": error"))
      break;
  }
  std::string Program =
      Plan.ReplacesProgram ? Plan.Commands[0].back() : View.outside(Plan.Executable);
  if (!Out.Ok || Program.empty() || !sys::fs::exists(Program))
    return Out;
  Expected<std::string> Bytes = readFile(Program, ExitCode::Internal);
  if (!Bytes)
    return Bytes.takeError();
  Out.ProgramSha = sha256(*Bytes);
  return Out;
}

Expected<DeviceCode> compileDevice(const CompileCommand &Command, unsigned Sm,
                                   const ScratchView &View, double TimeoutSeconds) {
  DeviceCode Out;
  std::string Output = View.file("device.cubin");
  Expected<SubprocessResult> R =
      View.run(options(cubinArgs(Command, Sm, Output), Command.Directory, TimeoutSeconds));
  if (!R)
    return R.takeError();
  Out.Ok = R->ok();
  if (!Out.Ok) {
    Out.Log = View.untranslate(errorsOf(R->Output));
    return Out;
  }
  Out.Resources = parsePtxas(R->Output);
  Expected<std::string> Bytes = readFile(Output, ExitCode::Internal);
  if (!Bytes)
    return Bytes.takeError();
  Out.Cubin = std::move(*Bytes);
  return Out;
}

/// Machine code by a name that does not depend on the file's path.
static Expected<std::map<std::string, std::string>> codeByName(StringRef Bytes,
                                                               bool KernelsOnly) {
  Expected<Cubin> C = Cubin::parse(Bytes, "compiled device code");
  if (!C)
    return C.takeError();
  std::map<std::string, std::string> Out;
  for (const CubinFunction &F : C->functions())
    if (F.IsKernel || !KernelsOnly)
      Out[kernelLabel(F.Symbol)] +=
          StringRef(reinterpret_cast<const char *>(F.Code.data()), F.Code.size()).str();
  return Out;
}

std::string codeHash(StringRef CubinBytes) {
  Expected<std::map<std::string, std::string>> Code = codeByName(CubinBytes, false);
  if (!Code) {
    consumeError(Code.takeError());
    return "";
  }
  std::string All;
  for (const auto &[Name, Bytes] : *Code)
    All += Name + '\0' + sha256(Bytes) + '\n';
  return sha256(All);
}

Expected<std::vector<std::string>> changedKernels(StringRef Baseline, StringRef Candidate,
                                                  ArrayRef<std::string> Touched) {
  Expected<std::map<std::string, std::string>> Before = codeByName(Baseline, true);
  if (!Before)
    return Before.takeError();
  Expected<std::map<std::string, std::string>> After = codeByName(Candidate, true);
  if (!After)
    return After.takeError();
  std::vector<std::string> Out;
  auto Report = [&](const std::string &Label) {
    if (!is_contained(Touched, kernelBase(Label)))
      Out.push_back(Label);
  };
  for (const auto &[Label, Code] : *Before) {
    auto It = After->find(Label);
    if (It == After->end() || It->second != Code)
      Report(Label);
  }
  for (const auto &[Label, Code] : *After)
    if (!Before->count(Label))
      Report(Label);
  return Out;
}

std::string compilerBuild(const CompileCommand &Command) {
  for (StringRef A : ArrayRef(Command.Args).take_front(2)) {
    // argv[0], or argv[1] behind ccache.
    if (!A.contains("nvcc"))
      continue;
    SubprocessOptions O = options({A.str(), "--version"}, Command.Directory, 30);
    Expected<SubprocessResult> R = runSubprocess(O);
    if (!R) {
      consumeError(R.takeError());
      return "";
    }
    for (StringRef Line : split(R->Output, '\n'))
      if (Line.starts_with("Build "))
        return Line.trim().str();
  }
  return "";
}

} // namespace optimas
