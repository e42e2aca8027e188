//===- NsysSqlite.h - Nsight Systems' SQLite export -------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_NSYSSQLITE_H
#define OPTIMAS_LIB_PROFILE_NSYSSQLITE_H

#include "optimas/Profile/Profile.h"

namespace optimas {

/// What every SQLite database starts with.
constexpr llvm::StringLiteral SqliteMagic = "SQLite format 3"; // and a zero byte

/// The command that exports \p Report for this reader.
std::string nsysExportCommand(llvm::StringRef Report, llvm::StringRef Database);

/// Whether \p Path is named as a report of Nsight Systems, which only nsys can read.
bool isNsysReport(llvm::StringRef Path);

/// Exports a report with the nsys on PATH and reads that.
llvm::Expected<Profile> readNsysReport(llvm::StringRef Path);

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_NSYSSQLITE_H
