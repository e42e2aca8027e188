//===- NsysSqlite.cpp - Nsight Systems' SQLite export -----------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// `nsys export --type sqlite` has a table CUPTI_ACTIVITY_KIND_KERNEL with a row a launch,
/// whose names are numbers of StringIds, and TARGET_INFO_GPU. Tables without rows are left
/// out, and columns differ between versions: those that are there are read.
///
//===----------------------------------------------------------------------===//
#include "NsysSqlite.h"
#include "Sqlite.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace optimas {

namespace {

/// Counts durations by their ten leading bits: exact below 1024 ns, above within 1/1024,
/// and small for any number of launches.
class DurationCounts {
public:
  void add(uint64_t Ns) {
    unsigned Shift = Ns < 1024 ? 0 : Log2_64(Ns) - 9;
    ++Counts[Ns >> Shift << Shift | (Shift ? uint64_t(1) << (Shift - 1) : 0)];
    ++Total;
  }
  /// The lower one of the middle two.
  uint64_t median() const {
    uint64_t Seen = 0;
    for (auto [Ns, Count] : Counts)
      if ((Seen += Count) * 2 >= Total)
        return Ns;
    return 0;
  }

private:
  std::map<uint64_t, uint64_t> Counts;
  uint64_t Total = 0;
};

struct Kernel {
  KernelStats Stats;
  DurationCounts Durations;
  std::map<std::tuple<Dim3, Dim3, uint64_t>, std::pair<uint64_t, uint64_t>> Shapes;
};

class SqliteExport {
public:
  SqliteExport(SqliteDatabase Db, StringRef Name) : Db(std::move(Db)), Name(Name) {}
  Expected<Profile> read();

private:
  Error fail(const Twine &What) const {
    return makeError(ExitCode::EvidenceUnusable, What, Name,
                     "Export it again: " + nsysExportCommand("run.nsys-rep", "run.sqlite"));
  }
  Error damaged(Error E) const { return fail("damaged database: " + toString(std::move(E))); }
  Expected<std::string> query();
  Error readKernels();
  Error readLaunch(const SqliteRow &R);
  Error readNames();
  Error readDevice();
  Error readGraphs();
  Error readVersion();

  SqliteDatabase Db;
  StringRef Name;
  std::map<int64_t, Kernel> Kernels; ///< by the name's number
  std::map<int64_t, uint64_t> Devices; ///< kernel time by device
  uint64_t Launches = 0, WithoutTimes = 0;
  std::string Version;
  Profile Result;
};

} // namespace

constexpr StringLiteral KernelTable = "CUPTI_ACTIVITY_KIND_KERNEL";

/// Columns of a launch in their order in the query.
enum LaunchColumn {
  Start,
  End,
  NameId,
  DeviceId,
  Registers,
  StaticShared,
  DynamicShared,
  LocalPerThread,
  GridX,
  BlockX = GridX + 3,
};

Expected<std::string> SqliteExport::query() {
  Expected<StringSet<>> Columns = Db.columns(KernelTable);
  if (!Columns)
    return damaged(Columns.takeError());
  if (Columns->empty())
    return fail("the export has no table " + KernelTable +
                ": no kernel was traced (record with nsys profile --trace=cuda)");
  for (StringRef Needed : {"start", "end"})
    if (!Columns->count(Needed))
      return fail("the table " + KernelTable + " has no column `" + Needed + "`");
  Expected<StringSet<>> Strings = Db.columns("StringIds");
  if (!Strings)
    return damaged(Strings.takeError());
  if (!Strings->count("id") || !Strings->count("value"))
    return fail("the export has no table StringIds with `id` and `value`, so kernels have "
                "no names: it is of another tool or version");
  // Mangled names join with cubins exactly; an older report has none.
  std::string Names;
  for (StringRef Candidate : {"mangledName", "demangledName", "shortName"})
    if (Columns->count(Candidate))
      Names += Candidate.str() + ", ";
  if (Names.empty())
    return fail("the table " + KernelTable + " has none of the columns `mangledName`, "
                "`demangledName` and `shortName`");
  std::string Text = "SELECT start, \"end\", coalesce(" + Names + "NULL)";
  for (StringRef Column :
       {"deviceId", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
        "localMemoryPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"})
    Text += ", " + (Columns->count(Column) ? Column.str() : "NULL");
  return Text + " FROM " + KernelTable.str();
}

/// A column of a launch that may be absent or damaged.
template <typename T> static T count(const SqliteRow &R, int Column) {
  std::optional<int64_t> V = R.integer(Column);
  return V && *V >= 0 && uint64_t(*V) <= std::numeric_limits<T>::max() ? T(*V) : T(0);
}

static std::optional<Dim3> dimension(const SqliteRow &R, int First) {
  Dim3 D;
  for (int I = 0; I < 3; ++I)
    if ((D[I] = count<uint32_t>(R, First + I)) == 0)
      return std::nullopt;
  return D;
}

