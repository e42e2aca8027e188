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

/// `line 41 waits for the load of line 40: 62.1 % of latency samples
/// (long_scoreboard)`. \p Slowest is the slowest line before a barrier, or empty.
std::string stallSentence(const Evidence &E, const SourceModel &Model, double Share,
                          const LineRef &Slowest);

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
