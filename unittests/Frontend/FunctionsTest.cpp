//===- FunctionsTest.cpp - Kernels, device functions and their symbols -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

static std::vector<std::string> texts(const SourceModel &M, ArrayRef<SourceRange> Rs) {
  std::vector<std::string> Out;
  for (const SourceRange &R : Rs)
    Out.push_back(M.text(R).str());
  return Out;
}

static std::vector<std::string> mangled(const Function &F) {
  std::vector<std::string> Out;
  for (const Instantiation &I : F.Instantiations)
    Out.push_back(I.Mangled);
  return Out;
}

using Strings = std::vector<std::string>;

TEST(FunctionsTest, RangesOfPlainFunctions) {
  Annotated A(R"cuda(
// A kernel.
$plain[[$plainSig[[__global__ /*why*/ void plain($p0[[const float *__restrict__ in]],
                      float (&out)[4], $p2[[int n = 1 + 2]]) /* tail */]]
$plainBody[[{
  out[0] = in[n];
}]]]]
$bounds[[__launch_bounds__(256, 2) __global__ void bounds() {}]]
$c[[extern "C" __global__ void c_kernel(int *p) { p[0] = 1; }]]
extern "C" { $c2[[__global__ void c_block() {}]] }
int before; [[nodiscard]] __attribute__((noinline)) __device__ int attr() { return 1; }
$both[[static inline __host__ __device__ __forceinline__ int both(int a) { return a; }]]
int hostOnly() { return both(1); }
__device__ int declaredOnly(int);
)cuda");
  SourceModel M = modelOf(A.Code);
  EXPECT_EQ(M.functions().size(), 6u);
  const Function &Plain = functionNamed(M, "plain");
  auto Expect = [&](const SourceRange &R, const std::string &Mark) {
    EXPECT_EQ(M.text(R), M.text(markedRange(M, A, Mark))) << Mark;
    EXPECT_EQ(R.Begin, markedRange(M, A, Mark).Begin) << Mark;
  };
  Expect(Plain.Definition, "plain");
  Expect(Plain.Signature, "plainSig");
  Expect(Plain.Body, "plainBody");
  ASSERT_EQ(Plain.Parameters.size(), 3u);
  Expect(Plain.Parameters[0], "p0");
  EXPECT_EQ(M.text(Plain.Parameters[1]), "float (&out)[4]");
  Expect(Plain.Parameters[2], "p2");
  EXPECT_EQ(Plain.Definition.BeginLine, 3u);
  EXPECT_EQ(Plain.Definition.EndLine, 7u);
  EXPECT_FALSE(Plain.InMacro);
  Expect(functionNamed(M, "bounds").Definition, "bounds");
  Expect(functionNamed(M, "c_kernel").Definition, "c");
  EXPECT_EQ(mangled(functionNamed(M, "c_kernel")), Strings{"c_kernel"});
  Expect(functionNamed(M, "c_block").Definition, "c2");
  // Two brackets would end a mark.
  EXPECT_EQ(M.text(functionNamed(M, "attr").Signature),
            "[[nodiscard]] __attribute__((noinline)) __device__ int attr()");
  const Function &Both = functionNamed(M, "both");
  Expect(Both.Definition, "both");
  EXPECT_TRUE(Both.IsDevice);
  EXPECT_FALSE(Both.IsKernel);
}

