//===- AllocationTable.cpp - Live device memory -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/AllocationTable.h"
#include <algorithm>
#include <set>

namespace optimas::collector {

const Allocation &AllocationTable::add(uint64_t Address, uint64_t Bytes,
                                       const void *Context) {
  return Live[Address] = Allocation{++Made, Address, Bytes, Context};
}

std::optional<Allocation> AllocationTable::remove(uint64_t Address) {
  auto At = Live.find(Address);
  if (At == Live.end())
    return std::nullopt;
  Allocation Result = At->second;
  Live.erase(At);
  return Result;
}

static void sortByIndex(std::vector<Allocation> &List) {
  std::sort(List.begin(), List.end(), [](const Allocation &A, const Allocation &B) {
    return A.Index < B.Index;
  });
}

std::vector<Allocation> AllocationTable::removeContext(const void *Context) {
  std::vector<Allocation> Result = ofContext(Context);
  for (const Allocation &A : Result)
    Live.erase(A.Address);
  return Result;
}

std::vector<Allocation> AllocationTable::ofContext(const void *Context) const {
  std::vector<Allocation> Result;
  for (const auto &[Address, A] : Live)
    if (A.Context == Context)
      Result.push_back(A);
  sortByIndex(Result);
  return Result;
}

std::vector<const void *> AllocationTable::contexts() const {
  std::set<const void *> Set;
  for (const auto &[Address, A] : Live)
    Set.insert(A.Context);
  return {Set.begin(), Set.end()};
}

} // namespace optimas::collector
