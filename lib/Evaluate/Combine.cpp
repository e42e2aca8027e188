//===- Combine.cpp - Uniting edit sets -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Combine.h"
#include "optimas/Evaluate/LineNumbers.h"
#include "optimas/Transform/Guard.h"
#include <numeric>

using namespace llvm;

namespace optimas {

static bool sameChange(const FileEdit &A, const FileEdit &B) {
  return A.Path == B.Path && A.Offset == B.Offset && A.Length == B.Length &&
         A.Replacement == B.Replacement;
}

/// Two changes that cannot both be made: overlapping, or two insertions at one place
/// from different sets, whose order nobody chose.
static bool conflict(const FileEdit &A, const FileEdit &B) {
  if (A.Path != B.Path)
    return false;
  if (A.Offset == B.Offset && (A.Length == 0) == (B.Length == 0))
    return true;
  return A.Offset < B.Offset + B.Length && B.Offset < A.Offset + A.Length;
}

static bool fillContents(EditSet &Set, const SourceTexts &Texts) {
  Set.NewContents.clear();
  std::map<std::string, std::vector<FileEdit>> ByFile;
  for (const FileEdit &E : Set.FileEdits)
    ByFile[E.Path].push_back(E);
  for (const auto &[Path, Edits] : ByFile) {
    auto Text = Texts.find(Path);
    if (Text == Texts.end())
      return false;
    Expected<std::string> New = applyEdits(Text->second, Edits);
    if (!New) {
      consumeError(New.takeError());
      return false;
    }
    Set.NewContents[Path] = std::move(*New);
  }
  return true;
}

std::optional<EditSet> unite(ArrayRef<const EditSet *> Sets, const SourceTexts &Texts) {
  EditSet Out;
  for (const EditSet *S : Sets) {
    size_t Mine = Out.FileEdits.size();
    for (const FileEdit &E : S->FileEdits) {
      auto Others = ArrayRef(Out.FileEdits).take_front(Mine);
      if (any_of(Others, [&](const FileEdit &O) { return sameChange(O, E); }))
        continue;
      if (any_of(Others, [&](const FileEdit &O) { return conflict(O, E); }))
        return std::nullopt;
      Out.FileEdits.push_back(E);
    }
    Out.Accepted.insert(Out.Accepted.end(), S->Accepted.begin(), S->Accepted.end());
    Out.Refusals.insert(Out.Refusals.end(), S->Refusals.begin(), S->Refusals.end());
  }
  if (Sets.size() == 1)
    Out.Proposal = Sets[0]->Proposal;
  // By place, insertions at one place in their order. (libstdc++'s stable_sort warns of
  // its own deprecated buffer.)
  std::vector<size_t> Order(Out.FileEdits.size());
  std::iota(Order.begin(), Order.end(), 0);
  llvm::sort(Order, [&](size_t A, size_t B) {
    const FileEdit &X = Out.FileEdits[A], &Y = Out.FileEdits[B];
    return std::tie(X.Path, X.Offset, A) < std::tie(Y.Path, Y.Offset, B);
  });
  std::vector<FileEdit> Sorted;
  for (size_t I : Order)
    Sorted.push_back(Out.FileEdits[I]);
  Out.FileEdits = std::move(Sorted);
  if (!fillContents(Out, Texts))
    return std::nullopt;
  return Out;
}

std::optional<EditSet> without(const EditSet &Set, unsigned Id, const SourceTexts &Texts) {
  EditSet Out = Set;
  erase_if(Out.FileEdits, [&](const FileEdit &E) { return E.Edit == Id; });
  erase_if(Out.Accepted, [&](const Edit &E) { return E.Id == Id; });
  if (Out.FileEdits.empty() || Out.FileEdits.size() == Set.FileEdits.size() ||
      !fillContents(Out, Texts))
    return std::nullopt;
  return Out;
}

Expected<SourceTexts> scratchContents(const EditSet &Set, const SourceTexts &Texts) {
  SourceTexts Out = Texts;
  std::map<std::string, std::vector<FileEdit>> ByFile;
  for (const FileEdit &E : Set.FileEdits)
    ByFile[E.Path].push_back(E);
  for (const auto &[Path, Edits] : ByFile) {
    auto It = Out.find(Path);
    if (It == Out.end())
      return makeError(ExitCode::Internal, "is edited but was not analysed", Path);
    Expected<std::string> New = applyKeepingLines(It->second, Edits);
    if (!New)
      return New.takeError();
    It->second = std::move(*New);
  }
  return Out;
}

} // namespace optimas
