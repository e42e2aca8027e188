//===- Symbols.cpp - Joining a profile's symbols to functions -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// nvcc and Clang mangle kernels in anonymous namespaces and static kernels
/// differently, and tools print demangled names in their own fashion (Nsight
/// Compute: `void copy<float>(const T1 *, T1 *, int)`). What all agree on is the
/// qualified name, the template arguments, and nearly the parameter types.
///
//===----------------------------------------------------------------------===//
#include "optimas/Frontend/SourceModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace optimas {

namespace {

/// A demangled name taken apart.
struct ParsedName {
  std::string Base;      ///< `ns::Holder::run`, no template arguments, no blanks
  std::string Args;      ///< the template arguments of all levels: `<float,4>`
  bool HasParameters = false;
  std::vector<std::string> Parameters; ///< normalised
};

} // namespace

static bool isIdentifierChar(char C) { return isAlnum(C) || C == '_' || C == '$'; }

/// Index just after the bracket that closes the one at \p Open, npos when none does.
static size_t skipBrackets(StringRef S, size_t Open) {
  int Depth = 0;
  for (size_t I = Open; I < S.size(); ++I) {
    if (StringRef("<([{").contains(S[I]))
      ++Depth;
    else if (S[I] == '>' && I && S[I - 1] == '-')
      continue; // an arrow
    else if (StringRef(">)]}").contains(S[I]) && --Depth == 0)
      return I + 1;
  }
  return StringRef::npos;
}

/// Blanks only between two words, literal suffixes and casts as in `(int)4` dropped,
/// `const` behind what it qualifies.
static std::string normaliseType(StringRef S) {
  S = S.trim();
  bool Const = false;
  while (S.consume_front("const ")) {
    Const = true;
    S = S.ltrim();
  }
  // `(int)4` and `4u` are how tools print a constant argument; `true` is `1`.
  if (S.starts_with("("))
    if (size_t N = skipBrackets(S, 0); N != StringRef::npos && N < S.size())
      S = S.drop_front(N);
  std::string Out;
  for (size_t I = 0; I < S.size(); ++I) {
    if (S[I] == ' ') {
      size_t Next = S.find_first_not_of(' ', I);
      if (!Out.empty() && Next != StringRef::npos && isIdentifierChar(Out.back()) &&
          isIdentifierChar(S[Next]))
        Out += ' ';
      I = Next == StringRef::npos ? S.size() : Next - 1;
      continue;
    }
    Out += S[I];
  }
  if (!Out.empty() && isDigit(Out.front()))
    Out = StringRef(Out).rtrim("uUlL").str();
  if (Out == "true")
    Out = "1";
  if (Out == "false")
    Out = "0";
  if (Const) {
    // `const float *` is `float const*`: the word goes before the first declarator.
    size_t N = Out.find_first_of("*&");
    Out.insert(N == std::string::npos ? Out.size() : N, " const");
  }
  return Out;
}

static std::vector<std::string> splitList(StringRef Inner) {
  std::vector<std::string> Out;
  size_t Begin = 0;
  for (size_t I = 0; I < Inner.size();) {
    if (StringRef("<([{").contains(Inner[I])) {
      size_t N = skipBrackets(Inner, I);
      I = N == StringRef::npos ? Inner.size() : N;
      continue;
    }
    if (Inner[I] == ',') {
      Out.push_back(normaliseType(Inner.slice(Begin, I)));
      Begin = I + 1;
    }
    ++I;
  }
  if (!Inner.trim().empty())
    Out.push_back(normaliseType(Inner.drop_front(Begin)));
  if (Out.size() == 1 && Out[0] == "void")
    Out.clear();
  return Out;
}