TEST(FunctionsTest, TemplatesAndTheirDeclarations) {
  Annotated A(R"cuda(
template <typename T> __global__ void scale(T *p, int n);
$scale[[template <typename T>
__global__ void scale(T *p, int n) {
  p[n] = 2;
}]]
template <> __global__ void scale<short>(short *p, int n) { p[n] = 3; }
template __global__ void scale<double>(double *, int);
extern template __global__ void scale<char>(char *, int);
template <int N, class... Ts> __device__ int pack(Ts... ts) { return N + sizeof...(ts); }
template <typename T> struct Holder {
  template <int N> struct Inner {
    static __global__ void go(T *p) { p[0] = N; }
  };
  static __global__ void run(T *p) { p[0] = twice(p); }
  static __device__ T twice(T *p);
  __device__ T get() const { return T(1); }
  template <typename U> __device__ U as() const { return U(get()); }
  T value;
};
$twice[[template <typename T> __device__ T Holder<T>::twice(T *p) { return Holder<T>{}.template as<T>() + pack<3>(1, 2.0); }]]
void launch(float *f, int *i) {
  scale<<<1, 1>>>(f, 1);
  scale<int><<<1, 1>>>(i, 1);
  Holder<float>::run<<<1, 1>>>(f);
  Holder<int>::Inner<7>::go<<<1, 1>>>(i);
}
)cuda");
  SourceModel M = modelOf(A.Code);
  const Function *Primary = nullptr, *Special = nullptr;
  for (const Function &F : M.functions())
    if (F.Name == "scale")
      (F.IsTemplate ? Primary : Special) = &F;
  ASSERT_TRUE(Primary && Special);
  EXPECT_EQ(M.text(Primary->Definition), M.text(markedRange(M, A, "scale")));
  Strings Symbols = mangled(*Primary);
  llvm::sort(Symbols);
  EXPECT_EQ(Symbols, (Strings{"_Z5scaleIdEvPT_i", "_Z5scaleIfEvPT_i", "_Z5scaleIiEvPT_i"}));
  EXPECT_EQ(mangled(*Special), Strings{"_Z5scaleIsEvPT_i"});
  EXPECT_EQ(M.text(Special->Definition),
            "template <> __global__ void scale<short>(short *p, int n) { p[n] = 3; }");
  Strings Others = texts(M, Primary->Redeclarations);
  llvm::sort(Others);
  EXPECT_EQ(Others,
            (Strings{"extern template __global__ void scale<char>(char *, int)",
                     "template <> __global__ void scale<short>(short *p, int n) { p[n] = 3; }",
                     "template <typename T> __global__ void scale(T *p, int n)",
                     "template __global__ void scale<double>(double *, int)"}));

  const Function &Run = functionNamed(M, "Holder::run");
  EXPECT_EQ(M.text(Run.Definition),
            "static __global__ void run(T *p) { p[0] = twice(p); }");
  EXPECT_EQ(mangled(Run), Strings{"_ZN6HolderIfE3runEPf"});
  EXPECT_EQ(Run.Instantiations[0].TemplateArgs, Strings{"float"});
  const Function &Twice = functionNamed(M, "Holder::twice");
  EXPECT_EQ(M.text(Twice.Definition), M.text(markedRange(M, A, "twice")));
  EXPECT_EQ(mangled(Twice), Strings{"_ZN6HolderIfE5twiceEPf"});
  EXPECT_EQ(texts(M, Twice.Redeclarations),
            Strings{"static __device__ T twice(T *p)"});
  const Function &Go = functionNamed(M, "Holder::Inner::go");
  EXPECT_EQ(mangled(Go), Strings{"_ZN6HolderIiE5InnerILi7EE2goEPi"});
  EXPECT_EQ(Go.Instantiations[0].TemplateArgs, (Strings{"int", "7"}));
  EXPECT_EQ(mangled(functionNamed(M, "Holder::as")),
            Strings{"_ZNK6HolderIfE2asIfEET_v"});
  EXPECT_EQ(mangled(functionNamed(M, "pack")), Strings{"_Z4packILi3EJidEEiDpT0_"});
}

