//===- NcuDetails.cpp - Nsight Compute's details page -----------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// `ncu --csv` without a page, or with `--page details`, prints a row a launch and metric:
///   "ID",…,"Kernel Name",…,"Section Name","Metric Name","Metric Unit","Metric Value",…
/// Before `Section Name` stand `Kernel Time`, `Context`, `Stream` in older versions and
/// `Context`, `Stream`, `Block Size`, `Grid Size`, `Device`, `CC` in newer ones; behind the
/// value columns of rules, which rows may leave out. Metrics that were asked for with --metrics
/// have their names; those of sections have labels, unless --print-metric-name was given.
/// Values have two decimals.
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

/// The metric behind a section's label; empty for labels that have none here. Those of
/// launches and of the kernel's time have stayed the same since 2019.
static StringRef metricOfLabel(StringRef Section, StringRef Label) {
  static const struct {
    StringRef Section, Label, Metric;
  } Labels[] = {
      {"GPU Speed Of Light", "Duration", "gpu__time_duration.sum"},
      {"Launch Statistics", "Registers Per Thread", "launch__registers_per_thread"},
      {"Launch Statistics", "Static Shared Memory Per Block",
       "launch__shared_mem_per_block_static"},
      {"Launch Statistics", "Dynamic Shared Memory Per Block",
       "launch__shared_mem_per_block_dynamic"},
  };
  for (const auto &L : Labels)
    if (Section.starts_with(L.Section) && Label == L.Label)
      return L.Metric;
  return "";
}

namespace {

class DetailsPage {
public:
  DetailsPage(StringRef Text, const NcuHead &Head, StringRef Name)
      : Csv(Text.drop_front(Head.Start), Head.Separator), Name(Name) {}
  Expected<Profile> read();

private:
  Error readHead();
  Error readNumberFormat();
  Error readRow(ArrayRef<StringRef> Cells);
  Error readDimension(ArrayRef<StringRef> Cells, std::optional<size_t> At,
                      std::optional<Dim3> &Out);
  StringRef metricOf(ArrayRef<StringRef> Cells) const;
  Error fail(const Twine &What) {
    return unusableRawPage("line " + Twine(Csv.line()) + ": " + What, Name);
  }
  Error checkWidth(ArrayRef<StringRef> Cells) {
    return Cells.size() > LastNeeded
               ? Error::success()
               : fail("a row of " + Twine(Cells.size()) + " cells, and `Metric Value` is " +
                      Twine(LastNeeded + 1) + "th: the file is cut short or was edited");
  }

  CsvReader Csv;
  StringRef Name;
  std::optional<size_t> Id, Process, Kernel, Grid, Block, Section, Metric, Unit, Value;
  size_t Width = 0, LastNeeded = 0;
  NumberFormat Numbers;
  NcuMetrics Metrics;
  std::vector<NcuLaunch> Launches;
  StringMap<size_t> LaunchIndex;
  std::set<std::string> UnknownLabels;
};

} // namespace

Error DetailsPage::readHead() {
  SmallVector<StringRef, 0> Cells;
  if (Csv.next(Cells) != CsvReader::Status::Row)
    return fail("the file ends in its head: it is cut short");
  const std::pair<StringRef, std::optional<size_t> *> Columns[] = {
      {"ID", &Id},                {"Process ID", &Process},  {"Kernel Name", &Kernel},
      {"Grid Size", &Grid},       {"Block Size", &Block},    {"Section Name", &Section},
      {"Metric Name", &Metric},   {"Metric Unit", &Unit},    {"Metric Value", &Value}};
  Width = Cells.size();
  for (size_t I = 0; I < Cells.size(); ++I)
    for (const auto &[Column, At] : Columns)
      if (Cells[I] == Column && !*At) {
        *At = I;
        LastNeeded = I;
      }
  if (!Id || !Kernel || !Metric || !Unit || !Value)
    return fail("the details page has the columns `ID`, `Kernel Name`, `Metric Name`, "
                "`Metric Unit` and `Metric Value`; one is missing");
  return Error::success();
}

StringRef DetailsPage::metricOf(ArrayRef<StringRef> Cells) const {
  StringRef Metric = Cells[*this->Metric];
  if (Metric.contains("__")) // labels are words
    return Metric;
  return metricOfLabel(Section ? Cells[*Section] : StringRef(), Metric);
}

