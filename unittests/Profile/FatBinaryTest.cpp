// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Recorded.h"
#include "optimas/Support/Subprocess.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

/// The host object of Inputs/lines.cu, built with \p Options.
static std::string object(const std::vector<std::string> &Options) {
  ScratchDir Scratch = cantFail(ScratchDir::create("optimas-fatbin"));
  SubprocessOptions Run;
  Run.Args = {OPTIMAS_NVCC,        "-c",
              "-lineinfo",         "-o",
              Scratch.file("a.o"), OPTIMAS_PROFILE_INPUTS "/lines.cu"};
  Run.Args.insert(Run.Args.end(), Options.begin(), Options.end());
  SubprocessResult Result = cantFail(runSubprocess(Run));
  EXPECT_TRUE(Result.ok()) << Result.Error;
  return cantFail(readFile(Scratch.file("a.o"), ExitCode::Internal));
}

static std::vector<unsigned>
architectures(const std::vector<std::string> &Images) {
  std::vector<unsigned> Result;
  for (const std::string &Image : Images) {
    Cubin C = cantFail(Cubin::parse(Image, "image"));
    EXPECT_TRUE(C.function("_Z6nestedPfi"));
    Result.push_back(C.sm());
  }
  return Result;
}

TEST(FatBinary, EveryCubinOfAnObjectIsFound) {
  std::string Bytes = object({"-gencode=arch=compute_80,code=sm_80",
                              "-gencode=arch=compute_90,code=sm_90",
                              "-Xfatbin=-compress-mode=none"});
  EXPECT_EQ(architectures(cantFail(Cubin::extract(Bytes))),
            std::vector<unsigned>({80, 90}));
}

TEST(FatBinary, CompressedCubinsAreUnpacked) {
  std::string Bytes = object({"-arch=sm_90", "-Xfatbin=-compress-all"});
  EXPECT_EQ(architectures(cantFail(Cubin::extract(Bytes))),
            std::vector<unsigned>({90}));
}

TEST(FatBinary, OldCompressionIsRefusedWithARemedy) {
  std::string Message =
      messageOf(Cubin::extract(object({"-arch=sm_90", "-Xfatbin=-compress-all",
                                       "-Xfatbin=-compress-mode=speed"})));
  EXPECT_NE(Message.find("-compress-mode=none"), std::string::npos) << Message;
}

TEST(FatBinary, ADamagedObjectIsAnError) {
  std::string Bytes = object({"-arch=sm_90"});
  for (size_t Size = 4; Size < Bytes.size(); Size += 61)
    messageOf(Cubin::extract(StringRef(Bytes).take_front(Size)));
  size_t At = Bytes.find("\x50\xed\x55\xba");
  ASSERT_NE(At, std::string::npos);
  for (size_t I = At; I < At + 160; ++I) {
    std::string Damaged = Bytes;
    Damaged[I] = char(~Damaged[I]);
    messageOf(Cubin::extract(Damaged));
  }
}

TEST(FatBinary, AnObjectWithoutDeviceCodeHasNone) {
  EXPECT_TRUE(cantFail(Cubin::extract("")).empty());
}
