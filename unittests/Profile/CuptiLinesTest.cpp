// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUPTI gives an instruction's innermost line, without a GPU: the line-table
// decoder must agree with it everywhere.

#include "Recorded.h"
#include "optimas/Support/Subprocess.h"
#include "gtest/gtest.h"
#include <cupti.h>
#include <cupti_pcsampling.h>

using namespace llvm;
using namespace optimas;

/// `file:line` as CUPTI has it, with or without its folder; empty when it has
/// none.
static std::string cuptiLine(StringRef Image, const std::string &Symbol,
                             uint64_t Offset, std::string &Folder) {
  CUpti_GetSassToSourceCorrelationParams Params = {};
  Params.size = sizeof(Params);
  Params.cubin = Image.data();
  Params.cubinSize = Image.size();
  Params.functionName = Symbol.c_str();
  Params.pcOffset = Offset;
  if (cuptiGetSassToSourceCorrelation(&Params) != CUPTI_SUCCESS)
    return "";
  std::string Line = std::string(Params.fileName ? Params.fileName : "") + ":" +
                     std::to_string(Params.lineNumber);
  Folder = Params.dirName ? Params.dirName : "";
  free(Params.fileName);
  free(Params.dirName);
  return Line;
}

/// Compares every instruction of every kernel; returns how many.
static unsigned compare(StringRef Image, StringRef Name) {
  Expected<Cubin> C = Cubin::parse(Image, Name);
  EXPECT_TRUE(bool(C)) << toString(C.takeError());
  if (!C)
    return 0;
  unsigned Compared = 0;
  for (const CubinFunction &F : C->functions()) {
    if (!F.IsKernel)
      continue;
    for (uint64_t Offset = 0; Offset < F.Code.size(); Offset += 16) {
      std::string Folder;
      std::string Theirs = cuptiLine(Image, F.Symbol, Offset, Folder);
      std::vector<SourceFrame> Chain = C->frames(F, Offset);
      EXPECT_FALSE(Chain.empty()) << F.Symbol << " at " << Offset;
      if (Chain.empty())
        continue;
      EXPECT_EQ(Theirs, sys::path::filename(Chain[0].File).str() + ":" +
                            std::to_string(Chain[0].Line))
          << Name.str() << ": " << F.Symbol << " at " << Offset;
      // CUPTI resolves `bin/..`.
      SmallString<128> Mine(sys::path::parent_path(Chain[0].File));
      sys::path::remove_dots(Mine, /*remove_dot_dot=*/true);
      EXPECT_EQ(StringRef(Folder).rtrim('/').str(), Mine.str().str())
          << Name.str() << ": " << F.Symbol << " at " << Offset;
      ++Compared;
    }
  }
  return Compared;
}

TEST(CuptiLines, RecordedCubins) {
  EXPECT_EQ(compare(recorded("topk", "topk.cubin"), "topk"), 128u);
  EXPECT_EQ(compare(recorded("stream", "stream.cubin"), "stream"), 400u);
  EXPECT_EQ(compare(recorded("transpose", "transpose.cubin"), "transpose"),
            80u);
}

/// Builds Inputs/lines.cu and returns the cubin.
static std::string build(StringRef Architecture, const ScratchDir &Scratch) {
  SubprocessOptions Options;
  std::string Output = Scratch.file((Architecture + ".cubin").str());
  Options.Args = {OPTIMAS_NVCC, "-arch=" + Architecture.str(),
                  "-O3",        "-lineinfo",
                  "-cubin",     "-o",
                  Output,       OPTIMAS_PROFILE_INPUTS "/lines.cu"};
  SubprocessResult Result = cantFail(runSubprocess(Options));
  EXPECT_TRUE(Result.ok()) << Result.Error;
  return cantFail(readFile(Output, ExitCode::Internal));
}

class CuptiLinesOf : public testing::TestWithParam<const char *> {};

TEST_P(CuptiLinesOf, NestedInliningTemplatesMacrosAndHeaders) {
  ScratchDir Scratch = cantFail(ScratchDir::create("optimas-lines"));
  std::string Image = build(GetParam(), Scratch);
  unsigned Compared = compare(Image, GetParam());
  RecordProperty("compared", int(Compared));
  EXPECT_GT(Compared, 300u);

  // Some instruction of square() was inlined through norm() into the kernel.
  Cubin C = cantFail(Cubin::parse(Image, GetParam()));
  const CubinFunction *Nested = C.function("_Z6nestedPfi");
  ASSERT_TRUE(Nested);
  std::set<std::vector<unsigned>> Chains;
  for (uint64_t Offset = 0; Offset < Nested->Code.size(); Offset += 16) {
    std::vector<unsigned> Lines;
    for (const SourceFrame &Frame : C.frames(*Nested, Offset))
      Lines.push_back(Frame.Line);
    Chains.insert(Lines);
  }
  EXPECT_TRUE(Chains.count({7, 12, 30})) << "square in norm in nested";
  EXPECT_TRUE(Chains.count({7, 12, 31})) << "the same from the second call";

  // sm_90 and later reserve 1024 bytes in the same section.
  ASSERT_TRUE(C.function("_Z6sharedPf"));
  EXPECT_EQ(C.function("_Z6sharedPf")->StaticShared, 1024u);
  EXPECT_EQ(Nested->StaticShared, 0u);

  // What was not inlined is a function of its own behind the kernel.
  const CubinFunction *Calls = C.function("_Z5callsPfi");
  ASSERT_TRUE(Calls);
  bool FoundSlow = false;
  for (uint64_t Offset = 0; Offset < Calls->Code.size(); Offset += 16)
    for (const SourceFrame &Frame : C.frames(*Calls, Offset))
      FoundSlow |= StringRef(Frame.Function).starts_with("_Z4slow");
  EXPECT_TRUE(FoundSlow);
}

INSTANTIATE_TEST_SUITE_P(Architectures, CuptiLinesOf,
                         testing::Values("sm_80", "sm_90", "sm_100", "sm_120"));
