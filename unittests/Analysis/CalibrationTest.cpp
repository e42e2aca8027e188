//===- CalibrationTest.cpp - Measurements beside estimates ----------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/Calibration.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {

CalibrationEntry entry(const char *Kernel, double Estimate, double Measured) {
  return {"GPU", "optimas-unroll", "k.cu", Kernel, "unroll by 4", Estimate, Measured};
}

std::string messageOf(llvm::StringRef Text) {
  llvm::Expected<Calibration> C = Calibration::parse(Text, "c.json");
  if (!C)
    return llvm::toString(C.takeError());
  return "none";
}

TEST(Calibration, MedianOfThreeOrMore) {
  Calibration C;
  C.add(entry("a", 2, 1));
  C.add(entry("b", 1, 1));
  EXPECT_FALSE(C.ratio("GPU", "optimas-unroll"));
  C.add(entry("c", 1, 0.8));
  auto Ratio = C.ratio("GPU", "optimas-unroll");
  ASSERT_TRUE(Ratio);
  EXPECT_EQ(Ratio->Count, 3u);
  EXPECT_DOUBLE_EQ(Ratio->Median, 0.8);
  C.add(entry("d", 1, 0.9));
  EXPECT_DOUBLE_EQ(C.ratio("GPU", "optimas-unroll")->Median, 0.85);
  EXPECT_FALSE(C.ratio("another GPU", "optimas-unroll"));
  EXPECT_FALSE(C.ratio("GPU", "optimas-load-batching"));
}

TEST(Calibration, MeasuringAgainCountsOnce) {
  Calibration C;
  for (double Measured : {0.5, 0.6, 0.75})
    C.add(entry("a", 1, Measured));
  EXPECT_EQ(C.size(), 1u);
  EXPECT_NE(C.text().find("\"measured\": 0.75"), std::string::npos) << C.text();
  C.add(entry("b", 0, 1));
  C.add(entry("b", 1, -1));
  EXPECT_EQ(C.size(), 1u);
}

TEST(Calibration, WhatIsWrittenIsRead) {
  Calibration C, Other;
  C.add(entry("b", 1.25, 1.1));
  C.add(entry("a", 3, 2));
  Other.add(entry("a", 3, 2));
  Other.add(entry("b", 1.25, 1.1));
  EXPECT_EQ(C.text(), Other.text()); // in whatever order they came
  llvm::Expected<Calibration> Read = Calibration::parse(C.text(), "c.json");
  ASSERT_TRUE(bool(Read));
  EXPECT_EQ(Read->text(), C.text());
}

TEST(Calibration, SaysWhatIsWrongWithAFile) {
  EXPECT_NE(messageOf("{").find("c.json: is no calibration"), std::string::npos) << messageOf("{");
  EXPECT_NE(messageOf("[1]").find("it has no optimas_calibration"), std::string::npos);
  EXPECT_NE(messageOf(R"({"optimas_calibration": 2})").find("version 2"), std::string::npos);
  EXPECT_NE(messageOf(R"({"optimas_calibration": 1})").find("no measurements"), std::string::npos);
  std::string Half = R"({"optimas_calibration": 1, "measurements": [{"device": "GPU"}]})";
  EXPECT_NE(messageOf(Half).find("measurement 1 is not whole"), std::string::npos) << messageOf(Half);
  EXPECT_NE(messageOf(std::string("\0\xff\x80 junk", 8)), "none");
  std::string Deep(100'000, '[');
  EXPECT_NE(messageOf(Deep), "none");
}

TEST(Calibration, AFileThatIsNotThereYetIsEmpty) {
  llvm::Expected<Calibration> C = Calibration::load("/nonexistent/c.json");
  ASSERT_TRUE(bool(C));
  EXPECT_EQ(C->size(), 0u);
}

} // namespace
