//===- Permutation.cpp - A seeded shuffle of a buffer -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/Permutation.h"
#include <cstring>
#include <utility>

namespace optimas::collector {

/// Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA 2014).
static uint64_t splitMix(uint64_t &State) {
  uint64_t Z = State += 0x9e3779b97f4a7c15ull;
  Z = (Z ^ (Z >> 30)) * 0xbf58476d1ce4e5b9ull;
  Z = (Z ^ (Z >> 27)) * 0x94d049bb133111ebull;
  return Z ^ (Z >> 31);
}

/// Fisher-Yates on elements that may be unaligned.
template <typename T> static void shuffle(char *Data, size_t Count, uint64_t Seed) {
  for (size_t I = Count; I > 1; --I) {
    // The high half of a 64×64 product is a fair index below I.
    size_t J = size_t((unsigned __int128)(splitMix(Seed)) * I >> 64);
    T A, B;
    std::memcpy(&A, Data + (I - 1) * sizeof(T), sizeof(T));
    std::memcpy(&B, Data + J * sizeof(T), sizeof(T));
    std::memcpy(Data + (I - 1) * sizeof(T), &B, sizeof(T));
    std::memcpy(Data + J * sizeof(T), &A, sizeof(T));
  }
}

void permuteElements(void *To, const void *From, size_t Bytes, unsigned Element,
                     uint64_t Seed) {
  if (!Bytes)
    return;
  std::memcpy(To, From, Bytes);
  char *Data = static_cast<char *>(To);
  if (Element == 4)
    shuffle<uint32_t>(Data, Bytes / 4, Seed);
  else
    shuffle<uint64_t>(Data, Bytes / 8, Seed);
}

} // namespace optimas::collector
