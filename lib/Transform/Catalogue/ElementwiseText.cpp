//===- ElementwiseText.cpp - Writing one vector a thread -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Elementwise.h"

using namespace clang;

namespace optimas::recipes {

/// The work with each `a[i]` as \p Whole says, or else each `i` in it as \p
/// Index says.
static std::string workText(const KernelView &View, const ElementwisePlan &Plan,
                            llvm::function_ref<std::string(size_t)> Whole,
                            llvm::StringRef Index) {
  std::vector<Hole> Holes;
  for (size_t P = 0; P < Plan.Pointers.size(); ++P)
    for (size_t I = 0; I < Plan.Pointers[P].Uses.size(); ++I) {
      if (Index.empty())
        Holes.push_back({Plan.Pointers[P].Uses[I], Whole(P)});
      else
        Holes.push_back({Plan.Pointers[P].Indices[I], Index.str()});
    }
  return substitute(View.model(), Plan.Work, std::move(Holes));
}

std::string renderVectorized(KernelView View, const ElementwisePlan &Plan,
                             bool Stream) {
  std::string Base = View.indentAt(Plan.Work.File, Plan.Work.Begin);
  Writer W(Base, View.indentUnit());
  std::string Width = View.freshName("width"),
              Vector = View.freshName("Vector"), At = View.freshName("at"),
              First = View.freshName("first"),
              Aligned = View.freshName("aligned"), E = View.freshName("e"),
              Bits = View.freshName("bits");
  std::vector<std::string> Names;
  for (const ElementPointer &P : Plan.Pointers)
    Names.push_back(View.freshName(P.Name + "Vector"));
  bool OneStatement = Plan.First == Plan.Last;

  W.open(llvm::Twine("{ // optimas-vectorized-access") +
         (Stream ? ", optimas-streaming-hints" : "") +
         ": each thread does the elements of 16 bytes.");
  W.line("constexpr size_t " + Width + " = 16 / sizeof(" + Plan.Element + ");");
  W.open("union " + Vector + " {");
  W.line("uint4 " + Bits + ";");
  W.line(Plan.Element + " " + At + "[" + Width + "];");
  W.close("};");
  W.line("const size_t " + First + " = static_cast<size_t>(" + Plan.Index +
         ") * " + Width + ";");
  std::string Addresses;
  for (const ElementPointer &P : Plan.Pointers)
    Addresses += (Addresses.empty() ? "" : " | ") +
                 ("reinterpret_cast<size_t>(" + P.Name + ")");
  if (Plan.Pointers.size() > 1)
    Addresses = "(" + Addresses + ")";
  W.line("const bool " + Aligned + " = " + Addresses + " % 16 == 0;");
  W.open("if (" + Aligned + " && " + First + " + " + Width +
         " <= " + Plan.Bound + ") {");
  for (size_t I = 0; I < Plan.Pointers.size(); ++I) {
    const ElementPointer &P = Plan.Pointers[I];
    W.line(Vector + " " + Names[I] + ";");
    std::string Address =
        "reinterpret_cast<const uint4 *>(" + P.Name + " + " + First + ")";
    if (P.Loaded)
      W.line(Names[I] + "." + Bits + " = " +
             (Stream ? "__ldcs(" + Address + ")" : "*" + Address) + ";");
  }
  W.line("#pragma unroll");
  std::string Loop =
      "for (size_t " + E + " = 0; " + E + " < " + Width + "; ++" + E + ")";
  W.open(Loop + (OneStatement ? "" : " {"));
  W.code(workText(
             View, Plan,
             [&](size_t P) { return Names[P] + "." + At + "[" + E + "]"; }, ""),
         Base);
  OneStatement ? (void)W.dedent() : (void)W.close();
  for (size_t I = 0; I < Plan.Pointers.size(); ++I) {
    const ElementPointer &P = Plan.Pointers[I];
    if (!P.Stored)
      continue;
    std::string Address =
        "reinterpret_cast<uint4 *>(" + P.Name + " + " + First + ")";
    std::string Value = Names[I] + "." + Bits;
    W.line(Stream ? "__stcs(" + Address + ", " + Value + ");"
                  : "*" + Address + " = " + Value + ";");
  }
  W.dedent();
  W.open("} else { // a misaligned array, or the last elements");
  W.open("for (size_t " + E + " = " + First + "; " + E + " < " + First + " + " +
         Width + " && " + E + " < " + Plan.Bound + "; ++" + E + ")" +
         (OneStatement ? "" : " {"));
  W.code(workText(View, Plan, [](size_t) { return std::string(); }, E), Base);
  OneStatement ? (void)W.dedent() : (void)W.close();
  W.close();
  W.close();
  return W.take();
}

/// How many elements 16 bytes hold, as the launch site can say it.
static std::string widthAt(const KernelView &View, const ElementwisePlan &Plan,
                           const LaunchSite &Site,
                           llvm::ArrayRef<uint64_t> Sizes) {
  if (llvm::all_equal(Sizes))
    return std::to_string(16 / Sizes.front());
  // Several sizes: a site in a template. Its own words for the element's type.
  for (const ElementPointer &P : Plan.Pointers) {
    unsigned Index = P.Param->getFunctionScopeIndex();
    if (!Site.Node || Index >= Site.Node->getNumArgs())
      continue;
    // `a`, `a + offset`; dependent, so the sum itself has no type yet.
    const Expr *Arg = strip(Site.Node->getArg(Index));
    while (const auto *Op = dyn_cast<BinaryOperator>(Arg)) {
      const VarDecl *Left = variable(Op->getLHS());
      Arg = strip(Left && !Left->getType()->isPointerType() ? Op->getRHS()
                                                            : Op->getLHS());
    }
    const VarDecl *V = variable(Arg);
    if (!V || !V->getType()->isPointerType())
      continue;
    QualType Pointee = V->getType()->getPointeeType().getUnqualifiedType();
    if (Pointee->getAs<TemplateTypeParmType>())
      return "16 / sizeof(" +
             Pointee.getAsString(View.model().host().getPrintingPolicy()) + ")";
    return "16 / sizeof(*" + V->getNameAsString() + ")";
  }
  return "";
}

Checked<std::vector<Edit>>
shrinkLaunches(const KernelView &View, const ElementwisePlan &Plan,
               llvm::StringRef Transformation,
               llvm::ArrayRef<const Evidence *> Items) {
  std::vector<Edit> Out;
  for (const CoveringLaunch &L : Plan.Launches) {
    const LaunchSite &Site = *L.Launch.Site;
    if (llvm::any_of(Out,
                     [&](const Edit &E) { return E.LaunchSiteId == Site.Id; }))
      continue; // another instantiation of the caller
    std::vector<uint64_t> Sizes;
    for (const CoveringLaunch &Other : Plan.Launches)
      if (Other.Launch.Site == &Site) {
        unsigned Index = Plan.Pointers.front().Param->getFunctionScopeIndex();
        const FunctionDecl *Callee = Other.Launch.Call->getDirectCallee();
        QualType T = Callee->getParamDecl(Index)->getType()->getPointeeType();
        Sizes.push_back(
            View.model().host().getTypeSizeInChars(T).getQuantity());
      }
    std::string Width = widthAt(View, Plan, Site, Sizes);
    if (Width.empty())
      return Failure{"cannot-spell-width",
                     "the launch has no name for the element's type",
                     L.Launch.line()};
    if (Width == "1")
      continue;
    std::string Grid = View.text(L.Grid).str();
    bool Simple =
        llvm::all_of(Grid, [](char C) { return llvm::isAlnum(C) || C == '_'; });
    if (!Simple)
      Grid = "(" + Grid + ")";
    bool Literal = llvm::all_of(Width, llvm::isDigit);
    std::string Text =
        Literal ? "(" + Grid + " + " + std::to_string(std::stoul(Width) - 1) +
                      ") / " + Width
                : "(" + Grid + " + " + Width + " - 1) / (" + Width + ")";
    Edit E = newEdit(EditKind::LaunchSite, Transformation, Items);
    E.LaunchSiteId = Site.Id;
    E.Text = substitute(View.model(), Site.Config, {{L.Grid, Text}});
    E.Reason = "Each thread does " + Width +
               " elements, so that many times fewer blocks "
               "are needed.";
    E.Precondition =
        "The grid covers `" + Plan.Bound + "` elements with one a thread.";
    E.Postcondition = "The grid covers them with " + Width + " a thread.";
    Out.push_back(std::move(E));
  }
  return Out;
}

} // namespace optimas::recipes
