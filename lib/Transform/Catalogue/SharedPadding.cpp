//===- SharedPadding.cpp - optimas-shared-padding -------------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// __shared__ float tile[32][32];  =>  __shared__ float tile[32][32 + 1];
//
//===----------------------------------------------------------------------===//
#include "Bounds.h"
#include "Recipes.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Type.h"

namespace optimas {
using namespace recipes;
using clang::ArraySubscriptExpr;
using clang::ConstantArrayType;
using clang::DeclStmt;
using clang::Expr;
using clang::VarDecl;

namespace {
/// A shared array of one body, and every access to it.
struct SharedArray {
  const DeclStmt *Node = nullptr;
  const VarDecl *Var = nullptr;
  std::vector<uint64_t> Extents;
  uint64_t ElementBytes = 0;
  std::vector<const Access *> Uses;
};
} // namespace

static std::vector<SharedArray> sharedArrays(const KernelView &View,
                                             const Body &B) {
  std::vector<SharedArray> Out;
  walk(B.Decl->getBody(), [&](const clang::Stmt *S) {
    const auto *D = clang::dyn_cast<DeclStmt>(S);
    if (!D)
      return true;
    for (const clang::Decl *Inner : D->decls()) {
      const auto *V = clang::dyn_cast<VarDecl>(Inner);
      if (!V || !V->hasAttr<clang::CUDASharedAttr>())
        continue;
      SharedArray A;
      A.Node = D;
      A.Var = V;
      clang::QualType T = V->getType();
      while (const auto *Array = View.ast().getAsConstantArrayType(T)) {
        A.Extents.push_back(Array->getZExtSize());
        T = Array->getElementType();
      }
      A.ElementBytes = View.ast().getTypeSizeInChars(T).getQuantity();
      for (const Access &X : B.Whole.Accesses)
        if (X.Base == V)
          A.Uses.push_back(&X);
      Out.push_back(std::move(A));
    }
    return true;
  });
  return Out;
}

/// The subscripts of `a[i][j]`, first to last.
static std::vector<const Expr *> subscripts(const Access &A) {
  std::vector<const Expr *> Out;
  const Expr *E = A.Node;
  while (const auto *Sub =
             clang::dyn_cast<ArraySubscriptExpr>(E->IgnoreParenImpCasts())) {
    Out.insert(Out.begin(), Sub->getIdx());
    E = Sub->getBase();
  }
  return Out;
}

static bool namesThreadX(const Expr *E, const Body &B, unsigned Depth = 0) {
  bool Found = false;
  walk(E, [&](const clang::Stmt *S) {
    const auto *X = clang::dyn_cast<Expr>(S);
    if (!X)
      return true;
    if (auto Builtin = indexBuiltin(X))
      Found |= Builtin->Kind == IndexBuiltin::ThreadIdx && Builtin->Dim == 0;
    if (const VarDecl *V = variable(X); V && Depth < 8)
      if (const Expr *Init = B.initialiser(V))
        Found |= namesThreadX(Init, B, Depth + 1);
    return !Found;
  });
  return Found;
}

static std::optional<Failure> cannotPad(const KernelView &View, const Body &B,
                                        const SharedArray &A,
                                        const BlockSizes &Blocks) {
  std::string Name = "`" + A.Var->getNameAsString() + "`";
  unsigned Line = View.line(A.Node);
  if (!A.Node->isSingleDecl())
    return Failure{"several-declared",
                   Name + " is declared together with other variables", Line};
  if (B.Whole.Escaped.count(A.Var))
    return Failure{
        "pointer-escapes",
        "the address of " + Name + " is used outside a full subscript", Line};
  // What is not understood may reach the array in a way that is not seen.
  for (const Hazard &H : B.Whole.Hazards)
    if (H.Kind == Hazard::Unsupported)
      return Failure{ruleFor(H.Kind).str(),
                     "the kernel cannot be looked through: " +
                         wordsFor(H.Kind).str(),
                     View.line(H.Node)};
  if (B.Whole.mentions(A.Var) != A.Uses.size())
    return Failure{"pointer-escapes", Name + " is used outside a subscript",
                   Line};
  if (A.Extents.back() % 2 != 0)
    return Failure{"no-conflict-expected",
                   "the rows of " + Name + " have an odd length already", Line};
  bool Column = false;
  for (const Access *Use : A.Uses) {
    std::vector<const Expr *> Subs = subscripts(*Use);
    if (Subs.size() != A.Extents.size())
      return Failure{"pointer-escapes",
                     "a use of " + Name + " is not a full subscript",
                     View.line(Use->Node)};
    Column |= !namesThreadX(Subs.back(), B) &&
              llvm::any_of(llvm::ArrayRef(Subs).drop_back(),
                           [&B](const Expr *E) { return namesThreadX(E, B); });
    // Beyond its row an index reaches the next row today and would not
    // afterwards.
    for (size_t I = 1; I < Subs.size(); ++I) {
      auto Range = intervalOf(Subs[I], View, B, Blocks);
      if (!Range || Range->Low < 0 || Range->High >= int64_t(A.Extents[I]))
        return Failure{"cannot-prove-index-in-row",
                       "an index of " + Name +
                           " is not proved to stay inside its row "
                           "of " +
                           std::to_string(A.Extents[I]),
                       View.line(Use->Node)};
    }
  }
  if (!Column)
    return Failure{
        "no-column-access",
        "no access to " + Name + " runs down a column with threadIdx.x", Line};
  return std::nullopt;
}

static std::optional<Failure> cannotFit(const KernelView &View,
                                        const SharedArray &A,
                                        llvm::ArrayRef<SharedArray> All) {
  // What a kernel may hold without asking for more (CUDA C++ Programming Guide,
  // Compute Capabilities).
  constexpr uint64_t StaticLimit = 48 << 10;
  unsigned Line = View.line(A.Node);
  uint64_t Bytes = A.ElementBytes, Total = 0;
  for (size_t I = 0; I + 1 < A.Extents.size(); ++I)
    Bytes *= A.Extents[I];
  for (const SharedArray &Other : All) {
    uint64_t Own = Other.ElementBytes;
    for (uint64_t Extent : Other.Extents)
      Own *= Extent;
    Total += Own;
  }
  Total = std::max(Total, View.diagnosis().StaticShared) + Bytes;
  for (const LaunchSite *Site : View.model().launchSitesOf(View.function().Id))
    if (Site->Shared.valid() && View.text(Site->Shared).trim() != "0")
      return Failure{
          "cannot-prove-shared-fits",
          "a launch adds dynamic shared memory of an amount that is not known",
          Site->Whole.BeginLine};
  if (Total > StaticLimit)
    return Failure{"shared-memory-full",
                   "with the padding the kernel would hold " +
                       std::to_string(Total) +
                       " bytes of shared memory, more than 48 KiB",
                   Line};
  return std::nullopt;
}

/// The declaration's text with ` + 1` in its last brackets; empty when it is
/// not plain.
static std::string padded(llvm::StringRef Text, size_t Dimensions) {
  size_t Close = Text.rfind(']'), Open = Text.rfind('[');
  if (Text.count('[') != Dimensions || Close == llvm::StringRef::npos || Open == llvm::StringRef::npos ||
      Open > Close || Text.contains("//") || Text.contains("/*"))
    return "";
  llvm::StringRef Extent = Text.slice(Open + 1, Close).trim();
  bool Simple = llvm::all_of(Extent, [](char C) {
    return llvm::isAlnum(C) || llvm::StringRef("_ +-*/:").contains(C);
  });
  std::string Inner = Simple ? Extent.str() : "(" + Extent.str() + ")";
  return (Text.take_front(Open + 1) + Inner + " + 1" + Text.drop_front(Close))
      .str();
}

static void propose(const KernelView &View, Report &Out) {
  const Body &First = View.bodies().front();
  for (const SharedArray &A : sharedArrays(View, First)) {
    if (A.Extents.size() < 2)
      continue;
    std::vector<unsigned> Lines;
    for (const Access *Use : A.Uses)
      Lines.push_back(View.line(Use->Node));
    FileId File = View.function().Definition.File;
    auto OnUse = [&](const LineRef &L) {
      return L.File == File && llvm::is_contained(Lines, L.Line);
    };
    std::vector<const Evidence *> Items =
        View.evidenceIf([&](const Evidence &E) {
          llvm::StringRef Reason = plainReason(E.Reason);
          if (E.Kind == EvidenceKind::Stall && Reason != "short_scoreboard" &&
              Reason != "mio_throttle")
            return false;
          if (E.Kind == EvidenceKind::Counter && !Reason.contains("bank"))
            return false;
          if (E.Kind != EvidenceKind::Stall && E.Kind != EvidenceKind::Counter)
            return false;
          return OnUse(E.Consumer) || llvm::any_of(E.Lines, OnUse) ||
                 llvm::any_of(E.Producers, [&](const ProducerRef &P) {
                   return OnUse(P.Where);
                 });
        });
    if (Items.empty())
      continue;
    BlockSizes Blocks = blockSizes(View);
    std::optional<Failure> Why;
    for (const Body &B : View.bodies()) {
      std::vector<SharedArray> All = sharedArrays(View, B);
      for (const SharedArray &Same : All)
        if (!Why && Same.Var->getLocation() == A.Var->getLocation()) {
          Why = cannotPad(View, B, Same, Blocks);
          if (!Why)
            Why = cannotFit(View, Same, All);
        }
    }
    const Statement *Decl = View.statement(A.Node);
    std::string Text = Decl ? padded(View.text(Decl->Range), A.Extents.size()) : "";
    if (!Why && Text.empty())
      Why = Failure{"in-macro",
                    "the declaration comes from a macro or holds a comment",
                    View.line(A.Node)};
    if (Why) {
      Out.decline(*Why, Items);
      continue;
    }
    Edit E = newEdit(EditKind::Replace, Out.Id, Items);
    E.First = E.Last = Decl->Id;
    E.Text = "// optimas-shared-padding: one more column, so that a column's "
             "elements lie "
             "in different banks.\n" +
             View.indentAt(Decl->Range.File, Decl->Range.Begin) + Text;
    std::string Name = "`" + A.Var->getNameAsString() + "`";
    E.Reason = "Threads of a warp read or write a column of " + Name + " on " +
               placesOf(Items) + "; with rows of " +
               std::to_string(A.Extents.back()) +
               " elements they meet in the same banks.";
    E.Precondition = "Every use of " + Name +
                     " is a full subscript inside its row, and "
                     "the longer array fits.";
    E.Postcondition = "Every element has an address of its own as before.";
    Out.propose(View, "shared padding of " + A.Var->getNameAsString(),
                {std::move(E)}, Items, 4);
  }
}

const Transformation &sharedPadding() {
  static const Entry T(
      "optimas-shared-padding",
      "Gives the rows of a shared array one more element, so that the elements "
      "of a column lie in different banks.",
      "NVIDIA, CUDA C++ Best Practices Guide, Shared Memory and Memory Banks; "
      "M. Harris, An Efficient Matrix Transpose in CUDA C/C++, 2013",
      propose);
  return T;
}

} // namespace optimas
