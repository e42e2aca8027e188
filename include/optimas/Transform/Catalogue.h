//===- Catalogue.h - The built-in transformations -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TRANSFORM_CATALOGUE_H
#define OPTIMAS_TRANSFORM_CATALOGUE_H

#include "optimas/Transform/Edit.h"

namespace optimas {

class OtherUnits;

struct CatalogueContext {
  const SourceModel &Model;
  const Diagnosis &D;
  /// Every command of the compile database: other units may launch a kernel.
  llvm::ArrayRef<CompileCommand> Database = {};
  /// Made from Database by proposeFromCatalogue().
  OtherUnits *Others = nullptr;
};

/// Why a transformation that the evidence calls for was not proposed.
struct Declined {
  std::string Transformation;
  FunctionId Kernel = NoId;
  unsigned Line = 0;
  std::string Rule; ///< `cannot-prove-alias`, `no-tail-guard`, …
  std::string Message;
  std::vector<unsigned> Evidence; ///< what called for it
};

/// One literature-backed transformation. Ids are `optimas-<kebab-name>`; source,
/// doc page and test carry the same name.
class Transformation {
public:
  virtual ~Transformation();
  virtual llvm::StringRef id() const = 0;
  /// One sentence; identical to the doc page's first.
  virtual llvm::StringRef summary() const = 0;
  /// `yes`, `integers only`, `no`.
  virtual llvm::StringRef exactness() const = 0;
  /// The literature: author, title, section.
  virtual llvm::StringRef source() const = 0;
  /// Appends variants for \p Kernel that its evidence calls for, and what it had to
  /// decline. Deterministic.
  virtual void propose(const CatalogueContext &Context,
                       const KernelDiagnosis &Kernel,
                       std::vector<Proposal> &Proposals,
                       std::vector<Declined> &Declines) const = 0;
};

/// All transformations by id.
llvm::ArrayRef<const Transformation *> catalogue();

struct CatalogueResult {
  std::vector<Proposal> Proposals; ///< single transformations, variants and compositions; best expected first within a group
  std::vector<Declined> Declines;
};

/// Asks every transformation whose id matches \p Checks (clang-tidy's glob list,
/// `*,-optimas-unroll`) about every hot kernel, and composes those that stack.
CatalogueResult proposeFromCatalogue(const CatalogueContext &Context,
                                     llvm::StringRef Checks);

/// True when \p Id matches the glob list.
bool checkEnabled(llvm::StringRef Checks, llvm::StringRef Id);

} // namespace optimas

#endif // OPTIMAS_TRANSFORM_CATALOGUE_H
