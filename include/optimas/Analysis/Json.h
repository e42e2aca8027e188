//===- Json.h - Evidence, regions and kernels as JSON -----------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_ANALYSIS_JSON_H
#define OPTIMAS_ANALYSIS_JSON_H

#include "optimas/Analysis/Diagnosis.h"
#include "llvm/Support/JSON.h"

namespace optimas {

/// `{file, line, function, text}`. Paths below \p Root are printed relative to it;
/// an empty \p Root leaves them as they are.
llvm::json::Value toJson(const LineRef &L, llvm::StringRef Root = "");

/// `{id, kind, kernel, file, line, producers[], consumer, lines[], needed[], weight,
/// metric, direction, value, unit, reason, sentence, confidence, at_most_speedup, provenance}`;
/// `file` and `line` are Evidence::where()'s.
llvm::json::Value toJson(const Evidence &E, llvm::StringRef Root = "");

/// `{id, kind, function, file, begin_line, end_line, begin, end, sha256,
/// evidence[], statements[], launch_site?}`.
llvm::json::Value toJson(const Region &R, const SourceModel &Model,
                         llvm::StringRef Root = "");

/// `{name, symbols[], hot, launches, total_ns, median_ns, time_share,
/// time_from_samples, shapes[], registers, static_shared, local_per_thread,
/// occupancy, occupancy_limiter, block_sizes[], latency_samples, total_samples,
/// instances[], mapping{samples, in_statement, on_braces, gaps[]}, roofline}`.
llvm::json::Value toJson(const KernelDiagnosis &K);
llvm::json::Value toJson(const Roofline &R);

} // namespace optimas

#endif // OPTIMAS_ANALYSIS_JSON_H
