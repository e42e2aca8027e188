//===- Diff.cpp - Unified diffs -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Transform/Guard.h"
#include "optimas/Transform/TextDiff.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace optimas {

std::vector<StringRef> splitLinesKeepEnds(StringRef Text) {
  std::vector<StringRef> Lines;
  while (!Text.empty()) {
    size_t End = Text.find('\n');
    size_t Length = End == StringRef::npos ? Text.size() : End + 1;
    Lines.push_back(Text.take_front(Length));
    Text = Text.drop_front(Length);
  }
  return Lines;
}

/// Myers' greedy forward search. Returns which old and which new lines are kept, or
/// false when more than \p Limit lines differ.
static bool shortestScript(ArrayRef<StringRef> A, ArrayRef<StringRef> B,
                           size_t Limit, std::vector<bool> &KeptA,
                           std::vector<bool> &KeptB) {
  const ptrdiff_t N = A.size(), M = B.size();
  const ptrdiff_t Max = std::min<ptrdiff_t>(N + M, Limit);
  std::vector<std::vector<ptrdiff_t>> Trace;
  std::vector<ptrdiff_t> V(2 * Max + 3, 0);
  auto At = [Max](ptrdiff_t K) { return size_t(K + Max + 1); };
  auto Down = [&](const std::vector<ptrdiff_t> &W, ptrdiff_t D, ptrdiff_t K) {
    return K == -D || (K != D && W[At(K - 1)] < W[At(K + 1)]);
  };
  for (ptrdiff_t D = 0; D <= Max; ++D) {
    Trace.emplace_back(V.begin() + At(-D) - 1, V.begin() + At(D) + 2);
    for (ptrdiff_t K = -D; K <= D; K += 2) {
      ptrdiff_t X = Down(V, D, K) ? V[At(K + 1)] : V[At(K - 1)] + 1;
      while (X < N && X - K < M && A[X] == B[X - K])
        ++X;
      V[At(K)] = X;
      if (X < N || X - K < M)
        continue;
      // Walk the stored frontiers back, marking the diagonals.
      for (ptrdiff_t Y = X - K; D >= 0; --D) {
        const auto &W = Trace[D];
        auto Get = [&](ptrdiff_t Kk) { return W[Kk + D + 1]; };
        bool WentDown = K == -D || (K != D && Get(K - 1) < Get(K + 1));
        ptrdiff_t PreviousK = WentDown ? K + 1 : K - 1;
        ptrdiff_t PreviousX = D == 0 ? 0 : Get(PreviousK);
        ptrdiff_t PreviousY = D == 0 ? 0 : PreviousX - PreviousK;
        while (X > PreviousX && Y > PreviousY) {
          --X, --Y;
          KeptA[X] = KeptB[Y] = true;
        }
        X = PreviousX, Y = PreviousY, K = PreviousK;
      }
      return true;
    }
  }
  return false;
}

std::vector<LineChange> diffLines(ArrayRef<StringRef> Old,
                                  ArrayRef<StringRef> New) {
  size_t Front = 0, Back = 0;
  size_t Shorter = std::min(Old.size(), New.size());
  while (Front < Shorter && Old[Front] == New[Front])
    ++Front;
  while (Back < Shorter - Front &&
         Old[Old.size() - 1 - Back] == New[New.size() - 1 - Back])
    ++Back;
  ArrayRef<StringRef> A = Old.drop_front(Front).drop_back(Back);
  ArrayRef<StringRef> B = New.drop_front(Front).drop_back(Back);
  std::vector<LineChange> Out;
  if (A.empty() && B.empty())
    return Out;
  std::vector<bool> KeptA(A.size()), KeptB(B.size());
  if (!shortestScript(A, B, /*Limit=*/1000, KeptA, KeptB)) {
    KeptA.assign(A.size(), false);
    KeptB.assign(B.size(), false);
  }
  for (size_t I = 0, J = 0; I < A.size() || J < B.size();) {
    size_t I0 = I, J0 = J;
    while (I < A.size() && !KeptA[I])
      ++I;
    while (J < B.size() && !KeptB[J])
      ++J;
    if (I > I0 || J > J0)
      Out.push_back({Front + I0, Front + I, Front + J0, Front + J});
    else
      ++I, ++J;
  }
  return Out;
}

static void printLine(raw_ostream &OS, char Mark, StringRef Line) {
  OS << Mark << Line;
  if (!Line.ends_with("\n"))
    OS << "\n\\ No newline at end of file\n";
}

