//===- NcuRaw.cpp - Nsight Compute's raw page -------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// `ncu --page raw --csv` prints a row of names, a row of units and a row a
/// launch.
///
//===----------------------------------------------------------------------===//
#include "NcuCsv.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace llvm;

namespace optimas {

/// What to multiply a value of \p Unit with; \p Unit becomes the base unit.
/// ncu's Kbyte is 1000 bytes; times become ns, rates per second.
static double scaleToBase(std::string &Unit) {
  static const struct {
    const char *Name, *Base;
    double Factor;
  } Units[] = {
      {"Kbyte", "byte", 1e3},  {"Mbyte", "byte", 1e6}, {"Gbyte", "byte", 1e9},
      {"Tbyte", "byte", 1e12}, {"us", "ns", 1e3},      {"ms", "ns", 1e6},
      {"s", "ns", 1e9},        {"usecond", "ns", 1e3}, {"msecond", "ns", 1e6},
      {"second", "ns", 1e9},   {"nsecond", "ns", 1},   {"Khz", "hz", 1e3},
      {"Mhz", "hz", 1e6},      {"Ghz", "hz", 1e9},
  };
  static const struct {
    const char *Name;
    double Factor;
  } Per[] = {{"ns", 1e9},      {"us", 1e6},      {"ms", 1e3},  {"nsecond", 1e9},
             {"usecond", 1e6}, {"msecond", 1e3}, {"second", 1}};
  auto [Above, Below] = StringRef(Unit).split('/');
  double Factor = 1;
  std::string Base = Above.str();
  for (const auto &U : Units)
    if (Above == U.Name) {
      Base = U.Base;
      Factor = U.Factor;
    }
  if (!Below.empty()) {
    std::string Denominator = Below.str();
    for (const auto &U : Per)
      if (Below == U.Name) {
        Denominator = "s";
        Factor *= U.Factor;
      }
    Base += "/" + Denominator;
  }
  Unit = Base;
  return Factor;
}

namespace {

struct Column {
  std::string Name, Unit;
  double Scale = 1;
};

/// The launches of one kernel: of each column the values it has.
struct KernelRows {
  std::string Symbol;
  uint64_t Launches = 0;
  std::vector<std::vector<double>> Values; ///< by column
  std::map<std::tuple<Dim3, Dim3, uint64_t>, std::pair<uint64_t, double>>
      Shapes;
};

class RawPage {
public:
  RawPage(StringRef Text, StringRef Name) : Csv(Text), Name(Name) {}
  Expected<Profile> read();

private:
  Error readHead();
  Error readLaunch(ArrayRef<StringRef> Cells);
  void readDevice(ArrayRef<StringRef> Cells);
  void addKernel(const KernelRows &K, Profile &P) const;
  Dim3 dimension(ArrayRef<StringRef> Cells, StringRef Column) const;
  std::optional<double> value(ArrayRef<StringRef> Cells,
                              StringRef Column) const;
  std::optional<size_t> column(StringRef Name) const {
    auto At = ByName.find(Name);
    return At == ByName.end() ? std::nullopt
                              : std::optional<size_t>(At->second);
  }
  Error fail(const Twine &What) {
    return unusableRawPage("line " + Twine(Csv.line()) + ": " + What, Name);
  }

