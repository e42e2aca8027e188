//===- GuardReparse.cpp - The edited program, parsed and compared -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace optimas {

namespace {
/// One byte change with its place before and after.
struct Placed {
  const FileEdit *Change;
  size_t Edit;
  unsigned NewBegin = 0, NewEnd = 0;
};
} // namespace

/// The order of applyEdits.
static std::map<FileId, std::vector<Placed>> placed(ArrayRef<ResolvedEdit> Edits) {
  std::map<FileId, std::vector<Placed>> Out;
  for (size_t I = 0; I < Edits.size(); ++I)
    for (const FileEdit &F : Edits[I].Changes)
      Out[F.File].push_back({&F, I});
  for (auto &[File, Changes] : Out) {
    std::vector<size_t> Order(Changes.size());
    for (size_t I = 0; I < Order.size(); ++I)
      Order[I] = I;
    llvm::sort(Order, [&C = Changes](size_t A, size_t B) {
      return std::make_tuple(C[A].Change->Offset, C[A].Change->Length != 0, A) <
             std::make_tuple(C[B].Change->Offset, C[B].Change->Length != 0, B);
    });
    std::vector<Placed> Sorted;
    int64_t Delta = 0;
    for (size_t I : Order) {
      Placed P = Changes[I];
      P.NewBegin = P.Change->Offset + Delta;
      P.NewEnd = P.NewBegin + P.Change->Replacement.size();
      Delta += int64_t(P.Change->Replacement.size()) - P.Change->Length;
      Sorted.push_back(P);
    }
    Changes = std::move(Sorted);
  }
  return Out;
}

/// Where \p Offset comes to lie; before or after what is inserted there.
static unsigned mapped(ArrayRef<Placed> Changes, unsigned Offset, bool AfterInsertions) {
  int64_t Delta = 0;
  for (const Placed &P : Changes) {
    unsigned End = P.Change->Offset + P.Change->Length;
    bool InsertionHere = P.Change->Length == 0 && P.Change->Offset == Offset;
    if (End <= Offset && (AfterInsertions || !InsertionHere))
      Delta += int64_t(P.Change->Replacement.size()) - P.Change->Length;
  }
  return Offset + Delta;
}

static SourceRange newRange(ArrayRef<Placed> Changes, size_t Edit,
                            const SourceRange &Old, StringRef NewText) {
  SourceRange R = Old;
  R.Begin = mapped(Changes, Old.Begin, /*AfterInsertions=*/true);
  R.End = mapped(Changes, Old.End, /*AfterInsertions=*/false);
  for (const Placed &P : Changes) {
    if (P.Edit != Edit)
      continue;
    if (P.Change->Offset == Old.Begin)
      R.Begin = std::min(R.Begin, P.NewBegin);
    if (P.Change->Offset + P.Change->Length == Old.End)
      R.End = std::max(R.End, P.NewEnd);
  }
  R.BeginLine = 1 + NewText.take_front(R.Begin).count('\n');
  R.EndLine = 1 + NewText.take_front(std::max(R.Begin, R.End)).count('\n');
  return R;
}

Expected<Layout> layOut(const SourceModel &Model, ArrayRef<ResolvedEdit> Edits) {
  Layout L;
  auto ByFile = placed(Edits);
  for (const auto &[File, Changes] : ByFile) {
    std::vector<FileEdit> List;
    for (const Placed &P : Changes)
      List.push_back(*P.Change);
    Expected<std::string> Text = applyEdits(Model.file(File).Text, List);
    if (!Text)
      return Text.takeError();
    L.NewContents[Model.file(File).Path] = std::move(*Text);
  }
  for (size_t I = 0; I < Edits.size(); ++I) {
    const SourceFile &File = Model.file(Edits[I].Old.File);
    auto New = L.NewContents.find(File.Path);
    L.New.push_back(newRange(ByFile[Edits[I].Old.File], I, Edits[I].Old,
                             New == L.NewContents.end() ? StringRef(File.Text)
                                                        : StringRef(New->second)));
  }
  return L;
}

/// Maps ranges of the old model into the new one.
namespace {
class Mapper {
public:
  Mapper(const SourceModel &Old, const SourceModel &New, ArrayRef<ResolvedEdit> Edits)
      : Old(Old), New(New), Changes(placed(Edits)) {}

