//===- GuardLexical.h - What the text of an edit may hold -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules that need no AST. They run first, because text can leave its place in
// ways that a parse alone would only show as somebody else's change: an unclosed
// comment, a line splice, a directive, a bracket too many.
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_GUARDLEXICAL_H
#define OPTIMAS_LIB_TRANSFORM_GUARDLEXICAL_H

#include "clang/Basic/TokenKinds.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace optimas {

/// A rule that an edit breaks, and how.
struct RuleHit {
  llvm::StringRef Rule;
  std::string Message;
  bool CannotProve = false;
};
using MaybeHit = std::optional<RuleHit>;

struct GuardToken {
  clang::tok::TokenKind Kind = clang::tok::unknown; ///< raw: keywords are raw_identifier
  llvm::StringRef Text;                             ///< as spelled
  unsigned Offset = 0;
  bool StartOfLine = false; ///< only blanks stand before it on its line

  bool is(llvm::StringRef S) const { return Text == S; }
  bool isIdentifier() const { return Kind == clang::tok::raw_identifier; }
};

struct LexedText {
  std::vector<GuardToken> Tokens; ///< without comments
  /// A `//` comment reaches the end: what follows must start a line.
  bool EndsInLineComment = false;
};

/// What the text of an edit stands for.
enum class TextRole { Statements, Signature, LaunchConfig };

/// Splits \p Text, or says which text-level rule it breaks: size, encoding, splices,
/// trigraphs, digraphs, raw strings, unterminated comments, brackets. With
/// \p Balanced false brackets are not checked (half of a wrap).
MaybeHit lexText(llvm::StringRef Text, LexedText &Out, bool Balanced = true);

/// Splits text of the user's own file: nothing is refused. Tokens point into \p Text.
LexedText lexSource(llvm::StringRef Text);

/// Every lexical rule for \p Text in place of \p Replaced. Names that \p Replaced
/// holds are not refused here: whether they are still the same is for the AST rules.
MaybeHit checkText(TextRole Role, llvm::StringRef Text, llvm::StringRef Replaced,
                   bool Trusted);

/// The same for a wrap: \p Text holds `$body` once, at a statement's place.
MaybeHit checkWrapText(llvm::StringRef Text, llvm::StringRef Body, bool Trusted);

/// Index of the bracket that closes the one at \p Open, or the number of tokens.
size_t closingBracket(llvm::ArrayRef<GuardToken> Tokens, size_t Open);

/// Splits [Begin, End) of \p Tokens at commas outside brackets (`<…>` not counted).
std::vector<llvm::ArrayRef<GuardToken>>
splitAtCommas(llvm::ArrayRef<GuardToken> Tokens);

/// The tokens' texts with one blank between: equal texts are equal code.
std::string spelled(llvm::ArrayRef<GuardToken> Tokens);

} // namespace optimas

#endif // OPTIMAS_LIB_TRANSFORM_GUARDLEXICAL_H
