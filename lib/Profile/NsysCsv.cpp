//===- NsysCsv.cpp - Nsight Systems' kernel summaries -----------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// `nsys stats --report cuda_gpu_kern_sum --format csv` (`gpukernsum` until 2022): a row
/// a kernel with its time and launches. `cuda_gpu_kern_gb_sum` has a row for each launch
/// shape besides. Columns are found by name; their unit stands in parentheses behind it.
///
//===----------------------------------------------------------------------===//
#include "NsysCsv.h"
#include "Csv.h"
#include "Numbers.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace llvm;

namespace optimas {

bool recognizeNsysSummary(StringRef Text, size_t &Start) {
  constexpr size_t MaxPreamble = 1 << 20;
  Start = Text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  while (Start < std::min(Text.size(), MaxPreamble)) {
    size_t End = std::min(Text.find('\n', Start), Text.size());
    StringRef Line = Text.slice(Start, End);
    if (Line.ltrim('"').starts_with("Time") && Line.contains("Instances") &&
        Line.contains("Name"))
      return true;
    Start = End + 1;
  }
  return false;
}

namespace {
struct TimeColumn {
  std::optional<size_t> At;
  double ToNs = 1;
};

class SummaryReader {
public:
  SummaryReader(StringRef Text, StringRef Name)
      : Csv(Text, Text.take_until([](char C) { return C == '\n'; }).contains(';') ? ';' : ','),
        Name(Name) {}
  Expected<Profile> read();

private:
  Error readHead();
  Error readNumberFormat();
  Error readRow(ArrayRef<StringRef> Cells);
  Expected<uint64_t> nanoseconds(ArrayRef<StringRef> Cells, const TimeColumn &C);
  Error fail(const Twine &What) {
    return makeError(ExitCode::EvidenceUnusable,
                     "line " + Twine(Csv.line()) + ": " + What, Name,
                     "Export it again: LC_ALL=C nsys stats --report cuda_gpu_kern_sum "
                     "--format csv run.nsys-rep > run.kernels.csv");
  }

