//===- NsysCsv.h - Nsight Systems' kernel summaries -------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_NSYSCSV_H
#define OPTIMAS_LIB_PROFILE_NSYSCSV_H

#include "llvm/ADT/StringRef.h"
#include <cstddef>

namespace optimas {

/// Whether \p Text is a kernel summary of `nsys stats --format csv`, and in \p Start
/// where its head stands: nsys prints what it does before it.
bool recognizeNsysSummary(llvm::StringRef Text, size_t &Start);

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_NSYSCSV_H