  FileId file(FileId Id) const {
    for (FileId I = 0; I < New.files().size(); ++I)
      if (New.file(I).Path == Old.file(Id).Path)
        return I;
    return NoId;
  }
  SourceRange range(const SourceRange &R) const {
    auto It = Changes.find(R.File);
    ArrayRef<Placed> C;
    if (It != Changes.end())
      C = It->second;
    SourceRange Out = R;
    Out.File = file(R.File);
    Out.Begin = mapped(C, R.Begin, true);
    Out.End = mapped(C, R.End, false);
    return Out;
  }
  /// With what is inserted at its ends.
  SourceRange outer(const SourceRange &R) const {
    SourceRange Out = range(R);
    auto It = Changes.find(R.File);
    if (It == Changes.end())
      return Out;
    Out.Begin = mapped(It->second, R.Begin, false);
    Out.End = mapped(It->second, R.End, true);
    return Out;
  }
  const Function *function(const Function &F) const {
    for (const Function &G : New.functions())
      if (G.Name == F.Name && G.Body.File == file(F.Body.File) &&
          G.Body.Begin == range(F.Body).Begin)
        return &G;
    return nullptr;
  }

private:
  const SourceModel &Old, &New;
  std::map<FileId, std::vector<Placed>> Changes;
};
} // namespace

/// Ranges that may differ in structure: before and, in the same order, after.
/// Two that begin at one place (an insertion before a replaced statement) are
/// one.
static void addHole(std::vector<SourceRange> &Before,
                    std::vector<SourceRange> &After, const SourceRange &B,
                    const SourceRange &A) {
  for (size_t I = 0; I < Before.size(); ++I)
    if (Before[I].File == B.File && Before[I].Begin == B.Begin) {
      Before[I].End = std::max(Before[I].End, B.End);
      After[I].Begin = std::min(After[I].Begin, A.Begin);
      After[I].End = std::max(After[I].End, A.End);
      return;
    }
  Before.push_back(B);
  After.push_back(A);
}

/// Without blanks and comments at its ends: a hole must not reach past the
/// statement that its last statement is part of.
static SourceRange trimmed(const SourceModel &M, SourceRange R) {
  LexedText Lexed = lexSource(M.text(R));
  if (Lexed.Tokens.empty())
    return R;
  unsigned Begin = R.Begin;
  R.Begin = Begin + Lexed.Tokens.front().Offset;
  R.End = Begin + Lexed.Tokens.back().Offset + Lexed.Tokens.back().Text.size();
  return R;
}

static void holes(const GuardContext &C, const SourceModel &NewModel,
                  const Mapper &Map, ArrayRef<ResolvedEdit> Edits,
                  const Layout &L, std::vector<SourceRange> &Before,
                  std::vector<SourceRange> &After) {
  for (size_t I = 0; I < Edits.size(); ++I) {
    SourceRange New = L.New[I];
    New.File = Map.file(New.File);
    addHole(Before, After, trimmed(C.Model, Edits[I].Old),
            trimmed(NewModel, New));
    if (Edits[I].Kind == EditKind::Signature)
      for (const SourceRange &R : C.Model.function(Edits[I].Function).Redeclarations)
        addHole(Before, After, R, Map.outer(R));
  }
}

static std::optional<size_t> editAtLine(ArrayRef<ResolvedEdit> Edits, const Layout &L,
                                        const SourceModel &Model, StringRef File,
                                        unsigned Line) {
  for (size_t I = 0; I < Edits.size(); ++I)
    if (Model.file(L.New[I].File).Path == File && L.New[I].BeginLine <= Line &&
        Line <= L.New[I].EndLine)
      return I;
  return std::nullopt;
}

/// The edit that an error at `path:line` belongs to.
static std::optional<size_t> editAt(ArrayRef<ResolvedEdit> Edits, const Layout &L,
                                    const SourceModel &Model, StringRef Where) {
  SmallVector<StringRef, 4> Parts;
  Where.split(Parts, ':');
  unsigned Line = 0;
  for (StringRef P : drop_begin(Parts))
    if (!Line && !P.getAsInteger(10, Line) && Line)
      return editAtLine(Edits, L, Model, Parts.front(), Line);
  return std::nullopt;
}

/// Whom to blame when the edits together are at fault and no line says which: the
/// first that breaks the same rule alone, else the last.
static Expected<size_t> blameAlone(const GuardContext &C, ArrayRef<ResolvedEdit> Edits,
                                   StringRef Rule) {
  for (size_t I = 0; Edits.size() > 1 && I + 1 < Edits.size(); ++I) {
    Expected<Layout> L = layOut(C.Model, Edits.slice(I, 1));
    if (!L)
      return L.takeError();
    auto Found = reparse(C, Edits.slice(I, 1), *L);
    if (!Found)
      return Found.takeError();
    if (any_of(*Found, [&](const Blame &B) { return B.Hit.Rule == Rule; }))
      return I;
  }
  return Edits.size() - 1;
}

static Expected<std::vector<Blame>> blameOne(const GuardContext &C,
                                             ArrayRef<ResolvedEdit> Edits,
                                             std::optional<size_t> Edit, RuleHit Hit) {
  if (!Edit) {
    Expected<size_t> Found = blameAlone(C, Edits, Hit.Rule);
    if (!Found)
      return Found.takeError();
    Edit = *Found;
  }
  return std::vector<Blame>{{*Edit, std::move(Hit)}};
}

