//===- Symbols.cpp - One name for one kernel --------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// nvcc writes an anonymous namespace as `_GLOBAL__N__<hash>_<file>` and what
/// it makes internal as `_INTERNAL_<hash>_<file>::name`, where the hash changes
/// with path and content; Clang writes `_GLOBAL__N_1` and `_ZL`. Nsight Compute
/// prints
/// `<unnamed>::`, `const float *`, `(int)3`, and `T1` for a template's
/// parameters.
///
//===----------------------------------------------------------------------===//
#include "SymbolIndex.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace optimas {

/// Stands for `(anonymous namespace)` while names are taken apart: one word.
static const char *const Anonymous = "{anonymous}";

using Tokens = std::vector<std::string>;

static bool isWordChar(char C) {
  return isAlnum(C) || C == '_' || C == '$' || C == '{' || C == '}' || C == '#';
}

static void replaceAll(std::string &Text, StringRef From, StringRef To) {
  for (size_t At = Text.find(From.data(), 0, From.size());
       At != std::string::npos;
       At = Text.find(From.data(), At + To.size(), From.size()))
    Text.replace(At, From.size(), To.data(), To.size());
}

/// `main::'lambda0'(int)` and `main::[lambda(int) (instance 2)]` →
/// `main::{lambda#2}`.
static void replaceLambdas(std::string &Text) {
  size_t At = 0;
  while ((At = Text.find("'lambda", At)) != std::string::npos) {
    size_t Quote = Text.find('\'', At + 1);
    if (Quote == std::string::npos)
      return;
    unsigned Index = 0;
    StringRef Digits = StringRef(Text).slice(At + 7, Quote);
    unsigned Number =
        Digits.empty() || Digits.getAsInteger(10, Index) ? 1 : Index + 2;
    size_t End = Quote + 1;
    if (End < Text.size() && Text[End] == '(') {
      size_t Close = Text.find(')', End);
      End = Close == std::string::npos ? Text.size() : Close + 1;
    }
    Text.replace(At, End - At, "{lambda#" + std::to_string(Number) + "}");
  }
  At = 0;
  while ((At = Text.find("[lambda", At)) != std::string::npos) {
    size_t Close = Text.find(']', At);
    size_t Instance = Text.find("(instance ", At);
    if (Close == std::string::npos || Instance == std::string::npos ||
        Instance > Close)
      return;
    StringRef Digits =
        StringRef(Text).substr(Instance + 10).take_while([](char C) {
          return isDigit(C);
        });
    std::string Number = Digits.str();
    Text.replace(At, Close + 1 - At, "{lambda#" + Number + "}");
  }
}

static Tokens tokenize(StringRef Text) {
  Tokens Result;
  for (size_t At = 0; At < Text.size();) {
    if (Text[At] == ' ') {
      ++At;
    } else if (isWordChar(Text[At])) {
      size_t End = At;
      while (End < Text.size() && isWordChar(Text[End]))
        ++End;
      Result.push_back(Text.slice(At, End).str());
      At = End;
    } else if (Text.substr(At).starts_with("::")) {
      Result.push_back("::");
      At += 2;
    } else {
      Result.push_back(std::string(1, Text[At++]));
    }
  }
  return Result;
}

/// One word for every spelling of an anonymous namespace; `_INTERNAL_…::` goes.
static void unifyNamespaces(Tokens &T) {
  Tokens Result;
  for (size_t I = 0; I < T.size(); ++I) {
    StringRef Word = T[I];
    if (Word.starts_with("_GLOBAL__N_")) {
      Result.push_back(Anonymous);
    } else if (Word.starts_with("_INTERNAL_") && I + 1 < T.size() &&
               T[I + 1] == "::") {
      ++I;
    } else {
      Result.push_back(T[I]);
    }
  }
  T = std::move(Result);
}

static bool isQualifier(StringRef Word) {
  return Word == "const" || Word == "volatile";
}

static bool isPointer(StringRef Token) { return Token == "*" || Token == "&"; }

static int depthChange(StringRef Token) {
  if (Token == "<" || Token == "(" || Token == "[")
    return 1;
  return Token == ">" || Token == ")" || Token == "]" ? -1 : 0;
}

/// `3u`, `(int)3`, `true` → `3`, `3`, `1`.
static void normaliseLiteral(Tokens &T) {
  if (T.size() >= 4 && T[0] == "(") {
    auto Close = llvm::find(T, ")");
    if (Close != T.end() && Close + 1 != T.end() &&
        (isDigit((*(Close + 1))[0]) || *(Close + 1) == "-"))
      T.erase(T.begin(), Close + 1);
  }
  if (T.empty())
    return;
  std::string &Last = T.back();
  if (T.size() == 1 && (Last == "true" || Last == "false"))
    Last = Last == "true" ? "1" : "0";
  else if (isDigit(Last[0]))
    Last = StringRef(Last).rtrim("ulUL").str();
}

