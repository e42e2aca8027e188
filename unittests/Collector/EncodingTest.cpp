//===- EncodingTest.cpp - SHA-256, base64 -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/Encoding.h"
#include "optimas/Support/Files.h"
#include <gtest/gtest.h>

using namespace optimas;

TEST(CollectorEncoding, Sha256OfTheStandardsExamples) {
  EXPECT_EQ(collector::sha256Hex("", 0),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(collector::sha256Hex("abc", 3),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// Lengths around the padding's block boundary, against LLVM's implementation.
TEST(CollectorEncoding, Sha256AgreesWithSupport) {
  std::string Bytes;
  for (unsigned Size = 0; Size < 300; ++Size) {
    EXPECT_EQ(collector::sha256Hex(Bytes.data(), Bytes.size()), sha256(Bytes)) << Size;
    Bytes += char(Size * 37 + 11);
  }
}

TEST(CollectorEncoding, Base64AgreesWithSupport) {
  std::string Bytes;
  for (unsigned Size = 0; Size < 70; ++Size) {
    EXPECT_EQ(collector::base64(Bytes.data(), Bytes.size()), toBase64(Bytes)) << Size;
    Bytes += char(Size * 91 + 5);
  }
}

TEST(CollectorEncoding, HexHasSixteenDigits) {
  EXPECT_EQ(collector::hex16(0), "0000000000000000");
  EXPECT_EQ(collector::hex16(0xfedcba9876543210ull), "fedcba9876543210");
}