/// `12,3`, `12` for one line; an empty range names the line before it.
static void printRange(raw_ostream &OS, size_t Begin, size_t End) {
  size_t Count = End - Begin;
  OS << (Count ? Begin + 1 : Begin);
  if (Count != 1)
    OS << ',' << Count;
}

static void printHunk(raw_ostream &OS, ArrayRef<LineChange> Changes,
                      ArrayRef<StringRef> Old, ArrayRef<StringRef> New) {
  constexpr size_t Context = 3;
  size_t Before = std::min({Context, Changes.front().OldBegin,
                            Changes.front().NewBegin});
  size_t OldBegin = Changes.front().OldBegin - Before;
  size_t NewBegin = Changes.front().NewBegin - Before;
  size_t After = std::min({Context, Old.size() - Changes.back().OldEnd,
                           New.size() - Changes.back().NewEnd});
  size_t OldEnd = Changes.back().OldEnd + After;
  OS << "@@ -";
  printRange(OS, OldBegin, OldEnd);
  OS << " +";
  printRange(OS, NewBegin, Changes.back().NewEnd + After);
  OS << " @@\n";
  size_t Line = OldBegin;
  for (const LineChange &C : Changes) {
    for (; Line < C.OldBegin; ++Line)
      printLine(OS, ' ', Old[Line]);
    for (; Line < C.OldEnd; ++Line)
      printLine(OS, '-', Old[Line]);
    for (size_t I = C.NewBegin; I < C.NewEnd; ++I)
      printLine(OS, '+', New[I]);
  }
  for (; Line < OldEnd; ++Line)
    printLine(OS, ' ', Old[Line]);
}

/// As git writes names that no line could hold: in quotes, with C's escapes.
static std::string headerName(StringRef Prefix, StringRef Path) {
  auto Special = [](unsigned char C) { return C < 0x20 || C == 0x7f || C == '"' || C == '\\'; };
  // A tab ends a name that holds a blank, as diff(1) and git do.
  StringRef Tab = Path.contains(' ') ? "\t" : "";
  if (none_of(Path, Special))
    return (Prefix + Path + Tab).str();
  static constexpr StringRef Escapes = "\a\b\t\n\v\f\r\"\\", Letters = "abtnvfr\"\\";
  std::string Out = ("\"" + Prefix).str();
  for (unsigned char C : Path) {
    if (!Special(C))
      Out += C;
    else if (size_t At = Escapes.find(C); At != StringRef::npos)
      (Out += '\\') += Letters[At];
    else
      Out += formatv("\\{0}{1}{2}", C >> 6, (C >> 3) & 7, C & 7).str();
  }
  return (Out + "\"" + Tab).str();
}

std::string unifiedTextDiff(StringRef Path, StringRef Old, StringRef New) {
  std::vector<StringRef> A = splitLinesKeepEnds(Old), B = splitLinesKeepEnds(New);
  std::vector<LineChange> Changes = diffLines(A, B);
  if (Changes.empty())
    return "";
  std::string Out;
  raw_string_ostream OS(Out);
  OS << "--- " << headerName("a/", Path) << "\n+++ " << headerName("b/", Path) << '\n';
  for (size_t First = 0; First < Changes.size();) {
    size_t Last = First;
    while (Last + 1 < Changes.size() &&
           Changes[Last + 1].OldBegin - Changes[Last].OldEnd <= 6)
      ++Last;
    printHunk(OS, ArrayRef(Changes).slice(First, Last - First + 1), A, B);
    First = Last + 1;
  }
  return Out;
}

static StringRef relativeTo(StringRef Path, StringRef Root) {
  while (Root.size() > 1 && Root.ends_with("/"))
    Root = Root.drop_back();
  StringRef Rest = Path;
  if (!Root.empty() && Rest.consume_front(Root) && Rest.starts_with("/"))
    Path = Rest;
  return Path.ltrim('/');
}

std::string unifiedDiff(const SourceModel &Model, const EditSet &Set,
                        StringRef Root) {
  std::string Out;
  for (const auto &[Path, New] : Set.NewContents) {
    auto *File = find_if(Model.files(), [&Path = Path](const SourceFile &F) {
      return F.Path == Path;
    });
    if (File != Model.files().end())
      Out += unifiedTextDiff(relativeTo(Path, Root), File->Text, New);
  }
  return Out;
}

} // namespace optimas
