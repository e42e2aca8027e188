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
  if (!First.empty())
    Cut = std::min(First.size(), Common);
  else if (!Base.empty() && Common >= Base.size() &&
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
  P.Indent = indentAt(P.Text, E.Named.Begin);
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
  if (StringRef(Text).starts_with("#") && !startsLine(P.Text, Begin))
    Text = (P.Newline + P.Indent + Text).str();
  StringRef Rest = P.Text.drop_front(End);
  Rest = Rest.take_until([](char C) { return C == '\n'; });
  LexedText Lexed = lexSource(Text);
  bool Directive = !Lexed.Tokens.empty() &&
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

/// The innermost list of siblings that covers \p R; empty when none does.
static std::vector<const Statement *> siblingsAround(const SourceModel &M,
                                                     const Function &F,
                                                     const SourceRange &R) {
  const Statement *Innermost = nullptr;
  for (StatementId Id : F.Statements) {
    const Statement *S = M.statement(Id);
    if (S && S->Range.contains(R) &&
        (!Innermost || Innermost->Range.contains(S->Range)))
      Innermost = S;
  }
  std::vector<const Statement *> Children;
  if (Innermost && Innermost->Kind == "compound")
    for (StatementId Id : F.Statements)
      if (const Statement *S = M.statement(Id); S && S->Parent == Innermost->Id)
        Children.push_back(S);
  // From the last child that begins at or before the range to the first that ends at
  // or after it; a range in a gap takes the statement next to it.
  auto First = std::find_if(Children.begin(), Children.end(), [&](auto *S) {
    return S->Range.End > R.Begin;
  });
  auto Last = std::find_if(Children.rbegin(), Children.rend(), [&](auto *S) {
    return S->Range.Begin < R.End;
  });
  if (!Children.empty() && R.Begin == R.End) {
    const Statement *Next = First == Children.end() ? Children.back() : *First;
    return {Next, Next};
  }
  if (First != Children.end() && Last != Children.rend() &&
      (*First)->Range.Begin <= R.Begin && (*Last)->Range.End >= R.End)
    return {*First, *Last};
  if (Innermost && Innermost->Kind != "compound")
    return {Innermost, Innermost};
  return {};
}

/// Drops what both texts have in common at their ends, then blanks of the old one
/// at line ends, so that a diff's whole lines become the statements on them.
static SourceRange shrunk(const SourceModel &M, SourceRange R, StringRef &New) {
  StringRef Old = M.file(R.File).Text;
  Old = Old.slice(R.Begin, R.End);
  while (!Old.empty() && !New.empty() && Old.front() == New.front())
    Old = Old.drop_front(), New = New.drop_front(), ++R.Begin;
  while (!Old.empty() && !New.empty() && Old.back() == New.back())
    Old = Old.drop_back(), New = New.drop_back(), --R.End;
  return makeRange(M, R.File, R.Begin, R.End);
}

static MaybeHit rawSignatureOrLaunch(const GuardContext &C, const SourceRange &R,
                                     StringRef New, ResolvedEdit &Out) {
  auto Filled = [&](const SourceRange &Whole) {
    StringRef Text = C.Model.file(Whole.File).Text;
    return (Text.slice(Whole.Begin, R.Begin) + New + Text.slice(R.End, Whole.End))
        .str();
  };
  auto Covers = [&](const SourceRange &Whole) {
    return Whole.File == R.File && Whole.Begin <= R.Begin && R.End <= Whole.End;
  };
  for (const LaunchSite &L : C.Model.launchSites())
    if (L.Config.valid() && Covers(L.Config) && !L.InMacro) {
      Out.Kind = EditKind::LaunchSite;
      Out.Site = &L;
      Out.Function = L.Kernel;
      Out.Named = L.Config;
      Out.Text = Filled(L.Config);
      return std::nullopt;
    }
  for (const Function &F : C.Model.functions())
    if (Covers(F.Signature) && !F.InMacro) {
      Out.Kind = EditKind::Signature;
      Out.Function = F.Id;
      Out.Named = F.Signature;
      Out.Text = Filled(F.Signature);
      return std::nullopt;
    }
  return ruleHit("guard-raw-range",
                 "the changed bytes at " + placeText(C.Model, R) +
                     " lie in no statement of device code, no kernel signature and "
                     "no launch configuration");
}

MaybeHit mapRawRange(const GuardContext &C, const Edit &E, ResolvedEdit &Out) {
  const SourceModel &M = C.Model;
  if (E.Raw.File >= M.files().size() || E.Raw.Begin > E.Raw.End ||
      E.Raw.End > M.file(E.Raw.File).Text.size())
    return ruleHit("guard-unknown-target",
                   "the byte range is not part of an analysed file");
  StringRef New = E.Text;
  SourceRange R = shrunk(M, E.Raw, New);
  if (R.Begin == R.End && New.empty())
    return ruleHit("guard-no-change", "the text is what stands there already");
  FileEdit Change;
  Change.Path = M.file(R.File).Path;
  Change.File = R.File;
  Change.Offset = R.Begin;
  Change.Length = R.End - R.Begin;
  Change.Replacement = New.str();
  Change.Edit = E.Id;
  Out.Changes = {Change};
  for (const Function &F : M.functions()) {
    if (F.Body.File != R.File || R.Begin <= F.Body.Begin || R.End >= F.Body.End)
      continue;
    StringRef Text = M.file(R.File).Text;
    SourceRange Core = R;
    while (Core.Begin < Core.End && isSpace(Text[Core.Begin]))
      ++Core.Begin;
    while (Core.Begin < Core.End && isSpace(Text[Core.End - 1]))
      --Core.End;
    auto Around = siblingsAround(M, F, Core);
    if (Around.empty())
      break;
    Edit AsReplace = E;
    AsReplace.First = Around[0]->Id;
    AsReplace.Last = Around[1]->Id;
    Out.Source = AsReplace;
    Out.Kind = EditKind::Replace;
    Out.Function = F.Id;
    Out.Named = makeRange(M, R.File, Around[0]->Range.Begin, Around[1]->Range.End);
    // The gap that an insertion stands in belongs to what is compared.
    SourceRange Whole = makeRange(M, R.File, std::min(Out.Named.Begin, R.Begin),
                                  std::max(Out.Named.End, R.End));
    Out.Old = Whole;
    Out.Text = (Text.slice(Whole.Begin, R.Begin) + New +
                       Text.slice(R.End, Whole.End))
                          .str();
    return checkNamedStatements(C, AsReplace, Around[0], Around[1]);
  }
  MaybeHit H = rawSignatureOrLaunch(C, R, New, Out);
  Out.Old = Out.Named;
  return H;
}

} // namespace optimas
