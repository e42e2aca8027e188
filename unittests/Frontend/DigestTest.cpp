//===- DigestTest.cpp - What the structural digest sees and what not -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Parsing costs far more than a digest, so each test builds two programs only: one
/// namespace a case, `c0`, `c1`, …, with the code before and after an edit.
///
//===----------------------------------------------------------------------===//
#include "ModelTest.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

namespace {

struct Change {
  const char *What;
  std::string Before; ///< `$h[[…]]` is a hole
  std::string After;  ///< the same hole, when there is one
};

/// The digests of both programs by case number and pass.
struct Compared {
  std::vector<std::string> Before, After;
};

struct Program {
  std::string Code;
  std::vector<SourceRange> Holes;

  void add(size_t Case, StringRef Marked) {
    Annotated A(Marked);
    Code += "namespace c" + std::to_string(Case) + " {\n";
    for (const auto &[Name, R] : A.Ranges) {
      SourceRange H;
      H.File = 0;
      H.Begin = Code.size() + R.first;
      H.End = Code.size() + R.second;
      Holes.push_back(H);
    }
    Code += A.Code + "\n}\n";
  }
};

/// The `pass cN: text` lines that are equal, by `pass cN`.
std::map<std::string, bool> compare(ArrayRef<Change> Changes) {
  Program Old, New;
  for (size_t I = 0; I < Changes.size(); ++I) {
    Old.add(I, Changes[I].Before);
    New.add(I, Changes[I].After);
  }
  SourceModel OldModel = modelOf(Old.Code), NewModel = modelOf(New.Code);
  std::vector<std::string> A = structuralDigest(OldModel, Old.Holes);
  std::vector<std::string> B = structuralDigest(NewModel, New.Holes);
  std::vector<std::string> TextA = structuralText(OldModel, Old.Holes);
  std::vector<std::string> TextB = structuralText(NewModel, New.Holes);
  EXPECT_EQ(A.size(), 2 * Changes.size());
  EXPECT_EQ(A.size(), B.size());
  std::map<std::string, bool> Same;
  for (size_t I = 0; I < std::min(A.size(), B.size()); ++I) {
    EXPECT_EQ(A[I] == B[I], TextA[I] == TextB[I]);
    Same[StringRef(A[I]).split(": ").first.str()] = A[I] == B[I];
  }
  return Same;
}

void expectAll(ArrayRef<Change> Changes, bool Same) {
  std::map<std::string, bool> Got = compare(Changes);
  for (size_t I = 0; I < Changes.size(); ++I)
    for (const char *Pass : {"device", "host"})
      EXPECT_EQ(Got.at((Twine(Pass) + " a.cu Namespace c" + Twine(I)).str()), Same)
          << Changes[I].What << " in the " << Pass << " pass";
}

/// A kernel with \p Body in it.
std::string kernel(const Twine &Body) {
  return ("__global__ void k(const float *in, float *out, int n) {\n"
          "  float sum = 0;\n  " +
          Body + "\n  out[threadIdx.x] = sum * n;\n}")
      .str();
}

} // namespace

TEST(DigestTest, OneLineForEachDeclarationAndFile) {
  SourceModel M = cantFail(
      modelOf("a.cu", {{"a.cu", "#include \"types.h\"\n#include <cstddef>\n"
                                "__global__ void k(Pair *p) { p->a = 1; }\n"
                                "#ifdef NEVER\nint hidden;\n#endif\n"},
                       {"types.h", "struct Pair { int a, b; };\n"}}));
  std::vector<std::string> Names;
  for (const std::string &L : structuralDigest(M, {})) {
    auto [Name, Hash] = StringRef(L).split(": ");
    Names.push_back(Name.str());
    EXPECT_EQ(Hash.size(), 32u) << L;
  }
  EXPECT_EQ(join(Names, "\n"), "device a.cu includes\n"
                               "device types.h CXXRecord Pair\n"
                               "device a.cu Function k\n"
                               "host a.cu includes\n"
                               "host types.h CXXRecord Pair\n"
                               "host a.cu Function k\n"
                               "a.cu inactive code");
}