Error SqliteExport::readLaunch(const SqliteRow &R) {
  ++Launches;
  std::optional<int64_t> From = R.integer(Start), To = R.integer(End), Id = R.integer(NameId);
  if (!From || !To || !Id)
    return fail("launch " + Twine(Launches) + " has no number for its start, end or name");
  // Only CUPTI writes zeros, where it could not take the time.
  if (*From <= 0 && *To <= 0) {
    ++WithoutTimes;
    return Error::success();
  }
  // A day of kernel is a damaged time, and sums of shorter ones do not overflow.
  constexpr uint64_t Day = uint64_t(86400) * 1000000000;
  uint64_t Ns = uint64_t(*To) - uint64_t(*From);
  if (*To < *From || Ns > Day)
    return fail("launch " + Twine(Launches) + " starts at " + Twine(*From) + " and ends at " +
                Twine(*To) + " ns");
  Kernel &K = Kernels[*Id];
  KernelStats &S = K.Stats;
  if (S.Launches == 0) {
    S.MinNs = Ns;
    S.Registers = count<unsigned>(R, Registers);
    S.StaticShared = count<uint64_t>(R, StaticShared);
    S.LocalPerThread = count<uint64_t>(R, LocalPerThread);
  }
  ++S.Launches;
  S.TotalNs += Ns;
  S.MinNs = std::min(S.MinNs, Ns);
  S.MaxNs = std::max(S.MaxNs, Ns);
  K.Durations.add(Ns);
  Devices[R.integer(DeviceId).value_or(0)] += Ns;
  std::optional<Dim3> Grid = dimension(R, GridX), Block = dimension(R, BlockX);
  if (!Grid || !Block)
    return Error::success();
  auto &Shape = K.Shapes[{*Grid, *Block, count<uint64_t>(R, DynamicShared)}];
  ++Shape.first;
  Shape.second += Ns;
  return Error::success();
}

Error SqliteExport::readKernels() {
  Expected<std::string> Query = query();
  if (!Query)
    return Query.takeError();
  Error Own = Error::success(); // says more than that the query ended
  Error E = Db.forEachRow(*Query, {}, [&](const SqliteRow &R) -> Error {
    Error Row = readLaunch(R);
    if (!Row)
      return Error::success();
    Own = joinErrors(std::move(Own), std::move(Row));
    return createStringError("");
  });
  if (Own) {
    consumeError(std::move(E));
    return Own;
  }
  return E ? damaged(std::move(E)) : Error::success();
}

Error SqliteExport::readNames() {
  for (auto &[Id, K] : Kernels) {
    std::string &Symbol = K.Stats.Symbol;
    if (Error E = Db.forEachRow("SELECT value FROM StringIds WHERE id=?", {Id},
                                [&, &Symbol = Symbol](const SqliteRow &R) {
                                  Symbol = R.text(0).str();
                                  return Error::success();
                                }))
      return damaged(std::move(E));
    if (Symbol.empty())
      return fail("a kernel's name is string " + Twine(Id) + ", which StringIds does not have");
  }
  return Error::success();
}

Error SqliteExport::readDevice() {
  Expected<StringSet<>> Columns = Db.columns("TARGET_INFO_GPU");
  if (!Columns)
    return damaged(Columns.takeError());
  if (Devices.size() > 1)
    Result.Quality.Notes.push_back("kernels of " + std::to_string(Devices.size()) +
                                   " devices are summed up");
  if (!Columns->count("name"))
    return Error::success();
  static const char *const Names[] = {
      "name",         "uuid",          "computeMajor",   "computeMinor",
      "smCount",      "threadsPerWarp", "maxWarpsPerSm", "maxBlocksPerSm",
      "maxRegistersPerSm", "maxShmemPerSm", "maxShmemPerBlockOptin", "l2CacheSize",
      "totalMemory",  "clockRate"};
  std::string Query = "SELECT ";
  for (StringRef Column : Names)
    Query += (Column == "name" ? "" : ", ") + (Columns->count(Column) ? Column.str() : "NULL");
  std::vector<DeviceInfo> Gpus;
  if (Error E = Db.forEachRow(Query + " FROM TARGET_INFO_GPU", {}, [&](const SqliteRow &R) {
        DeviceInfo &D = Gpus.emplace_back();
        D.Name = R.text(0).str();
        D.Uuid = R.text(1).str();
        D.CcMajor = count<unsigned>(R, 2);
        D.CcMinor = count<unsigned>(R, 3);
        D.Sms = count<unsigned>(R, 4);
        if (unsigned Warp = count<unsigned>(R, 5))
          D.WarpSize = Warp;
        D.MaxThreadsPerSm = count<uint16_t>(R, 6) * D.WarpSize;
        D.MaxBlocksPerSm = count<unsigned>(R, 7);
        D.RegistersPerSm = count<unsigned>(R, 8);
        D.SharedPerSm = count<uint64_t>(R, 9);
        D.SharedPerBlockOptin = count<uint64_t>(R, 10);
        D.L2Bytes = count<uint64_t>(R, 11);
        D.MemoryBytes = count<uint64_t>(R, 12);
        D.SmClockKHz = unsigned(count<uint64_t>(R, 13) / 1000 & 0xffffffff); // Hz
        return Error::success();
      }))
    return damaged(std::move(E));
  bool Alike = llvm::all_of(
      Gpus, [&](const DeviceInfo &D) { return D.Name == Gpus.front().Name; });
  if (Gpus.empty())
    return Error::success();
  if (!Alike) {
    // The table numbers the machine's devices, a launch those that its process sees.
    Result.Quality.Notes.push_back("the machine has GPUs of several kinds, and the export does "
                                   "not say which one ran the kernels");
    return Error::success();
  }
  Result.Device = std::move(Gpus.front());
  if (Gpus.size() > 1)
    Result.Device.Uuid.clear();
  return Error::success();
}

