//===- Numbers.h - Numbers as a locale writes them --------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_NUMBERS_H
#define OPTIMAS_LIB_PROFILE_NUMBERS_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace optimas {

/// How the numbers of one file are written. `1,234` is 1234 in one locale and 1.234 in
/// another, and no cell alone tells; but a file was written in one locale, and some cell
/// nearly always does (`0.38`, `1.234,5`, `1,234,567`). So: look() at every number of the
/// file, then parse() them.
class NumberFormat {
public:
  enum class Form {
    None,         ///< not a number: text, empty, `n/a`, `nan`
    Plain,        ///< without a mark that differs between locales: `42`, `1e+06`, `1 234`
    PointDecimal, ///< only if the point is decimal: `0.5`, `1,234.5`, `1,234,567`
    CommaDecimal, ///< only if the comma is
    Either,       ///< `1,234`, `1.234`
    Broken,       ///< digits and marks that no locale writes: `1,2,3`
  };
  /// Blanks, no-break and thin spaces and apostrophes between thousands belong to all.
  static Form formOf(llvm::StringRef Cell);

  /// Takes \p Cell into account.
  void look(llvm::StringRef Cell);

  /// What is wrong with the cells looked at, as a sentence without an end; empty when
  /// all can be parsed: a number that no locale writes, two that contradict each other,
  /// or one that could be two values where no other tells.
  std::string problem() const;

  /// The value of a number, std::nullopt for what is none. For a file without a
  /// problem().
  std::optional<double> parse(llvm::StringRef Cell) const;

private:
  std::string Point, Comma, Either, Broken; ///< the first cell of each form
};

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_NUMBERS_H