Error DetailsPage::readNumberFormat() {
  CsvReader Rows = Csv; // the rows are read again
  auto Look = [&](ArrayRef<StringRef> Cells) {
    if (Cells.size() > LastNeeded && !Cells[*Metric].starts_with("device__attribute_"))
      Numbers.look(Cells[*Value]);
    return Error::success();
  };
  // The second reading has the line.
  if (Error E = forEachNcuRow(Rows, Look, [](const Twine &) { return Error::success(); }))
    return E;
  std::string Problem = Numbers.problem();
  return Problem.empty() ? Error::success() : unusableRawPage(Problem, Name);
}

Error DetailsPage::readDimension(ArrayRef<StringRef> Cells, std::optional<size_t> At,
                                 std::optional<Dim3> &Out) {
  if (!At)
    return Error::success();
  Out = parseNcuDimension(Cells[*At]);
  return Out ? Error::success()
             : fail("`" + Cells[*At] + "` is not a size like `(8192, 1, 1)`");
}

Error DetailsPage::readRow(ArrayRef<StringRef> Cells) {
  if (Error E = checkWidth(Cells))
    return E;
  if (Cells.size() > Width)
    return fail("a row of " + Twine(Cells.size()) + " cells where the head has " +
                Twine(Width) + ": a decimal comma needs quotes around it");
  std::string Key = Cells[*Id].str();
  if (Process)
    Key += ("/" + Cells[*Process]).str();
  auto [At, IsNew] = LaunchIndex.try_emplace(Key, Launches.size());
  if (IsNew) {
    NcuLaunch &L = Launches.emplace_back();
    L.Kernel = Cells[*Kernel].str();
    if (Error E = readDimension(Cells, Grid, L.Grid))
      return E;
    if (Error E = readDimension(Cells, Block, L.Block))
      return E;
  }
  std::optional<double> Number = Numbers.parse(Cells[*Value]);
  if (!Number) // text, `n/a`, or the row of a rule
    return Error::success();
  StringRef MetricName = metricOf(Cells);
  if (MetricName.empty()) {
    UnknownLabels.insert(Cells[*Metric].str());
    return Error::success();
  }
  BaseUnit Base = baseUnitOf(Cells[*Unit]);
  std::string Problem = unitProblem(MetricName, Base.Name);
  if (!Problem.empty())
    return fail(Problem);
  size_t Index = Metrics.metric(MetricName, Base.Name);
  if (Metrics.unit(Index) != Base.Name)
    return fail("`" + MetricName + "` is in `" + Base.Name + "` here and in `" +
                Metrics.unit(Index) + "` before");
  // One metric stands in several sections.
  auto &Values = Launches[At->second].Values;
  if (llvm::none_of(Values, [&](const auto &V) { return V.first == Index; }))
    Values.push_back({Index, *Number * Base.Factor});
  return Error::success();
}

Expected<Profile> DetailsPage::read() {
  if (Error E = readHead())
    return std::move(E);
  if (Error E = readNumberFormat())
    return std::move(E);
  if (Error E = forEachNcuRow(
          Csv, [&](ArrayRef<StringRef> Cells) { return readRow(Cells); },
          [&](const Twine &What) { return fail(What); }))
    return std::move(E);
  if (Launches.empty())
    return unusableRawPage("the page has no launches: ncu profiled no kernel", Name);
  if (llvm::all_of(Launches, [](const NcuLaunch &L) { return L.Values.empty(); }))
    return unusableRawPage("this details page has neither the kernels' time nor a metric "
                           "under its own name",
                           Name);
  for (const NcuLaunch &L : Launches)
    Metrics.add(L);
  Profile P = Metrics.profile("ncu-csv-details", Name);
  P.Quality.Notes.push_back("the details page has values of two decimals; the raw page has "
                            "them all");
  if (!UnknownLabels.empty())
    P.Quality.Notes.push_back(
        std::to_string(UnknownLabels.size()) +
        " labels of the details page, such as `" + *UnknownLabels.begin() +
        "`, name no metric and were left out: give the raw page, or print it with "
        "--print-metric-name name");
  return std::move(P);
}

Expected<Profile> readNcuDetails(StringRef Text, const NcuHead &Head, StringRef Name) {
  return DetailsPage(Text, Head, Name).read();
}

} // namespace optimas