/// Lists that nest deeper, which no kernel's do, stay as they are.
constexpr unsigned MaxNesting = 64;

static void normaliseLists(Tokens &T, unsigned Nesting = 0);

/// One parameter or template argument: `const` behind what it qualifies.
static Tokens normaliseType(Tokens T, unsigned Nesting) {
  normaliseLists(T, Nesting);
  normaliseLiteral(T);
  Tokens Leading;
  while (!T.empty() && isQualifier(T.front())) {
    Leading.push_back(T.front());
    T.erase(T.begin());
  }
  if (Leading.empty())
    return T;
  size_t End = 0;
  int Depth = 0;
  for (; End < T.size(); ++End) {
    if (Depth == 0 && (isPointer(T[End]) || isQualifier(T[End]) ||
                       T[End] == "(" || T[End] == "[" || T[End] == "."))
      break;
    Depth += depthChange(T[End]);
  }
  T.insert(T.begin() + End, Leading.begin(), Leading.end());
  return T;
}

/// Normalises every comma-separated part of every bracketed list.
static void normaliseLists(Tokens &T, unsigned Nesting) {
  if (Nesting == MaxNesting)
    return;
  Tokens Result;
  for (size_t I = 0; I < T.size(); ++I) {
    Result.push_back(T[I]);
    if (T[I] != "<" && T[I] != "(")
      continue;
    // A list ends with the bracket that closes it; parts end with its commas.
    Tokens Part;
    int Depth = 0;
    for (++I; I < T.size(); ++I) {
      bool Closes = Depth == 0 && depthChange(T[I]) < 0;
      if (Closes || (Depth == 0 && T[I] == ",")) {
        for (std::string &Token : normaliseType(std::move(Part), Nesting + 1))
          Result.push_back(std::move(Token));
        Part.clear();
        Result.push_back(T[I]);
        if (Closes)
          break;
        continue;
      }
      Depth += depthChange(T[I]);
      Part.push_back(T[I]);
    }
    Result.insert(Result.end(), Part.begin(), Part.end()); // an unclosed list
  }
  T = std::move(Result);
}

/// Where the parameter list starts: the first `(` outside template arguments.
static size_t parametersAt(const Tokens &T) {
  int Depth = 0;
  for (size_t I = 0; I < T.size(); ++I) {
    if (Depth == 0 && T[I] == "(")
      return I;
    if (T[I] == "<" || T[I] == ">")
      Depth += depthChange(T[I]);
  }
  return T.size();
}

/// Drops what stands before the qualified name: the last word at depth 0 that
/// follows another word, with its `a::b::`.
static void dropReturnType(Tokens &T) {
  size_t End = parametersAt(T);
  size_t Start = 0;
  int Depth = 0;
  for (size_t I = 0; I < End; ++I) {
    if (Depth == 0 && I > 0 && isWordChar(T[I][0]) && T[I - 1] != "::")
      Start = I;
    if (Depth == 0 && T[I] == "::" && I > 0 && isPointer(T[I - 1]))
      Start = I;
    Depth += depthChange(T[I]);
  }
  T.erase(T.begin(), T.begin() + Start);
}

static std::string join(ArrayRef<std::string> T) {
  std::string Text;
  for (size_t I = 0; I < T.size(); ++I) {
    bool Words =
        I > 0 && isWordChar(T[I][0]) &&
        (isWordChar(T[I - 1].back()) || isPointer(T[I - 1]) || T[I - 1] == ">");
    if (Words || (I > 0 && T[I - 1] == ","))
      Text += ' ';
    Text += T[I];
  }
  replaceAll(Text, Anonymous, "(anonymous namespace)");
  return Text;
}

/// ptxas's `$_Z6kernelPf$_Z6helperi` → `_Z6helperi`.
static StringRef ownSymbol(StringRef Symbol) {
  size_t At = Symbol.rfind("$_Z");
  return At == StringRef::npos ? Symbol : Symbol.drop_front(At + 1);
}

/// Kernel names of real programs stay far below; a name of a damaged file must
/// not cost quadratic time.
constexpr size_t MaxName = 1 << 16;

