//===- Catalogue.cpp - The built-in transformations -----------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Transform/Catalogue.h"
#include "../OtherUnits.h"
#include "Recipes.h"

namespace optimas {

Transformation::~Transformation() = default;

llvm::ArrayRef<const Transformation *> catalogue() {
  static const Transformation *const All[] = {
      &constRestrict(),       &invariantLoadHoisting(),
      &launchShape(),         &loadBatching(),
      &registerAccumulator(), &sharedPadding(),
      &streamingHints(),      &unroll(),
      &vectorizedAccess()};
  return All;
}

/// `*` stands for any run of characters, as in clang-tidy.
static bool globMatches(llvm::StringRef Pattern, llvm::StringRef Text) {
  size_t Star = Pattern.find('*');
  if (Star == llvm::StringRef::npos)
    return Pattern == Text;
  if (!Text.consume_front(Pattern.take_front(Star)))
    return false;
  llvm::StringRef Rest = Pattern.drop_front(Star + 1);
  for (size_t I = 0; I <= Text.size(); ++I)
    if (globMatches(Rest, Text.drop_front(I)))
      return true;
  return false;
}

bool checkEnabled(llvm::StringRef Checks, llvm::StringRef Id) {
  bool Enabled = false;
  llvm::SmallVector<llvm::StringRef> Globs;
  Checks.split(Globs, ',');
  for (llvm::StringRef Glob : Globs) {
    Glob = Glob.trim();
    bool Positive = !Glob.consume_front("-");
    Glob = Glob.ltrim();
    if (!Glob.empty() && globMatches(Glob, Id))
      Enabled = Positive;
  }
  return Enabled;
}

/// More than these of one kernel would cost more to measure than the last ones
/// promise.
static constexpr size_t MaxPerKernel = 4;

CatalogueResult proposeFromCatalogue(const CatalogueContext &Given,
                                     llvm::StringRef Checks) {
  CatalogueResult Result;
  OtherUnits Others(Given.Model, Given.Database);
  CatalogueContext Context = Given;
  Context.Others = &Others;
  auto Enabled = [Checks](llvm::StringRef Id) {
    return checkEnabled(Checks, Id);
  };
  unsigned NextEdit = 1;
  for (const KernelDiagnosis &Kernel : Context.D.Kernels) {
    if (!Kernel.Hot)
      continue;
    std::vector<Proposal> Own;
    for (const Transformation *T : catalogue())
      if (Enabled(T->id()))
        T->propose(Context, Kernel, Own, Result.Declines);
    recipes::proposeCompositions(Context, Kernel, Enabled, Own);
    llvm::erase_if(Own, [](const Proposal &P) {
      return P.Expected < recipes::WorthMeasuring;
    });
    recipes::proposeUnion(Context.Model, Own);
    for (size_t I = 0; I < Own.size(); ++I)
      Own[I].Id = I;
    llvm::sort(Own, [](const Proposal &A, const Proposal &B) {
      return A.Expected != B.Expected ? A.Expected > B.Expected : A.Id < B.Id;
    });
    if (Own.size() > MaxPerKernel)
      Own.resize(MaxPerKernel);
    for (Proposal &P : Own) {
      P.Id = Result.Proposals.size() + 1;
      for (Edit &E : P.Edits)
        E.Id = NextEdit++;
      Result.Proposals.push_back(std::move(P));
    }
  }
  return Result;
}

} // namespace optimas
