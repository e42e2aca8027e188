//===- CubinSymbolsTest.cpp - Symbols of cubins -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/CubinSymbols.h"
#include "optimas/Support/Files.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace optimas;
using namespace optimas::collector;

static std::string topkCubin() {
  return llvm::cantFail(readFile(OPTIMAS_EXAMPLES "/topk/recorded/topk.cubin",
                                 ExitCode::Internal));
}

static bool has(const std::vector<std::string> &List, const std::string &Name) {
  return std::find(List.begin(), List.end(), Name) != List.end();
}

TEST(CollectorCubin, Topk) {
  std::string Bytes = topkCubin();
  CubinSymbols S;
  ASSERT_TRUE(readCubinSymbols(Bytes.data(), Bytes.size(), S));
  EXPECT_EQ(S.Sm, 90u);
  EXPECT_TRUE(S.LineInfo);
  EXPECT_TRUE(has(S.Functions, "_Z8topkHitsiiiPKfPKiPi"));
  EXPECT_TRUE(S.Variables.empty());
}

/// Built by the test's CMake for two architectures from Inputs/variables.cu.
TEST(CollectorCubin, Variables) {
  for (unsigned Sm : {75u, 120u}) {
    std::string Path =
        std::string(OPTIMAS_VARIABLE_CUBINS) + "/variables." + std::to_string(Sm) + ".cubin";
    std::string Bytes = llvm::cantFail(readFile(Path, ExitCode::Internal));
    CubinSymbols S;
    ASSERT_TRUE(readCubinSymbols(Bytes.data(), Bytes.size(), S));
    EXPECT_EQ(S.Sm, Sm);
    EXPECT_FALSE(S.LineInfo);
    auto Bytesof = [&](const std::string &Name) -> uint64_t {
      for (const DeviceVariable &V : S.Variables)
        if (V.Symbol.find(Name) != std::string::npos)
          return V.Bytes;
      return 0;
    };
    EXPECT_EQ(Bytesof("counter"), 4u);
    EXPECT_EQ(Bytesof("table"), 40u);
    EXPECT_EQ(Bytesof("odd"), 3u);
    EXPECT_EQ(Bytesof("hidden"), 8u); // of an anonymous namespace
    EXPECT_EQ(Bytesof("constants"), 0u) << "__constant__ memory is read-only";
    EXPECT_TRUE(has(S.Functions, "_Z3useyPi"));
  }
}

TEST(CollectorCubin, AnyPrefixIsRefusedOrRead) {
  std::string Bytes = topkCubin();
  CubinSymbols S;
  EXPECT_FALSE(readCubinSymbols(nullptr, 0, S));
  for (size_t Size = 0; Size < Bytes.size(); Size += 7) {
    std::string Cut = Bytes.substr(0, Size); // a copy, so that ASan sees its end
    readCubinSymbols(Cut.data(), Cut.size(), S);
  }
}

TEST(CollectorCubin, FlippedBytesDoNoHarm) {
  const std::string Bytes = topkCubin();
  uint64_t Random = 88172645463325252ull;
  for (int Round = 0; Round < 3000; ++Round) {
    std::string Junk = Bytes;
    for (int I = 0; I < 4; ++I) {
      Random ^= Random << 13, Random ^= Random >> 7, Random ^= Random << 17;
      // Headers and tables are where harm is done.
      size_t At = Round % 2 ? Random % 64 : Random % Junk.size();
      Junk[At] = char(Random >> 32);
    }
    CubinSymbols S;
    readCubinSymbols(Junk.data(), Junk.size(), S);
  }
}
