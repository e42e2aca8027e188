//===- Json.cpp - Reading JSON from outside -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace optimas {

/// Whether brackets outside of strings nest deeper than \p Limit.
static bool nestsDeeper(StringRef Text, unsigned Limit) {
  unsigned Depth = 0;
  bool InString = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (InString) {
      if (C == '\\')
        ++I;
      else if (C == '"')
        InString = false;
    } else if (C == '"') {
      InString = true;
    } else if (C == '[' || C == '{') {
      if (++Depth > Limit)
        return true;
    } else if ((C == ']' || C == '}') && Depth) {
      --Depth;
    }
  }
  return false;
}

/// `1e999` is valid JSON and an infinity to json::parse().
static bool isFinite(const json::Value &V) {
  if (const json::Array *A = V.getAsArray())
    return all_of(*A, isFinite);
  if (const json::Object *O = V.getAsObject())
    return all_of(*O, [](const auto &Field) { return isFinite(Field.second); });
  std::optional<double> Number = V.kind() == json::Value::Number ? V.getAsNumber() : std::nullopt;
  return !Number || std::isfinite(*Number);
}

Expected<json::Value> parseJson(StringRef Text, unsigned MaxDepth) {
  if (nestsDeeper(Text, MaxDepth))
    return createStringError(inconvertibleErrorCode(),
                             "nested more than %u levels deep", MaxDepth);
  Expected<json::Value> V = json::parse(Text);
  if (V && !isFinite(*V))
    return createStringError(inconvertibleErrorCode(), "a number is too large");
  return V;
}

} // namespace optimas
