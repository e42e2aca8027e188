//===- HttpUnavailable.cpp - The client of a build without libcurl -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HttpClient.h"

using namespace llvm;

namespace optimas {

Error httpAvailable() {
  return makeError(ExitCode::Usage, "this build has no network client (it was made without libcurl)",
                   "--proposer=openai",
                   "use a build with libcurl (OPTIMAS_WITH_CURL=ON), or --emit-prompt=DIR here, the "
                   "answer elsewhere and --proposer=file:ANSWER, or --proposer=command:CMD");
}

Expected<std::string> httpPost(const HttpRequest &) { return httpAvailable(); }

} // namespace optimas