static Tokens canonicalTokens(StringRef Symbol) {
  Symbol = ownSymbol(Symbol.trim()).take_front(MaxName);
  std::string Text = Symbol.starts_with("_Z")
                         ? demangle(std::string_view(Symbol))
                         : Symbol.str();
  replaceAll(Text, "(anonymous namespace)", Anonymous);
  replaceAll(Text, "<unnamed>", Anonymous);
  replaceLambdas(Text);
  Tokens T = tokenize(Text);
  unifyNamespaces(T);
  dropReturnType(T);
  normaliseLists(T);
  return T;
}

std::string canonicalSymbol(StringRef Symbol) {
  return join(canonicalTokens(Symbol));
}

namespace {
/// A canonical name in parts, each without namespaces but Path.
struct Parts {
  Tokens Path; ///< namespaces and classes
  std::string Name;
  std::string Arguments;  ///< `<…>`, empty when there are none
  std::string Parameters; ///< `(…)`
  bool Mangled = false;
  bool HasPlaceholders = false; ///< T1, T2, … in Parameters
};
} // namespace

/// The same tokens without `a::`: Nsight Compute's raw page drops inner ones.
static Tokens unqualified(ArrayRef<std::string> T) {
  Tokens Result;
  for (size_t I = 0; I < T.size(); ++I) {
    if (I + 1 < T.size() && T[I + 1] == "::")
      ++I;
    else
      Result.push_back(T[I]);
  }
  return Result;
}

static bool isPlaceholder(StringRef Token) {
  return Token.size() > 1 && Token[0] == 'T' &&
         llvm::all_of(Token.drop_front(), [](char C) { return isDigit(C); });
}

bool isMangled(StringRef Symbol) {
  return ownSymbol(Symbol.trim()).starts_with("_Z");
}

static Parts partsOf(StringRef Symbol) {
  Parts P;
  P.Mangled = isMangled(Symbol);
  Tokens T = canonicalTokens(Symbol);
  size_t Parameters = parametersAt(T);
  ArrayRef<std::string> Head(T.data(), Parameters),
      Tail(T.data() + Parameters, T.size() - Parameters);
  P.Parameters = join(unqualified(Tail));
  P.HasPlaceholders = llvm::any_of(Tail, isPlaceholder);
  // The arguments are those of the last component.
  int Depth = 0;
  size_t Open = Head.size();
  for (size_t I = 0; I < Head.size(); ++I) {
    if (Depth == 0 && Head[I] == "<")
      Open = I;
    else if (Depth == 0 && Head[I] == "::")
      Open = Head.size();
    Depth += depthChange(Head[I]);
  }
  P.Arguments = join(unqualified(Head.drop_front(Open)));
  Head = Head.take_front(Open);
  Depth = 0;
  for (const std::string &Token : Head) {
    if (Depth == 0 && isWordChar(Token[0]))
      P.Path.push_back(Token);
    Depth += depthChange(Token);
  }
  if (!P.Path.empty()) {
    P.Name = P.Path.back();
    P.Path.pop_back();
  }
  return P;
}

std::string baseName(StringRef Canonical) {
  Tokens T = canonicalTokens(Canonical);
  Tokens Result;
  int Depth = 0; // in template arguments
  for (size_t I = 0, End = parametersAt(T); I < End; ++I) {
    if (T[I] == "<" || T[I] == ">")
      Depth += depthChange(T[I]);
    else if (Depth == 0)
      Result.push_back(T[I]);
  }
  return join(Result);
}

/// Whether \p Short is \p Long with some components left out.
static bool isSubsequence(ArrayRef<std::string> Short,
                          ArrayRef<std::string> Long) {
  for (const std::string &Word : Long)
    if (!Short.empty() && Short.front() == Word)
      Short = Short.drop_front();
  return Short.empty();
}

bool symbolsMatch(StringRef A, StringRef B) {
  if (A == B)
    return true;
  Parts P = partsOf(A), Q = partsOf(B);
  if (P.Name != Q.Name)
    return false;
  if (P.Mangled && Q.Mangled)
    return canonicalSymbol(A) == canonicalSymbol(B);
  // The bare name of --print-kernel-base function, or an extern "C" kernel's.
  auto IsBare = [](const Parts &X) {
    return X.Path.empty() && X.Arguments.empty() && X.Parameters.empty();
  };
  if (IsBare(P) || IsBare(Q))
    return true;
  if (P.Arguments != Q.Arguments)
    return false;
  if (!isSubsequence(P.Path, Q.Path) && !isSubsequence(Q.Path, P.Path))
    return false;
  return P.HasPlaceholders || Q.HasPlaceholders || P.Parameters.empty() ||
         Q.Parameters.empty() || P.Parameters == Q.Parameters;
}

std::string bareName(StringRef Symbol) { return partsOf(Symbol).Name; }

} // namespace optimas
