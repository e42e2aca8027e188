//===- Spelling.cpp - Where a node stands in a file -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Spelling.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Lex/Lexer.h"

using namespace clang;
using llvm::StringRef;

namespace optimas {

FileId Spelling::fileId(FileID Clang) const {
  auto It = Ids.find(Clang);
  return It == Ids.end() ? NoId : It->second;
}

SourceRange Spelling::make(FileId File, unsigned Begin, unsigned End) const {
  SourceRange R;
  R.File = File;
  R.Begin = Begin;
  R.End = End;
  R.BeginLine = Files[File].lineOf(Begin);
  R.EndLine = Files[File].lineOf(End > Begin ? End - 1 : Begin);
  return R;
}

std::optional<SourceRange> Spelling::fromChars(CharSourceRange R) const {
  if (R.isInvalid())
    return std::nullopt;
  auto [BeginFile, Begin] = SM.getDecomposedLoc(R.getBegin());
  auto [EndFile, End] = SM.getDecomposedLoc(R.getEnd());
  FileId Id = fileId(BeginFile);
  if (BeginFile != EndFile || Id == NoId || End < Begin)
    return std::nullopt;
  return make(Id, Begin, End);
}

std::optional<SourceRange> Spelling::expanded(SourceLocation Begin,
                                              SourceLocation End) const {
  if (Begin.isInvalid() || End.isInvalid())
    return std::nullopt;
  SourceLocation First = SM.getExpansionLoc(Begin);
  CharSourceRange Last = SM.getExpansionRange(End);
  SourceLocation After = Last.getEnd();
  if (Last.isTokenRange())
    After = After.getLocWithOffset(Lexer::MeasureTokenLength(After, SM, LangOpts));
  return fromChars(CharSourceRange::getCharRange(First, After));
}

std::optional<Spelled> Spelling::tokens(SourceLocation Begin,
                                        SourceLocation End) const {
  if (Begin.isInvalid() || End.isInvalid())
    return std::nullopt;
  Spelled S;
  if (Begin.isFileID() && End.isFileID()) {
    SourceLocation After =
        End.getLocWithOffset(Lexer::MeasureTokenLength(End, SM, LangOpts));
    auto R = fromChars(CharSourceRange::getCharRange(Begin, After));
    if (!R)
      return std::nullopt;
    S.Range = *R;
    return S;
  }
  bool OneExpansion = Begin.isMacroID() && End.isMacroID() &&
                      SM.getExpansionLoc(Begin) == SM.getExpansionLoc(End);
  auto R = fromChars(Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(Begin, End), SM, LangOpts));
  S.InMacro = OneExpansion || !R;
  S.BeginsInMacro = Begin.isMacroID();
  if (!R)
    R = expanded(Begin, End);
  if (!R)
    return std::nullopt;
  S.Range = *R;
  return S;
}

std::optional<std::pair<FileId, unsigned>>
Spelling::offset(SourceLocation Loc) const {
  if (Loc.isInvalid())
    return std::nullopt;
  auto [File, Offset] = SM.getDecomposedExpansionLoc(Loc);
  FileId Id = fileId(File);
  if (Id == NoId)
    return std::nullopt;
  return std::make_pair(Id, Offset);
}

unsigned Spelling::skipBlanks(FileId File, unsigned Offset) const {
  StringRef Text = Files[File].Text;
  while (Offset < Text.size()) {
    StringRef Rest = Text.drop_front(Offset);
    if (isWhitespace(Rest.front())) {
      ++Offset;
    } else if (Rest.starts_with("//")) {
      size_t N = Rest.find('\n');
      // A continued line comment goes on below; rare enough to stop there.
      Offset = N == StringRef::npos ? Text.size() : Offset + N;
    } else if (Rest.starts_with("/*")) {
      size_t N = Rest.find("*/", 2);
      Offset = N == StringRef::npos ? Text.size() : Offset + N + 2;
    } else if (Rest.starts_with("\\\n") || Rest.starts_with("\\\r\n")) {
      Offset += Rest[1] == '\n' ? 2 : 3;
    } else {
      break;
    }
  }
  return Offset;
}

SourceRange Spelling::withSemicolon(SourceRange R) const {
  unsigned Next = skipBlanks(R.File, R.End);
  StringRef Text = Files[R.File].Text;
  return Next < Text.size() && Text[Next] == ';' ? make(R.File, R.Begin, Next + 1)
                                                 : R;
}

} // namespace optimas
