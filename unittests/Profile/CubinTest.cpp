// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Recorded.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace optimas;

static const CubinFunction &topkHits(const Cubin &C) {
  const CubinFunction *F = C.function("_Z8topkHitsiiiPKfPKiPi");
  EXPECT_TRUE(F);
  return *F;
}

/// `file:line function` of each frame, innermost first.
static std::string chain(const Cubin &C, const CubinFunction &F,
                         uint64_t Offset) {
  std::string Text;
  for (const SourceFrame &Frame : C.frames(F, Offset))
    Text += (Text.empty() ? "" : " < ") + Frame.File + ":" +
            std::to_string(Frame.Line) + " " + Frame.Function;
  return Text;
}

TEST(Cubin, ResourcesAreWhatTheProfilerSays) {
  Cubin C = recordedCubin("topk");
  EXPECT_EQ(C.sm(), 90u);
  ASSERT_EQ(C.functions().size(), 1u);
  const CubinFunction &F = topkHits(C);
  EXPECT_TRUE(F.IsKernel);
  EXPECT_EQ(F.Code.size(), 2048u);
  EXPECT_EQ(F.Registers, 17u);
  EXPECT_EQ(F.StaticShared, 1024u);
  EXPECT_EQ(F.LocalBytes, 0u);
}

TEST(Cubin, AnUninlinedLineHasOneFrame) {
  Cubin C = recordedCubin("topk");
  EXPECT_EQ(chain(C, topkHits(C), 0x230),
            "/src/topk.cu:40 _Z8topkHitsiiiPKfPKiPi");
}

TEST(Cubin, AnInlinedLineHasTheHelperAndTheCall) {
  Cubin C = recordedCubin("topk");
  EXPECT_EQ(
      chain(C, topkHits(C), 0x350),
      "/src/topk.cu:24 _Z8blockSumi < /src/topk.cu:44 _Z8topkHitsiiiPKfPKiPi");
}

TEST(Cubin, EveryFunctionOfAUnitHasItsOwnRows) {
  Cubin C = recordedCubin("stream");
  EXPECT_EQ(C.functions().size(), 10u);
  for (const CubinFunction &F : C.functions()) {
    auto First = C.frames(F, 0);
    ASSERT_EQ(First.size(), 1u) << F.Symbol;
    EXPECT_EQ(First[0].Function, F.Symbol);
  }
  const CubinFunction *Dot = C.function("_Z3dotIfEvPKT_S2_PS0_i");
  ASSERT_TRUE(Dot);
  EXPECT_EQ(C.frames(*Dot, 0)[0].Line, 47u);
}

TEST(Cubin, ACutFileIsAnError) {
  std::string Bytes = recorded("topk", "topk.cubin");
  for (size_t Size = 0; Size < Bytes.size(); ++Size) {
    auto C = Cubin::parse(StringRef(Bytes).take_front(Size), "cut.cubin");
    ASSERT_FALSE(bool(C)) << "at " << Size;
    ASSERT_EQ(exitCodeOf(C.takeError()), ExitCode::EvidenceUnusable);
  }
}

TEST(Cubin, AFlippedByteIsNoCrash) {
  std::string Bytes = recorded("topk", "topk.cubin");
  for (size_t At = 0; At < Bytes.size(); ++At) {
    std::string Damaged = Bytes;
    Damaged[At] = char(~Damaged[At]);
    auto C = Cubin::parse(Damaged, "damaged.cubin");
    if (!C) {
      consumeError(C.takeError());
      continue;
    }
    for (const CubinFunction &F : C->functions())
      for (const Instruction &I : C->instructions(F))
        C->frames(F, I.Offset);
  }
}

TEST(Cubin, AHostObjectIsRefusedByName) {
  std::string Message = messageOf(Cubin::parse("\x7f"
                                               "ELF",
                                               "a.o"));
  EXPECT_NE(Message.find("a.o: damaged cubin"), std::string::npos) << Message;
  Message = messageOf(Cubin::parse("//\n", "a.cu"));
  EXPECT_NE(Message.find("a.cu: not a cubin"), std::string::npos) << Message;
}
