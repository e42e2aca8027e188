//===- Lines.cpp - The lines of the source that an analysis met -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

namespace optimas {

LineRef lineOf(const SourceModel &Model, FileId File, unsigned Line) {
  LineRef L;
  const SourceFile &F = Model.file(File);
  L.File = File;
  L.Path = F.Path;
  L.Line = Line;
  L.Text = F.line(Line).trim().str();
  if (const Function *Fn = Model.functionAt(File, Line))
    L.Function = Fn->Name;
  return L;
}

KnownLines::KnownLines(const SourceModel &Model, const Profile &P) : Model(Model), P(P) {
  add(LineRef()); // NoLine
}

LineId KnownLines::add(LineRef L) {
  unsigned Path = Paths.try_emplace(L.Path, Paths.size()).first->second;
  auto [It, New] = ByPath.try_emplace({Path, L.Line}, Lines.size());
  if (New) {
    bool Editable = L.File != NoId && Model.file(L.File).Editable;
    Lines.push_back({std::move(L), Path, Editable});
  }
  return It->second;
}

LineId KnownLines::of(const FrameRef &Frame) {
  auto [It, New] = ByFrame.try_emplace({Frame.File, Frame.Line}, NoLine);
  if (!New)
    return It->second;
  auto [File, NewFile] = Files.try_emplace(Frame.File);
  if (NewFile)
    File->second = Model.findFile(Frame.File);
  if (File->second)
    return It->second = add(lineOf(Model, *File->second, Frame.Line));
  LineRef L;
  L.Path = Frame.File.str();
  L.Line = Frame.Line;
  L.Function = baseName(canonicalSymbol(Frame.Function));
  auto Text = P.LineTexts.find({L.Path, L.Line});
  if (Text != P.LineTexts.end())
    L.Text = llvm::StringRef(Text->second).trim().str();
  return It->second = add(std::move(L));
}

bool KnownLines::before(LineId A, LineId B) const {
  const Known &X = Lines[A], &Y = Lines[B];
  return X.Path == Y.Path ? X.Ref.Line < Y.Ref.Line : X.Ref.Path < Y.Ref.Path;
}

LineId AnalysisContext::primary(llvm::ArrayRef<FrameRef> Frames) {
  LineId Innermost = NoLine;
  for (const FrameRef &F : Frames) {
    if (F.Line == 0)
      continue;
    LineId L = Lines.of(F);
    if (Lines.editable(L))
      return L;
    if (!Lines.hasPath(Innermost))
      Innermost = L;
  }
  return Innermost;
}

llvm::SmallVector<LineId, 2> AnalysisContext::chain(llvm::ArrayRef<FrameRef> Frames) {
  llvm::SmallVector<LineId, 2> Chain;
  for (const FrameRef &F : Frames) {
    if (F.Line == 0)
      continue;
    LineId L = Lines.of(F);
    if (Lines.editable(L) && Lines.hasPath(L) && !llvm::is_contained(Chain, L))
      Chain.push_back(L);
  }
  return Chain;
}

} // namespace optimas
