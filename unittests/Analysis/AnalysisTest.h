//===- AnalysisTest.h - Models and profiles for the tests -------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_UNITTESTS_ANALYSIS_ANALYSISTEST_H
#define OPTIMAS_UNITTESTS_ANALYSIS_ANALYSISTEST_H

#include "optimas/Analysis/Diagnosis.h"
#include <map>

namespace optimas {

/// The model of a shipped example, built once.
const SourceModel &exampleModel(const std::string &Name);
/// Its recorded profile in the own format.
Profile exampleProfile(const std::string &Name);
/// A recorded file of an example, `source.csv` say.
std::string recordedFile(const std::string &Name, const std::string &File);

/// The model of one of the kernels with a planted cause (test/Analysis/Inputs/causes),
/// read into SourceFolder, and its recorded profile.
const SourceModel &causeModel(const std::string &Name);
Profile causeProfile(const std::string &Name);
/// A cubin of the main file of \p M, made by nvcc.
std::string compileCubin(const SourceModel &M, unsigned Sm);

/// The model of files in memory (name → text), \p Main being the compiled one; built
/// once for the same files.
const SourceModel &modelOf(const std::map<std::string, std::string> &Files,
                    const std::string &Main = "k.cu");
/// Where they lie.
constexpr const char *SourceFolder = "/optimas-test";

/// A hand-made profile without cubin: SASS text and frames.
struct ProfileBuilder {
  Profile P;
  explicit ProfileBuilder(const SourceModel *Fresh = nullptr);
  /// A function's samples; the later calls add to the last one.
  ProfileBuilder &function(std::string Symbol);
  /// One instruction with its frames (innermost first; "file:line") and samples.
  ProfileBuilder &pc(std::string Sass, std::vector<std::string> Frames,
                     std::vector<StallCount> Stalls = {});
  ProfileBuilder &kernel(std::string Symbol, uint64_t TotalNs, Dim3 Grid = {1000, 1, 1},
                         Dim3 Block = {256, 1, 1});
  ProfileBuilder &counter(std::string Symbol, std::string Name, double Value);
};

StallCount stall(const char *Reason, uint64_t Latency);

/// analyse(), which must succeed; all kernels hot.
Diagnosis diagnose(const SourceModel &Model, const Profile &P,
                   AnalysisOptions Options = {100});
/// The message of analyse(), which must fail with EvidenceUnusable.
std::string failure(const SourceModel &Model, const Profile &P,
                    AnalysisOptions Options = {100});

/// The heaviest item of that kernel, and all of them.
const Evidence &topOf(const Diagnosis &D, llvm::StringRef Kernel);
std::vector<const Evidence *> itemsOf(const Diagnosis &D, llvm::StringRef Kernel);
/// Line numbers of an item's producers, without repetition, in order.
std::vector<unsigned> producerLines(const Evidence &E);
bool implicates(const Evidence &E, unsigned Line);
/// Text of the regions that carry that evidence.
std::vector<std::string> regionTexts(const Diagnosis &D, const SourceModel &Model,
                                     const Evidence &E);

} // namespace optimas

#endif // OPTIMAS_UNITTESTS_ANALYSIS_ANALYSISTEST_H
