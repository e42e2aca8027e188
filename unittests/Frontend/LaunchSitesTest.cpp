//===- LaunchSitesTest.cpp - `<<<…>>>` expressions -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

static std::string describe(const SourceModel &M, const LaunchSite &L) {
  auto Part = [&](const SourceRange &R) {
    return R.valid() ? M.text(R).str() : std::string("-");
  };
  std::string Out = (L.Kernel == NoId ? "?" : M.function(L.Kernel).Name) + " in " +
                    L.Caller + (L.CallerIsTemplate ? "<>" : "") + ": " +
                    Part(L.Grid) + " | " + Part(L.Block) + " | " + Part(L.Shared) +
                    " | " + Part(L.Stream);
  return Out + (L.InMacro ? " macro" : "");
}

TEST(LaunchSitesTest, ConfigurationsAndArguments) {
  Annotated A(R"cuda(
#include <vector>
__global__ void k(const float *in, float *out, int n = 3) { out[n] = in[n]; }
void run(float *p, cudaStream_t s, std::vector<int> v) {
  $whole[[k<<<$config[[ dim3(1, 2) , /* block, */ dim3{32} ]]>>>(p, p)]];
  (k)<<<v.size() > 1 ? 2 : 1, 64, sizeof(std::vector<std::vector<int>>), s>>>($a0[[p + 1]], $a1[[(p)]], $a2[[v[0]]]);
  (*&k)<<<1, 1, 0>>>(p, p, 1);
  for (int i = 0; i < 2; ++i) k <<< i , 1 >>> (p, p);
  auto l = [=] { k<<<4, 4>>>(p, p); };
  l();
}
)cuda");
  SourceModel M = modelOf(A.Code);
  ASSERT_EQ(M.launchSites().size(), 5u);
  const LaunchSite &First = M.launchSites()[0], &Second = M.launchSites()[1];
  EXPECT_EQ(describe(M, First), "k in run: dim3(1, 2) | dim3{32} | - | -");
  EXPECT_EQ(M.text(First.Whole), M.text(markedRange(M, A, "whole")));
  EXPECT_EQ(M.text(First.Config), M.text(markedRange(M, A, "config")));
  EXPECT_EQ(First.Arguments.size(), 2u);
  EXPECT_EQ(describe(M, Second),
            "k in run: v.size() > 1 ? 2 : 1 | 64 | sizeof(std::vector<std::vector<int>>) | s");
  ASSERT_EQ(Second.Arguments.size(), 3u);
  EXPECT_EQ(M.text(Second.Arguments[0]), "p + 1");
  EXPECT_EQ(M.text(Second.Arguments[1]), "(p)");
  EXPECT_EQ(M.text(Second.Arguments[2]), "v[0]");
  EXPECT_EQ(describe(M, M.launchSites()[2]), "k in run: 1 | 1 | 0 | -");
  EXPECT_EQ(M.text(M.launchSites()[3].Config), " i , 1 ");
  EXPECT_EQ(M.text(M.launchSites()[3].Whole), "k <<< i , 1 >>> (p, p)");
  EXPECT_EQ(describe(M, M.launchSites()[4]), "k in run: 4 | 4 | - | -");
  EXPECT_EQ(M.launchSitesOf(0).size(), 5u);
  EXPECT_EQ(M.launchSite(1), &First);
  EXPECT_EQ(M.launchSite(0), nullptr);
  EXPECT_EQ(M.launchSite(6), nullptr);
}

