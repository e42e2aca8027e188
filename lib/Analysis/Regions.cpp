//===- Regions.cpp - Where the evidence lets edits go -----------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The regions of an item of evidence, per function that its lines lie in:
///  - the smallest run of sibling statements that holds the consumer and the producers
///    of at least MainShare, or the innermost loop around all of them;
///  - each statement on the item's other lines (minor producers, the calls that a helper
///    is inlined through, the work before a barrier);
///  - in a function of at most SmallFunction statements, the run from the first
///    declaration that those need to the last of them, instead;
///  - each other declaration they need (a shared array, an index, a pointer);
///  - the signature, for evidence that `const __restrict__` or launch bounds meet;
///  - the launch sites' `<<<…>>>`, for evidence that another launch shape meets.
/// Equal ranges of several items are one region.
///
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "optimas/Support/Files.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/STLExtras.h"

namespace optimas {

namespace {
constexpr size_t SmallFunction = 12; ///< statements, compound ones not counted
constexpr double MainShare = 0.10;

using Declarations = llvm::SmallSetVector<const clang::VarDecl *, 8>;

/// Finds the regions of one diagnosis.
class RegionFinder {
public:
  RegionFinder(const SourceModel &Model) : Model(Model) {}
  void add(Evidence &E);
  std::vector<Region> take();

private:
  /// Statements that the item's lines name in one function.
  struct Hits {
    std::vector<StatementId> Main, Minor;
  };
  std::map<FunctionId, Hits> statementsOf(const Evidence &E) const;
  void addStatements(Evidence &E, FunctionId F, const Hits &H);
  void addKernelParts(Evidence &E);
  void addDeclarations(Evidence &E, FunctionId F, llvm::ArrayRef<StatementId> Needed,
                       const SourceRange &Within);
  void needLines(Evidence &E, const SourceRange &R);
  void put(RegionKind Kind, FunctionId F, SourceRange Range, unsigned EvidenceId,
           unsigned LaunchSiteId = NoId);

  std::vector<StatementId> neededBy(FunctionId F, llvm::ArrayRef<StatementId> Hit,
                                    llvm::SmallSetVector<unsigned, 4> &Parameters);
  SourceRange smallestRange(llvm::ArrayRef<StatementId> Hit) const;
  LoopId loopAround(llvm::ArrayRef<StatementId> Hit) const;
  std::vector<StatementId> ancestors(StatementId S) const;
  bool editable(const SourceRange &R) const {
    return R.valid() && Model.file(R.File).Editable;
  }

