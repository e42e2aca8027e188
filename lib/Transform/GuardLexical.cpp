//===- GuardLexical.cpp - Rules on the text of an edit -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardLexical.h"
#include "GuardNames.h"
#include "clang/Basic/LangOptions.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
namespace tok = clang::tok;

namespace optimas {

/// More text than any one statement's rewrite needs; a bound for every later stage.
constexpr size_t MaxText = 64 * 1024;

static clang::LangOptions cudaOptions() {
  clang::LangOptions Options;
  Options.CPlusPlus = Options.CPlusPlus11 = Options.CPlusPlus14 = true;
  Options.CPlusPlus17 = Options.CUDA = Options.LineComment = true;
  Options.Bool = Options.RawStringLiterals = Options.Digraphs = true;
  return Options;
}

static RuleHit hit(StringRef Rule, const Twine &Message) {
  return {Rule, Message.str(), false};
}

static std::string quoted(StringRef Text) { return ("'" + Text + "'").str(); }

/// Lexes raw; comments are dropped but remembered where they end the text.
static LexedText lexRaw(const std::string &Buffer, StringRef Text) {
  LexedText Out;
  static const clang::LangOptions Options = cudaOptions();
  clang::Lexer Lex(clang::SourceLocation(), Options, Buffer.data(), Buffer.data(),
                   Buffer.data() + Buffer.size());
  // Blanks are kept too: only so does the lexer show a comment that is not closed.
  Lex.SetKeepWhitespaceMode(true);
  size_t LineOfLast = StringRef::npos; // where the last token's line begins
  while (true) {
    clang::Token T;
    Lex.LexFromRawLexer(T);
    if (T.is(tok::eof))
      break;
    unsigned End = Lex.getBufferLocation() - Buffer.data();
    unsigned Begin = End - T.getLength();
    GuardToken G;
    G.Kind = T.getKind();
    G.Offset = Begin;
    G.Text = Text.slice(Begin, End);
    if (T.is(tok::comment)) {
      Out.EndsInLineComment = G.Text.starts_with("//");
      continue;
    }
    if (T.is(tok::unknown) && G.Text.trim().empty()) {
      Out.EndsInLineComment &= !G.Text.contains('\n');
      continue;
    }
    size_t Newline = Text.take_front(Begin).rfind('\n');
    size_t Line = Newline == StringRef::npos ? 0 : Newline + 1;
    G.StartOfLine = Line != LineOfLast && Text.slice(Line, Begin).trim().empty();
    LineOfLast = Line;
    Out.EndsInLineComment = false;
    Out.Tokens.push_back(G);
  }
  return Out;
}

LexedText lexSource(StringRef Text) { return lexRaw(Text.str(), Text); }

/// Characters that change how the rest of the text is read by a person or a compiler.
static MaybeHit checkCharacters(StringRef Text) {
  if (Text.size() > MaxText)
    return hit("guard-text-size", "the text is " + Twine(Text.size()) +
                                      " bytes long; at most " + Twine(MaxText) +
                                      " are taken: replace fewer statements");
  if (Text.contains('\0'))
    return hit("guard-text-encoding", "the text holds a NUL byte; plain UTF-8 is legal");
  // A carriage return alone ends a line for some tools and none for others; the rest
  // a terminal obeys: in both the text shown is not the text compiled.
  for (size_t I = 0; I < Text.size(); ++I) {
    unsigned char C = Text[I];
    bool LoneReturn = C == '\r' && !Text.drop_front(I + 1).starts_with("\n");
    bool C1 = C == 0xC2 && I + 1 < Text.size() && (Text[I + 1] & 0xE0) == 0x80;
    if (LoneReturn || C1 || C == 0x7F || (C < 0x20 && !StringRef("\t\n\r").contains(C)))
      return hit("guard-lexical-trick",
                 "the text holds " +
                     (LoneReturn ? std::string("a carriage return without a line feed")
                                 : "the control character U+00" +
                                       utohexstr(C1 ? Text[I + 1] & 0xFF : C,
                                                 /*LowerCase=*/false, 2)) +
                     " at byte " + Twine(I) + "; blanks, tabs and line ends are legal");
  }
  size_t Bad = 0;
  if (!json::isUTF8(Text, &Bad))
    return hit("guard-text-encoding", "the text is not UTF-8 at byte " + Twine(Bad));
  // Bidirectional controls show code in another order than it runs.
  for (StringRef Control : {"\xE2\x80\xAA", "\xE2\x80\xAB", "\xE2\x80\xAC",
                            "\xE2\x80\xAD", "\xE2\x80\xAE", "\xE2\x81\xA6",
                            "\xE2\x81\xA7", "\xE2\x81\xA8", "\xE2\x81\xA9"})
    if (Text.contains(Control))
      return hit("guard-lexical-trick",
                 "the text holds a bidirectional control character");
  for (size_t I = 0; I + 2 < Text.size(); ++I)
    if (Text.substr(I, 2) == "??" && StringRef("=/'()!<>-").contains(Text[I + 2]))
      return hit("guard-lexical-trick",
                 "the text holds the trigraph " + quoted(Text.substr(I, 3)) +
                     "; write the character itself");
  for (size_t I = Text.find('\\'); I != StringRef::npos; I = Text.find('\\', I + 1)) {
    StringRef Rest = Text.drop_front(I + 1).ltrim(" \t\v\f\r");
    if (Rest.empty() || Rest.front() == '\n')
      return hit("guard-lexical-trick",
                 "a backslash joins two lines; write them as one");
  }
  return std::nullopt;
}

static MaybeHit checkToken(const GuardToken &T) {
  if (T.Kind == tok::unknown) {
    if (T.Text.starts_with("/*"))
      return hit("guard-unbalanced", "a comment is not closed");
    if (T.Text.contains('"') || T.Text.starts_with("'"))
      return hit("guard-unbalanced", "a literal is not closed: " +
                                         quoted(T.Text.take_front(20)));
    return hit("guard-lexical-trick", "stray " + quoted(T.Text.take_front(20)));
  }
  if (T.isIdentifier()) {
    if (T.Text.contains('\\') || any_of(T.Text, [](char C) { return !isASCII(C); }))
      return hit("guard-lexical-trick",
                 "the name " + quoted(T.Text) +
                     " is not plain ASCII; a look-alike could hide there");
    return std::nullopt;
  }
  if (tok::isStringLiteral(T.Kind) && T.Text.contains("R\""))
    return hit("guard-lexical-trick",
               "raw string literals are refused; device code needs none");
  if (const char *Spelling = tok::getPunctuatorSpelling(T.Kind))
    if (T.Text != Spelling)
      return hit("guard-lexical-trick", "the digraph " + quoted(T.Text) +
                                            " stands for '" + Spelling +
                                            "'; write that");
  if (T.Kind == tok::hashhash)
    return hit("guard-directive", "token pasting ('##') belongs in macros only");
  return std::nullopt;
}

static char closes(tok::TokenKind Kind) {
  switch (Kind) {
  case tok::l_paren:
  case tok::r_paren:
    return ')';
  case tok::l_square:
  case tok::r_square:
    return ']';
  case tok::l_brace:
  case tok::r_brace:
    return '}';
  default:
    return 0;
  }
}

static bool opens(tok::TokenKind Kind) {
  return Kind == tok::l_paren || Kind == tok::l_square || Kind == tok::l_brace;
}

static MaybeHit checkBrackets(ArrayRef<GuardToken> Tokens) {
  std::string Open;
  for (const GuardToken &T : Tokens) {
    char Closer = closes(T.Kind);
    if (!Closer)
      continue;
    if (opens(T.Kind)) {
      Open += Closer;
    } else if (Open.empty() || Open.back() != Closer) {
      return hit("guard-unbalanced",
                 quoted(T.Text) + " at byte " + Twine(T.Offset) +
                     " of the text closes what the text did not open");
    } else {
      Open.pop_back();
    }
  }
  if (!Open.empty())
    return hit("guard-unbalanced",
               quoted(StringRef(&Open.back(), 1)) + " is missing at the end");
  return std::nullopt;
}

MaybeHit lexText(StringRef Text, LexedText &Out, bool Balanced) {
  if (MaybeHit H = checkCharacters(Text))
    return H;
  Out = lexSource(Text);
  for (const GuardToken &T : Out.Tokens)
    if (MaybeHit H = checkToken(T))
      return H;
  if (Balanced)
    return checkBrackets(Out.Tokens);
  return std::nullopt;
}

/// `#pragma unroll`, `… unroll 4`, `… unroll (4)` and nothing else; \p I is the `#`
/// and becomes the directive's last token.
static MaybeHit checkDirective(ArrayRef<GuardToken> Tokens, size_t &I) {
  size_t End = I + 1;
  while (End < Tokens.size() && !Tokens[End].StartOfLine)
    ++End;
  ArrayRef<GuardToken> Line = Tokens.slice(I, End - I);
  bool AtStart = Tokens[I].StartOfLine;
  I = End - 1;
  if (!AtStart || Line.size() < 2 || !Line[1].is("pragma"))
    return hit("guard-directive",
               quoted(spelled(Line).substr(0, 40)) +
                   " is refused: preprocessor directives other than "
                   "'#pragma unroll' may not be written by an edit");
  ArrayRef<GuardToken> Rest = Line.drop_front(2);
  if (Rest.empty() || !Rest[0].is("unroll"))
    return hit("guard-pragma", quoted(spelled(Line).substr(0, 40)) +
                                   " is refused: '#pragma unroll [N]' is legal");
  Rest = Rest.drop_front();
  if (Rest.size() == 3 && Rest[0].Kind == tok::l_paren && Rest[2].Kind == tok::r_paren)
    Rest = Rest.slice(1, 1);
  if (Rest.empty() || (Rest.size() == 1 && (Rest[0].Kind == tok::numeric_constant ||
                                            Rest[0].isIdentifier())))
    return std::nullopt;
  return hit("guard-pragma",
             quoted(spelled(Line).substr(0, 40)) +
                 " is refused: the count must be one number or constant");
}

static StringSet<> wordsOf(ArrayRef<GuardToken> Tokens) {
  StringSet<> Out;
  for (const GuardToken &T : Tokens)
    if (T.isIdentifier())
      Out.insert(T.Text);
  return Out;
}

static MaybeHit checkNames(ArrayRef<GuardToken> Tokens, const StringSet<> &Old,
                           bool Trusted) {
  for (size_t I = 0; I < Tokens.size(); ++I) {
    const GuardToken &T = Tokens[I];
    if (T.Kind == tok::lesslessless)
      return hit("guard-host-api", "a kernel launch inside device code is refused");
    if (T.Kind == tok::l_square && I + 1 < Tokens.size() &&
        Tokens[I + 1].Kind == tok::l_square)
      return hit("guard-attribute", "attributes are refused in edits");
    if (!T.isIdentifier() || Old.contains(T.Text))
      continue;
    StringRef Rule = ruleAgainstWord(T.Text, Trusted);
    if (Rule.empty() && I + 1 < Tokens.size() && Tokens[I + 1].Kind == tok::l_paren)
      Rule = ruleAgainstCall(T.Text);
    if (!Rule.empty())
      return hit(Rule, quoted(T.Text) +
                           " may not be introduced by an edit; the replaced text "
                           "does not hold it");
  }
  return std::nullopt;
}

/// A sequence of whole statements ends in `;` or `}` and begins none in the middle.
static MaybeHit checkWholeStatements(ArrayRef<GuardToken> Tokens) {
  if (Tokens.empty())
    return std::nullopt;
  for (StringRef Word : {"else", "catch", "case", "default"})
    if (Tokens.front().is(Word))
      return hit("guard-not-statements",
                 "the text begins with '" + Word +
                     "', the middle of a statement; write whole statements");
  // A text may end in a pragma that governs the statement after it.
  size_t LastHash = Tokens.size();
  for (size_t I = 0; I < Tokens.size(); ++I)
    if (Tokens[I].Kind == tok::hash)
      LastHash = I;
    else if (Tokens[I].StartOfLine)
      LastHash = Tokens.size();
  const GuardToken &Last = Tokens.back();
  if (LastHash == Tokens.size() && Last.Kind != tok::semi && Last.Kind != tok::r_brace)
    return hit("guard-not-statements",
               "the text ends in " + quoted(Last.Text) +
                   "; whole statements end in ';' or '}'");
  return std::nullopt;
}

static MaybeHit checkStatements(ArrayRef<GuardToken> Tokens, StringRef Replaced,
                                bool Trusted) {
  LexedText Old = lexSource(Replaced);
  bool OldString = any_of(Old.Tokens, [](const GuardToken &T) {
    return tok::isStringLiteral(T.Kind);
  });
  for (size_t I = 0; I < Tokens.size(); ++I) {
    if (Tokens[I].Kind == tok::hash) {
      if (MaybeHit H = checkDirective(Tokens, I))
        return H;
    } else if (tok::isStringLiteral(Tokens[I].Kind) && !OldString) {
      return hit("guard-lexical-trick", "a string literal is refused: the replaced "
                                        "text holds none");
    }
  }
  if (MaybeHit H = checkNames(Tokens, wordsOf(Old.Tokens), Trusted))
    return H;
  return checkWholeStatements(Tokens);
}

/// A signature has no body, no directive, no literal text but what it had: `extern "C"`.
static MaybeHit checkSignatureTokens(ArrayRef<GuardToken> Tokens, StringRef Replaced) {
  if (Tokens.empty())
    return hit("guard-signature", "the text is empty; it must be the whole signature");
  LexedText Old = lexSource(Replaced);
  for (const GuardToken &T : Tokens) {
    if (T.Kind == tok::hash)
      return hit("guard-directive", "a directive inside a signature is refused");
    if (T.Kind == tok::l_brace || T.Kind == tok::r_brace || T.Kind == tok::semi ||
        (tok::isStringLiteral(T.Kind) && none_of(Old.Tokens, [&](const GuardToken &O) {
           return O.Text == T.Text;
         })))
      return hit("guard-signature",
                 quoted(T.Text) + " does not belong into a signature; the text ends "
                                  "before the body's '{'");
  }
  return std::nullopt;
}

MaybeHit checkText(TextRole Role, StringRef Text, StringRef Replaced, bool Trusted) {
  LexedText Lexed;
  if (MaybeHit H = lexText(Text, Lexed))
    return H;
  switch (Role) {
  case TextRole::Statements:
    return checkStatements(Lexed.Tokens, Replaced, Trusted);
  case TextRole::Signature:
    return checkSignatureTokens(Lexed.Tokens, Replaced);
  case TextRole::LaunchConfig:
    for (const GuardToken &T : Lexed.Tokens)
      if (T.Kind == tok::hash)
        return hit("guard-directive", "a directive inside '<<<>>>' is refused");
    return std::nullopt;
  }
  return std::nullopt;
}

MaybeHit checkWrapText(StringRef Text, StringRef Body, bool Trusted) {
  if (MaybeHit H = checkCharacters(Text))
    return H;
  if (Text.count("$body") != 1)
    return hit("guard-wrap-body", "a wrap's text holds '$body' " +
                                      Twine(Text.count("$body")) +
                                      " times; exactly once is legal");
  auto [Before, After] = Text.split("$body");
  // Each half must be whole tokens, or a comment could swallow the statement.
  LexedText Half;
  for (StringRef Part : {Before, After})
    if (MaybeHit H = lexText(Part, Half, /*Balanced=*/false))
      return H;
  if (lexSource(Before).EndsInLineComment)
    return hit("guard-wrap-body", "'$body' stands inside a comment");
  std::string Filled = (Before + ";" + After).str();
  return checkText(TextRole::Statements, Filled, Body, Trusted);
}

size_t closingBracket(ArrayRef<GuardToken> Tokens, size_t Open) {
  size_t Depth = 0;
  for (size_t I = Open; I < Tokens.size(); ++I) {
    if (opens(Tokens[I].Kind))
      ++Depth;
    else if (closes(Tokens[I].Kind) && --Depth == 0)
      return I;
  }
  return Tokens.size();
}

std::vector<ArrayRef<GuardToken>> splitAtCommas(ArrayRef<GuardToken> Tokens) {
  std::vector<ArrayRef<GuardToken>> Out;
  if (Tokens.empty())
    return Out;
  size_t Begin = 0;
  for (size_t I = 0; I < Tokens.size(); ++I) {
    if (opens(Tokens[I].Kind))
      I = std::min(closingBracket(Tokens, I), Tokens.size() - 1);
    else if (Tokens[I].Kind == tok::comma) {
      Out.push_back(Tokens.slice(Begin, I - Begin));
      Begin = I + 1;
    }
  }
  Out.push_back(Tokens.drop_front(Begin));
  return Out;
}

std::string spelled(ArrayRef<GuardToken> Tokens) {
  return join(map_range(Tokens, [](const GuardToken &T) { return T.Text; }), " ");
}

} // namespace optimas
