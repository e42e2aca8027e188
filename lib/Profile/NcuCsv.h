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
  None,    ///< not a CSV of Nsight Compute's
  Source,  ///< --page source, with or without the CUDA lines
  Raw,     ///< --page raw: a column a metric
  Details, ///< --page details, or no page: a row a metric
  Summary, ///< --print-summary: a row a metric and kernel
};

/// Where a page is and how its cells are separated.
struct NcuHead {
  NcuPage Page = NcuPage::None;
  size_t Start = 0;
  char Separator = ',';
};

/// Finds the page in \p Text: ncu may print progress before it when its output was
/// redirected as a whole.
NcuHead recognizeNcuPage(llvm::StringRef Text);

/// Hands each row that is left in \p Csv to \p Row, but for ncu's own messages between
/// rows (`==PROF== Disconnected …`), until it fails. A cut text is what \p Fail makes of it.
llvm::Error forEachNcuRow(CsvReader &Csv,
                          llvm::function_ref<llvm::Error(llvm::ArrayRef<llvm::StringRef>)> Row,
                          llvm::function_ref<llvm::Error(const llvm::Twine &)> Fail);

/// `(8192, 1, 1)`; nothing for what is not three numbers.
std::optional<Dim3> parseNcuDimension(llvm::StringRef Cell);

/// The page of \p Head in \p Text, a row a metric.
llvm::Expected<Profile> readNcuDetails(llvm::StringRef Text, const NcuHead &Head,
                                       llvm::StringRef Name);

/// Errors for a page that cannot be used, with the command that exports it.
llvm::Error unusableSourcePage(const llvm::Twine &What, llvm::StringRef Name);
llvm::Error unusableRawPage(const llvm::Twine &What, llvm::StringRef Name);

/// The arguments after `ncu --import FILE` that export a page this program
/// reads.
llvm::ArrayRef<const char *> sourcePageArguments();
llvm::ArrayRef<const char *> rawPageArguments();

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_NCUCSV_H
