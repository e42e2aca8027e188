//===- Encoding.cpp - SHA-256 and base64 without LLVM -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/Encoding.h"
#include <array>
#include <cstring>

namespace optimas::collector {

/// The first 32 bits of the fractional parts of the cube roots of the first 64
/// primes (FIPS 180-4, 4.2.2).
static constexpr uint32_t RoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotateRight(uint32_t Value, unsigned Count) {
  return (Value >> Count) | (Value << (32 - Count));
}

static void compress(std::array<uint32_t, 8> &State, const uint8_t *Block) {
  uint32_t W[64];
  for (unsigned I = 0; I < 16; ++I)
    W[I] = uint32_t(Block[4 * I]) << 24 | uint32_t(Block[4 * I + 1]) << 16 |
           uint32_t(Block[4 * I + 2]) << 8 | Block[4 * I + 3];
  for (unsigned I = 16; I < 64; ++I) {
    uint32_t S0 = rotateRight(W[I - 15], 7) ^ rotateRight(W[I - 15], 18) ^
                  (W[I - 15] >> 3);
    uint32_t S1 = rotateRight(W[I - 2], 17) ^ rotateRight(W[I - 2], 19) ^
                  (W[I - 2] >> 10);
    W[I] = W[I - 16] + S0 + W[I - 7] + S1;
  }
  auto [A, B, C, D, E, F, G, H] = State;
  for (unsigned I = 0; I < 64; ++I) {
    uint32_t S1 = rotateRight(E, 6) ^ rotateRight(E, 11) ^ rotateRight(E, 25);
    uint32_t T1 = H + S1 + ((E & F) ^ (~E & G)) + RoundConstants[I] + W[I];
    uint32_t S0 = rotateRight(A, 2) ^ rotateRight(A, 13) ^ rotateRight(A, 22);
    uint32_t T2 = S0 + ((A & B) ^ (A & C) ^ (B & C));
    H = G, G = F, F = E, E = D + T1, D = C, C = B, B = A, A = T1 + T2;
  }
  const uint32_t Added[8] = {A, B, C, D, E, F, G, H};
  for (unsigned I = 0; I < 8; ++I)
    State[I] += Added[I];
}

std::string sha256Hex(const void *Data, size_t Size) {
  std::array<uint32_t, 8> State = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const uint8_t *Bytes = static_cast<const uint8_t *>(Data);
  size_t Whole = Size / 64 * 64;
  for (size_t I = 0; I < Whole; I += 64)
    compress(State, Bytes + I);
  // The rest, a one bit, zeros, and the length in bits: one or two blocks.
  uint8_t Tail[128] = {};
  size_t Rest = Size - Whole;
  if (Rest)
    std::memcpy(Tail, Bytes + Whole, Rest);
  Tail[Rest] = 0x80;
  size_t TailSize = Rest < 56 ? 64 : 128;
  uint64_t Bits = uint64_t(Size) * 8;
  for (unsigned I = 0; I < 8; ++I)
    Tail[TailSize - 1 - I] = uint8_t(Bits >> (8 * I));
  for (size_t I = 0; I < TailSize; I += 64)
    compress(State, Tail + I);
  std::string Hex;
  for (uint32_t Word : State)
    for (int Shift = 28; Shift >= 0; Shift -= 4)
      Hex += "0123456789abcdef"[(Word >> Shift) & 15];
  return Hex;
}

std::string base64(const void *Data, size_t Size) {
  static const char Alphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const uint8_t *In = static_cast<const uint8_t *>(Data);
  std::string Text;
  Text.reserve((Size + 2) / 3 * 4);
  for (size_t I = 0; I < Size; I += 3) {
    size_t Left = Size - I;
    uint32_t Three = uint32_t(In[I]) << 16;
    if (Left > 1)
      Three |= uint32_t(In[I + 1]) << 8;
    if (Left > 2)
      Three |= In[I + 2];
    Text += Alphabet[Three >> 18];
    Text += Alphabet[(Three >> 12) & 63];
    Text += Left > 1 ? Alphabet[(Three >> 6) & 63] : '=';
    Text += Left > 2 ? Alphabet[Three & 63] : '=';
  }
  return Text;
}

std::string hex16(uint64_t Value) {
  std::string Hex(16, '0');
  for (int I = 15; I >= 0; --I, Value >>= 4)
    Hex[I] = "0123456789abcdef"[Value & 15];
  return Hex;
}

} // namespace optimas::collector
