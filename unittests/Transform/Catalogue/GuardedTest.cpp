//===- GuardedTest.cpp - The examples, from profile to accepted edits -----===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CatalogueTest.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Files.h"
#include "optimas/Transform/Guard.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace optimas {
using testing::Contains;
using testing::IsEmpty;

/// Every proposal that the recorded profile of an example leads to, with the
/// guard's word.
static std::vector<std::string> accepted(const std::string &Name) {
  std::string Root = OPTIMAS_EXAMPLES "/" + Name;
  Snippet S = Snippet::fromFile(Root + "/" + Name + ".cu", {});
  Profile P =
      cantFail(readProfile(Root + "/recorded/" + Name + ".optimas.json"));
  AnalysisOptions Options;
  Options.HotPercent = 100;
  Diagnosis D = cantFail(analyse(S.model(), P, Options));
  CatalogueResult R = proposeFromCatalogue({S.model(), D}, "*");
  std::vector<std::string> Titles;
  for (const Proposal &Each : R.Proposals) {
    SCOPED_TRACE(Each.Group + ": " + Each.Title);
    GuardOptions G;
    G.Trusted = true;
    G.Database = {S.model().originalCommand()};
    G.Frontend.ProjectRoot = canonicalPath(Root);
    EditSet Set = cantFail(guard(S.model(), D, Each, G));
    for (const Refusal &No : Set.Refusals)
      ADD_FAILURE() << No.Rule << ": " << No.Message;
    EXPECT_EQ(Set.Accepted.size(), Each.Edits.size());
    for (auto &[Path, Text] : Set.NewContents)
      EXPECT_EQ(Text, S.apply(Each))
          << "the guard places text otherwise than the test";
    Titles.push_back(Each.Group + ": " + Each.Title);
  }
  for (const Declined &N : R.Declines)
    Titles.push_back("declined " + S.model().function(N.Kernel).Name + ": " +
                     N.Transformation + " " + N.Rule);
  return Titles;
}

TEST(GuardedTest, Stream) {
  auto Titles = accepted("stream");
  for (const char *Kernel : {"copy", "mul", "add", "triad"})
    EXPECT_THAT(Titles, Contains(std::string(Kernel) + ": vectorized access"));
  for (const char *Batch : {"16", "8", "4"})
    EXPECT_THAT(
        Titles,
        Contains(std::string("dot: register accumulator + load batching by ") +
                 Batch));
}

TEST(GuardedTest, Topk) {
  auto Titles = accepted("topk");
  for (const char *Batch : {"16", "8", "4"})
    EXPECT_THAT(Titles,
                Contains(std::string("topkHits: load batching by ") + Batch));
}

TEST(GuardedTest, Transpose) {
  auto Titles = accepted("transpose");
  EXPECT_THAT(Titles, Contains("transposeTiled: shared padding of tile"));
  EXPECT_THAT(
      Titles,
      Contains(
          "declined transposeNaive: optimas-vectorized-access no-tail-guard"));
}

} // namespace optimas
