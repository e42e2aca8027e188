//===- OtherClientsTest.cpp - Who else profiles this process -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/OtherClients.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace optimas::collector;

TEST(CollectorClients, NamesKnownTools) {
  EXPECT_EQ(
      knownTools("7f00-7f01 r-xp 00000000 08:01 12   /opt/nvidia/nsys/libToolsInjection64.so\n"
                 "7f01-7f02 r--p 00001000 08:01 12   /opt/nvidia/nsys/libToolsInjection64.so\n"
                 "7f02-7f03 rw-p 00000000 00:00 0    [heap]\n"
                 "7f03-7f04 r-xp 00000000 08:01 13   /usr/lib/libcuda.so.1\n"
                 "7f04-7f05 r-xp 00000000 08:01 14   /opt/cs/libsanitizer-collection.so\n"),
      (std::vector<std::string>{
          "Nsight Systems (/opt/nvidia/nsys/libToolsInjection64.so)",
          "Compute Sanitizer (/opt/cs/libsanitizer-collection.so)"}));
}

TEST(CollectorClients, NobodyInAnOrdinaryProcess) {
  EXPECT_TRUE(knownTools("").empty());
  EXPECT_TRUE(knownTools("7f00-7f01 r-xp 0 08:01 12 /usr/lib/libcupti.so.13\n"
                         "7f00-7f01 r-xp 0 08:01 12 /usr/lib/libnvperf_host.so\n")
                  .empty());
}

TEST(CollectorClients, FindsWhatIsLinked) {
  std::vector<std::string> Users = objectsLinkedTo("libc.so");
  EXPECT_NE(std::find(Users.begin(), Users.end(), "the program itself"), Users.end());
  EXPECT_GT(Users.size(), 1u); // libstdc++ at least
  EXPECT_TRUE(objectsLinkedTo("libthat-nobody-has.so").empty());
}
