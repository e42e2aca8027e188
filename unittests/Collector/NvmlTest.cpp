//===- NvmlTest.cpp - Clocks and throttling -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Nvml.h"
#include <gtest/gtest.h>

using namespace optimas::collector;

TEST(CollectorNvml, TheStateOfEveryDevice) {
  std::unique_ptr<Nvml> Library = Nvml::load(OPTIMAS_FAKE_NVML);
  ASSERT_TRUE(Library);
  EXPECT_EQ(Library->driverVersion(), "580.1.2");
  auto States = Library->states("start");
  ASSERT_EQ(States.size(), 2u);
  const DeviceState &One = States["GPU-one"];
  EXPECT_EQ(One.When, "start");
  EXPECT_EQ(One.SmMhz, 1980u);
  EXPECT_EQ(One.MemoryMhz, 3201u);
  EXPECT_EQ(One.TemperatureC, 45u);
  EXPECT_EQ(One.PowerMw, 351250u);
  EXPECT_EQ(clockReasonNames(One.ClockReasons), std::vector<std::string>{"sw_power_cap"});
  auto Later = Library->states("end")["GPU-one"];
  EXPECT_EQ(One.ThrottledNs.size(), 2u);
  EXPECT_EQ(Later.ThrottledNs["power"] - One.ThrottledNs.at("power"), 1000000000u);
  EXPECT_EQ(Later.ThrottledNs["thermal"], 7u);
}

TEST(CollectorNvml, WhatIsRefusedStaysUnknown) {
  std::unique_ptr<Nvml> Library = Nvml::load(OPTIMAS_FAKE_NVML);
  ASSERT_TRUE(Library);
  DeviceState Two = Library->states("end")["GPU-two"];
  EXPECT_EQ(Two.SmMhz + Two.MemoryMhz + Two.TemperatureC + Two.PowerMw, 0u);
  EXPECT_EQ(Two.ClockReasons, 0u);
  EXPECT_TRUE(Two.ThrottledNs.empty());
}

TEST(CollectorNvml, AnOldDriverTellsLess) {
  std::unique_ptr<Nvml> Library = Nvml::load(OPTIMAS_FAKE_NVML_OLD);
  ASSERT_TRUE(Library);
  DeviceState One = Library->states("start")["GPU-one"];
  EXPECT_EQ(clockReasonNames(One.ClockReasons), std::vector<std::string>{"hw_slowdown"});
  EXPECT_TRUE(One.ThrottledNs.empty());
}

TEST(CollectorNvml, AMachineWithoutItIsNoError) {
  EXPECT_FALSE(Nvml::load("libnvidia-ml-that-nobody-has.so.1"));
  EXPECT_FALSE(Nvml::load(OPTIMAS_FAKE_NVML_BROKEN));
}
