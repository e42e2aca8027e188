//===- Activity.h - Kernel, copy and memset records from CUPTI -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_ACTIVITY_H
#define OPTIMAS_LIB_COLLECTOR_ACTIVITY_H

#include "optimas/Collector/KernelTable.h"
#include <cstddef>

namespace optimas::collector {

/// The symbols of the collector's own kernels, which are nobody's time (HashKernel.cu).
constexpr const char *OwnKernels[] = {"optimasHashRanges", "optimasFillSlack"};

/// Starts recording kernels, copies and memsets. One kernel runs at a time then, unless
/// \p Concurrent. Returns false (and has logged why) when CUPTI refuses.
bool startActivity(bool Concurrent);

/// Leaves a stream's activity out: it is the collector's own.
void ignoreStream(unsigned Device, unsigned Stream);

/// Hands out what is complete so far; with \p Force everything, finished or not.
void flushActivity(bool Force);

struct ActivityResult {
  KernelTable Table;
  size_t DroppedRecords = 0; ///< CUPTI ran out of buffers
};

/// Flushes and returns all that was recorded. Call it once.
ActivityResult finishActivity();

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_ACTIVITY_H
