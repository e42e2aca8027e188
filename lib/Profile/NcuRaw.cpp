//===- NcuRaw.cpp - Nsight Compute's raw page -------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// `ncu --page raw --csv` prints a row of names, a row of units and a row a launch.
/// Older versions have a column `Kernel Time` behind the kernel's name, and neither
/// `Block Size`, `Grid Size`, `Device` nor `CC` before the metrics.
///
//===----------------------------------------------------------------------===//
#include "NcuCsv.h"
#include "NcuMetrics.h"
#include "Numbers.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace optimas {

namespace {

struct Column {
  std::string Name;
  double Scale = 1;
  std::optional<size_t> Metric; ///< none: says where and how, not how much
};

class RawPage {
public:
  RawPage(StringRef Text, const NcuHead &Head, StringRef Name)
      : Csv(Text.drop_front(Head.Start), Head.Separator), Name(Name) {}
  Expected<Profile> read();

private:
  Error readHead();
  Error readNumberFormat();
  Error readLaunch(ArrayRef<StringRef> Cells);
  Error readDimension(ArrayRef<StringRef> Cells, std::optional<size_t> At,
                      std::optional<Dim3> &Out);
  Error fail(const Twine &What) {
    return unusableRawPage("line " + Twine(Csv.line()) + ": " + What, Name);
  }

  CsvReader Csv;
  StringRef Name;
  std::vector<Column> Columns;
  std::optional<size_t> KernelName, DeviceName, Grid, Block;
  NumberFormat Numbers;
  NcuMetrics Metrics;
  std::string Device;
};

} // namespace

/// Columns that say where and how. Nsight Compute puts NVTX ranges
/// (`Id:Domain:Start/Stop_Range:…`) before the kernel's name.
static bool isMetric(StringRef Name) {
  static const StringRef Others[] = {"ID",          "Process ID",  "Process Name",
                                     "Host Name",   "Kernel Name", "Kernel Time",
                                     "Context",     "Stream",      "Device",
                                     "CC",          "Grid Size",   "Block Size"};
  return !Name.empty() && !llvm::is_contained(Others, Name) && !Name.contains("Domain:");
}

Error RawPage::readHead() {
  SmallVector<StringRef, 0> Cells;
  if (Csv.next(Cells) != CsvReader::Status::Row)
    return fail("the file ends in its head: it is cut short");
  Columns.resize(Cells.size());
  for (size_t I = 0; I < Cells.size(); ++I) {
    Columns[I].Name = Cells[I].str();
    std::optional<size_t> *At = Cells[I] == "Kernel Name"  ? &KernelName
                                : Cells[I] == "Grid Size"  ? &Grid
                                : Cells[I] == "Block Size" ? &Block
                                : Cells[I] == "device__attribute_display_name"
                                    ? &DeviceName
                                    : nullptr;
    if (At && !*At)
      *At = I;
  }
  if (Csv.next(Cells) != CsvReader::Status::Row)
    return fail("the file ends in its head: it is cut short");
  if (Cells.size() != Columns.size())
    return fail("a units row of " + Twine(Cells.size()) + " cells under " +
                Twine(Columns.size()) +
                " names: the file is cut short or was edited");
  if (!KernelName)
    return fail("no column `Kernel Name`");
  for (size_t I = 0; I < Cells.size(); ++I) {
    Column &C = Columns[I];
    if (!isMetric(C.Name))
      continue;
    BaseUnit Base = baseUnitOf(Cells[I]);
    std::string Problem = unitProblem(C.Name, Base.Name);
    if (!Problem.empty())
      return fail(Problem);
    C.Scale = Base.Factor;
    C.Metric = Metrics.metric(C.Name, Base.Name);
  }
  return Error::success();
}

/// Looks at every number.
Error RawPage::readNumberFormat() {
  CsvReader Rows = Csv; // the rows are read again
  auto Look = [&](ArrayRef<StringRef> Cells) {
    for (size_t I = 0; I < std::min(Cells.size(), Columns.size()); ++I)
      // Device attributes are whole numbers, names and versions.
      if (Columns[I].Metric &&
          !StringRef(Columns[I].Name).starts_with("device__attribute_"))
        Numbers.look(Cells[I]);
    return Error::success();
  };
  // The second reading has the line.
  if (Error E = forEachNcuRow(Rows, Look, [](const Twine &) { return Error::success(); }))
    return E;
  std::string Problem = Numbers.problem();
  return Problem.empty() ? Error::success() : unusableRawPage(Problem, Name);
}

Error RawPage::readDimension(ArrayRef<StringRef> Cells, std::optional<size_t> At,
                             std::optional<Dim3> &Out) {
  if (!At)
    return Error::success();
  Out = parseNcuDimension(Cells[*At]);
  return Out ? Error::success()
             : fail("`" + Cells[*At] + "` (" + Columns[*At].Name +
                    ") is not a size like `(8192, 1, 1)`");
}

Error RawPage::readLaunch(ArrayRef<StringRef> Cells) {
  if (Cells.size() != Columns.size())
    return fail("a row of " + Twine(Cells.size()) + " cells under " +
                Twine(Columns.size()) +
                " names: the file is cut short or was edited");
  if (Metrics.launches() == 0 && DeviceName)
    Device = Cells[*DeviceName].str();
  NcuLaunch L;
  L.Kernel = Cells[*KernelName].str();
  if (Error E = readDimension(Cells, Grid, L.Grid))
    return E;
  if (Error E = readDimension(Cells, Block, L.Block))
    return E;
  for (size_t I = 0; I < Cells.size(); ++I)
    if (Columns[I].Metric)
      if (std::optional<double> V = Numbers.parse(Cells[I]))
        L.Values.push_back({*Columns[I].Metric, *V * Columns[I].Scale});
  Metrics.add(L);
  return Error::success();
}

Expected<Profile> RawPage::read() {
  if (Error E = readHead())
    return std::move(E);
  if (Error E = readNumberFormat())
    return std::move(E);
  if (Error E = forEachNcuRow(
          Csv, [&](ArrayRef<StringRef> Cells) { return readLaunch(Cells); },
          [&](const Twine &What) { return fail(What); }))
    return std::move(E);
  if (Metrics.launches() == 0)
    return unusableRawPage("the page has no launches: ncu profiled no kernel",
                           Name);
  Profile P = Metrics.profile("ncu-csv-raw", Name);
  P.Device.Name = Device;
  return std::move(P);
}

Expected<Profile> parseNcuRawCsv(StringRef Bytes, StringRef Name) {
  NcuHead Head = recognizeNcuPage(Bytes);
  switch (Head.Page) {
  case NcuPage::Raw:
    return RawPage(Bytes, Head, Name).read();
  case NcuPage::Details:
    return readNcuDetails(Bytes, Head, Name);
  case NcuPage::Summary:
    return unusableRawPage("this is a summary of several launches (--print-summary)", Name);
  default:
    return unusableRawPage("this is not Nsight Compute's raw page", Name);
  }
}

} // namespace optimas
