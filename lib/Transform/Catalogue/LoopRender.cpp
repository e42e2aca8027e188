//===- LoopRender.cpp - Writing a counted loop anew -----------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LoopPlan.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace optimas::recipes {

namespace {
class Renderer {
public:
  Renderer(KernelView &View, const LoopPlan &Plan, const LoopChanges &Changes);
  std::string run();

private:
  struct Named {
    const LoopLoad *Load;
    std::string Name;
  };
  std::string itemDecl() const;
  std::string element(const Named &N) const {
    return N.Load->Invariant && Changes.HoistInvariant
               ? N.Name
               : N.Name + "[" + Slot + "]";
  }
  /// Text of a load with the loop's variable and the loads inside it replaced.
  std::string loadText(const LoopLoad &L) const;
  std::vector<Hole> bodyHoles(bool Batched) const;
  void body(const std::vector<Hole> &Holes);
  void hoisted();
  void batch(bool Guarded);
  void batched();
  bool bodyNamesVariable() const;
  bool takesPart(const LoopLoad &L) const {
    return L.Invariant ? Changes.HoistInvariant : Changes.Batch > 1;
  }

  KernelView &View;
  const LoopPlan &Plan;
  const LoopChanges &Changes;
  Writer W;
  std::vector<Named> Loads; ///< one for each text
  llvm::StringMap<size_t> ByText;
  std::string Acc, Batch, Stride, Span, Slot, Item, Left;
};
} // namespace

Renderer::Renderer(KernelView &View, const LoopPlan &Plan,
                   const LoopChanges &Changes)
    : View(View), Plan(Plan), Changes(Changes),
      W(View.indentAt(Plan.Stmt->Range.File, Plan.Stmt->Range.Begin),
        View.indentUnit()) {
  if (Changes.Accumulator)
    Acc = View.freshName(Changes.Accumulator->Name + "Acc");
  if (Changes.Batch > 1) {
    Batch = View.freshName("batch");
    Stride = View.freshName("stride");
    Span = Plan.Shape.VarIs64 ? Stride : View.freshName("span");
    Slot = View.freshName("slot");
    Left = View.freshName("left");
    Item = View.freshName("item");
  }
  for (const LoopLoad &L : Plan.Loads) {
    if (!takesPart(L))
      continue;
    auto [It, New] = ByText.try_emplace(View.text(L.Range), Loads.size());
    if (New)
      Loads.push_back(
          {&L, View.freshName(L.Name + (L.Invariant ? "Value" : "Batch"))});
  }
}

std::string Renderer::itemDecl() const {
  const LoopShape &S = Plan.Shape;
  return "const " + S.VarType + " " + Item + " = " + S.VarName + " + " + Slot +
         " * " + Stride + ";";
}

std::string Renderer::loadText(const LoopLoad &L) const {
  std::vector<Hole> Holes;
  for (const SourceRange &Use : Plan.VarUses)
    if (L.Range.contains(Use) && Changes.Batch > 1)
      Holes.push_back({Use, Item});
  for (const LoopLoad &Inner : Plan.Loads) {
    if (&Inner == &L || !L.Range.contains(Inner.Range) || !takesPart(Inner) ||
        Inner.Range.size() == L.Range.size())
      continue;
    // Only the outermost of the loads inside.
    if (llvm::any_of(Plan.Loads, [&](const LoopLoad &Mid) {
          return &Mid != &L && &Mid != &Inner && takesPart(Mid) &&
                 Mid.Range.contains(Inner.Range) &&
                 L.Range.contains(Mid.Range) &&
                 Mid.Range.size() < L.Range.size() &&
                 Mid.Range.size() > Inner.Range.size();
        }))
      continue;
    llvm::erase_if(
        Holes, [&](const Hole &H) { return Inner.Range.contains(H.Range); });
    Holes.push_back(
        {Inner.Range, element(Loads[ByText.lookup(View.text(Inner.Range))])});
  }
  std::string Text = substitute(View.model(), L.Range, std::move(Holes));
  if (Changes.StreamLoads && !L.Intrinsic && L.BuiltinType && !L.Invariant)
    Text = "__ldcs(&" + Text + ")";
  return Text;
}

std::vector<Hole> Renderer::bodyHoles(bool Batched) const {
  std::vector<Hole> Holes;
  auto Add = [&Holes](const SourceRange &R, const std::string &Text) {
    // A macro argument stands once in the text and twice in the tree; what lies
    // inside a hole goes with it.
    for (const Hole &H : Holes)
      if (H.Range.contains(R))
        return;
    llvm::erase_if(Holes, [&](const Hole &H) { return R.contains(H.Range); });
    Holes.push_back({R, Text});
  };
  for (const LoopLoad &L : Plan.Loads)
    if (takesPart(L) && (Batched || L.Invariant))
      Add(L.Range, element(Loads[ByText.lookup(View.text(L.Range))]));
  if (Changes.Accumulator)
    for (const SourceRange &Use : Changes.Accumulator->Uses)
      Add(Use, Acc);
  if (Batched)
    for (const SourceRange &Use : Plan.VarUses)
      Add(Use, Item);
  return Holes;
}

bool Renderer::bodyNamesVariable() const {
  for (const Hole &H : bodyHoles(true))
    if (H.Text == Item)
      return true;
  return false;
}

void Renderer::body(const std::vector<Hole> &Holes) {
  SourceRange R = Plan.Body;
  llvm::StringRef Text = View.text(R);
  if (Plan.BodyIsCompound) {
    ++R.Begin, --R.End;
    Text = View.text(R);
    R.Begin += Text.size() - Text.ltrim().size();
    R.End -= Text.size() - Text.rtrim().size();
    if (R.Begin >= R.End)
      return;
  }
  W.code(substitute(View.model(), R, Holes), View.indentAt(R.File, R.Begin));
}

