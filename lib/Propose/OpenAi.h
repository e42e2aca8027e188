//===- OpenAi.h - Chat Completions with constrained output -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROPOSE_OPENAI_H
#define OPTIMAS_LIB_PROPOSE_OPENAI_H

#include "optimas/Propose/Proposer.h"

namespace optimas {

/// The `openai` proposer; Usage error when the model or the key is missing.
llvm::Expected<std::unique_ptr<Proposer>> makeOpenAi(ProposerOptions O);

} // namespace optimas

#endif // OPTIMAS_LIB_PROPOSE_OPENAI_H
