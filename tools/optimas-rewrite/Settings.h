//===- Settings.h - Command line and .optimas settings -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_SETTINGS_H
#define OPTIMAS_TOOLS_SETTINGS_H

#include "optimas/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace optimas {

/// Everything that the command line or a `.optimas` file can say. The members'
/// initial values are the defaults that --help prints.
struct Settings {
  std::vector<std::string> Sources;
  std::string BuildDir; ///< -p; empty: compile_commands.json found upwards from the source
  /// What follows `--`; nullopt when there is no `--`.
  std::optional<std::vector<std::string>> CompilerArgs;

  // Evidence.
  std::vector<std::string> Profiles;
  double Hot = 80;
  std::string Run, RunDir;
  std::string Evidence = "pc,roofline,counters";
  std::string CalibrationFile;

  // Proposals.
  std::string Proposer = "catalogue";
  std::string Model, Endpoint, KeyVariable = "OPENAI_API_KEY";
  unsigned MaxAttempts = 3;
  double ModelTimeout = 120;
  std::string Checks = "*";
  std::string EmitPrompt;

  // Edits.
  bool Fix = false;
  bool FixUnvalidated = false; ///< --fix also writes what nothing validated
  std::string Patch, ExportFixes, ProjectRoot;

  // Evaluation.
  std::string Build, Validate = "bytes", Inputs, Record, Replay;
  std::vector<std::string> OutputFiles, Masks;
  unsigned Repeat = 10;
  double Budget = 300, RunTimeout = 120;
  std::string Candidate;
  bool Evaluate = true, Ablation = true, KeepScratch = false;

  // Output.
  std::vector<std::string> Reports;
  std::string RooflineFile;
  bool Quiet = false, Verbose = false;

  // Other.
  bool ListChecks = false, DumpConfig = false, DumpModel = false, DumpEvidence = false;
  bool ExplainEvidence = false;
  bool ExplainCounters = false;
  std::string Explain, ResourceDir, CudaPath, Collector;
};

/// What parsing the command line led to.
struct ParsedCommandLine {
  Settings Values;
  /// Set when the program is done already (--help, --version): its exit code.
  std::optional<int> Exit;
};

/// Reads the command line, then the nearest `.optimas` found upwards from the first
/// source (the command line wins). Usage errors for unknown options, values out of
/// range, and unknown keys of the settings file, each with the place.
llvm::Expected<ParsedCommandLine> parseCommandLine(int Argc, const char **Argv);

/// The effective settings as a `.optimas` file.
std::string dumpConfig(const Settings &S);

/// Reads `.optimas` YAML text over \p S, skipping the keys named in \p Given (set on
/// the command line).
llvm::Error readConfig(llvm::StringRef Text, llvm::StringRef Path,
                       const std::vector<std::string> &Given, Settings &S);

} // namespace optimas

#endif // OPTIMAS_TOOLS_SETTINGS_H