/// Invariant loads, once, before the loop: only reached when it has an
/// iteration.
void Renderer::hoisted() {
  for (const Named &N : Loads)
    if (N.Load->Invariant)
      W.line("const " + N.Load->Element + " " + N.Name + " = " +
             loadText(*N.Load) + ";");
}

/// One batch: loads first, then the work of the iterations in their order.
void Renderer::batch(bool Guarded) {
  const LoopShape &S = Plan.Shape;
  // Against what is left rather than the bound: sums that do not depend on the
  // loop would be kept in registers throughout it.
  std::string Inside = Slot + " * " + Span + " " + S.Test + " " + Left;
  std::string Slots = "for (int " + Slot + " = 0; " + Slot + " < " + Batch +
                      "; ++" + Slot + ")";
  auto EachSlot = [&](llvm::function_ref<void()> Fill) {
    W.line("#pragma unroll");
    W.open(Slots + (Guarded ? "" : " {"));
    if (Guarded)
      W.open("if (" + Inside + ") {");
    Fill();
    W.close();
    if (Guarded)
      W.dedent();
  };
  if (Guarded) {
    bool Simple = llvm::all_of(S.BoundText, [](char C) {
      return llvm::isAlnum(C) || C == '_' || C == '.';
    });
    std::string Bound = Simple ? S.BoundText : "(" + S.BoundText + ")";
    std::string Var = S.VarIs64
                          ? S.VarName
                          : "static_cast<" + S.Wide + ">(" + S.VarName + ")";
    W.line("const " + S.Wide + " " + Left + " = " + Bound + " - " + Var + ";");
  }
  for (const Named &N : Loads)
    if (!N.Load->Invariant)
      W.line(N.Load->Element + " " + N.Name + "[" + Batch + "];");
  EachSlot([&] {
    W.line(itemDecl());
    for (const Named &N : Loads)
      if (!N.Load->Invariant)
        W.line(element(N) + " = " + loadText(*N.Load) + ";");
  });
  EachSlot([&] {
    if (bodyNamesVariable())
      W.line(itemDecl());
    body(bodyHoles(true));
  });
}

void Renderer::batched() {
  const LoopShape &S = Plan.Shape;
  std::string Next = S.VarName + " += " + Batch + " * " + Stride;
  std::string First = S.VarName + " " + S.Test + " " + S.BoundText;
  std::string All = S.VarName + " + (" + Batch + " - 1) * " + Span + " " +
                    S.Test + " " + S.BoundText;
  if (S.StepMayBeNegative)
    All = First + " && " + All;
  W.open("for (; " + All + "; " + Next + ") {");
  batch(false);
  W.close();
  // Not a loop: fewer than a batch are left, and one more step may not fit the
  // variable.
  W.line("// The iterations that do not fill a batch.");
  W.open("if (" + First + ") {");
  batch(true);
  W.close();
}

std::string Renderer::run() {
  const LoopShape &S = Plan.Shape;
  bool Hoists =
      llvm::any_of(Loads, [](const Named &N) { return N.Load->Invariant; });
  bool Shared = Changes.Accumulator && Changes.Accumulator->Shared;
  bool Guards = Hoists || Shared;
  auto Begin = [&] {
    W.line(Changes.Accumulator->Element + " " + Acc + " = " +
           Changes.Accumulator->Lvalue + ";");
  };
  W.open("{ // " + Changes.Comment);
  if (Changes.Accumulator && !Shared)
    Begin();
  std::string Init = View.text(S.Init).rtrim().rtrim(';').str();
  if (Changes.Batch > 1 || Guards)
    W.line(Init + ";");
  if (Changes.Batch > 1) {
    W.line("constexpr int " + Batch + " = " + llvm::Twine(Changes.Batch) + ";");
    W.line("const " + S.StepType + " " + Stride + " = " + S.StepText + ";");
    if (Span != Stride) // of 64 bits, so that no sum in a test wraps
      W.line("const " + S.Wide + " " + Span + " = " + Stride + ";");
  }
  if (Guards)
    W.open("if (" + S.VarName + " " + S.Test + " " + S.BoundText + ") {");
  if (Hoists)
    hoisted();
  if (Shared)
    Begin();
  if (Changes.Batch > 1) {
    batched();
  } else {
    SourceRange Header = Plan.Stmt->Range;
    Header.End = Plan.Body.Begin;
    std::string Text = View.text(Header).rtrim().str();
    if (Guards)
      Text = "for (; " + S.VarName + " " + S.Test + " " + S.BoundText + "; " +
             (S.Step ? S.VarName + " += " + S.StepText : "++" + S.VarName) +
             ")";
    if (Plan.BodyIsCompound)
      Text += " {";
    W.code(Text, View.indentAt(Header.File, Header.Begin));
    W.indent();
    body(bodyHoles(false));
    W.dedent();
    if (Plan.BodyIsCompound)
      W.line("}");
  }
  if (Guards && !Shared)
    W.close();
  if (Changes.Accumulator)
    W.line(Changes.Accumulator->Lvalue + " = " + Acc + ";");
  if (Shared)
    W.close();
  W.close();
  return W.take();
}

std::string renderLoop(KernelView View, const LoopPlan &Plan,
                       const LoopChanges &Changes) {
  return Renderer(View, Plan, Changes).run();
}

} // namespace optimas::recipes
