//===- OutputMask.cpp - What of a program's text may differ -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/OutputMask.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace optimas {

/// Stands for a masked number; no program prints it by accident.
static constexpr StringLiteral Hole = "\x01#\x01";
static constexpr StringLiteral UserHole = "\x01*\x01";

Expected<OutputMask> OutputMask::create(ArrayRef<std::string> Patterns) {
  OutputMask M;
  for (const std::string &P : Patterns) {
    std::string Why;
    if (P.empty() || !Regex(P).isValid(Why))
      return makeError(ExitCode::Usage,
                       "is no regular expression: " + Twine(P.empty() ? "empty" : Why),
                       "--mask=" + P, "give a POSIX extended regular expression");
    M.Patterns.push_back(P);
  }
  return std::move(M);
}

static bool isUnit(StringRef Token) {
  static const StringSet<> Units = {
      "ns",   "us",      "\xc2\xb5s",    "\xce\xbcs",    "ms",          "s",
      "sec",  "secs",    "second",       "seconds",      "nsec",        "usec",
      "msec", "msecs",   "usecs",        "nsecs",        "millisecond", "milliseconds",
      "min",  "minutes", "microsecond",  "microseconds", "nanosecond",  "nanoseconds",
      "fps",  "FPS",     "cycles",       "ticks",        "Hz",          "kHz",
      "MHz",  "GHz",     "mins",         "minute",       "clocks",      "GBps",
      "MBps", "Gbps",    "Mbps"};
  if (Units.contains(Token))
    return true;
  StringRef Lower = Token;
  // Rates: per second, and floating-point operations per second under any prefix.
  return Lower.ends_with("/s") || Lower.ends_with("/sec") || Lower.ends_with("/second") ||
         Lower.ends_with_insensitive("flops");
}

static bool isUnitChar(char C) { return isAlpha(C) || C == '/' || (C & 0x80); }
static bool isWordChar(char C) { return isAlnum(C) || C == '_'; }

/// Length of a number at \p At, 0 when there is none.
static size_t numberAt(StringRef Line, size_t At) {
  size_t I = At;
  if (I < Line.size() && (Line[I] == '-' || Line[I] == '+'))
    ++I;
  size_t Digits = I;
  bool Dot = false;
  while (I < Line.size() && (isDigit(Line[I]) || (Line[I] == '.' && !Dot))) {
    Dot |= Line[I] == '.';
    ++I;
  }
  if (I == Digits || !isDigit(Line[Digits]))
    return 0;
  if (I < Line.size() && (Line[I] == 'e' || Line[I] == 'E')) {
    size_t J = I + 1;
    if (J < Line.size() && (Line[J] == '-' || Line[J] == '+'))
      ++J;
    size_t Exponent = J;
    while (J < Line.size() && isDigit(Line[J]))
      ++J;
    if (J > Exponent)
      I = J;
  }
  return I - At;
}

/// A unit right behind: `12 ms`, `12ms`, `12 (us)`, `12 [GB/s]`. Its end, or npos.
static size_t unitBehind(StringRef Line, size_t At) {
  size_t I = At;
  while (I < Line.size() && I < At + 3 && Line[I] == ' ')
    ++I;
  if (I < Line.size() && (Line[I] == '(' || Line[I] == '['))
    ++I;
  size_t End = I;
  while (End < Line.size() && isUnitChar(Line[End]))
    ++End;
  bool Whole = End == Line.size() || !isWordChar(Line[End]);
  return Whole && isUnit(Line.slice(I, End)) ? End : StringRef::npos;
}

/// A unit right before, as the last word of a label: `time (ms): `, `time_ms=`,
/// `Elapsed [s] = `.
static bool unitBefore(StringRef Head) {
  Head = Head.rtrim(' ');
  if (!Head.consume_back(":") && !Head.consume_back("="))
    return false;
  Head = Head.rtrim(' ');
  bool Bracket = Head.consume_back(")") || Head.consume_back("]");
  size_t Begin = Head.size();
  while (Begin > 0 && isUnitChar(Head[Begin - 1]))
    --Begin;
  if (!isUnit(Head.drop_front(Begin)))
    return false;
  // `s: 4` alone would be a name, not a unit.
  return Begin > 0 && (Bracket ? Head[Begin - 1] == '(' || Head[Begin - 1] == '['
                               : Head[Begin - 1] == '_' || Head[Begin - 1] == '-');
}

/// Replaces the user's matches of one line.
static std::string withoutMatches(StringRef Line, ArrayRef<std::string> Patterns,
                                  std::vector<std::string> &Shown) {
  std::string Text = Line.str();
  for (const std::string &P : Patterns) {
    Regex R(P);
    std::string Out;
    StringRef Rest = Text;
    SmallVector<StringRef, 4> Matches;
    while (!Rest.empty() && R.match(Rest, &Matches) && !Matches[0].empty()) {
      Out += Rest.take_front(Matches[0].data() - Rest.data());
      Out += UserHole;
      Shown.push_back(Matches[0].str());
      Rest = Rest.drop_front(Matches[0].end() - Rest.begin());
    }
    Text = Out + Rest.str();
  }
  return Text;
}