TEST(FunctionsTest, MacrosLambdasAndConstexpr) {
  SourceModel M = modelOf(R"cuda(
#define KERNEL __global__ void
#define DEFINE(name, op) __global__ void name(int *p) { p[0] op 1; }
DEFINE(addOne, +=)
DEFINE(subOne, -=)
KERNEL prefixed(int *p) { p[0] = 1; }
#define DECLARE_BODY(name, body) __global__ void name(int *p) body
DECLARE_BODY(argument, { p[0] = 2; })
constexpr int used(int a) { return a + 1; }
constexpr int unused(int a) { return a + 2; }
__global__ void inner(int *p) {
  auto f = [=] __device__(int i) { return i + used(i); };
  struct Local { __device__ int two() { return 2; } };
  p[0] = f(1) + Local{}.two();
}
template <class F> __global__ void apply(F f) { f(threadIdx.x); }
void host(int *p) {
  auto f = [=] __device__(int i) { p[i] = i; };
  apply<<<1, 1>>>(f);
}
)cuda");
  EXPECT_TRUE(functionNamed(M, "addOne").InMacro);
  EXPECT_TRUE(functionNamed(M, "subOne").InMacro);
  EXPECT_EQ(M.text(functionNamed(M, "subOne").Definition), "DEFINE(subOne, -=)");
  EXPECT_TRUE(functionNamed(M, "argument").InMacro);
  const Function &Prefixed = functionNamed(M, "prefixed");
  EXPECT_FALSE(Prefixed.InMacro);
  EXPECT_EQ(M.text(Prefixed.Signature), "KERNEL prefixed(int *p)");
  EXPECT_TRUE(functionNamed(M, "used").IsDevice);
  const Function &Lambda = functionNamed(M, "host::(lambda)");
  EXPECT_TRUE(Lambda.IsDevice);
  EXPECT_EQ(M.text(Lambda.Definition), "[=] __device__(int i) { p[i] = i; }");
  EXPECT_EQ(M.text(Lambda.Signature), "[=] __device__(int i)");
  for (const Function &F : M.functions()) {
    EXPECT_NE(F.Name, "unused");
    EXPECT_NE(F.Name, "inner::(lambda)");
  }
  // The statements of a lambda in a kernel are the kernel's.
  const Statement *InLambda = statementWith(M, "return i + used(i);");
  ASSERT_TRUE(InLambda);
  EXPECT_EQ(M.function(InLambda->Function).Name, "inner");
  const Statement *InLocal = statementWith(M, "return 2;");
  ASSERT_TRUE(InLocal);
  EXPECT_NE(M.function(InLocal->Function).Name, "inner");
}

TEST(FunctionsTest, TemplatesOfSystemHeadersInstantiateTheUsers) {
  SourceModel M = cantFail(modelOf(
      "a.cu",
      {{"a.cu", "#include <apply.h>\n"
                "struct F { template <class T> __device__ T operator()(T a) const { return a; } };\n"
                "void host() { sys::apply(F(), 1.0); }\n"},
       {"sys/apply.h",
        "namespace sys {\n"
        "template <class F, class T> __global__ void call(F f, T t) { f(t); }\n"
        "template <class F, class T> void apply(F f, T t) { call<<<1, 1>>>(f, t); }\n"
        "inline int plain() { return undeclared; }\n"
        "}\n"}},
      {"-isystem", std::string(TestFolder) + "/sys"}));
  EXPECT_EQ(mangled(functionNamed(M, "F::operator()")), Strings{"_ZNK1FclIdEET_S1_"});
  // The bodies of plain functions there are not even looked at.
  EXPECT_TRUE(M.diagnostics().empty());
}

TEST(FunctionsTest, ArchitectureBranches) {
  SourceModel M = modelOf("#if __CUDA_ARCH__ >= 800\n"
                          "__device__ int f() { return 80; }\n"
                          "#elif defined(__CUDA_ARCH__)\n"
                          "__device__ int f() { return 70; }\n"
                          "#else\n"
                          "__device__ int f() { return 0; }\n"
                          "#endif\n"
                          "__global__ void k(int *p) {\n"
                          "#ifdef __CUDA_ARCH__\n"
                          "  p[0] = f();\n"
                          "#else\n"
                          "  p[0] = 1;\n"
                          "#endif\n"
                          "}\n");
  ASSERT_EQ(M.functions().size(), 2u);
  EXPECT_EQ(M.functions()[0].Definition.BeginLine, 2u);
  EXPECT_TRUE(statementWith(M, "p[0] = f();"));
  EXPECT_FALSE(statementWith(M, "p[0] = 1;"));
  // Skipped in either pass; the host skips over the `#elif`, which joins the parts.
  EXPECT_EQ(texts(M, M.file(0).Inactive),
            (Strings{"__device__ int f() { return 80; }\n#elif defined(__CUDA_ARCH__)\n"
                     "__device__ int f() { return 70; }\n#else\n"
                     "__device__ int f() { return 0; }\n",
                     "  p[0] = f();\n", "  p[0] = 1;\n"}));
}

