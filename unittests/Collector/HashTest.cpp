//===- HashTest.cpp - The memory hash -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HashKernel.h"
#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <vector>

using namespace optimas::collector;

/// The definition of HashKernel.h, one word after the other.
static unsigned long long hashBytes(const std::vector<unsigned char> &Bytes) {
  unsigned long long Sum = 0;
  for (size_t I = 0; I < Bytes.size(); I += 8) {
    unsigned long long Word = 0;
    std::memcpy(&Word, &Bytes[I], std::min<size_t>(8, Bytes.size() - I));
    Sum += hashWord(Word, I / 8);
  }
  return hashFinish(Sum, Bytes.size());
}

TEST(CollectorHash, EveryByteCounts) {
  for (size_t Size : {1u, 4u, 7u, 8u, 9u, 31u, 64u}) {
    std::vector<unsigned char> Bytes(Size, 0xA5);
    std::set<unsigned long long> Seen = {hashBytes(Bytes)};
    for (size_t I = 0; I < Size; ++I)
      for (int Bit = 0; Bit < 8; ++Bit) {
        Bytes[I] ^= 1 << Bit;
        EXPECT_TRUE(Seen.insert(hashBytes(Bytes)).second) << Size << " " << I;
        Bytes[I] ^= 1 << Bit;
      }
  }
}

TEST(CollectorHash, PlaceCounts) {
  std::vector<unsigned char> Bytes(64, 0);
  Bytes[3] = 1, Bytes[40] = 2;
  unsigned long long Before = hashBytes(Bytes);
  std::swap(Bytes[3], Bytes[11]); // the same word value one word further
  EXPECT_NE(hashBytes(Bytes), Before);
  std::vector<unsigned char> Words(16, 0);
  Words[0] = 7;
  unsigned long long A = hashBytes(Words);
  std::swap(Words[0], Words[8]);
  EXPECT_NE(hashBytes(Words), A);
}

TEST(CollectorHash, LengthCounts) {
  std::set<unsigned long long> Seen;
  for (size_t Size = 0; Size < 40; ++Size)
    EXPECT_TRUE(Seen.insert(hashBytes(std::vector<unsigned char>(Size, 0))).second);
}
