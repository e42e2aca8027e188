// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Support/Json.h"
#include "gtest/gtest.h"

using namespace optimas;

static bool fails(llvm::StringRef Text, unsigned Depth = 256) {
  auto V = parseJson(Text, Depth);
  bool Failed = !V;
  llvm::consumeError(V.takeError());
  return Failed;
}

TEST(Json, CountsLevelsOutsideOfStrings) {
  EXPECT_FALSE(fails("[[1]]", 2));
  EXPECT_TRUE(fails("[[[1]]]", 2));
  EXPECT_FALSE(fails("[[1],[2],{\"a\":3}]", 2));
  EXPECT_FALSE(fails("[\"[[[[ \\\" [[[[\"]", 2));
  EXPECT_FALSE(fails("3", 0));
}

TEST(Json, HostileNestingAndJunkAreErrors) {
  EXPECT_TRUE(fails(std::string(2000000, '[')));
  EXPECT_TRUE(fails(std::string(2000000, '{')));
  EXPECT_TRUE(fails("\"\\"));
  EXPECT_TRUE(fails(""));
}

TEST(Json, NumbersThatNoDoubleHoldsAreErrors) {
  EXPECT_FALSE(fails("[1e308, -1e-999, 18446744073709551615]"));
  EXPECT_TRUE(fails("1e999"));
  EXPECT_TRUE(fails("{\"a\": [{\"b\": -903e20443}]}"));
}
