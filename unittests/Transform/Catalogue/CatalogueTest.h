//===- CatalogueTest.h - Snippets whose hot lines are marked ----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_UNITTESTS_TRANSFORM_CATALOGUE_CATALOGUETEST_H
#define OPTIMAS_UNITTESTS_TRANSFORM_CATALOGUE_CATALOGUETEST_H

#include "optimas/Transform/Catalogue.h"
#include <string>
#include <vector>

namespace optimas {

/// Real ASTs and a hand-made diagnosis: a line of a kernel that ends in
/// `// hot` has stall evidence of reason long_scoreboard, `// hot:REASON` of
/// another. All of a kernel's lines weigh the same.
class Snippet {
public:
  /// Parses \p Code as `snippet.cu`; ends the test program when it does not
  /// parse.
  explicit Snippet(const std::string &Code);
  static Snippet
  fromFile(const std::string &Path,
           const std::vector<std::pair<unsigned, std::string>> &Hot);

  const SourceModel &model() const { return *Model; }
  const Diagnosis &diagnosis() const { return D; }
  Diagnosis &diagnosis() { return D; }
  CatalogueResult run(llvm::StringRef Checks = "*") const;

  /// The proposals and refusals for one kernel under one set of checks.
  std::vector<Proposal> proposals(llvm::StringRef Kernel,
                                  llvm::StringRef Checks) const;
  /// `rule@line` of each declined transformation for the kernel.
  std::vector<std::string> declines(llvm::StringRef Kernel,
                                    llvm::StringRef Checks) const;
  /// The whole main file with the proposal's edits.
  std::string apply(const Proposal &P) const;
  /// The text that the proposal's only edit inside the kernel's body writes.
  std::string text(const Proposal &P) const;

private:
  Snippet() = default;
  void diagnose(const std::vector<std::pair<unsigned, std::string>> &Hot);
  std::shared_ptr<SourceModel> Model;
  Diagnosis D;
};

/// Compiles \p Code with nvcc for sm_90 and returns what it prints on standard
/// error, with every warning; the cubin's bytes go to \p Cubin.
std::string compileWithNvcc(const std::string &Code,
                            std::string *Cubin = nullptr);

} // namespace optimas

#endif // OPTIMAS_UNITTESTS_TRANSFORM_CATALOGUE_CATALOGUETEST_H
