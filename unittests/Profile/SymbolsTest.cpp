// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "optimas/Profile/Profile.h"
#include "gtest/gtest.h"

using namespace optimas;

TEST(Symbols, NvccAndClangManglingsOfOneKernelAreOneName) {
  EXPECT_EQ(canonicalSymbol("_ZN32_GLOBAL__N__a1b2c3d4_7_main_cu_x4kernEPf"),
            "(anonymous namespace)::kern(float*)");
  EXPECT_EQ(canonicalSymbol("_ZN12_GLOBAL__N_14kernEPf"),
            "(anonymous namespace)::kern(float*)");
  EXPECT_EQ(canonicalSymbol("_Z4statPf"), "stat(float*)");
  EXPECT_EQ(canonicalSymbol("_ZL4statPf"), "stat(float*)");
  EXPECT_EQ(canonicalSymbol(
                "_ZN37_INTERNAL_69a8216d_7_topk_cu_531d99ed9atomicAddEPii"),
            "atomicAdd(int*, int)");
}

TEST(Symbols, PrintedNamesAreNormalised) {
  EXPECT_EQ(canonicalSymbol(
                "topkHits(int, int, int, const float *, const int *, int *)"),
            canonicalSymbol("_Z8topkHitsiiiPKfPKiPi"));
  EXPECT_EQ(
      canonicalSymbol("<unnamed>::anon(float *)"),
      canonicalSymbol("_ZN37_GLOBAL__N__07bdb307_8_names_cu_cname4anonEPf"));
  EXPECT_EQ(canonicalSymbol("void a::f<const int *, (int)3, (bool)1>(T1)"),
            "a::f<int const*, 3, 1>(T1)");
  EXPECT_EQ(canonicalSymbol("f(const char *const *, int (*)[4])"),
            "f(char const* const*, int(*)[4])");
  EXPECT_EQ(canonicalSymbol("cname"), "cname");
  EXPECT_EQ(canonicalSymbol(canonicalSymbol("_Z4copyIfEvPKT_PS0_i")),
            "copy<float>(float const*, float*, int)");
}

TEST(Symbols, BaseNameKeepsNamespacesOnly) {
  EXPECT_EQ(baseName("void copy<float>(float const*, float*, int)"), "copy");
  EXPECT_EQ(baseName("_Z4copyIfEvPKT_PS0_i"), "copy");
  EXPECT_EQ(baseName("(anonymous namespace)::kern(float*)"),
            "(anonymous namespace)::kern");
  EXPECT_EQ(baseName("void a::S<int, X<3>>::f<Y<Z>>(int)"), "a::S::f");
}

namespace {
struct Pair {
  const char *Symbol, *Source, *Raw;
};
} // namespace

/// What Nsight Compute 2025.3 prints on its source and raw pages for kernels
/// that nvcc 13.0 mangles so.
static const Pair Printed[] = {
    {"_ZN37_GLOBAL__N__07bdb307_8_names_cu_cname4anonEPf",
     "<unnamed>::anon(float *)", "<unnamed>::anon(float *)"},
    {"_ZN37_GLOBAL__N__07bdb307_8_names_cu_cname5anonTIiEEvPT_NS_5LocalE",
     "void <unnamed>::anonT<int>(T1 *, <unnamed>::Local)",
     "void <unnamed>::anonT<int>(T1 *, <unnamed>::Local)"},
    {"_Z4statPf", "stat(float *)", "stat(float *)"},
    {"_ZN1a1b6nestedIdLi3ELb1EEEvNS0_3VecIT_XT0_EEEPS3_y",
     "void a::b::nested<double, (int)3, (bool)1>(a::b::Vec<T1, T2>, T1 *, "
     "unsigned long long)",
     "void a::nested<double, 3, 1>(a::Vec<T1, T2>, T1 *, unsigned long long)"},
    {"_ZN1a1b2enILNS0_1EE1EEEvPKPKcPS2_",
     "void a::b::en<(a::b::E)1>(const char *const *, a::b::E *)",
     "void a::en<1>(const char *const *, a::E *)"},
    {"_Z5applyIZ4mainEUliE_EvT_i",
     "void apply<main::[lambda(int) (instance 1)]>(T1, int)",
     "void apply<main::[lambda(int) (instance 1)]>(T1, int)"},
    {"_Z8variadicIJifdEEvDpPT_", "void variadic<int, float, double>(T1 *...)",
     "void variadic<int, float, double>(T1 *...)"},
    {"cname", "cname", "cname"},
    {"_Z4copyI6float4EvPKT_PS1_i", "void copy<float4>(const T1 *, T1 *, int)",
     "void copy<float4>(const T1 *, T1 *, int)"},
    {"_Z4copyIhEvPKT_PS0_i", "void copy<unsigned char>(const T1 *, T1 *, int)",
     "void copy<unsigned char>(const T1 *, T1 *, int)"},
    {"_Z4refs4int2P6float44dim3bjmPv",
     "refs(int2, float4 *, dim3, bool, unsigned int, unsigned long, void *)",
     "refs(int2, float4 *, dim3, bool, unsigned int, unsigned long, void *)"},
    {"_Z5overlPi", "overl(int *)", "overl(int *)"},
    {"_Z5overlPf", "overl(float *)", "overl(float *)"},
};

TEST(Symbols, EachPrintedNameMatchesItsSymbolAlone) {
  for (const Pair &Name : Printed)
    for (const Pair &Other : Printed) {
      bool Same = &Name == &Other;
      EXPECT_EQ(symbolsMatch(Name.Symbol, Other.Source), Same)
          << Name.Symbol << " and " << Other.Source;
      EXPECT_EQ(symbolsMatch(Other.Raw, Name.Symbol), Same)
          << Name.Symbol << " and " << Other.Raw;
      EXPECT_EQ(symbolsMatch(Name.Source, Other.Raw), Same)
          << Name.Source << " and " << Other.Raw;
    }
}

TEST(Symbols, ABareNameMatchesEveryInstantiation) {
  EXPECT_TRUE(symbolsMatch("copy", "_Z4copyIhEvPKT_PS0_i"));
  EXPECT_FALSE(symbolsMatch("cop", "_Z4copyIhEvPKT_PS0_i"));
}

TEST(Symbols, MangledNamesMatchByAllOfTheName) {
  EXPECT_TRUE(symbolsMatch("_Z4statPf", "_ZL4statPf"));
  EXPECT_FALSE(symbolsMatch("_Z5overlPi", "_Z5overlPf"));
  EXPECT_FALSE(symbolsMatch("_ZN1a1fEv", "_ZN1a1b1fEv"));
}

TEST(Symbols, DamagedNamesAreNames) {
  for (const char *Text :
       {"", " ", "<", ">", "(", ")", "::", "a<(", "_Z", "_ZN", "f(,)",
        "[lambda", "'lambda", "$_Z", "const", "void f<const"}) {
    canonicalSymbol(Text);
    baseName(Text);
    EXPECT_TRUE(symbolsMatch(Text, Text));
  }
  // Nesting must not cost the stack.
  std::string Deep = "f";
  for (const char *Part : {"(", "<", "f<(", "const "})
    for (unsigned I = 0; I < 20000; ++I)
      Deep += Part;
  canonicalSymbol(Deep);
  canonicalSymbol("_Z1f" + std::string(60000, 'P') + "i");
  canonicalSymbol("_Z1fI" + std::string(60000, 'I'));
}