  CsvReader Csv;
  StringRef Name;
  size_t Width = 0;
  TimeColumn Total, Median, Min, Max;
  std::optional<size_t> Instances, KernelName, Grid, Block;
  std::vector<size_t> NumberColumns;
  NumberFormat Numbers;
  Profile Result;
  StringMap<size_t> Index; ///< into Result.Kernels
};
} // namespace

/// `Total Time (ns)` → `Total Time`, 1; 0 for a unit that is none of time.
static std::pair<StringRef, double> nameAndUnit(StringRef Cell) {
  auto [Head, Rest] = Cell.split('(');
  double ToNs = StringSwitch<double>(Rest.rtrim(')'))
                    .Cases({"", "ns", "nsec", "%"}, 1)
                    .Cases({"us", "usec"}, 1e3)
                    .Cases({"ms", "msec"}, 1e6)
                    .Cases({"s", "sec"}, 1e9)
                    .Default(0);
  return {Head.trim(), ToNs};
}

Error SummaryReader::readHead() {
  SmallVector<StringRef, 16> Cells;
  if (Csv.next(Cells) != CsvReader::Status::Row)
    return fail("the file ends in its head: it is cut short");
  Width = Cells.size();
  for (size_t I = 0; I < Cells.size(); ++I) {
    auto [Column, ToNs] = nameAndUnit(Cells[I]);
    TimeColumn *Time = StringSwitch<TimeColumn *>(Column)
                           .Case("Total Time", &Total)
                           .Cases({"Med", "Median"}, &Median)
                           .Cases({"Min", "Minimum"}, &Min)
                           .Cases({"Max", "Maximum"}, &Max)
                           .Default(nullptr);
    std::optional<size_t> *Other =
        StringSwitch<std::optional<size_t> *>(Column)
            .Case("Instances", &Instances)
            .Cases({"Name", "Kernel Name"}, &KernelName)
            .Case("GridXYZ", &Grid)
            .Case("BlockXYZ", &Block)
            .Default(nullptr);
    if (Time || Column == "Time" || Column.starts_with("Av") || Column == "StdDev")
      NumberColumns.push_back(I);
    if (Time && ToNs == 0)
      return fail("`" + Cells[I] + "` has a unit that is not known");
    if (Time)
      *Time = {I, ToNs};
    if (Other)
      *Other = I;
  }
  if (!Total.At || !Instances || !KernelName)
    return fail("a kernel summary has the columns `Total Time`, `Instances` and "
                "`Name`; this is another report");
  return Error::success();
}

/// The next report, or what nsys says; a number is the start of a row that was cut.
static bool endsSummary(ArrayRef<StringRef> Cells) {
  return Cells.size() == 1 && NumberFormat::formOf(Cells[0]) == NumberFormat::Form::None;
}

Error SummaryReader::readNumberFormat() {
  CsvReader Rows = Csv; // the rows are read again
  auto Look = [&](ArrayRef<StringRef> Cells) -> Expected<bool> {
    for (size_t I : NumberColumns)
      if (I < Cells.size())
        Numbers.look(Cells[I]);
    return !endsSummary(Cells);
  };
  // The second reading has the line.
  if (Error E = Rows.forEachRow(Look, [](const Twine &) { return Error::success(); }))
    return E;
  std::string Problem = Numbers.problem();
  return Problem.empty() ? Error::success() : fail(Problem);
}

Expected<uint64_t> SummaryReader::nanoseconds(ArrayRef<StringRef> Cells,
                                              const TimeColumn &C) {
  if (!C.At)
    return 0;
  std::optional<double> Value = Numbers.parse(Cells[*C.At]);
  if (!Value || *Value < 0 || *Value * C.ToNs > 1e18)
    return fail("`" + Cells[*C.At] + "` is not a time");
  return uint64_t(std::llround(*Value * C.ToNs));
}

/// `896    1    1`.
static bool readDim(StringRef Cell, Dim3 &Out) {
  SmallVector<StringRef, 3> Parts;
  Cell.split(Parts, ' ', -1, /*KeepEmpty=*/false);
  if (Parts.size() != 3)
    return false;
  for (unsigned I = 0; I < 3; ++I)
    if (Parts[I].getAsInteger(10, Out[I]))
      return false;
  return true;
}

Error SummaryReader::readRow(ArrayRef<StringRef> Cells) {
  if (Cells.size() != Width)
    return fail("a row of " + Twine(Cells.size()) + " cells where the head has " +
                Twine(Width) + ": the file is cut short or was edited");
  uint64_t Launches = 0;
  if (Cells[*Instances].getAsInteger(10, Launches) || Launches == 0 ||
      Launches > uint64_t(1e15))
    return fail("`" + Cells[*Instances] + "` is not a number of launches");
  uint64_t Times[4] = {};
  const TimeColumn *Columns[] = {&Total, &Median, &Min, &Max};
  for (unsigned I = 0; I < 4; ++I) {
    Expected<uint64_t> Ns = nanoseconds(Cells, *Columns[I]);
    if (!Ns)
      return Ns.takeError();
    Times[I] = *Ns;
  }
  auto [Slot, IsNew] =
      Index.try_emplace(Cells[*KernelName], Result.Kernels.size());
  if (IsNew)
    Result.Kernels.emplace_back();
  KernelStats &K = Result.Kernels[Slot->second];
  if (IsNew) {
    K.Symbol = Cells[*KernelName].str();
    K.MinNs = Times[2];
    // A summary without medians (until 2021) has means at least.
    K.MedianNs = Median.At ? Times[1] : Times[0] / Launches;
  } else {
    K.MinNs = std::min(K.MinNs, Times[2]);
    K.MedianNs = (K.TotalNs + Times[0]) / (K.Launches + Launches);
  }
  K.MaxNs = std::max(K.MaxNs, Times[3]);
  K.Launches += Launches;
  K.TotalNs += Times[0];
  LaunchShape S;
  if (Grid && Block && readDim(Cells[*Grid], S.Grid) &&
      readDim(Cells[*Block], S.Block)) {
    S.Launches = Launches;
    S.TotalNs = Times[0];
    K.Shapes.push_back(S);
  }
  return Error::success();
}

Expected<Profile> SummaryReader::read() {
  if (Error E = readHead())
    return std::move(E);
  if (Error E = readNumberFormat())
    return std::move(E);
  auto Row = [&](ArrayRef<StringRef> Cells) -> Expected<bool> {
    if (endsSummary(Cells))
      return false;
    if (Error E = readRow(Cells))
      return std::move(E);
    return true;
  };
  if (Error E = Csv.forEachRow(Row, [&](const Twine &What) { return fail(What); }))
    return std::move(E);
  if (Result.Kernels.empty())
    return fail("the summary has no kernel");
  Provenance P;
  P.Kind = "nsys-csv";
  P.Tool = "Nsight Systems";
  P.File = Name.str();
  Result.Sources.push_back(std::move(P));
  return std::move(Result);
}

Expected<Profile> parseNsysCsv(StringRef Bytes, StringRef Name) {
  size_t Start = 0;
  if (recognizeNsysSummary(Bytes, Start))
    return SummaryReader(Bytes.drop_front(Start), Name).read();
  return makeError(ExitCode::EvidenceUnusable,
                   "this is not a kernel summary of Nsight Systems", Name,
                   "Export one: LC_ALL=C nsys stats --report cuda_gpu_kern_sum "
                   "--format csv run.nsys-rep > run.kernels.csv");
}

} // namespace optimas