  const SourceModel &Model;
  using Key = std::tuple<unsigned, unsigned, unsigned, RegionKind, unsigned>;
  std::map<Key, Region> Regions;
  std::map<FunctionId, std::map<const clang::VarDecl *, StatementId>> DeclsOf;
};
} // namespace

static void collect(const clang::Stmt *S, Declarations &Found,
                    llvm::SmallSetVector<const clang::ParmVarDecl *, 8> &Parameters) {
  if (!S)
    return;
  if (const auto *Ref = llvm::dyn_cast<clang::DeclRefExpr>(S)) {
    if (const auto *P = llvm::dyn_cast<clang::ParmVarDecl>(Ref->getDecl()))
      Parameters.insert(P);
    else if (const auto *V = llvm::dyn_cast<clang::VarDecl>(Ref->getDecl()))
      Found.insert(V);
  }
  for (const clang::Stmt *Child : S->children())
    collect(Child, Found, Parameters);
}

std::vector<StatementId> RegionFinder::ancestors(StatementId S) const {
  std::vector<StatementId> Chain; // outermost first
  for (; S != NoId; S = Model.statement(S)->Parent)
    Chain.push_back(S);
  std::reverse(Chain.begin(), Chain.end());
  return Chain;
}

/// Siblings from the first to the last that hold a hit; the common parent itself
/// where its children do not stand in a row (a loop's header and body).
SourceRange RegionFinder::smallestRange(llvm::ArrayRef<StatementId> Hit) const {
  std::vector<std::vector<StatementId>> Chains;
  for (StatementId S : Hit)
    Chains.push_back(ancestors(S));
  size_t Common = 0;
  auto SameAt = [&](size_t Depth) {
    return llvm::all_of(Chains, [&](const auto &C) {
      return Depth < C.size() && C[Depth] == Chains.front()[Depth];
    });
  };
  while (SameAt(Common))
    ++Common;
  const Statement *Parent =
      Common ? Model.statement(Chains.front()[Common - 1]) : nullptr;
  bool Whole = Parent && (Parent->Kind != "compound" ||
                          llvm::any_of(Chains, [&](const auto &C) {
                            return C.size() == Common; // the parent is a hit itself
                          }));
  if (Whole)
    return Parent->Range;
  SourceRange R;
  for (const auto &C : Chains) {
    if (Common >= C.size())
      continue;
    const SourceRange &S = Model.statement(C[Common])->Range;
    if (!R.valid()) {
      R = S;
      continue;
    }
    if (S.Begin < R.Begin) {
      R.Begin = S.Begin;
      R.BeginLine = S.BeginLine;
    }
    if (S.End > R.End) {
      R.End = S.End;
      R.EndLine = S.EndLine;
    }
  }
  return R;
}

LoopId RegionFinder::loopAround(llvm::ArrayRef<StatementId> Hit) const {
  auto Loops = [&](StatementId S) {
    std::vector<LoopId> Chain;
    for (LoopId L = Model.statement(S)->InnermostLoop; L != NoId;
         L = Model.loop(L)->Parent)
      Chain.push_back(L);
    return Chain;
  };
  for (LoopId L : Loops(Hit.front()))
    if (llvm::all_of(Hit, [&](StatementId S) { return llvm::is_contained(Loops(S), L); }))
      return L;
  return NoId;
}

/// The declarations in \p F that the statements use, and those that they use in
/// turn, in source order; and the parameters among them, by number.
std::vector<StatementId>
RegionFinder::neededBy(FunctionId F, llvm::ArrayRef<StatementId> Hit,
                       llvm::SmallSetVector<unsigned, 4> &Parameters) {
  auto [It, New] = DeclsOf.try_emplace(F);
  if (New)
    for (StatementId S : Model.function(F).Statements)
      if (const auto *D =
              llvm::dyn_cast_or_null<clang::DeclStmt>(Model.statement(S)->Node))
        for (const clang::Decl *Declared : D->decls())
          if (const auto *V = llvm::dyn_cast<clang::VarDecl>(Declared))
            It->second[V] = S;
  Declarations Used;
  llvm::SmallSetVector<const clang::ParmVarDecl *, 8> Parms;
  for (StatementId S : Hit)
    collect(Model.statement(S)->Node, Used, Parms);
  std::set<StatementId> Needed;
  for (size_t I = 0; I != Used.size(); ++I) { // grows while it is walked
    auto Where = It->second.find(Used[I]);
    if (Where == It->second.end())
      continue;
    Needed.insert(Where->second);
    collect(Used[I]->getInit(), Used, Parms);
  }
  for (const clang::ParmVarDecl *P : Parms)
    Parameters.insert(P->getFunctionScopeIndex());
  return {Needed.begin(), Needed.end()};
}

/// Is \p L where the item's weight lies?
static bool isMain(const Evidence &E, const LineRef &L) {
  if (E.Kind != EvidenceKind::Stall || L == E.Consumer)
    return true;
  double Share = 0;
  for (const ProducerRef &P : E.Producers)
    if (P.Where == L)
      Share += P.Share;
  return Share >= MainShare;
}

/// Compound statements are left out: a closing brace says nothing about what it
/// closes.
std::map<FunctionId, RegionFinder::Hits>
RegionFinder::statementsOf(const Evidence &E) const {
  std::map<FunctionId, Hits> Found;
  for (const LineRef &L : E.Lines) {
    if (L.File == NoId || !Model.file(L.File).Editable)
      continue;
    bool Main = isMain(E, L);
    for (StatementId S : Model.statementsOnLine(L.File, L.Line)) {
      const Statement *At = Model.statement(S);
      Hits &H = Found[At->Function];
      std::vector<StatementId> &List = Main ? H.Main : H.Minor;
      if (At->Kind != "compound" && !llvm::is_contained(List, S))
        List.push_back(S);
    }
  }
  for (auto &[F, H] : Found) {
    llvm::sort(H.Main);
    llvm::erase_if(H.Minor,
                   [&H = H](StatementId S) { return llvm::is_contained(H.Main, S); });
    llvm::sort(H.Minor);
  }
  return Found;
}

void RegionFinder::put(RegionKind Kind, FunctionId F, SourceRange Range,
                       unsigned EvidenceId, unsigned LaunchSiteId) {
  if (!editable(Range))
    return;
  // One range, one region: a loop that is also a run of statements is a loop.
  bool Code = Kind == RegionKind::Statement || Kind == RegionKind::Loop ||
              Kind == RegionKind::Declaration;
  if (Code)
    for (RegionKind Other :
         {RegionKind::Statement, RegionKind::Loop, RegionKind::Declaration}) {
      auto It = Regions.find({Range.File, Range.Begin, Range.End, Other, NoId});
      if (It != Regions.end())
        Kind = Other;
    }
  Region &R = Regions[{Range.File, Range.Begin, Range.End, Kind, LaunchSiteId}];
  R.Kind = Kind;
  R.Function = F;
  R.LaunchSiteId = LaunchSiteId;
  R.Range = Range;
  if (!llvm::is_contained(R.Evidence, EvidenceId))
    R.Evidence.push_back(EvidenceId);
}

void RegionFinder::needLines(Evidence &E, const SourceRange &R) {
  if (!editable(R))
    return;
  for (unsigned Line = R.BeginLine; Line <= R.EndLine; ++Line) {
    LineRef L;
    L.File = R.File;
    L.Path = Model.file(R.File).Path;
    L.Line = Line;
    L.Text = Model.file(R.File).line(Line).trim().str();
    if (const Function *F = Model.functionAt(R.File, Line))
      L.Function = F->Name;
    if (!llvm::is_contained(E.Lines, L))
      addLine(E.Needed, L);
  }
}

void RegionFinder::addDeclarations(Evidence &E, FunctionId F,
                                   llvm::ArrayRef<StatementId> Needed,
                                   const SourceRange &Within) {
  for (StatementId S : Needed) {
    const Statement *Decl = Model.statement(S);
    needLines(E, Decl->Range);
    // A loop's own variable is part of its header.
    const Statement *Parent = Model.statement(Decl->Parent);
    bool InHeader = Parent && Parent->Kind != "compound";
    if (!Within.contains(Decl->Range) && !InHeader)
      put(RegionKind::Declaration, F, Decl->Range, E.Id);
  }
}

void RegionFinder::addStatements(Evidence &E, FunctionId F, const Hits &H) {
  const Function &Fn = Model.function(F);
  std::vector<StatementId> All = H.Main;
  llvm::append_range(All, H.Minor);
  if (All.empty())
    return;
  llvm::SmallSetVector<unsigned, 4> Parameters;
  std::vector<StatementId> Needed = neededBy(F, All, Parameters);
  for (unsigned P : Parameters)
    if (P < Fn.Parameters.size())
      needLines(E, Fn.Parameters[P]);
  for (StatementId S : All)
    for (LoopId L = Model.statement(S)->InnermostLoop; L != NoId;
         L = Model.loop(L)->Parent)
      needLines(E, Model.loop(L)->Header);
  size_t Statements = llvm::count_if(Fn.Statements, [&](StatementId S) {
    return Model.statement(S)->Kind != "compound";
  });
  if (Statements <= SmallFunction) {
    LoopId Loop = loopAround(All);
    llvm::append_range(All, Needed);
    if (Loop != NoId)
      All.push_back(Model.loop(Loop)->Stmt);
    llvm::sort(All);
    SourceRange R = smallestRange(All);
    put(RegionKind::Statement, F, R, E.Id);
    addDeclarations(E, F, Needed, R);
    return;
  }
  SourceRange R;
  if (!H.Main.empty()) {
    R = smallestRange(H.Main);
    RegionKind Kind = RegionKind::Statement;
    if (LoopId Loop = loopAround(H.Main); Loop != NoId) {
      R = Model.statement(Model.loop(Loop)->Stmt)->Range;
      Kind = RegionKind::Loop;
    }
    put(Kind, F, R, E.Id);
  }
  for (StatementId S : H.Minor)
    if (!R.contains(Model.statement(S)->Range))
      put(RegionKind::Statement, F, Model.statement(S)->Range, E.Id);
  addDeclarations(E, F, Needed, R);
}

/// Would `const __restrict__`, launch bounds or another way to load meet it?
static bool metBySignature(const Evidence &E) {
  switch (E.Kind) {
  case EvidenceKind::Stall:
    return E.Reason == "long_scoreboard" || E.Reason == "lg_throttle" ||
           E.Reason == "drain" || E.Reason == "imc_miss";
  case EvidenceKind::Roofline:
  case EvidenceKind::Launch:
    return true;
  case EvidenceKind::Counter:
    return E.Reason == "local_memory";
  }
  return false;
}

/// Would other blocks or more elements a thread meet it? For stalls: those that a
/// kernel without loops has because every thread does one thing.
static bool metByLaunchShape(const Evidence &E, bool Loop) {
  if (E.Kind == EvidenceKind::Launch)
    return true;
  if (Loop || E.Kind == EvidenceKind::Counter)
    return false;
  if (E.Kind == EvidenceKind::Roofline)
    return true;
  return E.Reason == "long_scoreboard" || E.Reason == "short_scoreboard" ||
         E.Reason == "lg_throttle" || E.Reason == "mio_throttle" ||
         E.Reason == "drain" || E.Reason == "no_instructions" || E.Reason == "imc_miss";
}

void RegionFinder::addKernelParts(Evidence &E) {
  if (E.Kernel == NoId)
    return;
  const Function &Kernel = Model.function(E.Kernel);
  bool OnSignature = llvm::any_of(E.Lines, [&](const LineRef &L) {
    return L.File == Kernel.Signature.File && L.Line >= Kernel.Signature.BeginLine &&
           L.Line <= Kernel.Signature.EndLine && L.Line < Kernel.Body.BeginLine;
  });
  if (OnSignature || metBySignature(E))
    put(RegionKind::Signature, E.Kernel, Kernel.Signature, E.Id);
  if (metByLaunchShape(E, hasLoop(Model, E.Kernel)))
    for (const LaunchSite *S : Model.launchSitesOf(E.Kernel))
      put(RegionKind::LaunchSite, E.Kernel, S->Config, E.Id, S->Id);
}

void RegionFinder::add(Evidence &E) {
  for (auto &[F, H] : statementsOf(E))
    addStatements(E, F, H);
  addKernelParts(E);
}

std::vector<Region> RegionFinder::take() {
  std::vector<Region> List;
  for (auto &[Key, R] : Regions) {
    R.Sha256 = sha256(Model.text(R.Range));
    llvm::sort(R.Evidence);
    if (R.Kind != RegionKind::Signature && R.Kind != RegionKind::LaunchSite)
      for (StatementId S : Model.function(R.Function).Statements)
        if (R.Range.contains(Model.statement(S)->Range))
          R.Statements.push_back(S);
    List.push_back(std::move(R));
  }
  return List;
}

std::vector<Region> findRegions(const SourceModel &Model, std::vector<Evidence> &Items) {
  RegionFinder Finder(Model);
  for (Evidence &E : Items)
    Finder.add(E);
  return Finder.take();
}

} // namespace optimas
