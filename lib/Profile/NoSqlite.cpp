//===- NoSqlite.cpp - Where SQLite was left out -----------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Error.h"

using namespace llvm;

namespace optimas {

Expected<Profile> readNsysSqliteFile(StringRef Path) { return parseNsysSqlite("", Path); }

Expected<Profile> parseNsysSqlite(StringRef, StringRef Name) {
  return makeError(ExitCode::EvidenceUnusable,
                   "an export of Nsight Systems in SQLite's format, and this program was built "
                   "without SQLite (OPTIMAS_WITH_SQLITE=OFF)",
                   Name,
                   "Give its kernel summary: LC_ALL=C nsys stats --report cuda_gpu_kern_sum "
                   "--format csv run.nsys-rep > run.kernels.csv");
}

} // namespace optimas
