//===- Proposer.h - Where edits come from -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_PROPOSE_PROPOSER_H
#define OPTIMAS_PROPOSE_PROPOSER_H

#include "optimas/Transform/Catalogue.h"
#include "optimas/Transform/Guard.h"
#include <chrono>

namespace optimas {

/// What went wrong with the last attempt, told to the proposer before the next.
struct Feedback {
  unsigned Attempt = 1;
  std::vector<Refusal> Refusals;
  std::string BuildErrors;  ///< the compiler's words, cut to 4 KB
  std::string LastResponse; ///< verbatim
};

struct ProposalRequest {
  const SourceModel &Model;
  const Diagnosis &D;
  std::vector<FunctionId> Kernels;
  std::string Checks = "*";
  llvm::ArrayRef<CompileCommand> Database = {}; ///< every command of the compile database
};

/// Token, time and money counts of the calls made so far.
struct ProposerCost {
  unsigned Calls = 0;
  uint64_t PromptTokens = 0, CompletionTokens = 0;
  double Seconds = 0;
};

class Proposer {
public:
  virtual ~Proposer();
  virtual std::string name() const = 0;
  /// Proposals for the request. \p Last is null at the first attempt; a proposer that
  /// cannot react to it returns nothing then.
  virtual llvm::Expected<std::vector<Proposal>>
  propose(const ProposalRequest &Request, const Feedback *Last) = 0;
  /// What the catalogue declined (empty for others).
  virtual llvm::ArrayRef<Declined> declines() const { return {}; }
  virtual bool trusted() const { return false; }
  virtual ProposerCost cost() const { return {}; }
};

struct ProposerOptions {
  std::string Spec = "catalogue"; ///< the value of --proposer
  std::string Model;              ///< --model, else OPTIMAS_MODEL
  std::string Endpoint;           ///< --endpoint, else OPENAI_BASE_URL, else the vendor's
  /// Name of the environment variable that holds the key. The key itself is never stored in any value that is printed.
  std::string KeyVariable = "OPENAI_API_KEY";
  double TimeoutSeconds = 120;
  unsigned HttpRetries = 3; ///< for 429 and 5xx
  uint64_t Seed = 1; ///< of the back-off's jitter
};

/// Builds the proposer that \p Options name. Usage error for an unknown one.
llvm::Expected<std::unique_ptr<Proposer>>
makeProposer(const ProposerOptions &Options);

/// The prompt of a request as the JSON that `command:` receives and `--emit-prompt`
/// writes: `{schema_version, system, user, response_schema, evidence_bytes, cut}`. `user` follows the
/// paper's order: code, evidence, device, guardrails, task and schema.
llvm::Expected<std::string> buildPrompt(const ProposalRequest &Request,
                                        const Feedback *Last);

/// Reads a response in the native form (JSON edits on statement ids, bare or in a
/// fence with prose around it). ModelFailed with what is wrong and where otherwise.
llvm::Expected<std::vector<Proposal>>
parseResponse(llvm::StringRef Response, const ProposalRequest &Request,
              llvm::StringRef ProposerName);

} // namespace optimas

#endif // OPTIMAS_PROPOSE_PROPOSER_H
