//===- JsonText.cpp - Large JSON in pieces ----------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "JsonText.h"

using namespace llvm;

namespace optimas {

/// A profile nests seven deep; llvm::json recurses once a level.
constexpr unsigned MaxDepth = 64;

namespace {
class Cutter {
public:
  explicit Cutter(StringRef Text) : Text(Text) {}

  Error run(char Open, char Close,
            function_ref<Error(StringRef Key, StringRef Value)> Each);

private:
  void skipBlanks() {
    At = std::min(Text.find_first_not_of(" \t\r\n", At), Text.size());
  }
  bool accept(char C) {
    skipBlanks();
    if (At >= Text.size() || Text[At] != C)
      return false;
    ++At;
    return true;
  }
  Error expected(StringRef What) const {
    if (At >= Text.size())
      return createStringError("the text ends where " + What +
                               " is expected: it is cut short");
    return createStringError(What + " is expected at byte " + Twine(At));
  }
  Expected<StringRef> string();
  Expected<StringRef> value();

  StringRef Text;
  size_t At = 0;
};
} // namespace

/// The string at the cursor with its quotes.
Expected<StringRef> Cutter::string() {
  size_t Start = At;
  if (!accept('"'))
    return expected("a string");
  Start = At - 1;
  while (true) {
    At = Text.find_first_of("\"\\", At);
    if (At >= Text.size()) {
      At = Text.size();
      return expected("the end of a string");
    }
    if (Text[At] == '"') {
      ++At;
      return Text.slice(Start, At);
    }
    At += 2;
  }
}

/// The value at the cursor: brackets are counted, everything else skipped.
Expected<StringRef> Cutter::value() {
  skipBlanks();
  size_t Start = At;
  unsigned Depth = 0;
  while (At < Text.size()) {
    char C = Text[At];
    if (C == '"') {
      auto S = string();
      if (!S)
        return S.takeError();
    } else if (C == '{' || C == '[') {
      if (++Depth > MaxDepth)
        return createStringError("values nest deeper than " + Twine(MaxDepth));
      ++At;
    } else if (C == '}' || C == ']') {
      if (Depth == 0)
        break;
      --Depth;
      ++At;
    } else if (C == ',' && Depth == 0) {
      break;
    } else {
      ++At;
    }
    if (Depth == 0 && (C == '"' || C == '}' || C == ']'))
      break;
  }
  if (Depth)
    return expected("a closing bracket");
  StringRef Value = Text.slice(Start, At).rtrim(" \t\r\n");
  if (Value.empty())
    return expected("a value");
  return Value;
}

Error Cutter::run(char Open, char Close,
                  function_ref<Error(StringRef, StringRef)> Each) {
  bool IsObject = Open == '{';
  if (!accept(Open))
    return expected(IsObject ? "an object" : "an array");
  bool First = true;
  while (!accept(Close)) {
    if (!First && !accept(','))
      return expected(IsObject ? "`,` or `}`" : "`,` or `]`");
    First = false;
    StringRef Key;
    if (IsObject) {
      skipBlanks();
      auto Quoted = string();
      if (!Quoted)
        return Quoted.takeError();
      Key = Quoted->drop_front().drop_back();
      if (!accept(':'))
        return expected("`:`");
    }
    auto Value = value();
    if (!Value)
      return Value.takeError();
    if (Error E = Each(Key, *Value))
      return E;
  }
  skipBlanks();
  if (At != Text.size())
    return createStringError("something follows the end at byte " + Twine(At));
  return Error::success();
}

Error forEachMember(StringRef Text,
                    function_ref<Error(StringRef, StringRef)> Member) {
  return Cutter(Text).run('{', '}', Member);
}

Error forEachElement(StringRef Text, function_ref<Error(StringRef)> Element) {
  return Cutter(Text).run(
      '[', ']', [&](StringRef, StringRef Value) { return Element(Value); });
}

} // namespace optimas
