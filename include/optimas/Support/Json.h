//===- Json.h - Reading JSON from outside -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_SUPPORT_JSON_H
#define OPTIMAS_SUPPORT_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace optimas {

/// llvm::json::parse() for text from outside. That one recurses without a limit, so a
/// few hundred thousand brackets overflow the stack; this one answers with an error
/// for more than \p MaxDepth nested arrays and objects, and for a number that no double
/// holds, which that one reads as an infinity.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef Text,
                                            unsigned MaxDepth = 256);

} // namespace optimas

#endif // OPTIMAS_SUPPORT_JSON_H
