//===- ProfileJsonTest.cpp - The profile's JSON form -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/ProfileJson.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/JSON.h"
#include <gtest/gtest.h>

using namespace optimas;
using namespace optimas::collector;

static std::shared_ptr<const LoadedModule> module(const char *Id, const char *Function,
                                                  bool LineInfo = true) {
  auto M = std::make_shared<LoadedModule>();
  M->Id = Id;
  M->Bytes = std::string("\x7f\0ELF", 5);
  M->Sm = 90;
  M->LineInfo = LineInfo;
  M->Functions = {Function};
  return M;
}

static ProfileData sample() {
  ProfileData D;
  D.Tool = "test";
  D.Command = {"./a", "b\xff"}; // not UTF-8
  D.Device.Name = "NVIDIA H200";
  D.Device.Sms = 132;
  D.IntervalLog2 = 17;
  D.Modules[11] = module("aa", "k");
  D.Modules[22] = module("bb", "other");
  D.Samples.nameReason(14, "smsp__pcsamp_warps_issue_stalled_wait");
  D.Samples.nameReason(15, "smsp__pcsamp_warps_issue_stalled_wait_not_issued");
  D.Samples.add(11, "k", 0x30, 14, 5);
  D.Samples.add(11, "k", 0x30, 15, 2);
  D.Samples.addTotals({5, 0, 0, false});
  KernelRecord R;
  R.Symbol = "k";
  R.StartNs = 100, R.EndNs = 350;
  R.Grid = {4, 2, 1};
  R.Registers = 40;
  D.Kernels.add(R);
  return D;
}

static llvm::json::Value parsed(const ProfileData &D) {
  return llvm::cantFail(llvm::json::parse(profileJson(D)));
}

static std::string notes(const llvm::json::Value &V) {
  std::string All;
  for (const llvm::json::Value &N :
       *V.getAsObject()->getObject("quality")->getArray("notes"))
    All += N.getAsString()->str() + "\n";
  return All;
}

TEST(CollectorProfileJson, AgreedKeys) {
  llvm::json::Value V = parsed(sample());
  const llvm::json::Object &Root = *V.getAsObject();
  EXPECT_EQ(*Root.getInteger("optimas_profile"), 1);
  EXPECT_EQ(*Root.getObject("device")->getString("name"), "NVIDIA H200");
  EXPECT_EQ(*Root.getObject("device")->getInteger("sms"), 132);
  EXPECT_EQ(*Root.getObject("quality")->getInteger("sampling_interval_log2"), 17);
  const llvm::json::Object &F = *(*Root.getArray("functions"))[0].getAsObject();
  EXPECT_EQ(*F.getString("symbol"), "k");
  EXPECT_EQ(*F.getString("module"), "aa");
  const llvm::json::Object &Pc = *(*F.getArray("pcs"))[0].getAsObject();
  EXPECT_EQ(*Pc.getInteger("offset"), 0x30);
  const llvm::json::Array &Wait = *Pc.getObject("stalls")->getArray("wait");
  EXPECT_EQ(*Wait[0].getAsInteger(), 5);
  EXPECT_EQ(*Wait[1].getAsInteger(), 2);
  const llvm::json::Object &K = *(*Root.getArray("kernels"))[0].getAsObject();
  EXPECT_EQ(*K.getInteger("total_ns"), 250);
  EXPECT_EQ(*K.getInteger("registers"), 40);
  EXPECT_EQ(*K.getString("module"), "aa");
  const llvm::json::Object &Shape = *(*K.getArray("shapes"))[0].getAsObject();
  EXPECT_EQ(*(*Shape.getArray("grid"))[1].getAsInteger(), 2);
}

TEST(CollectorProfileJson, Counters) {
  ProfileData D = sample();
  D.Counters = {{"k", "dram__bytes.sum", "byte", {30, 10, 20, 50}}, {"k", "none.sum", "", {}}};
  llvm::Expected<llvm::json::Value> Root = llvm::json::parse(profileJson(D));
  ASSERT_TRUE(bool(Root));
  const auto *List = Root->getAsObject()->getArray("counters");
  ASSERT_EQ(List->size(), 1u); // without values there is nothing to say
  const auto &C = *(*List)[0].getAsObject();
  EXPECT_EQ(C.getString("name"), "dram__bytes.sum");
  EXPECT_EQ(C.getNumber("min"), 10);
  EXPECT_EQ(C.getNumber("median"), 25);
  EXPECT_EQ(C.getNumber("max"), 50);
  EXPECT_EQ(C.getInteger("launches"), 4);
  EXPECT_EQ(Root->getAsObject()->get("counting"), nullptr);
}

TEST(CollectorProfileJson, WhatALauncherMustKnowOfCounting) {
  ProfileData D = sample();
  D.Counting = {"application", {"dram__bytes.sum"}, {{"k", 20}}};
  llvm::json::Value Root = parsed(D);
  const llvm::json::Object &C = *Root.getAsObject()->getObject("counting");
  EXPECT_EQ(C.getString("replay"), "application");
  EXPECT_EQ((*C.getArray("left"))[0].getAsString(), "dram__bytes.sum");
  EXPECT_EQ(C.getObject("launches")->getInteger("k"), 20);
}