const ParseDiagnostic *newError(const SourceModel &Old, const SourceModel &New) {
  std::multiset<std::tuple<int, std::string, std::string>> Known;
  for (const ParseDiagnostic &D : Old.diagnostics())
    if (D.IsError)
      Known.insert({int(D.Mode), D.File, D.Message});
  for (const ParseDiagnostic &D : New.diagnostics()) {
    if (!D.IsError)
      continue;
    auto It = Known.find({int(D.Mode), D.File, D.Message});
    if (It == Known.end())
      return &D;
    Known.erase(It);
  }
  return nullptr;
}

/// The first line that one digest has and the other does not, without its hash:
/// `device a.cu Function copy`.
static std::string firstDifference(ArrayRef<std::string> Old, ArrayRef<std::string> New) {
  for (size_t I = 0; I < std::max(Old.size(), New.size()); ++I) {
    StringRef A = I < Old.size() ? StringRef(Old[I]) : "";
    StringRef B = I < New.size() ? StringRef(New[I]) : "";
    if (A != B)
      return (A.empty() ? B : A).rsplit(": ").first.take_front(120).str();
  }
  return "";
}

static std::set<std::string> wordsOf(const SourceModel &M, const Function &F) {
  std::set<std::string> Words;
  for (const GuardToken &T : lexSource(M.text(F.Definition)).Tokens)
    if (T.isIdentifier())
      Words.insert(T.Text.str());
  return Words;
}

static std::vector<Blame> compareEach(const GuardContext &C, const SourceModel &New,
                                      const Mapper &Map, ArrayRef<ResolvedEdit> Edits,
                                      const Layout &L,
                                      ArrayRef<SourceRange> OldHoles,
                                      ArrayRef<SourceRange> NewHoles) {
  std::vector<Blame> Out;
  for (size_t I = 0; I < Edits.size(); ++I) {
    const ResolvedEdit &E = Edits[I];
    if (E.Kind == EditKind::Signature || E.Kind == EditKind::LaunchSite)
      continue;
    const Function &F = C.Model.function(E.Function);
    const Function *G = Map.function(F);
    if (!G) {
      Out.push_back({I, ruleHit("guard-outside-changed",
                                "'" + F.Name + "' is not where it was after the edit")});
      continue;
    }
    SourceRange NewRange = L.New[I];
    NewRange.File = Map.file(NewRange.File);
    CodeFacts Whole = collectFacts(C.Model, F, F.Body, {});
    if (MaybeHit H = compareFacts(collectFacts(C.Model, F, E.Old, OldHoles),
                                  collectFacts(New, *G, NewRange, NewHoles), Whole,
                                  wordsOf(C.Model, F),
                                  policyFor(C.Options.Trusted,
                                            E.Source.Transformation)))
      Out.push_back({I, std::move(*H)});
  }
  return Out;
}

Expected<std::vector<Blame>> reparse(const GuardContext &C, ArrayRef<ResolvedEdit> Edits,
                                     Layout &L) {
  FrontendOptions Options = C.Options.Frontend;
  Options.AsNvcc = C.Model.command().AsNvcc;
  for (const auto &[Path, Text] : L.NewContents)
    Options.Overlay[Path] = Text;
  Expected<SourceModel> New = buildSourceModel(C.Model.originalCommand(), Options);
  if (!New) {
    Error Failure = New.takeError();
    if (exitCodeOf(Failure) != ExitCode::ParseFailed)
      return std::move(Failure);
    // Not the remedy: it is for one who writes the source, not for an edit.
    std::string Where, What;
    handleAllErrors(
        std::move(Failure),
        [&](const UserError &E) {
          Where = E.where();
          What = Where.empty() ? E.what() : Where + ": " + E.what();
        },
        [](const ErrorInfoBase &) {});
    return blameOne(C, Edits, editAt(Edits, L, C.Model, Where),
                    ruleHit("guard-parse", "the edited source does not parse: " + What));
  }
  if (const ParseDiagnostic *D = newError(C.Model, *New))
    return blameOne(C, Edits, editAtLine(Edits, L, C.Model, D->File, D->Line),
                    ruleHit("guard-parse", "the edited source does not parse: " + D->File +
                                               ":" + Twine(D->Line) + ": " + D->Message));
  Mapper Map(C.Model, *New, Edits);
  std::vector<SourceRange> Before, After;
  holes(C, *New, Map, Edits, L, Before, After);
  std::vector<Blame> Found = compareEach(C, *New, Map, Edits, L, Before, After);
  if (!Found.empty())
    return Found;
  std::string Difference = firstDifference(structuralDigest(C.Model, Before),
                                           structuralDigest(*New, After));
  if (!Difference.empty())
    return blameOne(C, Edits, std::nullopt,
                    ruleHit("guard-outside-changed",
                            "the edit changes the program's structure outside the "
                            "edited range: " +
                                Difference));
  if (MaybeHit H = reparseOtherUnits(C, Edits, L))
    return blameOne(C, Edits, 0, std::move(*H));
  return std::vector<Blame>();
}

} // namespace optimas