/// Parts \p Name, whose form is `[type ]name[<args>][::…][(parameters)][ const]`.
static ParsedName parseName(StringRef Name) {
  ParsedName P;
  for (size_t I = 0; I < Name.size();) {
    StringRef Rest = Name.drop_front(I);
    if (Rest.starts_with("(anonymous namespace)") ||
        Rest.starts_with("<unnamed>")) {
      P.Base += "(anonymous namespace)";
      I += Rest.front() == '(' ? 21 : 9;
    } else if (Rest.front() == '<') {
      size_t N = skipBrackets(Name, I);
      size_t End = N == StringRef::npos ? Name.size() : N;
      P.Args += '<';
      P.Args += join(splitList(Name.slice(I + 1, End - (N != StringRef::npos))), ",");
      P.Args += '>';
      I = End;
    } else if (Rest.front() == '(') {
      size_t N = skipBrackets(Name, I);
      size_t End = N == StringRef::npos ? Name.size() : N;
      // `f(int)::g(…)` names something local to f: go on with what follows.
      if (Name.drop_front(End).starts_with("::")) {
        I = End;
        continue;
      }
      P.HasParameters = true;
      P.Parameters = splitList(Name.slice(I + 1, End - (N != StringRef::npos)));
      break;
    } else if (Rest.front() == ' ') {
      // What stood before is the return type.
      if (!P.Base.empty()) {
        P.Base.clear();
        P.Args.clear();
      }
      ++I;
    } else {
      P.Base += Rest.front();
      ++I;
    }
  }
  return P;
}

/// Demangles either compiler's symbol; other text is taken as demangled already.
static std::string demangled(StringRef Symbol) {
  // nvcc -rdc=true puts `__nv_static_<n>_<n characters>_` before internal functions.
  StringRef Rest = Symbol;
  size_t Length;
  if (Rest.consume_front("__nv_static_") && !Rest.consumeInteger(10, Length) &&
      Rest.consume_front("_") && Length < Rest.size() &&
      Rest.drop_front(Length).starts_with("_"))
    Symbol = Rest.drop_front(Length + 1);
  return demangle(Symbol);
}

/// True when the parameters can be the same types: tools print a template's own
/// parameter as `T1`, which fits anything.
static bool parametersFit(const ParsedName &A, const ParsedName &B) {
  if (!A.HasParameters || !B.HasParameters)
    return true;
  if (A.Parameters.size() != B.Parameters.size())
    return false;
  auto Generic = [](StringRef S) {
    size_t N = S.find_first_of("T");
    return N != StringRef::npos && N + 1 < S.size() && isDigit(S[N + 1]);
  };
  for (size_t I = 0; I < A.Parameters.size(); ++I)
    if (A.Parameters[I] != B.Parameters[I] && !Generic(A.Parameters[I]) &&
        !Generic(B.Parameters[I]))
      return false;
  return true;
}

/// How well \p Wanted names an instantiation: 0 not at all.
static unsigned fit(const ParsedName &Wanted, const ParsedName &Have) {
  if (Wanted.Base != Have.Base)
    return 0;
  unsigned Score = 1;
  if (Wanted.Args == Have.Args)
    Score += 4;
  else if (!Wanted.Args.empty() && !Have.Args.empty())
    Score += 0; // Spelled otherwise, or another instantiation of the same kernel.
  if (Wanted.HasParameters && parametersFit(Wanted, Have))
    Score += 2;
  return Score;
}

const Function *SourceModel::functionForSymbol(StringRef Symbol) const {
  for (const Function &F : Functions)
    for (const Instantiation &I : F.Instantiations)
      if (I.Mangled == Symbol || I.Canonical == Symbol)
        return &F;
  ParsedName Wanted = parseName(demangled(Symbol));
  const Function *Best = nullptr;
  unsigned BestScore = 0;
  for (const Function &F : Functions) {
    unsigned Score = 0;
    for (const Instantiation &I : F.Instantiations)
      Score = std::max(Score, fit(Wanted, parseName(I.Canonical)));
    // A template of which this unit shows no instantiation has its name only.
    if (F.Instantiations.empty() && parseName(F.Name).Base == Wanted.Base)
      Score = 1;
    if (Score > BestScore) {
      Best = &F;
      BestScore = Score;
    }
  }
  return Best;
}

} // namespace optimas
