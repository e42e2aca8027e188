//===- HashKernel.h - What host and device share of the memory hash -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The hash of a range of bytes:
///   mix( Σ_i hashWord(w_i, i)  +  bytes · C )       (mod 2^64)
/// where w_i is the i-th little-endian 64-bit word and bytes that do not fill a word
/// make a last one, padded with zeros. Words count by value and place; the sum makes
/// it independent of the order in which threads add.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_COLLECTOR_HASHKERNEL_H
#define OPTIMAS_LIB_COLLECTOR_HASHKERNEL_H

#ifdef __CUDACC__
#define OPTIMAS_HOST_DEVICE __host__ __device__
#else
#define OPTIMAS_HOST_DEVICE
#endif

namespace optimas::collector {

/// Bytes that one block hashes at a time; a multiple of 16.
constexpr unsigned long long HashChunkBytes = 128 * 1024;

struct HashRange {
  unsigned long long Address;
  unsigned long long Bytes;
  unsigned long long FirstChunk; ///< chunks of the ranges before this one
};

/// splitmix64's finaliser: every input bit reaches every output bit.
OPTIMAS_HOST_DEVICE inline unsigned long long hashMix(unsigned long long Z) {
  Z = (Z ^ (Z >> 30)) * 0xbf58476d1ce4e5b9ull;
  Z = (Z ^ (Z >> 27)) * 0x94d049bb133111ebull;
  return Z ^ (Z >> 31);
}

OPTIMAS_HOST_DEVICE inline unsigned long long hashWord(unsigned long long Word,
                                                       unsigned long long Index) {
  return hashMix(Word + (Index + 1) * 0x9e3779b97f4a7c15ull);
}

/// From the sum of the words' hashes to the result.
OPTIMAS_HOST_DEVICE inline unsigned long long hashFinish(unsigned long long Sum,
                                                         unsigned long long Bytes) {
  return hashMix(Sum + Bytes * 0xd1342543de82ef95ull);
}

} // namespace optimas::collector

#endif // OPTIMAS_LIB_COLLECTOR_HASHKERNEL_H
