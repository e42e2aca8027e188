//===- GuardPlace.cpp - The bytes that an edit changes -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardImpl.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace optimas {

static StringRef indentAt(StringRef Text, unsigned Offset) {
  StringRef Line = Text.take_front(Offset);
  Line = Line.drop_front(Line.rfind('\n') + 1);
  return Text.substr(Line.data() - Text.data())
      .take_while([](char C) { return C == ' ' || C == '\t'; });
}

/// True when only blanks stand before \p Offset on its line.
static bool startsLine(StringRef Text, unsigned Offset) {
  StringRef Line = Text.take_front(Offset);
  return Line.drop_front(Line.rfind('\n') + 1).trim(" \t").empty();
}

static StringRef leadingBlanks(StringRef Line) {
  return Line.take_while([](char C) { return C == ' ' || C == '\t'; });
}

static SmallVector<StringRef, 16> linesOf(StringRef Text) {
  SmallVector<StringRef, 16> Lines;
  Text.split(Lines, '\n');
  for (StringRef &L : Lines)
    L.consume_back("\r");
  return Lines;
}

/// Takes from every line but the first the blanks that a relative text does not have:
/// all of the common ones when the text is indented as in the file (its first line
/// too, or its other lines at least as deep as \p Base with a closing brace there).
static void makeRelative(SmallVectorImpl<StringRef> &Lines, StringRef Base) {
  StringRef First = leadingBlanks(Lines.front());
  Lines.front() = Lines.front().drop_front(First.size());
  size_t Common = StringRef::npos;
  for (StringRef L : drop_begin(Lines))
    if (!L.trim().empty())
      Common = std::min(Common, leadingBlanks(L).size());
  size_t Cut = 0;
  if (Common == StringRef::npos)
    return;
  bool AsInFile = !Base.empty() && all_of(drop_begin(Lines), [&](StringRef L) {
    return L.trim().empty() || L.starts_with(Base);
  });
  if (!First.empty())
    Cut = std::min(First.size(), Common);
  else if (AsInFile &&
           (Common > Base.size() || Lines.back().trim().starts_with("}") ||
            Lines.front().rtrim().ends_with(";") || Lines.front().starts_with("//")))
    Cut = Base.size();
  for (StringRef &L : drop_begin(Lines))
    L = L.drop_front(std::min(Cut, leadingBlanks(L).size()));
}

/// \p Text as it stands at a place indented by \p Base: the first line without
/// indentation, the others with \p Base before their own; the file's line ends.
static std::string indented(StringRef Text, StringRef Base, StringRef Newline) {
  while (true) {
    auto [Line, Rest] = Text.split('\n');
    if (Rest.empty() || !Line.trim().empty())
      break;
    Text = Rest;
  }
  Text = Text.rtrim();
  if (Text.empty())
    return "";
  SmallVector<StringRef, 16> Lines = linesOf(Text);
  makeRelative(Lines, Base);
  std::string Out = Lines.front().str();
  for (StringRef L : drop_begin(Lines)) {
    Out += Newline;
    if (!L.trim().empty())
      Out += (Base + L).str();
  }
  return Out;
}

namespace {
/// What the place of an edit looks like.
struct Place {
  StringRef Text;    ///< the file
  StringRef Newline; ///< the file's line end
  StringRef Indent;  ///< of the line where the statement begins
  bool InBlock;      ///< the statement stands in a `{…}` of its own
};
} // namespace

