//===- Proposer.cpp - The proposers that need no network -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Propose/Proposer.h"
#include "OpenAi.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"

using namespace llvm;

namespace optimas {

Proposer::~Proposer() = default;

namespace {
class CatalogueProposer : public Proposer {
public:
  std::string name() const override { return "catalogue"; }
  bool trusted() const override { return true; }
  ArrayRef<Declined> declines() const override { return Result.Declines; }
  Expected<std::vector<Proposal>> propose(const ProposalRequest &Request,
                                          const Feedback *Last) override {
    if (Last) // deterministic: it would say the same again
      return std::vector<Proposal>();
    Result = proposeFromCatalogue(
        {Request.Model, Request.D, Request.Database}, Request.Checks);
    return Result.Proposals;
  }

private:
  CatalogueResult Result;
};

class FileProposer : public Proposer {
public:
  explicit FileProposer(std::string Path) : Path(std::move(Path)) {}
  std::string name() const override { return "file:" + Path; }
  Expected<std::vector<Proposal>> propose(const ProposalRequest &Request,
                                          const Feedback *Last) override {
    if (Last)
      return std::vector<Proposal>();
    Expected<std::string> Text = readFile(Path, ExitCode::Usage);
    if (!Text)
      return Text.takeError();
    return parseResponse(*Text, Request, name());
  }

private:
  std::string Path;
};

class CommandProposer : public Proposer {
public:
  CommandProposer(std::vector<std::string> Args, double Timeout)
      : Args(std::move(Args)), Timeout(Timeout) {}
  std::string name() const override { return "command:" + quoteCommand(Args); }
  ProposerCost cost() const override { return Cost; }
  Expected<std::vector<Proposal>> propose(const ProposalRequest &Request,
                                          const Feedback *Last) override {
    Expected<std::string> Prompt = buildPrompt(Request, Last);
    if (!Prompt)
      return Prompt.takeError();
    SubprocessOptions O;
    O.Args = Args;
    O.Input = std::move(*Prompt);
    O.TimeoutSeconds = Timeout;
    O.MaxOutputBytes = size_t(16) << 20;
    Expected<SubprocessResult> R = runSubprocess(O);
    if (!R)
      return R.takeError();
    ++Cost.Calls;
    Cost.Seconds += R->WallNs * 1e-9;
    if (R->TimedOut)
      return makeError(ExitCode::ModelFailed, formatv("gave no answer within {0} s", Timeout).str(),
                       name(), "raise --model-timeout");
    if (!R->ok())
      return makeError(ExitCode::ModelFailed,
                       formatv("ended with status {0}: {1}", R->ExitStatus,
                               StringRef(R->Error).trim().take_back(500)).str(),
                       name(), "it must print its answer and exit 0");
    return parseResponse(R->Output, Request, name());
  }

private:
  std::vector<std::string> Args;
  double Timeout;
  ProposerCost Cost;
};
} // namespace

Expected<std::unique_ptr<Proposer>> makeProposer(const ProposerOptions &O) {
  StringRef Spec = O.Spec;
  if (Spec == "catalogue")
    return std::make_unique<CatalogueProposer>();
  if (Spec == "openai")
    return makeOpenAi(O);
  if (Spec.consume_front("file:"))
    return std::make_unique<FileProposer>(Spec.str());
  if (Spec.consume_front("command:")) {
    Expected<std::vector<std::string>> Args = splitCommand(Spec);
    if (!Args)
      return Args.takeError();
    if (Args->empty())
      return makeError(ExitCode::Usage, "no command follows 'command:'", "--proposer",
                       "write --proposer='command:PROGRAM ARGUMENTS'");
    return std::make_unique<CommandProposer>(std::move(*Args), O.TimeoutSeconds);
  }
  return makeError(ExitCode::Usage, "unknown proposer '" + O.Spec + "'", "--proposer",
                   "known: catalogue, openai, command:CMD, file:PATH, none");
}

} // namespace optimas
