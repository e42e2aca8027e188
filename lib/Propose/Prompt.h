//===- Prompt.h - The parts of a prompt -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROPOSE_PROMPT_H
#define OPTIMAS_LIB_PROPOSE_PROMPT_H

#include "optimas/Propose/Proposer.h"

namespace optimas {

/// What is sent, before any endpoint's own packing.
struct Prompt {
  std::string System; ///< role and rules that hold for every request
  std::string User;   ///< code, evidence, device, guardrails, task: the paper's order
  std::string Feedback; ///< empty at the first attempt
  size_t EvidenceBytes = 0;
  std::vector<std::string> Cut; ///< what was left out to fit the budget
};

/// Most bytes of System and User together: about 24,000 tokens at 4 bytes each.
constexpr size_t PromptBudgetBytes = 96 * 1024;

Prompt makePrompt(const ProposalRequest &Request, const Feedback *Last);

/// JSON Schema of the native response form, in the subset that endpoints accept for
/// constrained output (every property required, none additional).
llvm::json::Value responseSchema();

} // namespace optimas

#endif // OPTIMAS_LIB_PROPOSE_PROMPT_H
