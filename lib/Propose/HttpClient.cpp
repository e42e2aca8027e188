//===- HttpClient.cpp - One POST, with time limits and retries -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HttpClient.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <curl/curl.h>
#include <memory>
#include <random>
#include <thread>

using namespace llvm;

namespace optimas {

/// No answer of a sane endpoint is larger.
constexpr size_t MostBytes = size_t(16) << 20;

namespace {
struct Answer {
  std::string Body;
  long Status = 0;
  double RetryAfter = -1; ///< seconds, -1 when the server did not say
  CURLcode Code = CURLE_OK;
  std::string Problem;
  bool TooLarge = false;
};
} // namespace

static size_t onBody(char *Data, size_t Size, size_t Count, void *User) {
  auto *A = static_cast<Answer *>(User);
  if (A->Body.size() + Size * Count > MostBytes) {
    A->TooLarge = true;
    return 0; // makes curl stop
  }
  A->Body.append(Data, Size * Count);
  return Size * Count;
}

static size_t onHeader(char *Data, size_t Size, size_t Count, void *User) {
  StringRef Line(Data, Size * Count);
  double Seconds;
  if (Line.consume_front_insensitive("retry-after:") && !Line.trim().getAsDouble(Seconds))
    static_cast<Answer *>(User)->RetryAfter = Seconds;
  return Size * Count;
}

static Answer postOnce(const HttpRequest &R) {
  Answer A;
  std::unique_ptr<CURL, void (*)(CURL *)> Handle(curl_easy_init(), curl_easy_cleanup);
  curl_slist *Raw = nullptr;
  for (const std::string &H : R.Headers)
    Raw = curl_slist_append(Raw, H.c_str());
  std::unique_ptr<curl_slist, void (*)(curl_slist *)> Headers(Raw, curl_slist_free_all);
  char Problem[CURL_ERROR_SIZE] = "";
  CURL *C = Handle.get();
  if (!C) {
    A.Code = CURLE_FAILED_INIT;
    return A;
  }
  curl_easy_setopt(C, CURLOPT_URL, R.Url.c_str());
  curl_easy_setopt(C, CURLOPT_HTTPHEADER, Headers.get());
  curl_easy_setopt(C, CURLOPT_POSTFIELDS, R.Body.data());
  curl_easy_setopt(C, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(R.Body.size()));
  curl_easy_setopt(C, CURLOPT_WRITEFUNCTION, onBody);
  curl_easy_setopt(C, CURLOPT_WRITEDATA, &A);
  curl_easy_setopt(C, CURLOPT_HEADERFUNCTION, onHeader);
  curl_easy_setopt(C, CURLOPT_HEADERDATA, &A);
  curl_easy_setopt(C, CURLOPT_ERRORBUFFER, Problem);
  curl_easy_setopt(C, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(C, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(C, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(C, CURLOPT_TIMEOUT_MS, static_cast<long>(R.TimeoutSeconds * 1000));
  curl_easy_setopt(C, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::min(R.TimeoutSeconds, 20.0) * 1000));
  A.Code = curl_easy_perform(C);
  curl_easy_getinfo(C, CURLINFO_RESPONSE_CODE, &A.Status);
  A.Problem = Problem[0] ? Problem : curl_easy_strerror(A.Code);
  return A;
}

static bool worthRetrying(const Answer &A) {
  return A.Status == 429 || A.Status >= 500 || A.Code == CURLE_COULDNT_CONNECT;
}

static Error failure(const Answer &A, const HttpRequest &R, unsigned Tries) {
  auto Make = [&](const Twine &What, const Twine &Remedy) {
    return makeError(ExitCode::ModelFailed, withoutSecrets(What.str(), R.Secrets), R.Url, Remedy);
  };
  std::string After = formatv(" after {0} {1}", Tries, Tries == 1 ? "try" : "tries").str();
  if (A.TooLarge)
    return Make("the answer is larger than 16 MB", "check that this is a model endpoint");
  if (A.Code == CURLE_OPERATION_TIMEDOUT)
    return Make(formatv("no answer within {0} s{1}", R.TimeoutSeconds, After),
                "raise --model-timeout or try again later");
  if (A.Code != CURLE_OK)
    return Make("the endpoint was not reached: " + Twine(A.Problem) + After,
                "check --endpoint, the network and the proxy settings");
  StringRef Said = StringRef(A.Body).trim().substr(0, 500);
  std::string Status = formatv("HTTP {0}{1}{2}", A.Status, After,
                               Said.empty() ? "" : ": " + Said.str()).str();
  if (A.Status == 401 || A.Status == 403)
    return Make(Status, "check the key in the environment variable that --key-variable names");
  if (A.Status == 429)
    return Make(Status, "the endpoint limits the rate: wait, then try again");
  if (A.Status >= 300 && A.Status < 400)
    return Make(Status, "redirects are not followed: give the final address to --endpoint");
  return Make(Status, "check --endpoint and --model");
}

Error httpAvailable() { return Error::success(); }

Expected<std::string> httpPost(const HttpRequest &R) {
  static const CURLcode Initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (Initialised != CURLE_OK)
    return makeError(ExitCode::ModelFailed, "libcurl could not be initialised", R.Url,
                     "check that libcurl and its TLS library are installed whole");
  std::mt19937_64 Random(R.Seed);
  std::uniform_real_distribution<double> Jitter(0.5, 1.0);
  for (unsigned Try = 1;; ++Try) {
    Answer A = postOnce(R);
    if (A.Code == CURLE_OK && A.Status >= 200 && A.Status < 300)
      return withoutSecrets(std::move(A.Body), R.Secrets);
    if (Try > R.Retries || A.TooLarge || !worthRetrying(A))
      return failure(A, R, Try);
    // The server's word, else 1, 2, 4 … s; never longer than a minute.
    double Wait = A.RetryAfter >= 0 ? A.RetryAfter : double(1u << (Try - 1)) * Jitter(Random);
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(Wait, 60.0)));
  }
}

} // namespace optimas