TEST(DigestTest, WhatStandsInAHoleIsFree) {
  expectAll(
      {{"replaced", kernel("$h[[sum = in[0];]]"), kernel("$h[[sum = in[0] + in[1];]]")},
       {"deleted", kernel("$h[[sum = in[0];]]"), kernel("$h[[]]")},
       {"a block for a statement", kernel("$h[[sum = in[0];]]"),
        kernel("$h[[{ float a = in[0]; float b = a; sum = b; }]]")},
       {"several for one", kernel("$h[[sum = in[0];]]"),
        kernel("$h[[float t = in[0];\n t += 1;\n sum = t;]]")},
       {"one for several", kernel("$h[[sum = 1; sum = 2;]]"), kernel("$h[[sum = 2;]]")},
       {"inserted", kernel("$h[[]]sum = 1;"), kernel("$h[[__syncthreads();\n\n]]sum = 1;")},
       {"inserted at the end of a block", kernel("{ sum = 1;$h[[]] }"),
        kernel("{ sum = 1;$h[[\n sum = 2;]] }")},
       {"wrapped", kernel("if (n) $h[[sum = 1;]]"),
        kernel("if (n) $h[[{ for (int i = 0; i < n; ++i) sum = 1; }]]")},
       {"a loop", kernel("$h[[for (int i = 0; i < n; ++i) sum += in[i];]]"),
        kernel("$h[[int i = 0;\n for (; i + 4 <= n; i += 4) { float4 v = "
               "*(const float4 *)(in + i); sum += v.x; sum += v.y; sum += v.z; sum += "
               "v.w; }\n for (; i < n; ++i) sum += in[i];]]")},
       {"two holes", kernel("$a[[sum = 1;]] sum += 2; $b[[sum = 3;]]"),
        kernel("$a[[]] sum += 2; $b[[sum = 4; sum = 5;]]")},
       {"in a lambda", kernel("auto f = [&](int i) { $h[[sum = i;]] return sum; }; f(1);"),
        kernel("auto f = [&](int i) { $h[[sum = i + 1;]] return sum; }; f(1);")},
       {"a loop pragma before a loop", kernel("$h[[]]for (int i = 0; i < n; ++i) sum += 1;"),
        kernel("$h[[#pragma unroll 4\n]]for (int i = 0; i < n; ++i) sum += 1;")},
       {"a launch's shape",
        "__global__ void k(int n) {}\nvoid run(int n) { k<<<$h[[n, 256]]>>>(n); }",
        "__global__ void k(int n) {}\n"
        "void run(int n) { k<<<$h[[(n + 3) / 4, dim3(256), 0, 0]]>>>(n); }"},
       {"a template's launch's shape",
        "template <class T> __global__ void k(T *p) {}\n"
        "template <class T> void run(T *p, int n) { k<<<$h[[n, 256]]>>>(p); }",
        "template <class T> __global__ void k(T *p) {}\n"
        "template <class T> void run(T *p, int n) { k<<<$h[[(n + 3) / 4, 256]]>>>(p); }"},
       {"an attribute",
        "__global__ void $h[[]]k(int n) {}", "__global__ void $h[[__launch_bounds__(64) ]]k(int n) {}"},
       {"a signature and its declaration",
        "$d[[__global__ void k(const float *a, float *b)]];\n"
        "$s[[__global__ void k(const float *a, float *b)]] { b[0] = a[0]; }\n"
        "void run(float *a, float *b) { k<<<1, 32>>>(a, b); }",
        "$d[[__global__ void k(const float *__restrict__ a, float *__restrict__ b)]];\n"
        "$s[[__global__ void __launch_bounds__(64)\n k(const float *__restrict__ a, float "
        "*__restrict__ b)]] { b[0] = a[0]; }\n"
        "void run(float *a, float *b) { k<<<1, 32>>>(a, b); }"}},
      /*Same=*/true);
}

