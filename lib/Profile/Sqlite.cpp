//===- Sqlite.cpp - A database that is only read ----------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sqlite.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include <sqlite3.h>

using namespace llvm;

namespace optimas {

void SqliteDatabase::Closer::operator()(sqlite3 *D) const { sqlite3_close_v2(D); }

std::optional<int64_t> SqliteRow::integer(int Column) const {
  if (sqlite3_column_type(S, Column) != SQLITE_INTEGER)
    return std::nullopt;
  return sqlite3_column_int64(S, Column);
}

StringRef SqliteRow::text(int Column) const {
  if (sqlite3_column_type(S, Column) != SQLITE_TEXT)
    return "";
  const unsigned char *Text = sqlite3_column_text(S, Column);
  int Size = sqlite3_column_bytes(S, Column);
  return Text ? StringRef(reinterpret_cast<const char *>(Text), Size) : StringRef();
}

Error SqliteDatabase::fail() const {
  return createStringError(Twine("SQLite says: ") + sqlite3_errmsg(Db.get()));
}

Error SqliteDatabase::harden() {
  sqlite3 *D = Db.get();
  sqlite3_extended_result_codes(D, 1);
  sqlite3_db_config(D, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(D, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(D, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(D, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(D, SQLITE_LIMIT_LENGTH, 16 << 20);
  sqlite3_limit(D, SQLITE_LIMIT_ATTACHED, 0);
  if (sqlite3_exec(D, "PRAGMA cell_size_check=1; PRAGMA query_only=1; PRAGMA mmap_size=0;",
                   nullptr, nullptr, nullptr) != SQLITE_OK)
    return fail();
  return Error::success();
}

/// SQLite itself notices a cut only when it wants a page that is not there.
static Error checkSize(StringRef Head, uint64_t Size) {
  if (Head.size() < 100)
    return createStringError("the file is cut short");
  auto At = [&](size_t I) { return support::endian::read32be(Head.data() + I); };
  uint64_t PageSize = support::endian::read16be(Head.data() + 16);
  PageSize = PageSize == 1 ? 65536 : PageSize;
  // The number of pages is valid where these two agree.
  if (At(24) == At(92) && At(28) * PageSize > Size)
    return createStringError("the file has " + Twine(Size) + " of its " +
                             Twine(At(28) * PageSize) + " bytes: it is cut short");
  return Error::success();
}

Expected<SqliteDatabase> SqliteDatabase::open(StringRef Path) {
  Expected<sys::fs::file_t> File = sys::fs::openNativeFileForRead(Path);
  if (!File)
    return File.takeError();
  char Head[100];
  Expected<size_t> Got = sys::fs::readNativeFile(*File, Head);
  sys::fs::file_status Status;
  std::error_code EC = sys::fs::status(*File, Status);
  sys::fs::closeFile(*File);
  if (!Got)
    return Got.takeError();
  if (EC)
    return errorCodeToError(EC);
  if (Error E = checkSize(StringRef(Head, *Got), Status.getSize()))
    return std::move(E);
  uint64_t LogSize = 0;
  if (Head[18] == 2 && !sys::fs::file_size(Path + "-wal", LogSize) && LogSize)
    return createStringError("it is still being written: there is a " + Path + "-wal");
  std::string Uri = "file:";
  for (char C : Path)
    if (C == '?' || C == '#' || C == '%')
      Uri += "%" + utohexstr(uint8_t(C), /*LowerCase=*/false, 2);
    else
      Uri += C;
  SqliteDatabase Result;
  sqlite3 *Raw = nullptr;
  int Status2 = sqlite3_open_v2((Uri + "?mode=ro&immutable=1").c_str(), &Raw,
                                SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  Result.Db.reset(Raw);
  if (Status2 != SQLITE_OK)
    return Raw ? Result.fail() : createStringError("out of memory");
  if (Error E = Result.harden())
    return std::move(E);
  return std::move(Result);
}

Expected<SqliteDatabase> SqliteDatabase::openBytes(StringRef Bytes) {
  if (Error E = checkSize(Bytes.take_front(100), Bytes.size()))
    return std::move(E);
  SqliteDatabase Result;
  sqlite3 *Raw = nullptr;
  int Status = sqlite3_open_v2(":memory:", &Raw, SQLITE_OPEN_READWRITE, nullptr);
  Result.Db.reset(Raw);
  if (Status == SQLITE_OK)
    Status = sqlite3_deserialize(
        Raw, "main",
        const_cast<unsigned char *>(reinterpret_cast<const unsigned char *>(Bytes.data())),
        Bytes.size(), Bytes.size(), SQLITE_DESERIALIZE_READONLY);
  if (Status != SQLITE_OK)
    return Raw ? Result.fail() : createStringError("out of memory");
  if (Error E = Result.harden())
    return std::move(E);
  return std::move(Result);
}

Error SqliteDatabase::forEachRow(StringRef Query, ArrayRef<int64_t> Arguments,
                                 function_ref<Error(const SqliteRow &)> Row) {
  sqlite3_stmt *S = nullptr;
  if (sqlite3_prepare_v2(Db.get(), Query.data(), int(Query.size()), &S, nullptr) != SQLITE_OK)
    return fail();
  scope_exit Finalize([&] { sqlite3_finalize(S); });
  for (size_t I = 0; I < Arguments.size(); ++I)
    sqlite3_bind_int64(S, int(I + 1), Arguments[I]);
  while (true) {
    int Status = sqlite3_step(S);
    if (Status == SQLITE_DONE)
      return Error::success();
    if (Status != SQLITE_ROW)
      return fail();
    if (Error E = Row(SqliteRow(S)))
      return E;
  }
}

Expected<StringSet<>> SqliteDatabase::columns(StringRef Table) {
  StringSet<> Names;
  bool IsTable = false;
  if (Error E = forEachRow(("SELECT 1 FROM sqlite_schema WHERE type='table' AND name='" + Table +
                            "'")
                               .str(),
                           {}, [&](const SqliteRow &) {
                             IsTable = true;
                             return Error::success();
                           }))
    return std::move(E);
  if (!IsTable)
    return Names;
  if (Error E = forEachRow(("SELECT name FROM pragma_table_info('" + Table + "')").str(), {},
                           [&](const SqliteRow &R) {
                             Names.insert(R.text(0));
                             return Error::success();
                           }))
    return std::move(E);
  return Names;
}

} // namespace optimas
