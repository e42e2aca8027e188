//===- KernelNameTest.cpp - Base names of kernels -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/KernelName.h"
#include <gtest/gtest.h>

using namespace optimas::collector;

TEST(CollectorKernelName, BaseNames) {
  EXPECT_EQ(kernelBaseName("_Z8topkHitsiiiPKfPKiPi"), "topkHits");
  // void copy<float>(float const*, float*, int)
  EXPECT_EQ(kernelBaseName("_Z4copyIfEvPKT_PS0_i"), "copy");
  EXPECT_EQ(kernelBaseName("_ZN2ns4copyIfEEvPKT_PS1_i"), "ns::copy");
  EXPECT_EQ(kernelBaseName("_ZN33_GLOBAL__N__cb144700_4_g_cu_plain5akernEPf"),
            "(anonymous namespace)::akern");
  EXPECT_EQ(kernelBaseName("_ZN12_GLOBAL__N_15akernEPf"), "(anonymous namespace)::akern");
  EXPECT_EQ(kernelBaseName("_Z2stPf"), "st");
  EXPECT_EQ(kernelBaseName("_ZL2stPf"), "st");
  EXPECT_EQ(kernelBaseName("plain"), "plain");
  EXPECT_EQ(kernelBaseName(""), "");
  EXPECT_EQ(kernelBaseName("_Znonsense"), "_Znonsense");
}

TEST(CollectorKernelName, TemplateOfTheAnonymousNamespace) {
  // void (anonymous namespace)::k<(anonymous namespace)::S>(int)
  EXPECT_EQ(kernelBaseName("_ZN12_GLOBAL__N_11kINS_1SEEEvi"), "(anonymous namespace)::k");
}

TEST(CollectorKernelName, Selection) {
  EXPECT_TRUE(isSelected("_Z4copyIfEvPKT_PS0_i", {}));
  EXPECT_TRUE(isSelected("_Z4copyIfEvPKT_PS0_i", {"mul", "copy"}));
  EXPECT_TRUE(isSelected("_Z4copyIfEvPKT_PS0_i", {"_Z4copyIfEvPKT_PS0_i"}));
  EXPECT_FALSE(isSelected("_Z4copyIfEvPKT_PS0_i", {"cop"}));
  EXPECT_FALSE(isSelected("_ZN2ns4copyIfEEvPKT_PS1_i", {"copy"}));
}