TEST(DigestTest, ATypeChangedInAHoleIsNoDifferenceForItsUsers) {
  expectAll({{"padding",
              kernel("$h[[__shared__ float t[32][32];]] sum = t[threadIdx.y][0];"),
              kernel("$h[[__shared__ float t[32][33];]] sum = t[threadIdx.y][0];")},
             {"sign", kernel("$h[[int i = 3;]] if (i < n) sum = in[i];"),
              kernel("$h[[unsigned i = 3;]] if (i < n) sum = in[i];")},
             {"width", kernel("$h[[float v = 3;]] sum += v * n;"),
              kernel("$h[[double v = 3;]] sum += v * n;")},
             {"deduced", kernel("$h[[int i = 3;]] auto j = i + 1; sum = j;"),
              kernel("$h[[unsigned i = 3;]] auto j = i + 1; sum = j;")}},
            /*Same=*/true);
}

TEST(DigestTest, PositionsBlanksAndCommentsAreNoDifference) {
  const char *Check = "#define CHECK(x) if ((x) != 0) report(__FILE__, __LINE__)\n"
                      "void report(const char *, int);\n";
  expectAll({{"blanks", kernel("sum = in[0];"), kernel("  sum=in[0]  ;\n\n")},
             {"comments", kernel("sum = in[0];"), kernel("sum = /* 1 + */ in[0]; // x")},
             {"line numbers", Check + std::string("int f() { CHECK(1); return 0; }\n#undef CHECK"),
              Check + std::string("\n\n\nint f() { CHECK(1); return 0; }\n#undef CHECK")},
             {"unnamed types", "struct { int a; } s; auto l = [](int i) { return i; };",
              "\n\n  struct { int a; } s;  auto l = [](int i) { return i; };"}},
            /*Same=*/true);
}

TEST(DigestTest, WhatLeavesTheHoleIsSeen) {
  expectAll(
      {{"a local that captures a name used below",
        kernel("{ $h[[sum = 1;]] sum += n; }"),
        kernel("{ $h[[int n = 2; sum = 1;]] sum += n; }")},
       {"a macro", kernel("$h[[sum = 1;]]") + "\n#undef n", kernel("$h[[sum = 1;\n#define n 7\n]]") + "\n#undef n"},
       {"a condition for what follows", kernel("$h[[]]sum = 1;"), kernel("$h[[if (n) ]]sum = 1;")},
       {"a comment that swallows", kernel("$h[[sum = 1;]] sum = 2; /**/"),
        kernel("$h[[sum = 1; /*]] sum = 2; /**/")},
       {"a brace that ends the block", kernel("{ $h[[sum = 1;]] sum += 2; }"),
        kernel("{ $h[[sum = 1; } {]] sum += 2; }")},
       {"a function behind the kernel", kernel("$h[[sum = 1;]]"),
        kernel("$h[[sum = 1; out[threadIdx.x] = sum * n; } __device__ int more;"
               "__global__ void l(float *out, int n) { float sum = 1;]]")},
       {"a type that captures a name", kernel("$h[[sum = 1;]] ") + "\ntypedef float T;\n__global__ void g(T *p) { $g[[p[0] = 1;]] T v = p[1]; p[2] = v; }",
        kernel("$h[[sum = 1;]] ") + "\ntypedef float T;\n__global__ void g(T *p) { $g[[p[0] = 1; typedef double T;]] T v = p[1]; p[2] = v; }"},
       {"a label's target", kernel("$h[[sum = 1;]] sum = 2; goto end; sum = 3; end: ;"),
        kernel("$h[[sum = 1;]] sum = 2; goto end; end: sum = 3;")}},
      /*Same=*/false);
}

