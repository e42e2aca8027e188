//===- Sweep.cpp - Runs of a program over parameters ------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Profile/Sweep.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace llvm;

namespace optimas {

static Error bad(const Twine &What, const Twine &Remedy) {
  return makeError(ExitCode::Usage, What, "--sweep", Remedy);
}

constexpr StringLiteral Form =
    "it reads like --sweep='N=1,2,4;B=128,256', with quotes around a value that has a comma "
    "or semicolon: F=\"a,b\"";

static bool isNameStart(char C) { return isAlpha(C) || C == '_'; }
static bool isNamePart(char C) { return isAlnum(C) || C == '_'; }

/// Takes a name off the front; empty where none stands.
static StringRef takeName(StringRef &Text) {
  if (Text.empty() || !isNameStart(Text.front()))
    return "";
  StringRef Name = Text.take_while(isNamePart);
  Text = Text.drop_front(Name.size());
  return Name;
}

/// Takes what stands between quotes, the first of which is gone.
static Error takeQuoted(StringRef &Text, std::string &Value) {
  while (true) {
    size_t End = Text.find_first_of("\"\\");
    if (End == StringRef::npos)
      return bad("a quote is not closed", Form);
    Value += Text.take_front(End);
    char Mark = Text[End];
    Text = Text.drop_front(End + 1);
    if (Mark == '"')
      return Error::success();
    if (Text.empty() || (Text.front() != '"' && Text.front() != '\\'))
      return bad("a backslash in quotes stands before something else than a quote or a "
                 "backslash",
                 Form);
    Value += Text.front();
    Text = Text.drop_front();
  }
}

static Error takeValues(StringRef &Text, SweepParameter &P) {
  do {
    std::string Value;
    bool Quoted = Text.consume_front("\"");
    if (Quoted) {
      if (Error E = takeQuoted(Text, Value))
        return E;
    } else {
      StringRef Plain = Text.take_until([](char C) { return C == ',' || C == ';' || C == '"'; });
      Value = Plain.str();
      Text = Text.drop_front(Plain.size());
    }
    if (!Text.empty() && Text.front() != ',' && Text.front() != ';')
      return bad("a value of `" + P.Name + "` has a quote within", Form);
    if (Value.empty() && !Quoted)
      return bad("`" + P.Name + "` has an empty value", "write \"\" for an empty argument");
    if (StringRef(Value).contains('\0'))
      return bad("a value of `" + P.Name + "` has a zero byte", "no argument can have one");
    if (is_contained(P.Values, Value))
      return bad("`" + P.Name + "` has the value `" + Value + "` twice", "name it once");
    P.Values.push_back(std::move(Value));
  } while (Text.consume_front(","));
  return Error::success();
}

Expected<std::vector<SweepParameter>> parseSweep(StringRef Text) {
  std::vector<SweepParameter> Result;
  do {
    SweepParameter P;
    P.Name = takeName(Text).str();
    if (P.Name.empty())
      return bad(Text.empty() ? Twine("a parameter is missing")
                              : "`" + Text.take_front(20) + "` does not start with a name",
                 Form);
    if (!Text.consume_front("="))
      return bad("`" + P.Name + "` has no values", Form);
    if (any_of(Result, [&](const SweepParameter &Q) { return Q.Name == P.Name; }))
      return bad("`" + P.Name + "` stands twice", "give all its values in one place");
    if (Error E = takeValues(Text, P))
      return std::move(E);
    Result.push_back(std::move(P));
  } while (Text.consume_front(";"));
  return Result;
}

/// Rewrites the placeholders of \p Argument; \p ValueOf gets each name.
static std::string replaced(StringRef Argument, function_ref<StringRef(StringRef)> ValueOf) {
  std::string Result;
  while (!Argument.empty()) {
    StringRef Text = Argument.take_until([](char C) { return C == '{'; });
    Result += Text;
    Argument = Argument.drop_front(Text.size());
    StringRef Rest = Argument;
    bool Escaped = Rest.consume_front("{{");
    if (!Escaped)
      Rest.consume_front("{");
    StringRef Name = takeName(Rest);
    if (!Name.empty() && Rest.consume_front(Escaped ? "}}" : "}")) {
      Result += Escaped ? ("{" + Name + "}").str() : ValueOf(Name).str();
      Argument = Rest;
    } else if (!Argument.empty()) {
      Result += '{';
      Argument = Argument.drop_front();
    }
  }
  return Result;
}

static Error checkPlaceholders(ArrayRef<SweepParameter> Parameters,
                               ArrayRef<std::string> Command) {
  std::set<std::string> Used;
  for (const std::string &Argument : Command)
    replaced(Argument, [&](StringRef Name) {
      Used.insert(Name.str());
      return Name;
    });
  for (const SweepParameter &P : Parameters)
    if (!Used.erase(P.Name))
      return bad("no argument of the program has {" + P.Name + "}",
                 "put it where the value belongs: -- ./app {" + P.Name + "}");
  if (!Used.empty())
    return bad("{" + *Used.begin() + "} in the program's arguments is no parameter",
               "give it values, or write {{" + *Used.begin() +
                   "}} if the program wants the braces");
  return Error::success();
}

Expected<std::vector<SweepRun>> planSweep(ArrayRef<SweepParameter> Parameters,
                                          ArrayRef<std::string> Command) {
  if (Error E = checkPlaceholders(Parameters, Command))
    return std::move(E);
  size_t Count = 1;
  for (const SweepParameter &P : Parameters)
    if ((Count *= P.Values.size()) > MaxSweepRuns)
      return bad("there are more than " + Twine(MaxSweepRuns) + " combinations",
                 "give fewer values, or several sweeps: their profiles can be given together");
  std::vector<SweepRun> Runs(Count);
  for (size_t I = 0; I < Count; ++I) {
    SweepRun &R = Runs[I];
    size_t Rest = I;
    for (const SweepParameter &P : reverse(Parameters)) {
      R.Parameters[P.Name] = P.Values[Rest % P.Values.size()];
      Rest /= P.Values.size();
    }
    for (const std::string &Argument : Command)
      R.Command.push_back(replaced(
          Argument, [&](StringRef Name) -> StringRef { return R.Parameters[Name.str()]; }));
  }
  return Runs;
}

} // namespace optimas