TEST(LaunchSitesTest, TemplatesAreSpelledOnce) {
  SourceModel M = modelOf(R"cuda(
template <typename T> __global__ void one(T *p) { p[0] = 1; }
template <typename T> __global__ void over(T *p) { p[0] = 1; }
template <typename T> __global__ void over(T *p, int n) { p[n] = 1; }
template <typename T> struct Op { static __global__ void go(T *p) { p[0] = 1; } };
template <typename T, int B> void run(T *p) {
  one<<<1, B>>>(p);
  one<T><<<1, B * 2>>>(p);
  over<<<2, B>>>(p, 1);
  Op<T>::go<<<3, B>>>(p);
}
template <typename T> struct Runner {
  template <typename U> void go(U *u) { one<<<4, sizeof(T)>>>(u); }
};
template <typename F> void indirect(F f, int *p) { f<<<5, 1>>>(p); }
template <void (*K)(int *)> void direct(int *p) { K<<<6, 1>>>(p); }
void all(float *f, int *i) {
  run<float, 4>(f);
  run<int, 8>(i);
  Runner<int>().go(f);
  indirect(one<int>, i);
  direct<one<int>>(i);
}
)cuda");
  std::string All;
  for (const LaunchSite &L : M.launchSites())
    All += describe(M, L) + "\n";
  EXPECT_EQ(All, "one in run<>: 1 | B | - | -\n"
                 "one in run<>: 1 | B * 2 | - | -\n"
                 "over in run<>: 2 | B | - | -\n"
                 "Op::go in run<>: 3 | B | - | -\n"
                 "one in Runner::go<>: 4 | sizeof(T) | - | -\n"
                 "? in indirect<>: 5 | 1 | - | -\n"
                 "one in direct<>: 6 | 1 | - | -\n");
  // The overload is the one that every instantiation takes.
  EXPECT_EQ(M.function(M.launchSites()[2].Kernel).Parameters.size(), 2u);
}

TEST(LaunchSitesTest, LaunchesThatClangDoesNotUnderstandAreNotForgotten) {
  Annotated A(R"cuda(
#define LATER(k) k<<<1, 1>>>()
__global__ void k() {}
void run() {
  // k<<<0, 0>>>();
  const char *s = "k<<<0, 0>>>()";
  k<<<1, 1>>>();
  k$lost[[<<<]]1, {32}>>>();
#if 0
  k<<<0, 0>>>();
#endif
  LATER(k);
}
)cuda");
  SourceModel M = modelOf(A.Code);
  EXPECT_EQ(M.launchSites().size(), 2u);
  ASSERT_EQ(M.lostLaunches().size(), 1u);
  EXPECT_EQ(M.lostLaunches()[0].Begin, markedRange(M, A, "lost").Begin);
  EXPECT_EQ(M.lostLaunches()[0].BeginLine, 8u);
  ASSERT_EQ(M.notes().size(), 1u);
  EXPECT_EQ(M.notes()[0].Line, 8u);
}

TEST(LaunchSitesTest, MacrosPointersAndTheRuntime) {
  SourceModel M = modelOf(R"cuda(
#define LAUNCH(kernel, n, ...) kernel<<<(n), 32>>>(__VA_ARGS__)
#define GRID 7, 8
__global__ void k(int *p) { p[0] = 1; }
__global__ void elsewhere(int *p);
struct S { static __global__ void m(int *p) { p[0] = 1; } };
namespace { __global__ void hidden(int *p) { p[0] = 1; } }
void run(int *p, void (*pointer)(int *)) {
  LAUNCH(k, 3, p);
  k<<<GRID>>>(p);
  pointer<<<1, 1>>>(p);
  elsewhere<<<1, 1>>>(p);
  S::m<<<1, 2>>>(p);
  hidden<<<1, 3>>>(p);
  void *args[] = {&p};
  cudaLaunchKernel((const void *)k, dim3(1), dim3(1), args, 0, 0);
}
)cuda");
  std::string All;
  for (const LaunchSite &L : M.launchSites())
    All += describe(M, L) + "\n";
  EXPECT_EQ(All, "k in run: LAUNCH(k, 3, p) | LAUNCH(k, 3, p) | - | - macro\n"
                 "k in run: GRID | GRID | - | -\n"
                 "? in run: 1 | 1 | - | -\n"
                 "? in run: 1 | 1 | - | -\n"
                 "S::m in run: 1 | 2 | - | -\n"
                 "(anonymous namespace)::hidden in run: 1 | 3 | - | -\n");
  EXPECT_EQ(M.text(M.launchSites()[1].Config), "GRID");
  ASSERT_EQ(M.notes().size(), 3u);
  EXPECT_EQ(M.notes()[2].Line, 16u);
  EXPECT_NE(M.notes()[2].Message.find("cudaLaunchKernel"), std::string::npos);
}