OutputMask::Parts OutputMask::split(StringRef Output) const {
  Parts P;
  P.Skeleton.reserve(Output.size());
  while (!Output.empty()) {
    size_t Break = Output.find('\n');
    bool Last = Break == StringRef::npos;
    std::string Own;
    StringRef Line = Output.take_front(Last ? Output.size() : Break);
    if (!Patterns.empty())
      Line = Own = withoutMatches(Line, Patterns, P.UserShown);
    for (size_t I = 0; I < Line.size();) {
      bool Starts = I == 0 || !(isWordChar(Line[I - 1]) || Line[I - 1] == '.');
      size_t Length = Starts ? numberAt(Line, I) : 0;
      size_t End = Length ? unitBehind(Line, I + Length) : StringRef::npos;
      bool Before = Length && End == StringRef::npos && unitBefore(Line.take_front(I));
      if (End != StringRef::npos || Before) {
        P.Numbers.push_back(Line.substr(I, Length).str());
        P.Shown.push_back(
            (Before ? Line.take_front(I + Length).trim() : Line.slice(I, End)).str());
        P.Skeleton += Hole;
        I += Length;
      } else {
        P.Skeleton.append(Line.data() + I, std::max<size_t>(Length, 1));
        I += std::max<size_t>(Length, 1);
      }
    }
    if (Last)
      break;
    P.Skeleton += '\n';
    Output = Output.drop_front(Break + 1);
  }
  return P;
}

static std::string cut(StringRef Line) {
  std::string Text;
  for (char C : Line.take_front(120))
    Text += isPrint(C) || (C & 0x80) ? C : '?';
  return Line.size() > 120 ? Text + "…" : Text;
}

static StringRef lineNumber(StringRef Text, unsigned Number) {
  for (unsigned I = 1; I < Number && !Text.empty(); ++I)
    Text = Text.split('\n').second;
  return Text.empty() ? StringRef("(no such line)") : Text.split('\n').first;
}

static TextDifference differenceAt(size_t SkeletonOffset, StringRef Skeleton,
                                   StringRef Expected, StringRef Actual) {
  unsigned Line = 1 + unsigned(Skeleton.take_front(SkeletonOffset).count('\n'));
  return {Line, cut(lineNumber(Expected, Line)), cut(lineNumber(Actual, Line))};
}

/// Offset of the first difference; nullopt for equal texts.
static std::optional<size_t> mismatch(StringRef A, StringRef B) {
  size_t Common = std::min(A.size(), B.size());
  for (size_t I = 0; I < Common; ++I)
    if (A[I] != B[I])
      return I;
  return A.size() == B.size() ? std::nullopt : std::optional(Common);
}

/// Where the \p Index-th hole stands in \p Skeleton.
static size_t holeAt(StringRef Skeleton, size_t Index) {
  size_t At = Skeleton.find(Hole);
  for (; Index > 0 && At != StringRef::npos; --Index)
    At = Skeleton.find(Hole, At + Hole.size());
  return At == StringRef::npos ? 0 : At;
}

std::optional<TextDifference> OutputMask::learn(StringRef Output) {
  if (!Learned) {
    Learned = true;
    Reference = Output.str();
    First = split(Output);
    Varies.assign(First.Numbers.size(), false);
    return std::nullopt;
  }
  Parts P = split(Output);
  if (std::optional<size_t> At = mismatch(First.Skeleton, P.Skeleton))
    return differenceAt(*At, First.Skeleton, Reference, Output);
  for (size_t I = 0; I < P.Numbers.size(); ++I)
    if (P.Numbers[I] != First.Numbers[I])
      Varies[I] = true;
  return std::nullopt;
}

std::optional<TextDifference> OutputMask::compare(StringRef Output) const {
  Parts P = split(Output);
  if (std::optional<size_t> At = mismatch(First.Skeleton, P.Skeleton))
    return differenceAt(*At, First.Skeleton, Reference, Output);
  for (size_t I = 0; I < P.Numbers.size(); ++I)
    if (!Varies[I] && P.Numbers[I] != First.Numbers[I])
      return differenceAt(holeAt(First.Skeleton, I), First.Skeleton, Reference, Output);
  return std::nullopt;
}

std::vector<std::string> OutputMask::masked() const {
  std::vector<std::string> Out = First.UserShown;
  for (size_t I = 0; I < Varies.size(); ++I)
    if (Varies[I])
      Out.push_back(First.Shown[I]);
  return Out;
}

} // namespace optimas