static Place placeOf(const GuardContext &C, const ResolvedEdit &E) {
  Place P;
  P.Text = C.Model.file(E.Named.File).Text;
  size_t End = P.Text.find('\n');
  P.Newline = End != StringRef::npos && End > 0 && P.Text[End - 1] == '\r' ? "\r\n"
                                                                         : "\n";
  // A loop's pragma may stand at the margin; the loop's own line counts.
  unsigned At = E.Named.Begin;
  while (At < E.Named.End &&
         P.Text.drop_front(At).ltrim(" \t").starts_with("#")) {
    size_t Next = P.Text.find('\n', At);
    if (Next == StringRef::npos || Next + 1 >= E.Named.End)
      break;
    At = Next + 1;
  }
  P.Indent = indentAt(P.Text, At);
  P.InBlock = true;
  if (const Statement *S = C.Model.statement(E.Source.First)) {
    const clang::Stmt *Parent =
        enclosingStatement(C.Model.function(S->Function).Decl, S->Node);
    P.InBlock = !Parent || isa<clang::CompoundStmt>(Parent);
  }
  return P;
}

/// A directive needs a line of its own; a comment would swallow what follows it.
static std::string fenced(std::string Text, const Place &P, unsigned Begin,
                          unsigned End) {
  bool Directive = StringRef(Text).starts_with("#");
  if (Directive && !startsLine(P.Text, Begin))
    Text = (P.Newline + P.Indent + Text).str();
  // In place of a pragma at the margin.
  else if (!Directive && !Text.empty() && End > Begin && P.Text[Begin] == '#' &&
           indentAt(P.Text, Begin).empty())
    Text = (P.Indent + Text).str();
  StringRef Rest = P.Text.drop_front(End);
  Rest = Rest.take_until([](char C) { return C == '\n'; });
  LexedText Lexed = lexSource(Text);
  Directive = !Lexed.Tokens.empty() &&
              StringRef(Text).drop_front(Text.rfind('\n') + 1).ltrim(" \t")
                  .starts_with("#");
  if ((Lexed.EndsInLineComment || Directive) && !Rest.trim().empty())
    Text += (P.Newline + P.Indent).str();
  return Text;
}

static FileEdit change(const GuardContext &C, const ResolvedEdit &E, unsigned Begin,
                       unsigned End, std::string Text) {
  FileEdit F;
  F.Path = C.Model.file(E.Named.File).Path;
  F.File = E.Named.File;
  F.Offset = Begin;
  F.Length = End - Begin;
  F.Replacement = std::move(Text);
  F.Edit = E.Source.Id;
  return F;
}

/// Where text goes that shall stand after \p End: behind a comment that belongs to
/// the statement's line.
static unsigned afterLine(StringRef Text, unsigned End) {
  StringRef Rest = Text.drop_front(End);
  StringRef Line = Rest.take_until([](char C) { return C == '\n'; });
  StringRef Tail = Line.trim(" \t\r");
  if ((!Tail.empty() && !Tail.starts_with("//")) || Tail.ends_with("\\"))
    return End;
  return End + Line.rtrim("\r").size();
}

static void placeInsertion(const GuardContext &C, ResolvedEdit &E, const Place &P) {
  const SourceRange &S = E.Named;
  bool Before = E.Kind == EditKind::InsertBefore;
  std::string Text = indented(E.Text, P.Indent, P.Newline);
  if (!P.InBlock) {
    // The only statement of an `if` or loop: a block makes room for a second one.
    std::string Open = "{" + (P.Newline + P.Indent).str();
    std::string Close = (P.Newline + P.Indent + "}").str();
    if (Before)
      Open += Text + (P.Newline + P.Indent).str();
    else
      Close = (P.Newline + P.Indent + Text).str() + Close;
    E.Old = S;
    E.Changes = {change(C, E, S.Begin, S.Begin, Open),
                 change(C, E, S.End, S.End, Close)};
    return;
  }
  unsigned At = Before ? S.Begin : afterLine(P.Text, S.End);
  if (Before) {
    if (StringRef(Text).starts_with("#") && !startsLine(P.Text, At))
      Text = (P.Newline + P.Indent + Text).str();
    Text += (P.Newline + P.Indent).str();
  } else {
    Text = fenced((P.Newline + P.Indent + Text).str(), P, At, At);
  }
  E.Old = makeRange(C.Model, S.File, At, At);
  E.Changes = {change(C, E, At, At, Text)};
}

