//===- Json.cpp - Reading JSON from outside -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Support/Json.h"

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

Expected<json::Value> parseJson(StringRef Text, unsigned MaxDepth) {
  if (nestsDeeper(Text, MaxDepth))
    return createStringError(inconvertibleErrorCode(),
                             "nested more than %u levels deep", MaxDepth);
  return json::parse(Text);
}

} // namespace optimas
