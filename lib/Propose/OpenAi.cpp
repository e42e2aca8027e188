//===- OpenAi.cpp - Chat Completions with constrained output -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HttpClient.h"
#include "OpenAi.h"
#include "Prompt.h"
#include "optimas/Support/Json.h"
#include <chrono>
#include <cstdlib>

using namespace llvm;

namespace optimas {

namespace {
class OpenAiProposer : public Proposer {
public:
  OpenAiProposer(ProposerOptions O, std::string Key) : O(std::move(O)), Key(std::move(Key)) {}

  std::string name() const override { return "openai:" + O.Model; }
  ProposerCost cost() const override { return Cost; }
  Expected<std::vector<Proposal>> propose(const ProposalRequest &Request,
                                          const Feedback *Last) override;

private:
  std::string body(const Prompt &P) const;
  Expected<std::string> content(StringRef Answer);

  ProposerOptions O;
  std::string Key; ///< never printed
  std::string LastContent;
  ProposerCost Cost;
};
} // namespace

std::string OpenAiProposer::body(const Prompt &P) const {
  json::Array Messages{
      json::Object{{"role", "system"}, {"content", json::fixUTF8(P.System)}},
      json::Object{{"role", "user"}, {"content", json::fixUTF8(P.User)}}};
  if (!P.Feedback.empty()) {
    Messages.push_back(json::Object{{"role", "assistant"}, {"content", json::fixUTF8(LastContent)}});
    Messages.push_back(json::Object{{"role", "user"}, {"content", json::fixUTF8(P.Feedback)}});
  }
  json::Object Format{
      {"type", "json_schema"},
      {"json_schema",
       json::Object{{"name", "edits"}, {"strict", true}, {"schema", responseSchema()}}}};
  return formatv("{0}", json::Value(json::Object{{"model", O.Model},
                                                 {"messages", std::move(Messages)},
                                                 {"response_format", std::move(Format)}}))
      .str();
}

/// choices[0].message.content of a Chat Completions answer, or why there is none.
Expected<std::string> OpenAiProposer::content(StringRef Answer) {
  auto Bad = [&](const Twine &What, const Twine &Remedy) {
    return makeError(ExitCode::ModelFailed, What, O.Endpoint, Remedy);
  };
  Expected<json::Value> V = parseJson(Answer);
  if (!V)
    return Bad("the endpoint's answer is not JSON: " + toString(V.takeError()),
               "check that --endpoint is the base of a Chat Completions API");
  const json::Object *Root = V->getAsObject();
  const json::Array *Choices = Root ? Root->getArray("choices") : nullptr;
  const json::Object *Choice = Choices && !Choices->empty() ? (*Choices)[0].getAsObject() : nullptr;
  const json::Object *Message = Choice ? Choice->getObject("message") : nullptr;
  if (!Message)
    return Bad("the endpoint's answer has no choices[0].message",
               "check that --endpoint is the base of a Chat Completions API");
  if (const json::Object *Usage = Root->getObject("usage")) {
    Cost.PromptTokens += Usage->getInteger("prompt_tokens").value_or(0);
    Cost.CompletionTokens += Usage->getInteger("completion_tokens").value_or(0);
  }
  if (auto Refused = Message->getString("refusal"); Refused && !Refused->empty())
    return Bad("the model refused: " + *Refused, "ask another model with --model");
  auto Text = Message->getString("content");
  if (!Text || Text->empty())
    return Bad("the model's answer is empty", "try again or ask another model with --model");
  if (Choice->getString("finish_reason").value_or("") == "length")
    return Bad("the model's answer was cut at its length limit",
               "ask a model with a larger output limit, or analyse fewer kernels with --hot");
  return Text->str();
}

static void hideSecrets(Proposal &P, ArrayRef<std::string> Secrets) {
  P.Title = withoutSecrets(P.Title, Secrets);
  for (std::string &S : P.SuggestedButNotApplied)
    S = withoutSecrets(S, Secrets);
  for (Edit &E : P.Edits)
    for (std::string *S : {&E.Text, &E.Transformation, &E.Reason, &E.Precondition,
                           &E.Postcondition, &E.Metric})
      *S = withoutSecrets(*S, Secrets);
}

Expected<std::vector<Proposal>> OpenAiProposer::propose(const ProposalRequest &Request,
                                                        const Feedback *Last) {
  HttpRequest H;
  H.Url = StringRef(O.Endpoint).rtrim('/').str() + "/chat/completions";
  H.Headers = {"Content-Type: application/json", "Authorization: Bearer " + Key};
  H.Body = body(makePrompt(Request, Last));
  H.Secrets = {Key};
  H.TimeoutSeconds = O.TimeoutSeconds;
  H.Retries = O.HttpRetries;
  H.Seed = O.Seed;
  auto Start = std::chrono::steady_clock::now();
  Expected<std::string> Answer = httpPost(H);
  ++Cost.Calls;
  Cost.Seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - Start).count();
  if (!Answer)
    return Answer.takeError();
  Expected<std::string> Text = content(*Answer);
  if (!Text)
    return Text.takeError();
  LastContent = *Text;
  Expected<std::vector<Proposal>> Proposals = parseResponse(LastContent, Request, name());
  // Once more after decoding: an escape (`\u0073`) hides the key from the raw text.
  if (Proposals)
    for (Proposal &P : *Proposals)
      hideSecrets(P, H.Secrets);
  return Proposals;
}

static std::string environment(const char *Name) {
  const char *Value = std::getenv(Name);
  return Value ? Value : "";
}

Expected<std::unique_ptr<Proposer>> makeOpenAi(ProposerOptions O) {
  if (Error E = httpAvailable())
    return std::move(E);
  if (O.Model.empty())
    O.Model = environment("OPTIMAS_MODEL");
  if (O.Model.empty())
    return makeError(ExitCode::Usage, "no model was named", "--proposer=openai",
                     "name one with --model or OPTIMAS_MODEL");
  if (O.Endpoint.empty())
    O.Endpoint = environment("OPENAI_BASE_URL");
  if (O.Endpoint.empty())
    O.Endpoint = "https://api.openai.com/v1";
  std::string Key = environment(O.KeyVariable.c_str());
  if (Key.empty())
    return makeError(ExitCode::Usage, "the environment variable " + O.KeyVariable + " holds no key",
                     "--proposer=openai",
                     "export it (any text for an endpoint that needs none), or name another with "
                     "--key-variable");
  // A line break would smuggle a header into the request.
  if (StringRef(Key).find_first_of("\r\n") != StringRef::npos)
    return makeError(ExitCode::Usage, "the key in " + O.KeyVariable + " holds a line break",
                     "--proposer=openai", "remove it");
  return std::make_unique<OpenAiProposer>(std::move(O), std::move(Key));
}

} // namespace optimas
