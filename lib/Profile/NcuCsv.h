//===- NcuCsv.h - What Nsight Compute's CSV pages share ---------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_NCUCSV_H
#define OPTIMAS_LIB_PROFILE_NCUCSV_H

#include "Csv.h"
#include "optimas/Profile/Profile.h"
#include "llvm/ADT/ArrayRef.h"

namespace optimas {

/// The pages that `ncu --csv` prints.
enum class NcuPage {
  None,      ///< not a CSV of Nsight Compute's
  Source,    ///< --page source --print-source cuda,sass
  SassOnly,  ///< --page source without the CUDA lines
  Raw,       ///< --page raw
  Details,   ///< --page details
  Semicolon, ///< any page, written with `;` between the cells
};

/// Says which page \p Text is and, in \p Start, where it starts: ncu may print
/// progress before it when its output was redirected as a whole.
NcuPage recognizeNcuPage(llvm::StringRef Text, size_t &Start);

/// A number as ncu prints it in the C locale: `8192.000000`, `36,483.30`,
/// `1e+06`. `nan` and text are std::nullopt.
std::optional<double> parseNcuNumber(llvm::StringRef Cell);

/// Whether \p Cell is a number of another locale: `36.483,30`, `0,061898`.
bool isForeignNumber(llvm::StringRef Cell);

/// Errors for a page that cannot be used, with the command that exports it.
llvm::Error unusableSourcePage(const llvm::Twine &What, llvm::StringRef Name);
llvm::Error unusableRawPage(const llvm::Twine &What, llvm::StringRef Name);
/// The same where either page would do.
llvm::Error unusablePage(const llvm::Twine &What, llvm::StringRef Name);

/// The arguments after `ncu --import FILE` that export a page this program
/// reads.
llvm::ArrayRef<const char *> sourcePageArguments();
llvm::ArrayRef<const char *> rawPageArguments();

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_NCUCSV_H
