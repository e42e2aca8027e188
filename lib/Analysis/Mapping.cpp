//===- Mapping.cpp - Which samples lie in the AST ---------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "llvm/ADT/STLExtras.h"

namespace optimas {

LineCover LineCovers::of(FileId File, unsigned Line) {
  auto [It, New] = Files.try_emplace(File);
  std::vector<LineCover> &Lines = It->second;
  if (New) {
    Lines.resize(Model.file(File).lineCount() + 2, LineCover::Nothing);
    auto Mark = [&](unsigned L, LineCover Cover) {
      if (L < Lines.size())
        Lines[L] = std::max(Lines[L], Cover);
    };
    for (const Function &F : Model.functions())
      if (F.Body.File == File) {
        Mark(F.Body.BeginLine, LineCover::Braces);
        Mark(F.Body.EndLine, LineCover::Braces);
      }
    for (const Statement &S : Model.statements()) {
      // A function's block has all its lines, blank ones too: that says nothing.
      bool Body = S.Parent == NoId && S.Kind == "compound";
      if (S.Range.File == File && !Body)
        for (unsigned L = S.Range.BeginLine; L <= S.Range.EndLine; ++L)
          Mark(L, LineCover::Statement);
    }
  }
  return Line < Lines.size() ? Lines[Line] : LineCover::Nothing;
}

/// Why no statement has the line.
static std::string reasonFor(const SourceModel &Model, const LineRef &Where) {
  if (Where.Path.empty())
    return "no line information";
  if (Where.File == NoId)
    return "code of a file that is not in the model";
  if (!Model.file(Where.File).Editable)
    return "not editable: " + Model.file(Where.File).WhyNotEditable;
  const Function *F = Model.functionAt(Where.File, Where.Line);
  if (!F)
    return "outside every function with device code";
  bool InSignature = Where.Line >= F->Signature.BeginLine &&
                     Where.Line <= F->Signature.EndLine;
  return InSignature ? "the signature: what the compiler does before the first statement"
                     : "between statements";
}

void MappingSum::add(const LineRef &Where, uint64_t Samples) {
  Sum.Total += Samples;
  bool Editable = Where.File != NoId && Model.file(Where.File).Editable;
  LineCover Cover = Editable ? Covers.of(Where.File, Where.Line) : LineCover::Nothing;
  if (Cover != LineCover::Nothing) {
    Sum.InStatement += Samples;
    Sum.OnBraces += Cover == LineCover::Braces ? Samples : 0;
    return;
  }
  auto [It, New] = Gaps.try_emplace({Where.Path, Where.Line});
  if (New)
    It->second = {Where, reasonFor(Model, Where), 0};
  It->second.Samples += Samples;
}

SampleMapping MappingSum::take() {
  for (auto &[Key, G] : Gaps)
    Sum.Gaps.push_back(std::move(G));
  sortStably(Sum.Gaps, [](const SampleMapping::Gap &A, const SampleMapping::Gap &B) {
    return A.Samples > B.Samples;
  });
  return std::move(Sum);
}

uint64_t SampleMapping::withoutLine() const {
  uint64_t Samples = 0;
  for (const Gap &G : Gaps)
    if (G.Where.Path.empty())
      Samples += G.Samples;
  return Samples;
}

} // namespace optimas
