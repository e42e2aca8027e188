//===- Text.cpp - Evidence cited, texts put together -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelView.h"

using namespace clang;

namespace optimas::recipes {

std::vector<unsigned> idsOf(llvm::ArrayRef<const Evidence *> Items) {
  std::vector<unsigned> Ids;
  for (const Evidence *E : Items)
    Ids.push_back(E->Id);
  return Ids;
}

double weightOf(llvm::ArrayRef<const Evidence *> Items) {
  double Sum = 0;
  for (const Evidence *E : Items)
    Sum += E->Weight;
  return std::min(Sum, 1.0);
}

void cite(Edit &E, llvm::ArrayRef<const Evidence *> Items) {
  E.Evidence = idsOf(Items);
  E.Metric = Items.front()->Metric;
  E.Move = Items.front()->Move;
}

double expectedSpeedup(double Weight, double Gain) {
  return 1 / (1 - Weight * (1 - 1 / Gain));
}

std::string substitute(const SourceModel &Model, const SourceRange &Whole,
                       std::vector<Hole> Holes) {
  llvm::sort(Holes, [](const Hole &A, const Hole &B) {
    return A.Range.Begin < B.Range.Begin;
  });
  llvm::StringRef Text = Model.text(Whole);
  std::string Out;
  unsigned At = Whole.Begin;
  for (const Hole &H : Holes) {
    Out += Text.slice(At - Whole.Begin, H.Range.Begin - Whole.Begin);
    Out += H.Text;
    At = H.Range.End;
  }
  Out += Text.drop_front(At - Whole.Begin);
  return Out;
}

bool holdsDirective(llvm::StringRef Text) {
  llvm::SmallVector<llvm::StringRef> Lines;
  Text.split(Lines, '\n');
  return llvm::any_of(
      Lines, [](llvm::StringRef L) { return L.ltrim().starts_with("#"); });
}

Writer &Writer::line(const llvm::Twine &Text) {
  std::string T = Text.str();
  if (!T.empty()) {
    Out += Base;
    for (unsigned I = 0; I < Level; ++I)
      Out += Unit;
  }
  Out += T;
  Out += '\n';
  return *this;
}

Writer &Writer::open(const llvm::Twine &Text) {
  line(Text);
  ++Level;
  return *this;
}

Writer &Writer::close(llvm::StringRef Text) {
  --Level;
  return line(Text);
}

Writer &Writer::code(llvm::StringRef Text, llvm::StringRef OldIndent) {
  llvm::SmallVector<llvm::StringRef> Lines;
  Text.split(Lines, '\n');
  for (size_t I = 0; I < Lines.size(); ++I) {
    llvm::StringRef L = Lines[I].rtrim("\r");
    if (I)
      L.consume_front(OldIndent) || (L = L.ltrim(" \t"), true);
    line(L);
  }
  return *this;
}

std::string Writer::take() {
  llvm::StringRef T = Out;
  T = T.ltrim(" \t");
  T.consume_back("\n");
  return T.str();
}

} // namespace optimas::recipes
