//===- Phrases.h - Evidence in words ----------------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_ANALYSIS_PHRASES_H
#define OPTIMAS_LIB_ANALYSIS_PHRASES_H

#include "optimas/Analysis/Diagnosis.h"

namespace optimas {

/// `latency_samples:long_scoreboard@line40`; `@reduce.cuh:12` when the line is not in
/// the kernel's own file.
std::string stallMetric(const Evidence &E, const SourceModel &Model);

/// The code that a warp waits for when it has no instructions.
struct FetchedCode {
  uint64_t FunctionBytes = 0, LoopBytes = 0; ///< LoopBytes 0: not in a loop
  LineRef Around; ///< the kernel's line that the code stands for
};

/// What a sentence says beside the evidence itself.
struct StallFacts {
  double Share = 0; ///< of the kernel's latency samples
  LineRef Slowest;  ///< the slowest line before a barrier, or empty
  FetchedCode Fetched;
};

/// `line 41 waits for the load of line 40: 62.1 % of latency samples
/// (long_scoreboard)`.
std::string stallSentence(const Evidence &E, const SourceModel &Model,
                          const StallFacts &Facts);

/// `64-bit division routine` for `__cuda_sm20_div_u64`.
std::string routineText(llvm::StringRef Name);

/// `line 40`, or `reduce.cuh:12` when that is not the kernel's file.
std::string lineWord(const LineRef &L, FunctionId Kernel, const SourceModel &Model);
/// `62.1 %`.
std::string percentText(double Share);
/// `1.50 TB/s`, `83.1 GB/s`.
std::string rateText(double BytesPerSecond);
/// `151.1 us`.
std::string timeText(double Ns);
/// `0.24`, `57.3`, `131,072`.
std::string valueText(double Value);
/// `131,072`.
std::string countText(uint64_t N);

} // namespace optimas

#endif // OPTIMAS_LIB_ANALYSIS_PHRASES_H
