//===- GuardTest.h - A program, its regions, and edits of it -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_UNITTESTS_TRANSFORM_GUARDTEST_H
#define OPTIMAS_UNITTESTS_TRANSFORM_GUARDTEST_H

#include "optimas/Transform/Guard.h"
#include "gtest/gtest.h"

namespace optimas {

/// Where the test programs live (in memory).
constexpr const char *GuardFolder = "/optimas-guard-test";

/// A program with a model and a diagnosis made by hand: every function named
/// `hot…` has one region for its body's statements and one for its signature,
/// each with its own evidence; every launch of such a kernel has one. Functions
/// with other names have none.
class GuardProgram {
public:
  /// \p Files: name below GuardFolder → bytes; \p Units: the files the database
  /// compiles, the first is the analysed one.
  GuardProgram(std::map<std::string, std::string> Files,
               std::vector<std::string> Units)
      : GuardProgram(OnDisk{GuardFolder}, Units, Files) {}
  /// The folder of a program that lies on disk.
  struct OnDisk {
    std::string Folder;
  };
  GuardProgram(const OnDisk &Where, std::vector<std::string> Units,
               std::map<std::string, std::string> Files = {});
  explicit GuardProgram(llvm::StringRef Code)
      : GuardProgram({{"a.cu", Code.str()}}, {"a.cu"}) {}

  /// The only statement whose text begins with \p Text.
  StatementId statement(llvm::StringRef Text) const;
  const Function &function(llvm::StringRef Name) const;
  /// Evidence of the statement's, signature's or launch's region.
  std::vector<unsigned> evidenceAt(const SourceRange &R) const;

  Edit edit(EditKind Kind, llvm::StringRef First, llvm::StringRef Text,
            llvm::StringRef Last = "") const;
  Edit replace(llvm::StringRef First, llvm::StringRef Text,
               llvm::StringRef Last = "") const {
    return edit(EditKind::Replace, First, Text, Last);
  }
  Edit signature(llvm::StringRef Function, llvm::StringRef Text) const;
  /// \p Config: the text between `<<<` and `>>>` now, of the Nth launch with
  /// it.
  Edit launch(llvm::StringRef Config, llvm::StringRef Text,
              unsigned Nth = 0) const;
  /// The bytes of \p From (which must be unique) become \p To.
  Edit raw(llvm::StringRef From, llvm::StringRef To) const;

  EditSet run(std::vector<Edit> Edits, bool AllOrNothing = true,
              bool Trusted = false) const;

  const SourceModel &model() const { return *Model; }
  std::string mainText() const { return Model->mainFile().Text; }

  Diagnosis D;
  GuardOptions Options;

private:
  void addRegion(RegionKind Kind, FunctionId F, const SourceRange &R,
                 unsigned LaunchSite);

  std::optional<SourceModel> Model;
};

/// The program of GuardRulesTest and GuardCodeTest, parsed once.
const GuardProgram &ruleProgram();

/// Expects \p E to be refused by \p Rule and nothing else.
void expectRefused(const GuardProgram &P, std::vector<Edit> Edits,
                   llvm::StringRef Rule, bool Trusted = false);
/// Expects all of \p Edits to be accepted; returns the main file's new text.
std::string expectAccepted(const GuardProgram &P, std::vector<Edit> Edits,
                           bool Trusted = false);

/// Many refusals for the price of one parse: each edit of the batch must be
/// refused by its rule, whatever becomes of the others. Edits must not overlap.
class RefusalBatch {
public:
  explicit RefusalBatch(const GuardProgram &P) : P(P) {}
  RefusalBatch &add(Edit E, llvm::StringRef Rule);
  /// Replaces the next of the statements `slots[N] = last;`.
  RefusalBatch &slot(llvm::StringRef Text, llvm::StringRef Rule);
  ~RefusalBatch(); ///< runs

private:
  const GuardProgram &P;
  std::vector<Edit> Edits;
  std::vector<std::string> Rules;
  unsigned NextSlot = 0;
};

} // namespace optimas

#endif // OPTIMAS_UNITTESTS_TRANSFORM_GUARDTEST_H
