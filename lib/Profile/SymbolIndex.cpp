//===- SymbolIndex.cpp - Finding a symbol by any of its names ---*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SymbolIndex.h"

using namespace llvm;

namespace optimas {

void SymbolIndex::add(StringRef Symbol, unsigned Id) {
  if (Exact.try_emplace(Symbol, Id).second)
    ByBareName[bareName(Symbol)].emplace_back(Symbol.str(), Id);
}

SmallVector<unsigned, 2> SymbolIndex::matches(StringRef Symbol) const {
  SmallVector<unsigned, 2> Result;
  if (auto At = Exact.find(Symbol); At != Exact.end())
    return {At->second};
  auto Same = ByBareName.find(bareName(Symbol));
  if (Same == ByBareName.end())
    return Result;
  for (const auto &Candidate : Same->second)
    if (Result.size() < 2 &&
        !(isMangled(Candidate.first) && isMangled(Symbol)) &&
        symbolsMatch(Candidate.first, Symbol))
      Result.push_back(Candidate.second);
  return Result;
}

std::optional<unsigned> SymbolIndex::find(StringRef Symbol) const {
  SmallVector<unsigned, 2> All = matches(Symbol);
  return All.size() == 1 ? std::optional<unsigned>(All[0]) : std::nullopt;
}

bool SymbolIndex::isAmbiguous(StringRef Symbol) const {
  return matches(Symbol).size() > 1;
}

} // namespace optimas