Error SqliteExport::readGraphs() {
  Expected<StringSet<>> Columns = Db.columns("CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
  if (!Columns)
    return damaged(Columns.takeError());
  if (Columns->empty())
    return Error::success();
  int64_t Count = 0;
  if (Error E = Db.forEachRow("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {},
                              [&](const SqliteRow &R) {
                                Count = R.integer(0).value_or(0);
                                return Error::success();
                              }))
    return damaged(std::move(E));
  if (Count)
    Result.Quality.Notes.push_back(
        std::to_string(Count) + " launches of CUDA graphs were traced as wholes: the times of "
        "their kernels are unknown (record with nsys profile --cuda-graph-trace=node)");
  return Error::success();
}

/// For the provenance only: an export without it is as good.
Error SqliteExport::readVersion() {
  Expected<StringSet<>> Columns = Db.columns("META_DATA_EXPORT");
  if (!Columns)
    return damaged(Columns.takeError());
  if (!Columns->count("name") || !Columns->count("value"))
    return Error::success();
  Error E = Db.forEachRow(
      "SELECT value FROM META_DATA_EXPORT WHERE name='EXPORT_PRODUCT_VERSION'", {},
      [&](const SqliteRow &R) {
        Version = R.text(0).str();
        return Error::success();
      });
  return E ? damaged(std::move(E)) : Error::success();
}

Expected<Profile> SqliteExport::read() {
  for (auto Part : {&SqliteExport::readKernels, &SqliteExport::readNames,
                    &SqliteExport::readDevice, &SqliteExport::readGraphs,
                    &SqliteExport::readVersion})
    if (Error E = (this->*Part)())
      return std::move(E);
  if (Kernels.empty())
    return fail("the export has no kernel launch with times");
  if (WithoutTimes)
    Result.Quality.Notes.push_back(std::to_string(WithoutTimes) +
                                   " launches have no times and are left out");
  for (auto &[Id, K] : Kernels) {
    K.Stats.MedianNs =
        std::clamp(K.Durations.median(), K.Stats.MinNs, K.Stats.MaxNs);
    for (const auto &[Key, Sum] : K.Shapes) {
      LaunchShape L;
      std::tie(L.Grid, L.Block, L.DynamicShared) = Key;
      std::tie(L.Launches, L.TotalNs) = Sum;
      K.Stats.Shapes.push_back(L);
    }
    Result.Kernels.push_back(std::move(K.Stats));
  }
  llvm::sort(Result.Kernels, [](const KernelStats &A, const KernelStats &B) {
    return std::tie(B.TotalNs, A.Symbol) < std::tie(A.TotalNs, B.Symbol);
  });
  Provenance P;
  P.Kind = "nsys-sqlite";
  P.Tool = "Nsight Systems" + (Version.empty() ? "" : " " + Version);
  P.File = Name.str();
  Result.Sources.push_back(std::move(P));
  return std::move(Result);
}

static Expected<Profile> read(Expected<SqliteDatabase> Db, StringRef Name) {
  if (Db)
    return SqliteExport(std::move(*Db), Name).read();
  return makeError(ExitCode::EvidenceUnusable,
                   "damaged database: " + toString(Db.takeError()), Name,
                   "Export it again: " + nsysExportCommand("run.nsys-rep", "run.sqlite"));
}

Expected<Profile> readNsysSqliteFile(StringRef Path) {
  return read(SqliteDatabase::open(Path), Path);
}

Expected<Profile> parseNsysSqlite(StringRef Bytes, StringRef Name) {
  return read(SqliteDatabase::openBytes(Bytes), Name);
}

} // namespace optimas
