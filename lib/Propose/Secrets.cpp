//===- Secrets.cpp - Keeping keys out of what is shown -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HttpClient.h"

using namespace llvm;

namespace optimas {

std::string withoutSecrets(std::string Text, ArrayRef<std::string> Secrets) {
  for (const std::string &S : Secrets) {
    if (S.empty())
      continue;
    for (size_t At = Text.find(S); At != std::string::npos; At = Text.find(S, At + 3))
      Text.replace(At, S.size(), "***");
  }
  return Text;
}

} // namespace optimas