  CsvReader Csv;
  StringRef Name;
  std::vector<Column> Columns;
  StringMap<size_t> ByName;
  size_t KernelName = 0;
  StringMap<size_t> Index; ///< into Kernels, by printed name
  std::vector<KernelRows> Kernels;
  DeviceInfo Device;
  ProfileQuality Quality;
};

} // namespace

Error RawPage::readHead() {
  SmallVector<StringRef, 0> Cells;
  if (Csv.next(Cells) != CsvReader::Status::Row)
    return fail("the file ends in its head: it is cut short");
  Columns.resize(Cells.size());
  for (size_t I = 0; I < Cells.size(); ++I) {
    Columns[I].Name = Cells[I].str();
    ByName.try_emplace(Cells[I], I);
  }
  if (Csv.next(Cells) != CsvReader::Status::Row)
    return fail("the file ends in its head: it is cut short");
  if (Cells.size() != Columns.size())
    return fail("a units row of " + Twine(Cells.size()) + " cells under " +
                Twine(Columns.size()) +
                " names: the file is cut short or was edited");
  for (size_t I = 0; I < Cells.size(); ++I) {
    Columns[I].Unit = Cells[I].str();
    Columns[I].Scale = scaleToBase(Columns[I].Unit);
  }
  std::optional<size_t> Kernel = column("Kernel Name");
  if (!Kernel)
    return fail("no column `Kernel Name`");
  KernelName = *Kernel;
  return Error::success();
}

std::optional<double> RawPage::value(ArrayRef<StringRef> Cells,
                                     StringRef Name) const {
  std::optional<size_t> At = column(Name);
  std::optional<double> V = At ? parseNcuNumber(Cells[*At]) : std::nullopt;
  return V ? std::optional<double>(*V * Columns[*At].Scale) : std::nullopt;
}

/// A count from a cell that a damaged file may have filled with anything.
template <typename T> static T asCount(std::optional<double> V) {
  return V && *V >= 0 && *V <= double(std::numeric_limits<T>::max()) ? T(*V)
                                                                     : T(0);
}

void RawPage::readDevice(ArrayRef<StringRef> Cells) {
  auto Get = [&](StringRef Attribute, auto &Out) {
    Out = asCount<std::decay_t<decltype(Out)>>(
        value(Cells, ("device__attribute_" + Attribute).str()));
  };
  if (auto At = column("device__attribute_display_name"))
    Device.Name = Cells[*At].str();
  Get("compute_capability_major", Device.CcMajor);
  Get("compute_capability_minor", Device.CcMinor);
  Get("multiprocessor_count", Device.Sms);
  Get("max_threads_per_multiprocessor", Device.MaxThreadsPerSm);
  Get("max_blocks_per_multiprocessor", Device.MaxBlocksPerSm);
  Get("max_registers_per_multiprocessor", Device.RegistersPerSm);
  Get("max_shared_memory_per_multiprocessor", Device.SharedPerSm);
  Get("max_shared_memory_per_block_optin", Device.SharedPerBlockOptin);
  Get("l2_cache_size", Device.L2Bytes);
  Get("total_memory", Device.MemoryBytes);
  Get("clock_rate", Device.SmClockKHz);
  Get("memory_clock_rate", Device.MemoryClockKHz);
  Get("global_memory_bus_width", Device.MemoryBusBits);
  auto Cycles = value(Cells, "smsp__pcsamp_interval_cycles");
  if (Cycles && *Cycles >= 1 && *Cycles < 1e18)
    Quality.SamplingIntervalLog2 = Log2_64(uint64_t(*Cycles));
}

/// `(8192, 1, 1)`; ones when there is no such cell.
Dim3 RawPage::dimension(ArrayRef<StringRef> Cells, StringRef Name) const {
  Dim3 D{1, 1, 1};
  std::optional<size_t> At = column(Name);
  if (!At)
    return D;
  SmallVector<StringRef, 3> Axes;
  Cells[*At].trim("()").split(Axes, ',');
  for (size_t I = 0; I < std::min(Axes.size(), D.size()); ++I)
    if (Axes[I].trim().getAsInteger(10, D[I]))
      D[I] = 1;
  return D;
}

Error RawPage::readLaunch(ArrayRef<StringRef> Cells) {
  if (Cells.size() != Columns.size())
    return fail("a row of " + Twine(Cells.size()) + " cells under " +
                Twine(Columns.size()) +
                " names: the file is cut short or was edited");
  if (Kernels.empty())
    readDevice(Cells);
  auto [Slot, IsNew] = Index.try_emplace(Cells[KernelName], Kernels.size());
  if (IsNew) {
    Kernels.emplace_back();
    Kernels.back().Symbol = Cells[KernelName].str();
    Kernels.back().Values.resize(Columns.size());
  }
  KernelRows &K = Kernels[Slot->second];
  ++K.Launches;
  for (size_t I = 0; I < Cells.size(); ++I) {
    if (std::optional<double> V = parseNcuNumber(Cells[I]))
      K.Values[I].push_back(*V * Columns[I].Scale);
    else if (isForeignNumber(Cells[I]) && I > KernelName)
      return fail("`" + Cells[I] + "` (" + Columns[I].Name +
                  ") is a number of another locale");
  }
  Dim3 Grid = dimension(Cells, "Grid Size"),
       Block = dimension(Cells, "Block Size");
  auto Dynamic =
      asCount<uint64_t>(value(Cells, "launch__shared_mem_per_block_dynamic"));
  auto &Shape = K.Shapes[{Grid, Block, Dynamic}];
  ++Shape.first;
  Shape.second += value(Cells, "gpu__time_duration.sum").value_or(0);
  return Error::success();
}

/// Of an unordered, non-empty list; the mean of the middle two when it is even.
static double median(std::vector<double> V) {
  size_t Middle = V.size() / 2;
  std::nth_element(V.begin(), V.begin() + Middle, V.end());
  if (V.size() % 2)
    return V[Middle];
  return (*std::max_element(V.begin(), V.begin() + Middle) + V[Middle]) / 2;
}

/// Columns that say where and how, not how much.
static bool isCounter(const Column &C) {
  static const StringRef NoCounters[] = {"ID",        "Process ID", "Context",
                                         "Stream",    "Device",     "CC",
                                         "Grid Size", "Block Size"};
  return !llvm::is_contained(NoCounters, C.Name) &&
         !StringRef(C.Name).starts_with("device__attribute_");
}

void RawPage::addKernel(const KernelRows &K, Profile &P) const {
  auto Of = [&](StringRef Name) -> const std::vector<double> * {
    std::optional<size_t> At = column(Name);
    return At && !K.Values[*At].empty() ? &K.Values[*At] : nullptr;
  };
  KernelStats S;
  S.Symbol = K.Symbol;
  S.Launches = K.Launches;
  if (const auto *Ns = Of("gpu__time_duration.sum")) {
    double Total = 0;
    for (double N : *Ns)
      Total += N;
    S.TotalNs = asCount<uint64_t>(std::round(Total));
    S.MinNs = asCount<uint64_t>(std::round(*llvm::min_element(*Ns)));
    S.MedianNs = asCount<uint64_t>(std::round(median(*Ns)));
    S.MaxNs = asCount<uint64_t>(std::round(*llvm::max_element(*Ns)));
  }
  if (const auto *R = Of("launch__registers_per_thread"))
    S.Registers = asCount<unsigned>(R->front());
  if (const auto *Shared = Of("launch__shared_mem_per_block_static"))
    S.StaticShared = asCount<uint64_t>(Shared->front());
  for (const auto &[Key, Sum] : K.Shapes) {
    LaunchShape L;
    std::tie(L.Grid, L.Block, L.DynamicShared) = Key;
    L.Launches = Sum.first;
    L.TotalNs = asCount<uint64_t>(std::round(Sum.second));
    S.Shapes.push_back(L);
  }
  P.Kernels.push_back(std::move(S));
  for (size_t I = 0; I < Columns.size(); ++I) {
    const std::vector<double> &V = K.Values[I];
    if (V.empty() || !isCounter(Columns[I]))
      continue;
    P.Counters.push_back({K.Symbol, Columns[I].Name, Columns[I].Unit,
                          *llvm::min_element(V), median(V),
                          *llvm::max_element(V), V.size()});
  }
}

Expected<Profile> RawPage::read() {
  if (Error E = readHead())
    return std::move(E);
  SmallVector<StringRef, 0> Cells;
  while (true) {
    CsvReader::Status S = Csv.next(Cells);
    if (S == CsvReader::Status::Cut)
      return fail("the file ends within a row: it is cut short");
    if (S == CsvReader::Status::End)
      break;
    if (Cells[0].starts_with("==")) // ncu's own messages
      continue;
    if (Error E = readLaunch(Cells))
      return std::move(E);
  }
  if (Kernels.empty())
    return unusableRawPage("the page has no launches: ncu profiled no kernel",
                           Name);
  Profile P;
  P.Device = Device;
  P.Quality = Quality;
  if (!column("gpu__time_duration.sum"))
    P.Quality.Notes.push_back(
        "the raw page has no gpu__time_duration.sum: kernel times "
        "are unknown (record with ncu --set full)");
  uint64_t Launches = 0;
  for (const KernelRows &K : Kernels) {
    addKernel(K, P);
    Launches += K.Launches;
  }
  Provenance Source;
  Source.Kind = "ncu-csv-raw";
  Source.Tool = "Nsight Compute, " + std::to_string(Launches) + " launches";
  Source.File = Name.str();
  P.Sources.push_back(std::move(Source));
  return std::move(P);
}

Expected<Profile> parseNcuRawCsv(StringRef Bytes, StringRef Name) {
  size_t Start = 0;
  switch (recognizeNcuPage(Bytes, Start)) {
  case NcuPage::Raw:
    return RawPage(Bytes.drop_front(Start), Name).read();
  case NcuPage::Details:
    return unusableRawPage(
        "this is the details page, whose values are rounded and few", Name);
  case NcuPage::Semicolon:
    return unusableRawPage(
        "this CSV was written for another locale: its cells are "
        "separated by semicolons",
        Name);
  default:
    return unusableRawPage("this is not Nsight Compute's raw page", Name);
  }
}

} // namespace optimas
