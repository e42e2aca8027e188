//===- Numbers.cpp - Numbers as a locale writes them ------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Numbers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>

using namespace llvm;

namespace optimas {

/// Removes a mark that can only stand between thousands from the front: a no-break, narrow
/// no-break or thin space in UTF-8 or Latin-1, a blank, an apostrophe.
static bool consumeSpace(StringRef &Text) {
  for (StringRef Mark : {"\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "\xe2\x80\x99", "\xa0",
                         " ", "'"})
    if (Text.consume_front(Mark))
      return true;
  return false;
}

namespace {
/// `-1'234.5e+06` taken apart.
struct Pieces {
  bool Negative = false;
  SmallVector<StringRef, 8> Groups; ///< of digits; only the last may be empty
  SmallString<8> Marks;             ///< between them: `.`, `,` or `'` for any space
  StringRef Exponent;               ///< `e+06`
};
} // namespace

/// False for what is not made of digits and marks.
static bool takeApart(StringRef Cell, Pieces &P) {
  P.Negative = Cell.consume_front("-");
  if (!P.Negative)
    Cell.consume_front("+");
  if (Cell.empty() || !(isDigit(Cell.front()) || Cell.front() == '.' || Cell.front() == ','))
    return false;
  while (true) {
    StringRef Digits = Cell.take_while([](char C) { return isDigit(C); });
    P.Groups.push_back(Digits);
    Cell = Cell.drop_front(Digits.size());
    if (Cell.empty())
      break;
    if (Cell.front() == 'e' || Cell.front() == 'E') {
      P.Exponent = Cell;
      StringRef Power = Cell.drop_front();
      if (!Power.consume_front("+"))
        Power.consume_front("-");
      if (Power.empty() || !llvm::all_of(Power, [](char C) { return isDigit(C); }))
        return false;
      break;
    }
    if (Cell.front() == '.' || Cell.front() == ',') {
      P.Marks.push_back(Cell.front());
      Cell = Cell.drop_front();
    } else if (consumeSpace(Cell)) {
      P.Marks.push_back('\'');
    } else {
      return false;
    }
  }
  return llvm::any_of(P.Groups, [](StringRef G) { return !G.empty(); });
}

/// Whether the first \p Count groups are those of an integer: one to three digits, then
/// three each.
static bool areThousands(const Pieces &P, size_t Count) {
  if (P.Groups[0].empty() || P.Groups[0].size() > 3)
    return false;
  return llvm::all_of(ArrayRef(P.Groups).take_front(Count).drop_front(),
                      [](StringRef G) { return G.size() == 3; });
}

static NumberFormat::Form formOfMark(char Mark) {
  return Mark == '.' ? NumberFormat::Form::PointDecimal
                     : NumberFormat::Form::CommaDecimal;
}

static NumberFormat::Form formOf(const Pieces &P) {
  using Form = NumberFormat::Form;
  StringRef Marks = P.Marks;
  if (Marks.empty())
    return Form::Plain;
  char Last = Marks.back();
  // One kind of mark only.
  if (Marks.find_first_not_of(Last) == StringRef::npos) {
    bool Thousands = areThousands(P, P.Groups.size());
    if (Last == '\'')
      return Thousands ? Form::Plain : Form::Broken;
    if (Marks.size() > 1)
      return Thousands ? formOfMark(Last == '.' ? ',' : '.') : Form::Broken;
    // `0.123` has no thousands.
    return Thousands && P.Groups[0].front() != '0' ? Form::Either : formOfMark(Last);
  }
  // Thousands with one kind, then the decimal mark.
  StringRef Rest = Marks.drop_back();
  if (Last == '\'' || Rest.find_first_not_of(Rest[0]) != StringRef::npos ||
      Rest[0] == Last || !areThousands(P, P.Groups.size() - 1))
    return Form::Broken;
  return formOfMark(Last);
}

NumberFormat::Form NumberFormat::formOf(StringRef Cell) {
  Pieces P;
  return takeApart(Cell.trim(), P) ? optimas::formOf(P) : Form::None;
}

void NumberFormat::look(StringRef Cell) {
  std::string *First = nullptr;
  switch (formOf(Cell)) {
  case Form::None:
  case Form::Plain:
    return;
  case Form::PointDecimal:
    First = &Point;
    break;
  case Form::CommaDecimal:
    First = &Comma;
    break;
  case Form::Either:
    First = &Either;
    break;
  case Form::Broken:
    First = &Broken;
    break;
  }
  if (First->empty())
    *First = Cell.trim().str();
}

std::string NumberFormat::problem() const {
  if (!Broken.empty())
    return "`" + Broken + "` is not a number of any locale";
  if (!Point.empty() && !Comma.empty())
    return "`" + Point + "` has a decimal point and `" + Comma +
           "` a decimal comma: the file was edited or joined from two";
  if (!Either.empty() && Point.empty() && Comma.empty()) {
    auto [Whole, Rest] = StringRef(Either).split(Either.find('.') == std::string::npos ? ',' : '.');
    return ("`" + Twine(Either) + "` may be " + Whole + Rest + " or " + Whole + "." + Rest +
            ", and no number in the file tells which locale wrote it")
        .str();
  }
  return "";
}

std::optional<double> NumberFormat::parse(StringRef Cell) const {
  Pieces P;
  if (!takeApart(Cell.trim(), P))
    return std::nullopt;
  Form F = optimas::formOf(P);
  if (F == Form::Broken)
    return std::nullopt;
  char Decimal = !Comma.empty() ? ',' : '.';
  if (F == Form::PointDecimal || F == Form::CommaDecimal)
    Decimal = F == Form::PointDecimal ? '.' : ',';
  SmallString<32> Plain(P.Negative ? "-" : "");
  for (size_t I = 0; I < P.Groups.size(); ++I) {
    if (I && P.Marks[I - 1] == Decimal)
      Plain += '.';
    Plain += P.Groups[I];
  }
  Plain += P.Exponent;
  // A raw page of many launches has millions of these.
  double Value = 0;
  auto [End, Error] = std::from_chars(Plain.begin(), Plain.end(), Value);
  if (Error != std::errc() || End != Plain.end())
    return std::nullopt;
  return Value;
}

} // namespace optimas