/// Takes the whole line away when nothing else stands on it.
static void placeDeletion(const GuardContext &C, ResolvedEdit &E, const Place &P) {
  unsigned Begin = E.Named.Begin, End = E.Named.End;
  if (!P.InBlock) {
    E.Changes = {change(C, E, Begin, End, ";")};
    return;
  }
  StringRef Rest = P.Text.drop_front(End);
  StringRef Line = Rest.take_until([](char C) { return C == '\n'; });
  if (startsLine(P.Text, Begin) && Line.trim(" \t\r").empty() &&
      Line.size() < Rest.size()) {
    Begin -= P.Indent.size();
    End += Line.size() + 1;
  }
  E.Changes = {change(C, E, Begin, End, "")};
  E.Old = makeRange(C.Model, E.Named.File, Begin, End);
}

static void placeWrap(const GuardContext &C, ResolvedEdit &E, const Place &P) {
  std::string Text = indented(E.Text, P.Indent, P.Newline);
  if (StringRef(Text).starts_with("#") && !startsLine(P.Text, E.Named.Begin))
    Text = (P.Newline + P.Indent + Text).str();
  auto [Before, After] = StringRef(Text).split("$body");
  // Two insertions: the statement's own bytes stay untouched.
  const SourceRange &S = E.Named;
  E.Changes = {change(C, E, S.Begin, S.Begin, Before.str()),
               change(C, E, S.End, S.End, fenced(After.str(), P, S.End, S.End))};
  erase_if(E.Changes, [](const FileEdit &F) { return F.Replacement.empty(); });
}

MaybeHit placeEdit(const GuardContext &C, ResolvedEdit &E) {
  Place P = placeOf(C, E);
  E.Old = E.Named;
  const SourceRange &S = E.Named;
  switch (E.Kind) {
  case EditKind::InsertBefore:
  case EditKind::InsertAfter:
    if (StringRef(E.Text).trim().empty())
      return ruleHit("guard-no-change", "the text to insert is empty");
    placeInsertion(C, E, P);
    return std::nullopt;
  case EditKind::Delete:
    if (!StringRef(E.Text).trim().empty())
      return ruleHit("guard-not-statements", "a deletion has no text");
    placeDeletion(C, E, P);
    return std::nullopt;
  case EditKind::Wrap:
    if (StringRef(E.Text).trim() == "$body")
      return ruleHit("guard-no-change", "the wrap adds nothing");
    placeWrap(C, E, P);
    return std::nullopt;
  case EditKind::LaunchSite:
  case EditKind::Signature: {
    // What stands before the body's brace stays: a blank, a line end, a comment.
    StringRef OldText = C.Model.text(S);
    std::string Text = StringRef(E.Text).trim().str();
    if (Text == OldText.trim())
      return ruleHit("guard-no-change", "the text is what stands there already");
    unsigned Lead = OldText.size() - OldText.ltrim().size();
    unsigned Trail = OldText.size() - OldText.rtrim().size();
    E.Changes = {change(C, E, S.Begin + Lead, S.End - Trail,
                        indented(Text, P.Indent, P.Newline))};
    return std::nullopt;
  }
  case EditKind::Replace: {
    std::string Text = indented(E.Text, P.Indent, P.Newline);
    if (Text.empty())
      return ruleHit("guard-no-change",
                     "the text is empty; a deletion has its own kind of edit");
    if (spelled(lexSource(Text).Tokens) ==
        spelled(lexSource(C.Model.text(S)).Tokens))
      return ruleHit("guard-no-change", "the text is what stands there already");
    E.Changes = {change(C, E, S.Begin, S.End, fenced(Text, P, S.Begin, S.End))};
    return std::nullopt;
  }
  case EditKind::RawRange:
    break;
  }
  return std::nullopt;
}

} // namespace optimas
