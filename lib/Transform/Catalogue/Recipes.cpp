//===- Recipes.cpp - What transformations share when they propose ---------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Recipes.h"

namespace optimas::recipes {

static const llvm::StringRef MemoryWaitNames[] = {"long_scoreboard",
                                                  "lg_throttle"};
const llvm::ArrayRef<llvm::StringRef> MemoryWaits(MemoryWaitNames);

void Report::decline(const Failure &F, llvm::ArrayRef<const Evidence *> Items) {
  Declined D;
  D.Transformation = Id.str();
  D.Kernel = Kernel.Function;
  D.Line = F.Line;
  D.Rule = F.Rule;
  D.Message = F.Message;
  D.Evidence = idsOf(Items);
  Declines.push_back(std::move(D));
}

void Report::propose(const KernelView &View, std::string Title,
                     std::vector<Edit> Edits,
                     llvm::ArrayRef<const Evidence *> Items, double Gain) {
  Proposal P;
  P.Proposer = "catalogue";
  P.Title = std::move(Title);
  P.Kernels = {View.function().Id};
  P.Group = View.function().Name;
  P.Edits = std::move(Edits);
  P.Expected = expectedSpeedup(weightOf(Items), Gain);
  // Indented as in the file, the first line too: then nobody has to guess how
  // much of the other lines' blanks is the file's. The guard writes the file's
  // line ends.
  for (Edit &E : P.Edits)
    if (const Statement *S = View.model().statement(E.First);
        S && E.Kind == EditKind::Replace)
      E.Text = View.indentAt(S->Range.File, S->Range.Begin) + E.Text;
  Proposals.push_back(std::move(P));
}

void Entry::propose(const CatalogueContext &Context,
                    const KernelDiagnosis &Kernel,
                    std::vector<Proposal> &Proposals,
                    std::vector<Declined> &Declines) const {
  if (Checked<KernelView> View = KernelView::create(Context, Kernel)) {
    Report Out(Id, Kernel, Proposals, Declines);
    LookAt(*View, Out);
  }
}

bool liesIn(const Evidence &E, const SourceRange &R) {
  auto In = [&R](const LineRef &L) {
    return L.File == R.File && L.Line >= R.BeginLine && L.Line <= R.EndLine;
  };
  return In(E.Consumer) || llvm::any_of(E.Producers, [&](const ProducerRef &P) {
           return In(P.Where);
         });
}

std::vector<HotLoop> hotLoops(const KernelView &View,
                              llvm::ArrayRef<llvm::StringRef> Reasons) {
  std::vector<HotLoop> Out;
  for (const Loop &L : View.model().loops()) {
    if (L.Function != View.function().Id)
      continue;
    const Statement *S = View.model().statement(L.Stmt);
    if (!S)
      continue;
    HotLoop Hot{S, View.evidenceIn(S->Range, Reasons)};
    llvm::erase_if(Hot.Items, [&](const Evidence *E) {
      if (E->Kind != EvidenceKind::Stall)
        return false;
      for (const Loop &Inner : View.model().loops())
        if (Inner.Parent == L.Id)
          if (const Statement *I = View.model().statement(Inner.Stmt))
            if (liesIn(*E, I->Range))
              return true;
      return false;
    });
    // A roofline or a counter alone does not point at one loop.
    if (llvm::any_of(Hot.Items, [](const Evidence *E) {
          return E->Kind == EvidenceKind::Stall;
        }))
      Out.push_back(std::move(Hot));
  }
  return Out;
}

bool inLoop(const KernelView &View, const Evidence &E) {
  for (const Loop &L : View.model().loops())
    if (L.Function == View.function().Id)
      if (const Statement *S = View.model().statement(L.Stmt))
        if (liesIn(E, S->Range))
          return true;
  return false;
}

Checked<LoopPlan> batchable(const KernelView &View, const Statement &Loop) {
  Checked<LoopPlan> Plan = planLoop(View, Loop);
  if (!Plan)
    return Plan.failure();
  if (auto Why = cannotMoveLoads(View, Loop))
    return *Why;
  bool Nested = false;
  recipes::walk(Plan->Shape.Node->getBody(), [&Nested](const clang::Stmt *S) {
    Nested |= clang::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt,
                         clang::CXXForRangeStmt>(S);
    return !Nested;
  });
  if (Nested)
    return Failure{"nested-loop", "the loop holds another loop",
                   Loop.Range.BeginLine};
  if (llvm::all_of(Plan->Loads, [](const LoopLoad &L) { return L.Invariant; }))
    return Failure{
        "no-load-to-batch",
        "the loop has no load that every iteration executes at an address "
        "known from the loop's variable",
        Loop.Range.BeginLine};
  return Plan;
}

Edit newEdit(EditKind Kind, llvm::StringRef Transformation,
             llvm::ArrayRef<const Evidence *> Items) {
  Edit E;
  E.Kind = Kind;
  E.Transformation = Transformation.str();
  cite(E, Items);
  return E;
}

Edit loopEdit(const KernelView &View, const LoopPlan &Plan,
              const LoopChanges &Changes, llvm::StringRef Transformation,
              llvm::ArrayRef<const Evidence *> Items) {
  Edit E = newEdit(EditKind::Replace, Transformation, Items);
  E.First = E.Last = Plan.Stmt->Id;
  E.Text = renderLoop(View, Plan, Changes);
  return E;
}

std::string placesOf(llvm::ArrayRef<const Evidence *> Items) {
  std::vector<unsigned> Lines;
  auto Add = [&Lines](unsigned Line) {
    if (Line && !llvm::is_contained(Lines, Line))
      Lines.push_back(Line);
  };
  for (const Evidence *E : Items) {
    if (E->Kind != EvidenceKind::Stall)
      continue;
    if (E->Producers.empty())
      Add(E->Consumer.Line);
    else
      Add(E->Producers.front().Where.Line);
  }
  llvm::sort(Lines);
  std::string Out = Lines.size() > 1 ? "lines " : "line ";
  for (size_t I = 0; I < Lines.size(); ++I) {
    if (I)
      Out += I + 1 == Lines.size() ? " and " : ", ";
    Out += std::to_string(Lines[I]);
  }
  return Out;
}

double batchGain(unsigned Batch) {
  switch (Batch) {
  case 4:
    return 2.5;
  case 8:
    return 3.2;
  case 16:
    return 3.3;
  default:
    return 1;
  }
}

} // namespace optimas::recipes
