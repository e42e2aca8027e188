//===- GuardSignature.cpp - Signatures and their other declarations -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A signature may gain or lose __restrict__ and __launch_bounds__ and gain const. All
// of that is a matter of tokens, so it is compared as tokens; the re-parse then shows
// whether the program still holds together.
//
//===----------------------------------------------------------------------===//
#include "GuardImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
namespace tok = clang::tok;

namespace optimas {

namespace {
using Tokens = std::vector<GuardToken>;

/// A signature in its parts, `const`, `__restrict__` and `__launch_bounds__(…)` apart.
struct SignatureParts {
  std::string Before, After; ///< of the parameter list
  std::string Bounds;
  std::vector<Tokens> Parameters;
};
} // namespace

static bool isRestrict(const GuardToken &T) {
  return T.is("__restrict__") || T.is("__restrict");
}

/// Index of the `(` that opens the parameters of \p Name; the number of tokens when
/// there is none.
static size_t parameterList(ArrayRef<GuardToken> T, StringRef Name) {
  for (size_t I = 0; I + 1 < T.size(); ++I) {
    if (!T[I].is(Name))
      continue;
    size_t Next = I + 1;
    if (T[Next].Kind == tok::less) {
      // Template arguments: to the `>` before the parameters.
      size_t Depth = 0;
      for (; Next < T.size(); ++Next) {
        if (T[Next].Kind == tok::l_paren)
          Next = closingBracket(T, Next);
        else if (T[Next].Kind == tok::less)
          ++Depth;
        else if (T[Next].Kind == tok::greater && --Depth == 0)
          break;
        else if (T[Next].Kind == tok::greatergreater && (Depth -= 2) == 0)
          break;
      }
      ++Next;
    }
    if (Next < T.size() && T[Next].Kind == tok::l_paren)
      return Next;
  }
  return T.size();
}

static std::optional<SignatureParts> splitSignature(ArrayRef<GuardToken> T,
                                                    StringRef Name) {
  SignatureParts P;
  Tokens Rest;
  for (size_t I = 0; I < T.size(); ++I) {
    if (T[I].is("__launch_bounds__") && I + 1 < T.size() &&
        T[I + 1].Kind == tok::l_paren) {
      size_t End = closingBracket(T, I + 1);
      if (End == T.size())
        return std::nullopt;
      P.Bounds = spelled(T.slice(I, End - I + 1));
      I = End;
    } else {
      Rest.push_back(T[I]);
    }
  }
  size_t Open = parameterList(Rest, Name);
  if (Open == Rest.size())
    return std::nullopt;
  size_t Close = closingBracket(Rest, Open);
  if (Close == Rest.size())
    return std::nullopt;
  ArrayRef<GuardToken> R = Rest;
  P.Before = spelled(R.take_front(Open));
  P.After = spelled(R.drop_front(Close + 1));
  for (ArrayRef<GuardToken> Parameter : splitAtCommas(R.slice(Open + 1, Close - Open - 1)))
    P.Parameters.emplace_back(Parameter.begin(), Parameter.end());
  return P;
}

/// The parameter without qualifiers, and how many const it has.
static std::string bare(ArrayRef<GuardToken> Parameter, unsigned &Consts,
                        unsigned &Restricts) {
  Tokens Out;
  Consts = Restricts = 0;
  for (const GuardToken &T : Parameter) {
    if (T.is("const"))
      ++Consts;
    else if (isRestrict(T))
      ++Restricts;
    else
      Out.push_back(T);
  }
  return spelled(Out);
}

static bool pointeeIsConst(ArrayRef<GuardToken> Parameter) {
  for (const GuardToken &T : Parameter) {
    if (T.Kind == tok::star)
      return false;
    if (T.is("const"))
      return true;
  }
  return false;
}

namespace {
/// What a signature edit does to one parameter.
struct ParameterChange {
  bool AddConst = false, AddRestrict = false;
};
} // namespace

static MaybeHit compareParameters(const SignatureParts &Old, const SignatureParts &New,
                                  std::vector<ParameterChange> &Changes) {
  if (Old.Parameters.size() != New.Parameters.size())
    return ruleHit("guard-signature",
                   "the number of parameters may not change: " +
                       Twine(Old.Parameters.size()) + " before, " +
                       Twine(New.Parameters.size()) + " after");
  for (size_t I = 0; I < Old.Parameters.size(); ++I) {
    unsigned OldConst, NewConst, OldRestrict, NewRestrict;
    std::string Was = bare(Old.Parameters[I], OldConst, OldRestrict);
    std::string Is = bare(New.Parameters[I], NewConst, NewRestrict);
    if (Was != Is)
      return ruleHit("guard-signature",
                     "parameter " + Twine(I + 1) + " was '" + Was + "' and is now '" +
                         Is + "'; only const, __restrict__ and __launch_bounds__ may "
                              "change");
    bool PointeeWas = pointeeIsConst(Old.Parameters[I]);
    bool PointeeIs = pointeeIsConst(New.Parameters[I]);
    if (NewConst < OldConst || (PointeeWas && !PointeeIs))
      return ruleHit("guard-signature", "parameter " + Twine(I + 1) + " '" + Was +
                                            "' loses its const; const may be added only");
    bool Pointer = any_of(New.Parameters[I],
                          [](const GuardToken &T) { return T.Kind == tok::star; });
    Changes.push_back({Pointer && PointeeIs && !PointeeWas,
                       Pointer && NewRestrict > OldRestrict});
  }
  return std::nullopt;
}

static FileEdit insertion(const GuardContext &C, const ResolvedEdit &E, FileId File,
                          unsigned At, StringRef Text) {
  FileEdit F;
  F.Path = C.Model.file(File).Path;
  F.File = File;
  F.Offset = At;
  F.Replacement = Text.str();
  F.Edit = E.Source.Id;
  return F;
}

/// Gives another declaration the same qualifiers.
static MaybeHit updateDeclaration(const GuardContext &C, ResolvedEdit &E,
                                  const SourceRange &R, StringRef Name,
                                  ArrayRef<ParameterChange> Changes) {
  const SourceFile &File = C.Model.file(R.File);
  std::string Where = placeText(C.Model, R);
  auto Refuse = [&](const Twine &Why) {
    return ruleHit("guard-signature-redeclaration",
                   "the declaration of '" + Name + "' at " + Where + " " + Why,
                   /*CannotProve=*/true);
  };
  if (!File.Editable)
    return Refuse("cannot be updated: the file may not be edited");
  LexedText Lexed = lexSource(C.Model.text(R));
  ArrayRef<GuardToken> T = Lexed.Tokens;
  size_t Open = parameterList(T, Name);
  size_t Close = Open == T.size() ? Open : closingBracket(T, Open);
  if (Close == T.size())
    return Refuse("has no parameter list in the file (a macro, perhaps)");
  auto Parameters = splitAtCommas(T.slice(Open + 1, Close - Open - 1));
  if (Parameters.size() != Changes.size())
    return Refuse("has another number of parameters");
  for (size_t I = 0; I < Changes.size(); ++I) {
    ArrayRef<GuardToken> P = Parameters[I];
    auto Star = find_if(reverse(P), [](const GuardToken &G) {
      return G.Kind == tok::star;
    });
    if ((Changes[I].AddConst || Changes[I].AddRestrict) && Star == P.rend())
      return Refuse("does not spell parameter " + Twine(I + 1) + " as a pointer");
    if (Changes[I].AddConst && !pointeeIsConst(P))
      E.Changes.push_back(
          insertion(C, E, R.File, R.Begin + P.front().Offset, "const "));
    if (Changes[I].AddRestrict && none_of(P, isRestrict)) {
      bool Named = Star.base() != P.end() && Star.base()->isIdentifier();
      E.Changes.push_back(insertion(C, E, R.File, R.Begin + Star->Offset + 1,
                                    Named ? "__restrict__ " : "__restrict__"));
    }
  }
  return std::nullopt;
}

MaybeHit checkSignature(const GuardContext &C, ResolvedEdit &E) {
  const Function &F = C.Model.function(E.Function);
  StringRef Name = F.Name;
  Name = Name.drop_front(Name.rfind(':') + 1);
  LexedText OldText = lexSource(C.Model.text(E.Named));
  LexedText NewText = lexSource(E.Text);
  auto Old = splitSignature(OldText.Tokens, Name);
  auto New = splitSignature(NewText.Tokens, Name);
  if (!Old)
    return ruleHit("guard-signature",
                   "the signature of '" + Name + "' at " + placeText(C.Model, E.Named) +
                       " is not spelled in a form that can be compared",
                   /*CannotProve=*/true);
  if (!New)
    return ruleHit("guard-signature", "the text is no signature of '" + Name + "'");
  if (Old->Before != New->Before || Old->After != New->After)
    return ruleHit("guard-signature",
                   "name, return type, template header and attributes of '" + Name +
                       "' may not change: '" + Old->Before + "' is now '" +
                       New->Before + "'");
  std::vector<ParameterChange> Changes;
  if (MaybeHit H = compareParameters(*Old, *New, Changes))
    return H;
  for (const SourceRange &R : F.Redeclarations)
    if (MaybeHit H = updateDeclaration(C, E, R, Name, Changes))
      return H;
  return std::nullopt;
}

} // namespace optimas
