//===- Build.h - Building a candidate as the user does -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_BUILD_H
#define OPTIMAS_EVALUATE_BUILD_H

#include "optimas/Evaluate/Evaluation.h"
#include "optimas/Evaluate/Scratch.h"

namespace optimas {

/// Compile errors kept for a model's next attempt and for the report, bytes.
constexpr size_t MaxBuildLog = 4096;

/// How the program is built: the same for the baseline and every candidate.
struct BuildPlan {
  enum Kind {
    User,       ///< --build, by the shell
    System,     ///< `cmake --build` (ninja, make) on the build folder
    SingleFile, ///< the compile command without -c: one source is the program
    CompileOnly ///< nothing is run: the compile command as it is, output discarded
  };
  Kind How = CompileOnly;
  /// Tried in order until one succeeds (a named target first, then all).
  std::vector<std::vector<std::string>> Commands;
  std::string Directory;
  /// The program that a run starts, as the view sees it; empty when nothing is run.
  std::string Executable;
  /// SingleFile: the output has to be put over Executable, whose folder is no copy.
  bool ReplacesProgram = false;
  std::string describe() const; ///< for the report
};

/// \p RunArgs: the split run command, empty when nothing is run; \p RunDir its folder.
/// \p Output: where SingleFile and CompileOnly write (a file of the view's own).
BuildPlan planBuild(const CompileCommand &Command, const EvaluationOptions &Options,
                    llvm::ArrayRef<std::string> RunArgs, llvm::StringRef RunDir,
                    llvm::StringRef Output);

/// The arguments of \p Command that compile and link in one step to \p Output: without
/// -c, -dc, -o and dependency files, everything else as it is.
std::vector<std::string> programArgs(const CompileCommand &Command,
                                     llvm::StringRef Output);

/// The arguments that compile \p Command's device code only, for sm \p Sm (0: as the
/// command says), to a cubin, with ptxas reporting resources.
std::vector<std::string> cubinArgs(const CompileCommand &Command, unsigned Sm,
                                   llvm::StringRef Output);

/// ptxas -v's report: one entry per kernel, in its order.
std::vector<ResourceUsage> parsePtxas(llvm::StringRef Log);

/// The part of a build's output that says what is wrong: from the first line with
/// `error` or `fatal`, at most MaxBuildLog bytes; the end of the output when there is no such line.
std::string errorsOf(llvm::StringRef Log);

struct BuildOutcome {
  bool Ok = false;
  std::string Log;        ///< errorsOf, when not Ok
  std::string ProgramSha; ///< of the program's bytes, empty when there is none
  double Seconds = 0;
};

/// Runs \p Plan in \p View. An error only when the command cannot be started.
llvm::Expected<BuildOutcome> build(const BuildPlan &Plan, const ScratchView &View,
                                   double TimeoutSeconds);

/// The device code of one version of a source.
struct DeviceCode {
  bool Ok = false;
  std::string Log;
  std::string Cubin;
  std::vector<ResourceUsage> Resources;
};

/// Compiles the device part in \p View, with the file's own command.
llvm::Expected<DeviceCode> compileDevice(const CompileCommand &Command, unsigned Sm,
                                         const ScratchView &View,
                                         double TimeoutSeconds);

/// A digest of the machine code of all functions in \p CubinBytes by name: the same at
/// another path (line tables and anonymous-namespace names hold it), different for any
/// other instruction. Empty when it is no cubin.
std::string codeHash(llvm::StringRef CubinBytes);

/// Labels of the kernels whose machine code differs, is missing or new, of those whose
/// base name is not in \p Touched.
llvm::Expected<std::vector<std::string>>
changedKernels(llvm::StringRef Baseline, llvm::StringRef Candidate,
               llvm::ArrayRef<std::string> Touched);

/// The version line of the nvcc that \p Command names (`Build cuda_13.0.r13.0/…`), or
/// empty: machine code is comparable between machines only for one build of it.
std::string compilerBuild(const CompileCommand &Command);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_BUILD_H