TEST(DigestTest, ChangesOfStatementsAreSeen) {
  const char *Loop = "for (int i = 0; i < n; ++i) sum += in[i];";
  expectAll(
      {{"operator", kernel("sum += in[0];"), kernel("sum -= in[0];")},
       {"literal", kernel("sum = 1;"), kernel("sum = 2;")},
       {"literal's type", kernel("sum = 1;"), kernel("sum = 1.f;")},
       {"literal's suffix", kernel("sum = 1u;"), kernel("sum = 1ul;")},
       {"string", kernel("const char *s = \"a\"; sum = s[0];"),
        kernel("const char *s = \"b\"; sum = s[0];")},
       {"comparison", kernel("if (n < 3) sum = 1;"), kernel("if (n <= 3) sum = 1;")},
       {"referent", kernel("sum = in[0];"), kernel("sum = out[0];")},
       {"member", kernel("sum = threadIdx.x;"), kernel("sum = threadIdx.y;")},
       {"type of a local", kernel("int a = 1; sum = a;"), kernel("long a = 1; sum = a;")},
       {"storage", kernel("int a[2]; a[0] = 1;"), kernel("__shared__ int a[2]; a[0] = 1;")},
       {"extent", kernel("__shared__ int a[32]; a[0] = 1;"),
        kernel("__shared__ int a[33]; a[0] = 1;")},
       {"qualifier", kernel("int a = 1; sum = a;"), kernel("volatile int a = 1; sum = a;")},
       {"cast", kernel("sum = (int)in[0];"), kernel("sum = (unsigned)in[0];")},
       {"order", kernel("sum = 1; sum = 2;"), kernel("sum = 2; sum = 1;")},
       {"statement removed", kernel("__syncthreads();"), kernel("")},
       {"statement added", kernel(""), kernel("__syncthreads();")},
       {"else", kernel("if (n) sum = 1; else sum = 2;"), kernel("if (n) sum = 1; sum = 2;")},
       {"unroll count", kernel(Twine("#pragma unroll 4\n") + Loop),
        kernel(Twine("#pragma unroll 8\n") + Loop)},
       {"unroll", kernel(Twine("#pragma unroll\n") + Loop), kernel(Loop)},
       {"loop kind", kernel("while (n) sum = 1;"), kernel("do sum = 1; while (n);")},
       {"parentheses", kernel("sum = sum + (sum + 1);"), kernel("sum = sum + sum + 1;")},
       {"asm", kernel("asm(\"mov.u32 %0, 1;\" : \"=r\"(n));"),
        kernel("asm(\"mov.u32 %0, 2;\" : \"=r\"(n));")},
       {"volatile asm", kernel("asm(\"mov.u32 %0, 1;\" : \"=r\"(n));"),
        kernel("asm volatile(\"mov.u32 %0, 1;\" : \"=r\"(n));")},
       {"macro's value", "#undef W\n#define W 32\n" + kernel("sum = W;"),
        "#undef W\n#define W 64\n" + kernel("sum = W;")},
       {"static local", kernel(""), kernel("static int a = 1; sum = a;")},
       {"lambda's capture", kernel("auto f = [sum] { return sum; }; f();"),
        kernel("auto f = [&sum] { return sum; }; f();")},
       {"lambda's body", kernel("auto f = [=] { return sum; }; f();"),
        kernel("auto f = [=] { return sum + 1; }; f();")},
       {"case", kernel("switch (n) { case 1: sum = 1; }"),
        kernel("switch (n) { case 2: sum = 1; }")},
       {"sizeof", kernel("sum = sizeof(int);"), kernel("sum = sizeof(unsigned);")},
       {"template argument", "template <int N> __device__ int g() { return N; }\n" + kernel("sum = g<1>();"),
        "template <int N> __device__ int g() { return N; }\n" + kernel("sum = g<2>();")}},
      /*Same=*/false);
}

