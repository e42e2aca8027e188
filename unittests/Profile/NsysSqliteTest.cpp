// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Databases with the tables and columns of Nsight Systems' exports; the rows are made up.

#include "Recorded.h"
#include "optimas/Profile/Readers.h"
#include "gtest/gtest.h"
#include <sqlite3.h>

using namespace llvm;
using namespace optimas;

namespace {
class NsysSqlite : public testing::Test {
protected:
  void SetUp() override {
    Scratch.emplace(cantFail(ScratchDir::create("optimas-nsys-test")));
    File = Scratch->file("run.sqlite");
    OldPath = getenv("PATH");
  }
  void TearDown() override { setenv("PATH", OldPath.c_str(), 1); }

  /// Writes the database that \p Sql makes.
  void make(const std::string &Sql) {
    sys::fs::remove(File);
    sqlite3 *Db = nullptr;
    ASSERT_EQ(sqlite3_open(File.c_str(), &Db), SQLITE_OK);
    char *Message = nullptr;
    std::string All = "PRAGMA page_size=512; PRAGMA journal_mode=off; BEGIN;" + Sql + "COMMIT;";
    EXPECT_EQ(sqlite3_exec(Db, All.c_str(), nullptr, nullptr, &Message), SQLITE_OK)
        << (Message ? Message : "");
    sqlite3_free(Message);
    sqlite3_close(Db);
  }
  void says(const std::string &Sql, StringRef Part) {
    make(Sql);
    Expected<Profile> P = readProfile(File);
    ASSERT_FALSE(bool(P)) << Part.str();
    std::string Message = toString(P.takeError());
    EXPECT_TRUE(StringRef(Message).contains(Part)) << Message;
    EXPECT_TRUE(StringRef(Message).contains("nsys export --type sqlite")) << Message;
  }
  Profile profile(const std::string &Sql) {
    make(Sql);
    Expected<Profile> P = readProfile(File);
    EXPECT_TRUE(bool(P));
    return P ? std::move(*P) : (errs() << toString(P.takeError()), Profile());
  }

  std::optional<ScratchDir> Scratch;
  std::string File, OldPath;
};
} // namespace

static const char *const Strings =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "INSERT INTO StringIds VALUES (3, '_Z4scanPi'), (5, 'scan(int *)'), (8, 'scan'),"
    "  (9, 'fill'), (10, 'fill()');";

/// As of 2024 and later.
static const char *const Kernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER, greenContextId INTEGER, streamId INTEGER,"
    " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,"
    " shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER,"
    " cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER, gridY INTEGER,"
    " gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,"
    " staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER,"
    " localMemoryTotal INTEGER, gridId INTEGER, sharedMemoryExecuted INTEGER,"
    " graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);";

static std::string launch(uint64_t Start, uint64_t Ns, bool Fill = false, unsigned GridX = 8,
                          unsigned Device = 0) {
  return formatv("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({0}, {1}, {2}, 1, NULL, 7, 1,"
                 " 42, {3}, {4}, {5}, 0, 0, 32, {6}, 2, 1, 256, 1, 1, 1024, 48, 16, 0, 1, 0,"
                 " NULL, 1);",
                 Start, Start + Ns, Device, Fill ? 10 : 5, Fill ? 9 : 8, Fill ? 9 : 3, GridX)
      .str();
}

static const char *const Gpu =
    "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, uuid TEXT,"
    " smCount INTEGER, totalMemory INTEGER, l2CacheSize INTEGER, clockRate INTEGER,"
    " computeMajor INTEGER, computeMinor INTEGER, threadsPerWarp INTEGER,"
    " maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, maxRegistersPerSm INTEGER,"
    " maxShmemPerSm INTEGER, maxShmemPerBlockOptin INTEGER);"
    "INSERT INTO TARGET_INFO_GPU VALUES (1, 0, 'NVIDIA H200', 'abc', 132, 150000000000,"
    " 62914560, 1980000000, 9, 0, 32, 64, 32, 65536, 233472, 232448);";

static std::string whole() {
  std::string Sql = std::string(Strings) + Kernels + Gpu +
                    "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2024.7.1');";
  for (unsigned I = 0; I < 5; ++I)
    Sql += launch(1000000 + I * 100000, 800 + I, false, I < 2 ? 8 : 16);
  return Sql + launch(9000000, 300, true);
}

