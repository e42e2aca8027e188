// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../lib/Profile/Numbers.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;
using Form = NumberFormat::Form;

TEST(Numbers, FormsOfCells) {
  const std::pair<const char *, Form> Cases[] = {
      {"", Form::None},
      {"-", Form::None},
      {"n/a", Form::None},
      {"nan", Form::None},
      {"inf", Form::None},
      {"NVIDIA H200", Form::None},
      {"(256, 1, 1)", Form::None},
      {"1e", Form::None},
      {".", Form::None},
      {"12ms", Form::None},
      {"42", Form::Plain},
      {" -42 ", Form::Plain},
      {"1e+06", Form::Plain},
      {"1 234", Form::Plain},
      {"1'234'567", Form::Plain},
      {"1\xe2\x80\xaf" "234", Form::Plain},
      {"0.5", Form::PointDecimal},
      {"0.123", Form::PointDecimal},
      {".125", Form::PointDecimal},
      {"5.", Form::PointDecimal},
      {"8192.000000", Form::PointDecimal},
      {"1234.567", Form::PointDecimal},
      {"36,483.30", Form::PointDecimal},
      {"36,483.300", Form::PointDecimal},
      {"1,234,567", Form::PointDecimal},
      {"1.5e-07", Form::PointDecimal},
      {"1 234.5", Form::PointDecimal},
      {"0,061898", Form::CommaDecimal},
      {"9,00", Form::CommaDecimal},
      {"36.483,30", Form::CommaDecimal},
      {"1.234.567", Form::CommaDecimal},
      {"36 483,30", Form::CommaDecimal},
      {"36\xc2\xa0" "483,300", Form::CommaDecimal},
      {"36\xa0" "483,3", Form::CommaDecimal},
      {"36\xe2\x80\x99" "483,3", Form::CommaDecimal},
      {"1,234", Form::Either},
      {"123.456", Form::Either},
      {"127.0.0.1", Form::Broken},
      {"1,23,456.7", Form::Broken},
      {"1.234,567.8", Form::Broken},
      {"12 34", Form::Broken},
      {"1,234 567", Form::Broken},
      {"1..5", Form::Broken},
  };
  for (auto [Cell, Expected] : Cases)
    EXPECT_EQ(NumberFormat::formOf(Cell), Expected) << Cell;
}

static NumberFormat formatOf(std::initializer_list<const char *> Cells) {
  NumberFormat F;
  for (const char *Cell : Cells)
    F.look(Cell);
  return F;
}

TEST(Numbers, OneCellTellsForTheFile) {
  NumberFormat Point = formatOf({"1,234", "text", "0.5"});
  EXPECT_EQ(Point.problem(), "");
  EXPECT_EQ(Point.parse("1,234"), 1234.0);
  EXPECT_EQ(Point.parse("1.234"), 1.234);
  EXPECT_EQ(Point.parse("-36,483.30"), -36483.3);
  NumberFormat Comma = formatOf({"1,234", "1.234", "0,5"});
  EXPECT_EQ(Comma.problem(), "");
  EXPECT_EQ(Comma.parse("1,234"), 1.234);
  EXPECT_EQ(Comma.parse("1.234"), 1234.0);
  EXPECT_EQ(Comma.parse("36\xe2\x80\xaf" "483,30"), 36483.3);
  EXPECT_EQ(Comma.parse("1,5e+06"), 1.5e6);
  EXPECT_EQ(Comma.parse("1 234"), 1234.0);
  EXPECT_EQ(Comma.parse("n/a"), std::nullopt);
}

TEST(Numbers, WhatNothingTellsIsAProblem) {
  EXPECT_EQ(formatOf({"1", "2", "nan", "1 234"}).problem(), "");
  std::string Says = formatOf({"7", "2,816"}).problem();
  EXPECT_TRUE(StringRef(Says).contains("`2,816` may be 2816 or 2.816")) << Says;
  Says = formatOf({"2.816"}).problem();
  EXPECT_TRUE(StringRef(Says).contains("may be 2816 or 2.816")) << Says;
  Says = formatOf({"2.8", "0,5"}).problem();
  EXPECT_TRUE(StringRef(Says).contains("`2.8` has a decimal point and `0,5`")) << Says;
  Says = formatOf({"2.8", "1,2,3"}).problem();
  EXPECT_TRUE(StringRef(Says).contains("`1,2,3` is not a number")) << Says;
}