TEST(DigestTest, ChangesOfDeclarationsAreSeen) {
  const std::string T = "template <typename T, int N = 4> __global__ void t(T *p) { p[0] = N; }\n";
  expectAll(
      {{"bounds", "__global__ void __launch_bounds__(256) k() {}",
        "__global__ void __launch_bounds__(128) k() {}"},
       {"bounds removed", "__global__ void __launch_bounds__(256) k() {}",
        "__global__ void k() {}"},
       {"restrict", "__global__ void k(int *p) {}", "__global__ void k(int *__restrict__ p) {}"},
       {"parameter's name", "void f(int a, int b);", "void f(int b, int a);"},
       {"default argument", "void f(int a = 1);", "void f(int a = 2);"},
       {"return type", "int f();", "long f();"},
       {"noexcept", "int f();", "int f() noexcept;"},
       {"inline", "int f() { return 1; }", "inline int f() { return 1; }"},
       {"space", "__device__ int f() { return 1; }", "__host__ __device__ int f() { return 1; }"},
       {"template parameter", T, "template <typename T, unsigned N = 4> __global__ void t(T *p) { p[0] = N; }"},
       {"its default", T, "template <typename T, int N = 8> __global__ void t(T *p) { p[0] = N; }"},
       {"explicit instantiation", T + "template __global__ void t<float>(float *);",
        T + "template __global__ void t<double>(double *);"},
       {"specialisation", T, T + "template <> __global__ void t<int, 1>(int *p) {}"},
       {"variable added", "int a;", "int a; static int b;"},
       {"variable removed", "int a; int b;", "int a;"},
       {"variable's value", "__constant__ int a = 1;", "__constant__ int a = 2;"},
       {"linkage", "int a = 1;", "static int a = 1;"},
       {"constexpr", "const int a = 1;", "constexpr int a = 1;"},
       {"memory space", "__device__ int a[2];", "__constant__ int a[2];"},
       {"field", "struct S { int a; };", "struct S { long a; };"},
       {"field's order", "struct S { int a, b; };", "struct S { int b, a; };"},
       {"alignment", "struct S { int a; };", "struct __align__(16) S { int a; };"},
       {"access", "struct S { int a; };", "struct S { private: int a; };"},
       {"base", "struct A {}; struct S : A {};", "struct A {}; struct S {};"},
       {"method's body", "struct S { int f() { return 1; } };", "struct S { int f() { return 2; } };"},
       {"enumerator", "enum E { a = 1 };", "enum E { a = 2 };"},
       {"alias", "using A = int;", "using A = long;"},
       {"typedef", "typedef int A;", "typedef long A;"},
       {"using namespace", "namespace u { int v; } ", "namespace u { int v; } using namespace u;"},
       {"using", "namespace u { int v; int w; } using u::v;", "namespace u { int v; int w; } using u::w;"},
       {"static_assert", "static_assert(sizeof(int) == 4);", "static_assert(sizeof(int) <= 4);"},
       {"initialiser", "struct S { int a; S() : a(1) {} };", "struct S { int a; S() : a(2) {} };"},
       {"launch's shape", T + "void f(int *p) { t<int><<<1, 32>>>(p); }",
        T + "void f(int *p) { t<int><<<1, 64>>>(p); }"},
       {"launch's stream", T + "void f(int *p) { t<int><<<1, 32>>>(p); }",
        T + "void f(int *p) { t<int><<<1, 32, 0, 0>>>(p); }"},
       {"launch's argument", T + "void f(int *p) { t<int><<<1, 32>>>(p); }",
        T + "void f(int *p) { t<int><<<1, 32>>>(p + 1); }"},
       {"launch's kernel", T + "void f(int *p) { t<int><<<1, 32>>>(p); }",
        T + "void f(int *p) { t<int, 2><<<1, 32>>>(p); }"},
       {"host code", "int f(int a) { return a + 1; }", "int f(int a) { return a + 2; }"}},
      /*Same=*/false);
}

TEST(DigestTest, IncludesAndSkippedCode) {
  auto Digest = [](StringRef Code) {
    return structuralDigest(
        cantFail(modelOf("a.cu", {{"a.cu", Code.str()}, {"e.h", ""}})), {});
  };
  std::vector<std::string> Plain = Digest("int a;\n#if 0\nint b;\n#endif\n");
  EXPECT_NE(Plain, Digest("int a;\n#if 0\nint c;\n#endif\n"));
  EXPECT_NE(Plain, Digest("#include \"e.h\"\nint a;\n#if 0\nint b;\n#endif\n"));
  EXPECT_EQ(Plain, Digest("\n\nint a;\n#if 0 // why\nint b;\n#endif\n"));
}