TEST(FunctionsTest, SymbolsOfBothCompilersAndOfTools) {
  SourceModel M = modelOf(R"cuda(
namespace { __global__ void hidden(float *p) { p[0] = 1; } }
static __global__ void stat(float *p) { p[0] = 1; }
namespace outer { namespace { template <typename T, int N> __global__ void both(const T *a, T *b, int n) { b[n] = a[N]; } } }
__global__ void over(int *p) { p[0] = 1; }
__global__ void over(float *p) { p[0] = 1; }
template <typename T> __global__ void over(T *p, int n) { p[n] = 1; }
template <> __global__ void over<short>(short *p, int n) { p[n] = 2; }
struct Class { template <bool B> static __global__ void run(int *p) { p[0] = B; } };
extern "C" __global__ void plainC(int *p) { p[0] = 1; }
void launch(float *f, int *i, short *s) {
  hidden<<<1, 1>>>(f);
  stat<<<1, 1>>>(f);
  outer::both<float, 4><<<1, 1>>>(f, f, 1);
  over<<<1, 1>>>(f, 3);
  over<<<1, 1>>>(s, 3);
  Class::run<true><<<1, 1>>>(i);
}
)cuda");
  auto LineOf = [&](StringRef Symbol) -> unsigned {
    const Function *F = M.functionForSymbol(Symbol);
    return F ? F->Definition.BeginLine : 0;
  };
  // As Clang mangles, as nvcc does, and as tools print.
  EXPECT_EQ(LineOf("_ZN12_GLOBAL__N_16hiddenEPf"), 2u);
  EXPECT_EQ(LineOf("_ZN36_GLOBAL__N__7a0cf336_4_d_cu_d589cb606hiddenEPf"), 2u);
  EXPECT_EQ(LineOf("(anonymous namespace)::hidden(float *)"), 2u);
  EXPECT_EQ(LineOf("<unnamed>::hidden(float *)"), 2u);
  EXPECT_EQ(LineOf("_ZL4statPf"), 3u);
  EXPECT_EQ(LineOf("_Z4statPf"), 3u);
  EXPECT_EQ(LineOf("__nv_static_25__7a0cf336_4_d_cu_d589cb60__Z4statPf"), 3u);
  EXPECT_EQ(LineOf("__nv_static_25__7a0cf336_4_d_cu_d589cb60__ZN36_GLOBAL__N__7a0cf336_4_d_cu_"
                   "d589cb606hiddenEPf"),
            2u);
  EXPECT_EQ(LineOf("stat"), 3u);
  EXPECT_EQ(LineOf("_ZN5outer36_GLOBAL__N__7a0cf336_4_d_cu_d589cb604bothIfLi4EEEvPKT_PS2_i"), 4u);
  EXPECT_EQ(LineOf("void outer::<unnamed>::both<float, (int)4>(const T1 *, T1 *, int)"), 4u);
  EXPECT_EQ(LineOf("void outer::(anonymous namespace)::both<float, 4>(float const*, float*, int)"), 4u);
  EXPECT_EQ(LineOf("_Z4overPi"), 5u);
  EXPECT_EQ(LineOf("over(int *)"), 5u);
  EXPECT_EQ(LineOf("over(float *)"), 6u);
  EXPECT_EQ(LineOf("void over<float>(T1 *, int)"), 7u);
  EXPECT_EQ(LineOf("void over<short>(T1 *, int)"), 8u);
  EXPECT_EQ(LineOf("void Class::run<(bool)1>(int *)"), 9u);
  EXPECT_EQ(LineOf("_ZN5Class3runILb1EEEvPi"), 9u);
  EXPECT_EQ(LineOf("plainC"), 10u);
  // Another instantiation than this unit's is the same kernel all the same.
  EXPECT_EQ(LineOf("_ZN5Class3runILb0EEEvPi"), 9u);
  // Strangers and junk.
  for (StringRef S : {"", "_Z", "__nv_static_", "__nv_static_99__Z4statPf", "_Z9strangersPi", "hiddenx", "overx(int *)", "<<<", "a<b", "((",
                      "_ZN34_GLOBAL__N__6hiddenEPf", "void cub::Device<int>::run(int)"})
    EXPECT_EQ(LineOf(S), 0u) << S.str();
}
