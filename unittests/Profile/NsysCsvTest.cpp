// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Recorded.h"
#include "optimas/Profile/Readers.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

// The heads are those of Nsight Systems 2023 and later, 2022's with launch shapes, and
// 2021's; the rows are made up.
constexpr StringLiteral Summary =
    "Generating SQLite file run.sqlite from run.nsys-rep\n"
    "Processing [run.sqlite] with [reports/cuda_gpu_kern_sum.py]... \n"
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),"
    "StdDev (ns),Name\n"
    "60.0,1511200,10,151120.0,151100.5,150000,153000,12.5,\"topkHits(int, int, int, "
    "const float *, const int *, int *)\"\n"
    "40.0,1007466,1,1007466.0,1007466.0,1007466,1007466,0.0,\"void copy<float>(const "
    "T1 *, T1 *, int)\"\n";

static std::string refusal(const Twine &Text) {
  return messageOf(parseProfile(Text.str(), "run.csv"));
}

TEST(NsysCsv, KernelTimesAreRead) {
  Profile P = cantFail(parseProfile(Summary, "run.csv"));
  ASSERT_EQ(P.Kernels.size(), 2u);
  EXPECT_EQ(P.Kernels[0].Launches, 10u);
  EXPECT_EQ(P.Kernels[0].TotalNs, 1511200u);
  EXPECT_EQ(P.Kernels[0].MedianNs, 151101u);
  EXPECT_EQ(P.Kernels[0].MinNs, 150000u);
  EXPECT_EQ(P.Kernels[0].MaxNs, 153000u);
  EXPECT_EQ(P.Sources[0].Kind, "nsys-csv");
}

TEST(NsysCsv, ItsTimesJoinSamplesByName) {
  Profile Samples =
      cantFail(parseProfile(recorded("topk", "topk.optimas.json"), "topk"));
  Samples.Kernels.clear();
  std::vector<std::string> Conflicts;
  Profile P = mergeProfiles(
      {Samples, cantFail(parseProfile(Summary, "run.csv"))}, Conflicts);
  EXPECT_TRUE(Conflicts.empty());
  EXPECT_EQ(P.Kernels[0].Symbol, P.Functions[0].Symbol);
}

TEST(NsysCsv, ShapesOfOneKernelAddUp) {
  Profile P = cantFail(parseProfile(
      "Time (%),Total Time (us),Instances,Avg (us),Med (us),Min (us),Max (us),StdDev "
      "(us),GridXYZ,BlockXYZ,Name\n"
      "75.0,30.5,2,15.25,15.25,15,15.5,0,\" 896    1    1\",\" 256    1    1\",k\n"
      "25.0,10,3,3.3,3,3,4,0,\" 4    2    1\",\" 32    8    1\",k\n",
      "run.csv"));
  ASSERT_EQ(P.Kernels.size(), 1u);
  const KernelStats &K = P.Kernels[0];
  EXPECT_EQ(K.Launches, 5u);
  EXPECT_EQ(K.TotalNs, 40500u);
  EXPECT_EQ(K.MinNs, 3000u);
  ASSERT_EQ(K.Shapes.size(), 2u);
  EXPECT_EQ(K.Shapes[1].Grid, Dim3({4, 2, 1}));
  EXPECT_EQ(K.Shapes[1].Block, Dim3({32, 8, 1}));
}

TEST(NsysCsv, TheFormOf2021HasNoMedian) {
  Profile P = cantFail(parseProfile(
      "\"Time(%)\",\"Total Time (ns)\",\"Instances\",\"Average\",\"Minimum\",\"Maximum\","
      "\"StdDev\",\"Name\"\n100.0,300,3,100.0,90,110,10.0,k\n",
      "run.csv"));
  EXPECT_EQ(P.Kernels[0].MedianNs, 100u);
}

TEST(NsysCsv, ADecimalCommaIsOneForTheFile) {
  Profile P = cantFail(parseProfile("Time (%);Total Time (us);Instances;Avg (us);Name\n"
                                    "60,0;1.511;10;151,12;k\n40;7,5;1;7,5;f(int, int)\n",
                                    "run.csv"));
  ASSERT_EQ(P.Kernels.size(), 2u);
  EXPECT_EQ(P.Kernels[0].TotalNs, 1511000u);
  EXPECT_EQ(P.Kernels[1].TotalNs, 7500u);
  EXPECT_EQ(P.Kernels[1].Symbol, "f(int, int)");
}

TEST(NsysCsv, WhatCannotBeUsedIsNamed) {
  StringRef Head = "Time (%),Total Time (ns),Instances,Name\n";
  auto Says = [](const std::string &Text, StringRef Part) {
    EXPECT_TRUE(StringRef(Text).contains(Part)) << Text;
  };
  Says(refusal(Head), "no kernel");
  Says(refusal(Head + "1,2\n"), "a row of 2 cells");
  Says(refusal(Head + "1,2,x,k\n"), "not a number of launches");
  Says(refusal(Head + "1,-2,1,k\n"), "not a time");
  Says(refusal(Head + "1,\"2.000\",1,k\n"), "`2.000` may be 2000 or 2.000");
  Says(refusal(Head + "1,2,5,1,k\n"), "a row of 5 cells where the head has 4");
  Says(refusal("Time (%),Total Time (h),Instances,Name\n1,2,3,k\n"), "unit");
  Says(refusal("Time (%),Total Time (ns),Instances,Range Name\n1,2,3,k\n"),
       "another report");
}

TEST(NsysCsv, EveryCutIsAnError) {
  size_t Head = Summary.find("Name\n") + 5;
  for (size_t Size = 0; Size < Summary.size(); ++Size) {
    std::string Message = messageOf(parseProfile(Summary.take_front(Size), "cut.csv"));
    // What ends with a row is shorter, not cut; a kernel's name is the last cell.
    if (Size > Head && (Summary[Size] == '\n' || Summary[Size - 1] == '\n'))
      continue;
    ASSERT_FALSE(Message.empty()) << "at " << Size;
    ASSERT_TRUE(StringRef(Message).contains("cut.csv")) << Message;
  }
}
