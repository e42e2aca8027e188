//===- StudyCounters.cpp - The counter study on a file ----------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// optimas-study-counters PROBLEMS.json: for scripts/compare-counter-study. The file is
// a list of {"seed", "runs", "choices", "columns": [[...]...], "target": [...]}; out
// comes a list of {"seconds", "counters": [[column, score, weight]...]}.
//
//===----------------------------------------------------------------------===//

#include "optimas/Analysis/CounterStudy.h"
#include "optimas/Support/Files.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace optimas;
using namespace llvm;

static std::vector<double> valuesOf(const json::Array &A) {
  std::vector<double> V;
  for (const json::Value &X : A)
    V.push_back(X.getAsNumber().value_or(0));
  return V;
}

static Expected<json::Value> solve(const json::Object &Problem) {
  std::vector<CounterColumn> Columns;
  for (const json::Value &C : *Problem.getArray("columns"))
    Columns.push_back({"c" + std::to_string(Columns.size()), "", valuesOf(*C.getAsArray())});
  CounterStudyOptions O;
  O.Seed = Problem.getInteger("seed").value_or(1);
  O.Runs = Problem.getInteger("runs").value_or(500);
  O.Choices = Problem.getInteger("choices").value_or(3);
  std::vector<double> Target = valuesOf(*Problem.getArray("target"));
  auto Start = std::chrono::steady_clock::now();
  Expected<CounterStudy> S = studyCounters(Columns, Target, O);
  std::chrono::duration<double> Took = std::chrono::steady_clock::now() - Start;
  if (!S)
    return S.takeError();
  json::Array Counters;
  for (const CounterScore &C : S->Counters)
    Counters.push_back(json::Array{int64_t(C.Column), C.Score, C.Weight});
  return json::Object{{"seconds", Took.count()}, {"counters", std::move(Counters)}};
}

int main(int Argc, char **Argv) {
  if (Argc != 2) {
    errs() << "usage: optimas-study-counters PROBLEMS.json\n";
    return 2;
  }
  Expected<std::string> Text = readFile(Argv[1], ExitCode::Usage);
  Expected<json::Value> In = Text ? json::parse(*Text) : Expected<json::Value>(Text.takeError());
  json::Array Out;
  const json::Array *List = In ? In->getAsArray() : nullptr;
  Error Failed = In ? Error::success() : In.takeError();
  if (List)
    for (const json::Value &Problem : *List) {
      Expected<json::Value> Answer = solve(*Problem.getAsObject());
      if (!Answer) {
        Failed = joinErrors(std::move(Failed), Answer.takeError());
        break;
      }
      Out.push_back(std::move(*Answer));
    }
  if (Failed) {
    errs() << toString(std::move(Failed)) << '\n';
    return 1;
  }
  outs() << json::Value(std::move(Out)) << '\n';
}