TEST_F(NsysSqlite, KernelTimesShapesAndDevice) {
  Profile P = profile(whole());
  ASSERT_EQ(P.Kernels.size(), 2u); // longest first
  const KernelStats &K = P.Kernels[0];
  EXPECT_EQ(K.Symbol, "_Z4scanPi");
  EXPECT_EQ(K.Launches, 5u);
  EXPECT_EQ(K.TotalNs, 4010u);
  EXPECT_EQ(K.MinNs, 800u);
  EXPECT_EQ(K.MedianNs, 802u);
  EXPECT_EQ(K.MaxNs, 804u);
  EXPECT_EQ(K.Registers, 32u);
  EXPECT_EQ(K.StaticShared, 1024u);
  EXPECT_EQ(K.LocalPerThread, 16u);
  ASSERT_EQ(K.Shapes.size(), 2u);
  EXPECT_EQ(K.Shapes[0].Grid, Dim3({8, 2, 1}));
  EXPECT_EQ(K.Shapes[0].Block, Dim3({256, 1, 1}));
  EXPECT_EQ(K.Shapes[0].DynamicShared, 48u);
  EXPECT_EQ(K.Shapes[0].Launches, 2u);
  EXPECT_EQ(K.Shapes[0].TotalNs, 1601u);
  EXPECT_EQ(K.Shapes[1].Launches, 3u);
  EXPECT_EQ(P.Kernels[1].Symbol, "fill");
  EXPECT_EQ(P.Device.Name, "NVIDIA H200");
  EXPECT_EQ(P.Device.Uuid, "abc");
  EXPECT_EQ(P.Device.Sms, 132u);
  EXPECT_EQ(P.Device.CcMajor, 9u);
  EXPECT_EQ(P.Device.MaxThreadsPerSm, 2048u);
  EXPECT_EQ(P.Device.RegistersPerSm, 65536u);
  EXPECT_EQ(P.Device.SharedPerBlockOptin, 232448u);
  EXPECT_EQ(P.Device.SmClockKHz, 1980000u);
  EXPECT_EQ(P.Device.MemoryBytes, 150000000000u);
  EXPECT_EQ(P.Sources[0].Kind, "nsys-sqlite");
  EXPECT_EQ(P.Sources[0].Tool, "Nsight Systems 2024.7.1");
  EXPECT_TRUE(P.Quality.Notes.empty()) << P.Quality.Notes[0];
  // Bytes in memory are the same.
  std::string Bytes = cantFail(readFile(File, ExitCode::Internal));
  Profile Again = cantFail(parseProfile(Bytes, File));
  EXPECT_EQ(toJson(P), toJson(Again));
}

TEST_F(NsysSqlite, OlderExportsHaveFewerColumns) {
  Profile P = profile(std::string(Strings) +
                      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT,"
                      " shortName INT);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 5010, 8);");
  ASSERT_EQ(P.Kernels.size(), 1u);
  EXPECT_EQ(P.Kernels[0].Symbol, "scan");
  EXPECT_EQ(P.Kernels[0].MedianNs, 5000u); // within 1/1024, and no more than the longest
  EXPECT_TRUE(P.Kernels[0].Shapes.empty());
  EXPECT_EQ(P.Device.Name, "");
}

TEST_F(NsysSqlite, ALaunchWithoutAMangledNameHasItsOther) {
  Profile P = profile(std::string(Strings) + Kernels +
                      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId,"
                      " demangledName, shortName, registersPerThread)"
                      " VALUES (1, 2, 0, 5, 8, 0);");
  ASSERT_EQ(P.Kernels.size(), 1u);
  EXPECT_EQ(P.Kernels[0].Symbol, "scan(int *)");
}

TEST_F(NsysSqlite, MediansOfLongKernelsAreNear) {
  std::string Sql = std::string(Strings) + Kernels;
  for (uint64_t I = 0; I < 101; ++I)
    Sql += launch(1000, 1000000 + 7919 * ((I * 37) % 101));
  Profile P = profile(Sql);
  double Median = 1000000 + 7919 * 50;
  EXPECT_NEAR(double(P.Kernels[0].MedianNs), Median, Median / 1024);
  EXPECT_EQ(P.Kernels[0].MinNs, 1000000u);
  EXPECT_EQ(P.Kernels[0].MaxNs, 1000000u + 7919 * 100);
}

TEST_F(NsysSqlite, WhatTheNumbersLackIsNoted) {
  Profile P = profile(
      std::string(Strings) + Kernels + Gpu +
      "INSERT INTO TARGET_INFO_GPU SELECT 1, 1, 'NVIDIA T4', 'def', 40, 0, 0, 0, 7, 5, 32, 32,"
      " 16, 65536, 65536, 65536;"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1, 2), (3, 4);" +
      launch(10, 20) + launch(10, 20, false, 8, 1) + launch(0, 0));
  EXPECT_EQ(P.Kernels[0].Launches, 2u);
  EXPECT_EQ(P.Device.Name, "");
  std::string Notes = join(P.Quality.Notes, "\n");
  EXPECT_TRUE(StringRef(Notes).contains("2 launches of CUDA graphs")) << Notes;
  EXPECT_TRUE(StringRef(Notes).contains("1 launches have no times")) << Notes;
  EXPECT_TRUE(StringRef(Notes).contains("kernels of 2 devices")) << Notes;
  EXPECT_TRUE(StringRef(Notes).contains("GPUs of several kinds")) << Notes;
}

