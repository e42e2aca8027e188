//===- JsonStream.cpp - Large JSON in pieces --------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "JsonStream.h"

using namespace llvm;

namespace optimas {

/// A profile nests seven deep; llvm::json recurses once a level.
constexpr unsigned MaxDepth = 64;
/// The largest value that is handed out is a cubin in base64.
constexpr size_t MaxValue = size_t(1) << 30;

/// Gets the next chunk. False at the end, and when the source fails.
bool JsonStream::fill() {
  if (Cutting) {
    Pending += Chunk.substr(Start);
    Start = 0;
    if (Pending.size() > MaxValue && Failure.empty())
      Failure = "a value has more than " + std::to_string(MaxValue) + " bytes";
  }
  Passed += Chunk.size();
  Chunk = StringRef();
  At = 0;
  if (!Failure.empty())
    return false;
  Expected<StringRef> Next = From.next();
  if (!Next) {
    Failure = toString(Next.takeError());
    return false;
  }
  Chunk = *Next;
  return !Chunk.empty();
}

void JsonStream::skipBlanks() {
  while (!atEnd()) {
    At = std::min(Chunk.find_first_not_of(" \t\r\n", At), Chunk.size());
    if (At < Chunk.size())
      return;
  }
}

bool JsonStream::accept(char C) {
  skipBlanks();
  if (atEnd() || Chunk[At] != C)
    return false;
  ++At;
  return true;
}

Error JsonStream::expected(StringRef What) {
  if (!Failure.empty())
    return createStringError(Failure);
  if (atEnd())
    return createStringError(Failure.empty()
                                 ? "the text ends where " + What +
                                       " is expected: it is cut short"
                                 : Failure);
  return createStringError(What + " is expected at byte " + Twine(Passed + At));
}

/// Behind the string at the cursor, whose first quote is passed.
Error JsonStream::passString() {
  while (!atEnd()) {
    At = std::min(Chunk.find_first_of("\"\\", At), Chunk.size());
    if (At == Chunk.size())
      continue;
    if (Chunk[At++] == '"')
      return Error::success();
    if (atEnd())
      break;
    ++At; // what is escaped
  }
  return expected("the end of a string");
}

/// Brackets are counted, everything else is passed over.
Error JsonStream::passValue() {
  unsigned Depth = 0;
  while (!atEnd()) {
    char C = Chunk[At];
    if ((C == '}' || C == ']' || C == ',') && Depth == 0)
      break;
    ++At;
    if (C == '"') {
      if (Error E = passString())
        return E;
    } else if (C == '{' || C == '[') {
      if (++Depth > MaxDepth)
        return createStringError("values nest deeper than " + Twine(MaxDepth));
    } else if (C == '}' || C == ']') {
      --Depth;
    }
    if (Depth == 0 && (C == '"' || C == '}' || C == ']'))
      break;
  }
  if (Depth || !Failure.empty())
    return expected("a closing bracket");
  return Error::success();
}

Expected<StringRef> JsonStream::value() {
  skipBlanks();
  Pending.clear();
  Start = At;
  Cutting = true;
  Error E = passValue();
  Cutting = false;
  if (E)
    return std::move(E);
  StringRef Text = Chunk.slice(Start, At);
  if (!Pending.empty()) {
    Pending += Text;
    Text = Pending;
  }
  Text = Text.rtrim(" \t\r\n");
  if (Text.empty())
    return expected("a value");
  return Text;
}

Error JsonStream::skip() {
  skipBlanks();
  uint64_t Before = Passed + At;
  if (Error E = passValue())
    return E;
  return Passed + At == Before ? expected("a value") : Error::success();
}

Error JsonStream::end() {
  skipBlanks();
  if (atEnd() && Failure.empty())
    return Error::success();
  return createStringError(Failure.empty() ? "something follows the end at byte " +
                                                 Twine(Passed + At)
                                           : Twine(Failure));
}

Error JsonStream::list(char Open, char Close, StringRef What,
                       function_ref<Error()> Each) {
  if (!accept(Open))
    return expected(What);
  bool First = true;
  while (!accept(Close)) {
    if (!First && !accept(','))
      return expected("`,` or `" + std::string(1, Close) + "`");
    First = false;
    if (Error E = Each())
      return E;
  }
  return Error::success();
}

Error JsonStream::object(function_ref<Error(StringRef)> Member) {
  return list('{', '}', "an object", [&]() -> Error {
    skipBlanks();
    if (atEnd() || Chunk[At] != '"')
      return expected("a string");
    Expected<StringRef> Quoted = value();
    if (!Quoted)
      return Quoted.takeError();
    std::string Key = Quoted->drop_front().drop_back().str();
    if (!accept(':'))
      return expected("`:`");
    return Member(Key);
  });
}

Error JsonStream::array(function_ref<Error()> Element) {
  return list('[', ']', "an array", Element);
}

} // namespace optimas
