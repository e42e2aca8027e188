//===- Export.h - Profiles for other programs -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_EXPORT_H
#define OPTIMAS_TOOLS_PROFILE_EXPORT_H

#include "optimas/Profile/Profile.h"
#include "llvm/Support/raw_ostream.h"

namespace optimas {

/// `--export=csv`: a row for each instruction and stall reason (RFC 4180).
void exportCsv(llvm::raw_ostream &OS, const Profile &P);

/// `--export=speedscope`: a flame graph of kernel, inlined functions by line, and stall
/// reason, weighed by samples; https://www.speedscope.app/file-format-schema.json.
void exportSpeedscope(llvm::raw_ostream &OS, const Profile &P);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_EXPORT_H
