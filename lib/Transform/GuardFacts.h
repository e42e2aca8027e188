//===- GuardFacts.h - What a range of device code does -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The AST rules of the guard compare two sets of facts: those of the text that an
// edit replaces and those of its own text after the re-parse. A macro or a template
// hides nothing here: calls are resolved, types are those of every instantiation.
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_GUARDFACTS_H
#define OPTIMAS_LIB_TRANSFORM_GUARDFACTS_H

#include "GuardLexical.h"
#include "optimas/Frontend/SourceModel.h"
#include <map>
#include <set>

namespace optimas {

struct CalleeFact {
  bool InProject = false; ///< declared in a file that is not a system header
  unsigned Line = 0;      ///< of the first call
};

struct SharedFact {
  std::string Element;           ///< canonical element type
  std::vector<uint64_t> Extents; ///< outermost first, 0 where it depends on a template
};

struct CodeFacts {
  std::map<std::string, CalleeFact> Callees; ///< by unqualified name
  std::map<std::string, unsigned> Barriers, Atomics; ///< calls as spelled, counted
  /// Declared in the range, visible after it: name → type without qualifiers.
  std::map<std::string, std::string> Leaked;
  std::set<std::string> LeakedOther; ///< types, usings
  /// Of Leaked, what code outside the range (and outside every other edit) uses.
  std::set<std::string> UsedOutside;
  std::map<std::string, SharedFact> Shared;
  std::map<std::string, std::string> Statics;
  /// Arithmetic variables declared anywhere in the range: name → widest bits.
  std::map<std::string, unsigned> FloatBits, IntBits;
  std::set<std::string> Asm, Labels;
  unsigned Returns = 0, Breaks = 0, Continues = 0; ///< that leave the range
  unsigned Gotos = 0, Throws = 0, News = 0, Lambdas = 0;
  std::set<std::pair<std::string, std::string>> Narrowings; ///< from, to
  std::map<std::string, unsigned> FloatOperators; ///< `*` → widest bits
  unsigned WidestInt = 0; ///< bits of arithmetic
  std::set<std::string> Globals;  ///< namespace-scope variables that are no constants
  std::set<std::string> Volatile; ///< names with a volatile (pointee) type
  std::set<std::pair<std::string, std::string>> CastAways; ///< from, to
  /// How an address is made from a number, a number from an address, or a distance
  /// between two arrays taken: what, in words.
  std::set<std::string> Addresses;
  std::set<std::string> Reads; ///< the memory that is read; see GuardFactReads.h
  /// Line of a statement that begins in the range and ends outside, 0 when none.
  unsigned EscapesAtLine = 0;
};

/// Facts of \p Range, inside the body of \p F. \p Holes: all edited ranges of the
/// same state of the file, for UsedOutside.
CodeFacts collectFacts(const SourceModel &Model, const Function &F,
                       const SourceRange &Range, llvm::ArrayRef<SourceRange> Holes);

/// What an edit may do beyond a model's list, by its transformation.
struct EditPolicy {
  bool Trusted = false;
  /// Names that occur nowhere in the function may be declared beside the statement.
  bool FreshDeclarations = false;
  bool RemovesBarriers = false;
};
EditPolicy policyFor(bool Trusted, llvm::StringRef Transformation);

/// Compares what an edit replaced with what it wrote. \p Whole: facts of the whole
/// function before; \p Words: every identifier of the function's text before.
MaybeHit compareFacts(const CodeFacts &Old, const CodeFacts &New,
                      const CodeFacts &Whole, const std::set<std::string> &Words,
                      const EditPolicy &Policy);

/// The statement that holds \p Node directly (attributes and labels skipped);
/// nullptr for the body itself.
const clang::Stmt *enclosingStatement(const clang::FunctionDecl *F,
                                      const clang::Stmt *Node);

} // namespace optimas

#endif // OPTIMAS_LIB_TRANSFORM_GUARDFACTS_H
