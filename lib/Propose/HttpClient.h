//===- HttpClient.h - One POST, with time limits and retries -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROPOSE_HTTPCLIENT_H
#define OPTIMAS_LIB_PROPOSE_HTTPCLIENT_H

#include "optimas/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace optimas {

struct HttpRequest {
  std::string Url;
  std::vector<std::string> Headers; ///< `Name: value`
  std::string Body;
  /// Texts that must never be shown: replaced by `***` in everything that comes back.
  std::vector<std::string> Secrets;
  double TimeoutSeconds = 120;
  unsigned Retries = 3; ///< for 429, 5xx and refused connections
  uint64_t Seed = 1;    ///< of the back-off's jitter
};

/// An error that says what to do instead where this build has no network client.
llvm::Error httpAvailable();

/// The body of a 2xx answer. ModelFailed otherwise, with the status and what the
/// server said. Redirects are not followed, since they would carry the key elsewhere;
/// proxies and certificate stores are libcurl's defaults.
llvm::Expected<std::string> httpPost(const HttpRequest &Request);

/// \p Text with every occurrence of a secret replaced by `***`.
std::string withoutSecrets(std::string Text, llvm::ArrayRef<std::string> Secrets);

} // namespace optimas

#endif // OPTIMAS_LIB_PROPOSE_HTTPCLIENT_H