TEST_F(NsysSqlite, WhatCannotBeUsedIsNamed) {
  says("CREATE TABLE t (x);", "no table CUPTI_ACTIVITY_KIND_KERNEL: no kernel was traced");
  says(std::string(Strings) + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, shortName);",
       "has no column `end`");
  says(std::string(Strings) + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end);",
       "none of the columns `mangledName`");
  says(Kernels, "no table StringIds");
  says(std::string(Strings) + Kernels, "no kernel launch with times");
  says(std::string(Strings) + Kernels + launch(10, uint64_t(-8)), "starts at 10 and ends at 2");
  says(Kernels + launch(10, 20) + "CREATE TABLE StringIds (id INTEGER, value TEXT);",
       "StringIds does not have");
  says(std::string(Strings) + Kernels +
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, demangledName,"
           " shortName, mangledName, registersPerThread) VALUES ('x', x'00', 0, 5, 8, 3, 0);",
       "launch 1 has no number");
  // A view is a program of whoever wrote the file.
  says(std::string(Strings) +
           "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE r(start) AS (SELECT 1"
           " UNION ALL SELECT start+1 FROM r) SELECT start, start+1 AS end, 8 AS shortName"
           " FROM r;",
       "no table CUPTI_ACTIVITY_KIND_KERNEL");
}

TEST_F(NsysSqlite, EveryCutIsAnError) {
  make(whole());
  std::string Bytes = cantFail(readFile(File, ExitCode::Internal));
  ASSERT_LT(Bytes.size(), 10000u);
  for (size_t Size = 0; Size < Bytes.size(); ++Size) {
    std::string Message =
        messageOf(parseProfile(StringRef(Bytes).take_front(Size), "cut.sqlite"));
    ASSERT_FALSE(Message.empty()) << "at " << Size;
    ASSERT_TRUE(StringRef(Message).contains("cut.sqlite")) << Message;
  }
  cantFail(writeFileAtomically(File, StringRef(Bytes).drop_back(1)));
  EXPECT_TRUE(StringRef(messageOf(readProfile(File))).contains("cut short"));
}

TEST_F(NsysSqlite, OddNamesAndNothingBesideTheFile) {
  make(whole());
  std::string Odd = Scratch->file("a?b#c%20 d.sqlite");
  cantFail(errorCodeToError(sys::fs::rename(File, Odd)));
  cantFail(errorCodeToError(sys::fs::setPermissions(Scratch->path(), sys::fs::all_read |
                                                                         sys::fs::all_exe)));
  Expected<Profile> P = readProfile(Odd);
  sys::fs::setPermissions(Scratch->path(), sys::fs::all_all);
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Kernels.size(), 2u);
  std::error_code EC;
  unsigned Files = 0;
  for (sys::fs::directory_iterator I(Scratch->path(), EC), E; I != E && !EC; I.increment(EC))
    ++Files;
  EXPECT_EQ(Files, 1u);
}

TEST_F(NsysSqlite, AReportIsExportedByNsys) {
  make(whole());
  std::string Report = Scratch->file("run.nsys-rep"), Nsys = Scratch->file("nsys");
  cantFail(writeFileAtomically(Report, "a report"));
  setenv("PATH", Scratch->path().c_str(), 1);
  std::string Message = messageOf(readProfile(Report));
  EXPECT_TRUE(StringRef(Message).contains("nsys, which is not on PATH here")) << Message;
  EXPECT_TRUE(StringRef(Message).contains("nsys export --type sqlite --force-overwrite true "
                                          "--output run.sqlite " +
                                          Report))
      << Message;
  // In nsys' place a script that copies the database to where it was told.
  auto Install = [&](const std::string &Script) {
    cantFail(writeFileAtomically(Nsys, "#!/bin/sh\n" + Script));
    cantFail(errorCodeToError(
        sys::fs::setPermissions(Nsys, sys::fs::all_read | sys::fs::all_exe)));
    setenv("PATH", (Scratch->path() + ":" + OldPath).c_str(), 1);
  };
  Install("test \"$1 $2 $3 $4 $5 $6 $8\" = \"export --type sqlite --force-overwrite true "
          "--output " + Report + "\" && cp '" + File + "' \"$7\"\n");
  Expected<Profile> P = readProfile(Report);
  ASSERT_TRUE(bool(P)) << toString(P.takeError());
  EXPECT_EQ(P->Kernels.size(), 2u);
  EXPECT_EQ(P->Sources[0].Kind, "nsys-rep");
  EXPECT_EQ(P->Sources[0].File, Report);
  Install("echo 'The report is newer than this nsys' >&2; exit 1\n");
  Message = messageOf(readProfile(Report));
  EXPECT_TRUE(StringRef(Message).contains("exit status 1: The report is newer")) << Message;
}