TEST(CollectorProfileJson, OnlyUsedModulesAndWholeCubins) {
  llvm::json::Value V = parsed(sample());
  const llvm::json::Array &Modules = *V.getAsObject()->getArray("modules");
  ASSERT_EQ(Modules.size(), 1u);
  EXPECT_EQ(*Modules[0].getAsObject()->getString("id"), "aa");
  EXPECT_EQ(llvm::cantFail(fromBase64(*Modules[0].getAsObject()->getString("cubin"))),
            std::string("\x7f\0ELF", 5));
  EXPECT_EQ(notes(V), "");
}

TEST(CollectorProfileJson, QualityNotesHaveRemedies) {
  ProfileData D = sample();
  D.Samples.addTotals({100, 7, 0, true});
  D.Modules[11] = module("aa", "k", /*LineInfo=*/false);
  std::string All = notes(parsed(D));
  EXPECT_NE(All.find("7 of 105 samples were dropped"), std::string::npos) << All;
  EXPECT_NE(All.find("--sampling-interval=19"), std::string::npos) << All;
  EXPECT_NE(All.find("buffer was full"), std::string::npos) << All;
  EXPECT_NE(All.find("-lineinfo"), std::string::npos) << All;
}

static DeviceState state(const char *When, uint64_t Reasons, uint64_t PowerNs) {
  DeviceState S;
  S.When = When;
  S.SmMhz = 1980;
  S.ClockReasons = Reasons;
  S.ThrottledNs = {{"power", PowerNs}, {"thermal", 5}};
  return S;
}

TEST(CollectorProfileJson, DeviceStates) {
  ProfileData D = sample();
  EXPECT_FALSE(parsed(D).getAsObject()->getObject("device")->get("states"));
  D.WallNs = 10000000000;
  D.Device.States = {state("start", 0x1, 3000000000), state("end", 0x2 | 0x100, 3000000000)};
  llvm::json::Value V = parsed(D);
  const llvm::json::Object &Device = *V.getAsObject()->getObject("device");
  const llvm::json::Array &States = *Device.getArray("states");
  ASSERT_EQ(States.size(), 2u);
  const llvm::json::Object &End = *States[1].getAsObject();
  EXPECT_EQ(*End.getString("when"), "end");
  EXPECT_EQ(*End.getInteger("sm_mhz"), 1980);
  EXPECT_EQ(*End.getArray("clock_reasons"),
            llvm::json::Array({"applications_clocks_setting", "display_clock_setting"}));
  // An idle device and clocks that someone set are not throttled.
  EXPECT_FALSE(Device.get("throttled_ns"));
  EXPECT_EQ(notes(V), "");
}

TEST(CollectorProfileJson, ThrottledClocksAreNoted) {
  ProfileData D = sample();
  D.WallNs = 10000000000;
  D.Device.States = {state("start", 0x1, 3000000000), state("end", 0x40, 4500000000)};
  llvm::json::Value V = parsed(D);
  const auto *Ns = V.getAsObject()->getObject("device")->getObject("throttled_ns");
  ASSERT_TRUE(Ns);
  EXPECT_EQ(Ns->size(), 1u);
  EXPECT_EQ(*Ns->getInteger("power"), 1500000000);
  EXPECT_NE(notes(V).find("power for 1.50 s of 10.00 s, hw_thermal_slowdown at the end"),
            std::string::npos)
      << notes(V);
  EXPECT_NE(notes(V).find("nvidia-smi"), std::string::npos);
  // A thousandth of the run changes no time that anyone could see.
  D.Device.States[1] = state("end", 0, 3010000000);
  EXPECT_EQ(notes(parsed(D)), "");
}

TEST(CollectorProfileJson, ModulesHaveCuptisCrcWhereItIsKnown) {
  ProfileData D = sample();
  auto M = std::make_shared<LoadedModule>(*D.Modules[11]);
  M->CuptiCrc = 11;
  D.Modules[11] = M;
  D.Samples.add(22, "other", 0, 14, 1);
  llvm::json::Value V = parsed(D);
  const llvm::json::Array &Modules = *V.getAsObject()->getArray("modules");
  ASSERT_EQ(Modules.size(), 2u);
  EXPECT_EQ(*Modules[0].getAsObject()->getInteger("cupti_crc"), 11);
  EXPECT_FALSE(Modules[1].getAsObject()->get("cupti_crc"));
}

TEST(CollectorProfileJson, UnknownAndAmbiguousModules) {
  ProfileData D = sample();
  D.Samples.add(99, "ghost", 0, 14, 1);
  D.Modules[33] = module("cc", "k");
  std::string All = notes(parsed(D));
  EXPECT_NE(All.find("ghost"), std::string::npos) << All;
  EXPECT_NE(All.find("several loaded modules"), std::string::npos) << All;
}
