//===- SyntheticTest.cpp - Evidence of hand-made profiles -------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnalysisTest.h"
#include "optimas/Analysis/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace optimas;

namespace {
using Lines = std::vector<unsigned>;

/// A load and its use in one kernel, on lines \p Load and \p Use of \p File.
void loadAndUse(ProfileBuilder &B, const std::string &Symbol, const std::string &File,
                unsigned Load, unsigned Use, uint64_t Samples = 1000) {
  std::string At = File + ":";
  B.function(Symbol)
      .pc("LDG.E R3, desc[UR4][R2.64]", {At + std::to_string(Load)})
      .pc("FADD R5, R3, R3", {At + std::to_string(Use)},
          {stall("long_scoreboard", Samples)})
      .pc("EXIT", {At + std::to_string(Use)});
}

const char *Plain = R"(__global__ void scale(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = in[i];
  out[i] = v + v;
}
void run(float *a, float *b, int n) { scale<<<(n + 255) / 256, 256>>>(a, b, n); }
)";

TEST(Synthetic, SassTextAloneNamesTheLoadWithLessConfidence) {
  const SourceModel &M = modelOf({{"k.cu", Plain}});
  ProfileBuilder B(&M);
  loadAndUse(B, "scale(const float *, float *, int)", "/elsewhere/k.cu", 5, 6);
  Diagnosis D = diagnose(M, B.P);
  const Evidence &E = topOf(D, "scale");
  EXPECT_EQ(producerLines(E), Lines{5});
  EXPECT_EQ(E.Consumer.Line, 6u);
  EXPECT_EQ(E.Consumer.Text, "out[i] = v + v;");
  EXPECT_LT(E.Confidence, 0.9);
  EXPECT_TRUE(D.Kernels[0].TimeFromSamples);
  // From the first declaration it needs to its last line, the signature, the launch.
  std::vector<std::string> Texts = regionTexts(D, M, E);
  ASSERT_EQ(Texts.size(), 3u);
  EXPECT_TRUE(llvm::StringRef(Texts[0]).starts_with("__global__ void scale("));
  EXPECT_TRUE(llvm::StringRef(Texts[1]).starts_with("int i = "));
  EXPECT_TRUE(llvm::StringRef(Texts[1]).ends_with("out[i] = v + v;"));
  EXPECT_EQ(Texts[2], "(n + 255) / 256, 256");
  EXPECT_TRUE(llvm::any_of(E.Needed, [](const LineRef &L) { return L.Line == 2; }));
}

TEST(Synthetic, NeitherCubinNorTextStaysWithTheConsumer) {
  const SourceModel &M = modelOf({{"k.cu", Plain}});
  ProfileBuilder B(&M);
  B.function("_Z5scalePKfPfi").pc("", {"k.cu:6"}, {stall("long_scoreboard", 100)});
  Diagnosis D = diagnose(M, B.P);
  const Evidence &E = topOf(D, "scale");
  EXPECT_TRUE(E.Producers.empty());
  EXPECT_FALSE(E.UnresolvedWhy.empty());
  EXPECT_EQ(E.where().Line, 6u);
  EXPECT_EQ(E.Metric, "latency_samples:long_scoreboard@line6");
  EXPECT_NE(E.Sentence.find("not known"), std::string::npos);
}

TEST(Synthetic, SelectedIsNoStallAndTotalsCountLatencyOnly) {
  const SourceModel &M = modelOf({{"k.cu", Plain}});
  ProfileBuilder B(&M);
  B.function("_Z5scalePKfPfi")
      .pc("LDG.E R3, desc[UR4][R2.64]", {"k.cu:5"}, {{"selected", 900, 0}})
      .pc("FADD R5, R3, R3", {"k.cu:6"},
          {{"long_scoreboard", 500, 300}, {"not_selected", 900, 0}, {"wait", 100, 0}});
  Diagnosis D = diagnose(M, B.P);
  EXPECT_EQ(D.Kernels[0].LatencySamples, 300u);
  ASSERT_EQ(D.Items.size(), 1u);
  EXPECT_EQ(D.Items[0].Samples, 300u);
}

