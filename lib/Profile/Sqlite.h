//===- Sqlite.h - A database that is only read ------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_SQLITE_H
#define OPTIMAS_LIB_PROFILE_SQLITE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>

struct sqlite3;
struct sqlite3_stmt;

namespace optimas {

/// A row while it is read.
class SqliteRow {
public:
  explicit SqliteRow(sqlite3_stmt *S) : S(S) {}
  /// Nothing where the value is not an integer.
  std::optional<int64_t> integer(int Column) const;
  /// Empty where the value is not text. Valid until the next row.
  llvm::StringRef text(int Column) const;

private:
  sqlite3_stmt *S;
};

/// A database that somebody else wrote, perhaps to do harm: nothing is written to it or
/// beside it, views and triggers are not followed.
class SqliteDatabase {
public:
  static llvm::Expected<SqliteDatabase> open(llvm::StringRef Path);
  /// \p Bytes must outlive the database.
  static llvm::Expected<SqliteDatabase> openBytes(llvm::StringRef Bytes);

  /// The columns of a table, none when there is no such table.
  llvm::Expected<llvm::StringSet<>> columns(llvm::StringRef Table);

  /// Calls \p Row for each row of \p Query, whose parameters are \p Arguments.
  llvm::Error forEachRow(llvm::StringRef Query, llvm::ArrayRef<int64_t> Arguments,
                         llvm::function_ref<llvm::Error(const SqliteRow &)> Row);

private:
  struct Closer {
    void operator()(sqlite3 *D) const;
  };
  llvm::Error fail() const;
  llvm::Error harden();

  std::unique_ptr<sqlite3, Closer> Db;
};

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_SQLITE_H
