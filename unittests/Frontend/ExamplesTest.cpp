//===- ExamplesTest.cpp - The models of the shipped examples -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"
#include "optimas/Frontend/DumpModel.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

static SourceModel exampleModel(const std::string &Name) {
  CompileCommand C;
  C.Directory = OPTIMAS_EXAMPLES "/" + Name;
  C.File = C.Directory + "/" + Name + ".cu";
  C.Args = {"nvcc", "-arch=sm_90", "-O3", "-lineinfo", "-c", C.File};
  return cantFail(buildSourceModel(C, {}));
}

/// Lines of the innermost statements on a line, as text.
static std::vector<std::string> onLine(const SourceModel &M, unsigned Line) {
  std::vector<std::string> Out;
  for (StatementId S : M.statementsOnLine(0, Line))
    Out.push_back(M.statement(S)->Kind + ": " +
                  M.text(M.statement(S)->Range).split('\n').first.str());
  return Out;
}

TEST(ExamplesTest, TopkFunctionsLoopsAndLaunch) {
  SourceModel M = exampleModel("topk");
  ASSERT_EQ(M.functions().size(), 2u);
  const Function &Sum = functionNamed(M, "blockSum");
  EXPECT_FALSE(Sum.IsKernel);
  EXPECT_TRUE(Sum.IsDevice);
  const Function &Topk = functionNamed(M, "topkHits");
  EXPECT_TRUE(Topk.IsKernel);
  ASSERT_EQ(Topk.Instantiations.size(), 1u);
  EXPECT_EQ(Topk.Instantiations[0].Mangled, "_Z8topkHitsiiiPKfPKiPi");
  EXPECT_EQ(M.text(Topk.Signature),
            "__global__ void topkHits(int rows, int cols, int k, const float *scores,\n"
            "                         const int *labels, int *hits)");
  ASSERT_EQ(Topk.Parameters.size(), 6u);
  EXPECT_EQ(M.text(Topk.Parameters[3]), "const float *scores");

  ASSERT_EQ(M.loops().size(), 3u);
  EXPECT_EQ(M.text(M.loop(3)->Header),
            "for (int col = threadIdx.x; col < cols; col += blockDim.x)");
  EXPECT_EQ(M.loop(3)->Parent, 2u);
  EXPECT_EQ(M.loop(3)->Depth, 2u);

  EXPECT_EQ(onLine(M, 40), std::vector<std::string>{
                               "decl: const float score = scores[row * cols + col];"});
  EXPECT_EQ(onLine(M, 39), std::vector<std::string>{
                               "for: for (int col = threadIdx.x; col < cols; col += blockDim.x) {"});
  EXPECT_EQ(onLine(M, Topk.Body.EndLine), std::vector<std::string>{"compound: {"});
  EXPECT_EQ(M.functionAt(0, 40), &Topk);
  EXPECT_EQ(M.functionAt(0, 60), nullptr);

  ASSERT_EQ(M.launchSites().size(), 1u);
  const LaunchSite &L = M.launchSites()[0];
  EXPECT_EQ(L.Kernel, Topk.Id);
  EXPECT_EQ(L.Caller, "main");
  EXPECT_EQ(M.text(L.Whole),
            "topkHits<<<rows, kThreads>>>(rows, cols, k, dScores, dLabels, dHits)");
  EXPECT_EQ(M.text(L.Config), "rows, kThreads");
  EXPECT_EQ(M.text(L.Grid), "rows");
  EXPECT_EQ(M.text(L.Block), "kThreads");
  EXPECT_FALSE(L.Shared.valid());
  ASSERT_EQ(L.Arguments.size(), 6u);
  EXPECT_EQ(M.text(L.Arguments[5]), "dHits");
}

TEST(ExamplesTest, StreamTemplatesAndTheirLaunches) {
  SourceModel M = exampleModel("stream");
  ASSERT_EQ(M.functions().size(), 5u);
  const Function &Copy = functionNamed(M, "copy");
  EXPECT_TRUE(Copy.IsTemplate);
  ASSERT_EQ(Copy.Instantiations.size(), 2u);
  EXPECT_EQ(Copy.Instantiations[0].Mangled, "_Z4copyIfEvPKT_PS0_i");
  EXPECT_EQ(Copy.Instantiations[1].TemplateArgs, std::vector<std::string>{"double"});
  EXPECT_EQ(M.text(Copy.Signature),
            "template <typename T> __global__ void copy(const T *a, T *c, int n)");
  ASSERT_EQ(M.launchSites().size(), 5u);
  for (const LaunchSite &L : M.launchSites()) {
    EXPECT_NE(L.Kernel, NoId);
    EXPECT_EQ(L.Caller, "run");
    EXPECT_TRUE(L.CallerIsTemplate);
    EXPECT_EQ(M.text(L.Block), "kBlock");
  }
  EXPECT_EQ(M.launchSitesOf(functionNamed(M, "dot").Id).size(), 1u);
  EXPECT_EQ(M.functionForSymbol("_Z4copyIdEvPKT_PS0_i"), &Copy);
  EXPECT_EQ(M.functionForSymbol("void copy<float>(const T1 *, T1 *, int)"), &Copy);
}

TEST(ExamplesTest, TransposeLines) {
  SourceModel M = exampleModel("transpose");
  ASSERT_EQ(M.functions().size(), 2u);
  EXPECT_EQ(onLine(M, 23),
            std::vector<std::string>{"expr: out[x * height + y] = in[y * width + x];"});
  EXPECT_EQ(onLine(M, 22),
            std::vector<std::string>{"if: if (x < width && y < height)"});
  const Statement *Tile = statementWith(M, "__shared__ float tile[kTile][kTile];");
  ASSERT_TRUE(Tile);
  EXPECT_EQ(Tile->Kind, "decl");
  EXPECT_FALSE(Tile->InMacro);
}