TEST(Synthetic, WithoutLatencySamplesAllSamplesCount) {
  const SourceModel &M = modelOf({{"k.cu", Plain}});
  ProfileBuilder B(&M);
  B.function("_Z5scalePKfPfi")
      .pc("LDG.E R3, desc[UR4][R2.64]", {"k.cu:5"}, {{"selected", 900, 0}})
      .pc("FADD R5, R3, R3", {"k.cu:6"}, {{"long_scoreboard", 500, 0}});
  Diagnosis D = diagnose(M, B.P);
  ASSERT_EQ(D.Items.size(), 1u);
  EXPECT_EQ(D.Items[0].Samples, 500u);
}

TEST(Synthetic, AnonymousNamespaceAndStaticKernelsJoin) {
  const SourceModel &M = modelOf({{"k.cu", R"(namespace {
__global__ void hidden(const float *a, float *b) {
  float v = a[threadIdx.x];
  b[threadIdx.x] = v * 2;
}
}
static __global__ void stat(const float *a, float *b) {
  float v = a[threadIdx.x];
  b[threadIdx.x] = v * 3;
}
void run(float *a, float *b) { hidden<<<1, 32>>>(a, b); stat<<<1, 32>>>(a, b); }
)"}});
  ProfileBuilder B(&M);
  loadAndUse(B, "_ZN32_GLOBAL__N__a1b2c3d4_4_k_cu_12346hiddenEPKfPf", "k.cu", 3, 4, 500);
  loadAndUse(B, "_Z4statPKfPf", "k.cu", 8, 9, 900);
  Diagnosis D = diagnose(M, B.P);
  ASSERT_EQ(D.Kernels.size(), 2u);
  EXPECT_EQ(producerLines(topOf(D, "stat")), Lines{8});
  const Evidence &Hidden = topOf(D, M.functions()[0].Name);
  EXPECT_EQ(producerLines(Hidden), Lines{3});
  EXPECT_NE(D.Kernels[0].Function, NoId);
  EXPECT_NE(D.Kernels[1].Function, NoId);
  // stat has more samples, so it comes first.
  EXPECT_EQ(D.Kernels[0].Name, "stat");
  EXPECT_EQ(D.Items.front().KernelName, "stat");
}

TEST(Synthetic, AKernelOfTheSameNameInAnotherFileIsAnother) {
  const SourceModel &M = modelOf({{"k.cu", Plain}});
  ProfileBuilder B(&M);
  loadAndUse(B, "_Z5scalePKfPfi", "k.cu", 5, 6, 600);
  B.P.Functions.back().ModuleId = "ours";
  loadAndUse(B, "_Z5scalePKfPfi", "elsewhere.cu", 5, 6, 400);
  B.P.Functions.back().ModuleId = "theirs";
  Diagnosis D = diagnose(M, B.P);
  ASSERT_EQ(D.Kernels.size(), 2u);
  EXPECT_NE(D.Kernels[0].Function, NoId);
  EXPECT_EQ(D.Kernels[0].LatencySamples, 600u);
  EXPECT_EQ(D.Kernels[1].Function, NoId);
}

TEST(Synthetic, InstantiationsOfOneKernelAreOne) {
  const SourceModel &M = modelOf({{"k.cu", R"(template <typename T> __global__ void twice(const T *a, T *b) {
  T v = a[threadIdx.x];
  b[threadIdx.x] = v + v;
}
void run(float *a, double *b) {
  twice<<<1, 32>>>(a, a);
  twice<<<1, 32>>>(b, b);
}
)"}});
  ProfileBuilder B(&M);
  loadAndUse(B, "_Z5twiceIfEvPKT_PS0_", "k.cu", 2, 3, 600);
  loadAndUse(B, "_Z5twiceIdEvPKT_PS0_", "k.cu", 2, 3, 400);
  Diagnosis D = diagnose(M, B.P);
  ASSERT_EQ(D.Kernels.size(), 1u);
  EXPECT_EQ(D.Kernels[0].Symbols.size(), 2u);
  ASSERT_EQ(D.Items.size(), 1u);
  EXPECT_EQ(D.Items[0].Samples, 1000u);
  EXPECT_EQ(D.Items[0].Producers.size(), 2u);
  EXPECT_NE(D.Items[0].Sentence.find("the load of line 2"), std::string::npos);
  EXPECT_NE(D.Items[0].Sentence.find("100.0 %"), std::string::npos);
}

TEST(Synthetic, KernelInAHeader) {
  const SourceModel &M = modelOf(
      {{"k.cu", "#include \"k.cuh\"\nvoid run(float *a) { inc<<<1, 32>>>(a); }\n"},
       {"k.cuh", "#pragma once\n__global__ void inc(float *a) {\n  float v = a[0];\n"
                 "  a[0] = v + 1;\n}\n"}});
  ProfileBuilder B(&M);
  loadAndUse(B, "_Z3incPf", "/build/k.cuh", 3, 4);
  Diagnosis D = diagnose(M, B.P);
  const Evidence &E = topOf(D, "inc");
  EXPECT_TRUE(llvm::StringRef(E.where().Path).ends_with("k.cuh"));
  EXPECT_EQ(E.where().Line, 3u);
  EXPECT_EQ(E.Metric, "latency_samples:long_scoreboard@line3");
  EXPECT_EQ(regionTexts(D, M, E).size(), 3u);
}

TEST(Synthetic, HelperInlinedTwiceImplicatesBothCalls) {
  const SourceModel &M = modelOf({{"k.cu", R"(#include "helper.cuh"
__global__ void use(const float *a, float *b) {
  float x = fetch(a, 0);
  float y = fetch(a, 7);
  b[threadIdx.x] = x + y;
}
void run(float *a, float *b) { use<<<1, 32>>>(a, b); }
)"},
                           {"helper.cuh", "#pragma once\n__device__ inline float fetch("
                                          "const float *p, int i) {\n"
                                          "  return p[threadIdx.x + i];\n}\n"}});
  ProfileBuilder B(&M);
  B.function("_Z3usePKfPf")
      .pc("LDG.E R3, desc[UR4][R2.64]", {"helper.cuh:3", "k.cu:3"})
      .pc("LDG.E R4, desc[UR4][R2.64+0x1c]", {"helper.cuh:3", "k.cu:4"})
      .pc("FADD R5, R3, R4", {"k.cu:5"}, {stall("long_scoreboard", 100)})
      .pc("EXIT", {"k.cu:6"});
  Diagnosis D = diagnose(M, B.P);
  const Evidence &E = topOf(D, "use");
  EXPECT_EQ(E.where().Line, 3u);
  EXPECT_TRUE(llvm::StringRef(E.where().Path).ends_with("helper.cuh"));
  EXPECT_EQ(E.Metric, "latency_samples:long_scoreboard@helper.cuh:3");
  EXPECT_EQ(E.Producers.size(), 2u);
  std::set<std::pair<std::string, unsigned>> Found;
  for (const LineRef &L : E.Lines)
    Found.insert({L.Path.substr(L.Path.rfind('/') + 1), L.Line});
  EXPECT_EQ(Found, (std::set<std::pair<std::string, unsigned>>{
                       {"helper.cuh", 3}, {"k.cu", 3}, {"k.cu", 4}, {"k.cu", 5}}));
  std::vector<std::string> Texts = regionTexts(D, M, E);
  EXPECT_TRUE(llvm::is_contained(Texts, "return p[threadIdx.x + i];"));
  EXPECT_TRUE(llvm::any_of(Texts, [](llvm::StringRef T) {
    return T.starts_with("float x = fetch(a, 0);") && T.ends_with("b[threadIdx.x] = x + y;");
  }));
}

TEST(Synthetic, SentencesSayHowTheKernelReachesALine) {
  const SourceModel &M = modelOf({{"k.cu", R"(__device__ float inner(const float *p) {
  float x = *p;
  return x + 1;
}
__device__ float outer(const float *p) {
  return inner(p + 1);
}
__global__ void deep(const float *a, float *b, int n) {
  if (threadIdx.x >= n) return;
  b[0] = outer(a);
}
__global__ void flat(const float *a, float *b) {
  b[0] = inner(a);
}
)"}});
  ProfileBuilder B(&M);
  B.function("_Z4deepPKfPfi")
      .pc("@P0 EXIT", {"k.cu:9"})
      .pc("LDG.E R3, desc[UR4][R2.64]", {"k.cu:2", "k.cu:6", "k.cu:10"}, {stall("drain", 50)})
      .pc("FADD R5, R3, R3", {"k.cu:3", "k.cu:6", "k.cu:10"}, {stall("long_scoreboard", 100)})
      .pc("EXIT", {"k.cu:11"});
  Diagnosis D = diagnose(M, B.P);
  EXPECT_NE(topOf(D, "deep").Sentence.find("; `inner` is reached through line 10"),
            std::string::npos)
      << topOf(D, "deep").Sentence;
  ASSERT_EQ(D.Items.size(), 2u);
  EXPECT_EQ(D.Items[1].Sentence.find("warps that leave at line 9 wait until they are "
                                     "retired, no store of theirs being under way: "),
            0u)
      << D.Items[1].Sentence;
  // Not where it was sampled, which has not begun.
  EXPECT_EQ(D.Items[1].Consumer.Line, 9u);
  EXPECT_EQ(D.Items[1].ConsumerOpcode, "EXIT");
  EXPECT_EQ(D.Items[1].Lines.size(), 1u);
  EXPECT_EQ(D.Items[1].Pcs, std::vector<uint64_t>{16});
  ProfileBuilder C(&M);
  C.function("_Z4flatPKfPf")
      .pc("LDG.E R3, desc[UR4][R2.64]", {"k.cu:2", "k.cu:13"})
      .pc("FADD R5, R3, R3", {"k.cu:3", "k.cu:13"}, {stall("long_scoreboard", 100)})
      .pc("EXIT", {"k.cu:14"});
  D = diagnose(M, C.P);
  EXPECT_NE(topOf(D, "flat").Sentence.find("; `inner` is called at line 13"),
            std::string::npos)
      << topOf(D, "flat").Sentence;
}

TEST(Synthetic, SamplesInALibraryHeaderGoToTheCallInTheSource) {
  const SourceModel &M = modelOf({{"k.cu", Plain}});
  ProfileBuilder B(&M);
  B.function("_Z5scalePKfPfi")
      .pc("LDG.E R3, desc[UR4][R2.64]", {"/usr/include/lib.hpp:77", "k.cu:5"})
      .pc("FADD R5, R3, R3", {"/usr/include/lib.hpp:78", "k.cu:6"},
          {stall("long_scoreboard", 100)});
  const Diagnosis D = diagnose(M, B.P);
  EXPECT_EQ(topOf(D, "scale").Consumer.Line, 6u);
  EXPECT_EQ(producerLines(topOf(D, "scale")), Lines{5});
}

TEST(Synthetic, NotInlinedHelpersCountForTheirKernel) {
  const SourceModel &M = modelOf({{"k.cu", R"(__device__ __noinline__ float slow(const float *p) {
  float v = p[threadIdx.x];
  return v * v;
}
__global__ void use(const float *a, float *b) { b[threadIdx.x] = slow(a); }
void run(float *a, float *b) { use<<<1, 32>>>(a, b); }
)"}});
  ProfileBuilder B(&M);
  loadAndUse(B, "_Z3usePKfPf", "k.cu", 5, 5, 10);
  loadAndUse(B, "_Z4slowPKf", "k.cu", 2, 3, 990);
  Diagnosis D = diagnose(M, B.P);
  ASSERT_EQ(D.Kernels.size(), 1u);
  const Evidence &E = topOf(D, "use");
  EXPECT_EQ(E.where().Line, 2u);
  EXPECT_EQ(E.Samples, 990u);
  EXPECT_TRUE(llvm::any_of(regionTexts(D, M, E), [](llvm::StringRef T) {
    return T.contains("float v = p[threadIdx.x];");
  }));
}

TEST(Synthetic, CoverageCutsTheTail) {
  const SourceModel &M = modelOf({{"k.cu", Plain}});
  ProfileBuilder B(&M);
  B.function("_Z5scalePKfPfi")
      .pc("LDG.E R3, desc[UR4][R2.64]", {"k.cu:5"}, {stall("imc_miss", 30)})
      .pc("FADD R5, R3, R3", {"k.cu:6"},
          {stall("long_scoreboard", 500), stall("no_instructions", 450),
           stall("dispatch_stall", 5), stall("misc", 15)});
  Diagnosis D = diagnose(M, B.P);
  // Two cover 90 %, the third is listed because three may be, the rest is not.
  ASSERT_EQ(D.Items.size(), 3u);
  EXPECT_EQ(D.Items[0].Reason, "long_scoreboard");
  EXPECT_EQ(D.Items[1].Reason, "no_instructions");
  EXPECT_EQ(D.Items[2].Reason, "imc_miss");
  EXPECT_NEAR(D.Items[0].Weight, 500.0 / 980, 1e-12);
  AnalysisOptions All{100};
  All.StallCoverage = 1;
  EXPECT_EQ(diagnose(M, B.P, All).Items.size(), 5u);
  AnalysisOptions NoPc{100};
  NoPc.UsePc = false;
  EXPECT_NE(failure(M, B.P, NoPc).find("no evidence"), std::string::npos);
}

TEST(Synthetic, JsonHasTheDocumentedKeys) {
  const SourceModel &M = modelOf({{"k.cu", Plain}});
  ProfileBuilder B(&M);
  loadAndUse(B, "_Z5scalePKfPfi", "k.cu", 5, 6);
  B.P.Sources.emplace_back();
  B.P.Sources.back().File = "run.optimas.json";
  Diagnosis D = diagnose(M, B.P);
  llvm::json::Value V = toJson(D.Items[0], SourceFolder);
  const llvm::json::Object &O = *V.getAsObject();
  EXPECT_EQ(O.getString("id"), "E1");
  EXPECT_EQ(O.getString("kind"), "stall");
  EXPECT_EQ(O.getString("kernel"), "scale");
  EXPECT_EQ(O.getString("file"), "k.cu");
  EXPECT_EQ(O.getInteger("line"), 5);
  EXPECT_EQ(O.getString("direction"), "down");
  EXPECT_EQ(O.getObject("consumer")->getInteger("line"), 6);
  EXPECT_EQ(O.getObject("provenance")->getString("profile"), "run.optimas.json");
  ASSERT_EQ(O.getArray("producers")->size(), 1u);
  const llvm::json::Object &P = *(*O.getArray("producers"))[0].getAsObject();
  EXPECT_EQ(P.getString("opcode"), "LDG");
  EXPECT_EQ(P.getInteger("access_bytes"), 4);
  EXPECT_TRUE(O.getNumber("weight"));
  EXPECT_TRUE(O.getString("metric"));
  llvm::json::Value R = toJson(D.Regions[0], M, SourceFolder);
  EXPECT_EQ(R.getAsObject()->getString("id"), "R1");
  EXPECT_EQ(R.getAsObject()->getString("sha256")->size(), 64u);
  EXPECT_EQ(R.getAsObject()->getString("file"), "k.cu");
}

TEST(Synthetic, SummaryStaysSmallWhateverTheSource) {
  std::string Source = "__global__ void big(const float *a, float *b) {\n";
  for (unsigned I = 0; I != 200; ++I)
    Source += "  b[" + std::to_string(I) + "] = a[" + std::to_string(I) +
              "]; /* \xc3\xa4\xc3\xb6\xc3\xbc" + std::string(300, 'x') + " */\n";
  Source += "}\nvoid run(float *a, float *b) { big<<<1, 1>>>(a, b); }\n";
  const SourceModel &M = modelOf({{"k.cu", Source}});
  ProfileBuilder B(&M);
  B.function("_Z3bigPKfPf");
  for (unsigned I = 0; I != 200; ++I)
    B.pc("LDG.E R3, desc[UR4][R2.64]", {"k.cu:" + std::to_string(I + 2)},
         {stall("lg_throttle", 1000 - I)});
  AnalysisOptions All{100};
  All.StallCoverage = 1;
  Diagnosis D = diagnose(M, B.P, All);
  std::string Text = summarize(D, M, D.Kernels[0].Function);
  EXPECT_LE(Text.size(), 6u * 1024);
  EXPECT_GT(Text.size(), 1000u);
  EXPECT_TRUE(llvm::json::isUTF8(Text));
  EXPECT_NE(Text.find("kernel big"), std::string::npos);
  EXPECT_NE(Text.find("roofline: not available"), std::string::npos);
  EXPECT_EQ(summarize(D, M, NoId), "");
}

} // namespace
