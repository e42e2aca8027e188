//===- KernelView.h - One kernel as a transformation sees it ----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_CATALOGUE_KERNELVIEW_H
#define OPTIMAS_LIB_TRANSFORM_CATALOGUE_KERNELVIEW_H

#include "Ast.h"
#include "optimas/Transform/Catalogue.h"
#include "llvm/ADT/StringSet.h"

namespace optimas::recipes {

/// Why a precondition does not hold: what a Declined says.
struct Failure {
  std::string Rule, Message;
  unsigned Line = 0;
};

/// A value, or the precondition that failed.
template <typename T> class Checked {
public:
  Checked(T V) : Value(std::move(V)) {}
  Checked(Failure F) : Why(std::move(F)) {}
  explicit operator bool() const { return Value.has_value(); }
  T &operator*() { return *Value; }
  const T &operator*() const { return *Value; }
  T *operator->() { return &*Value; }
  const T *operator->() const { return &*Value; }
  const Failure &failure() const { return Why; }

private:
  std::optional<T> Value;
  Failure Why;
};

/// What a whole function does to its variables.
struct VariableFacts {
  llvm::DenseMap<const clang::VarDecl *, unsigned> Writes;
  llvm::SmallPtrSet<const clang::VarDecl *, 8> Escaped;

  /// Its initialiser, when that is its value for good: a local variable that is never
  /// written and does not escape, or a constant.
  const clang::Expr *initialiser(const clang::VarDecl *V) const;
};

/// One concrete body of a kernel: the function itself or an instantiation.
struct Body {
  const Instantiation *Of = nullptr;
  const clang::FunctionDecl *Decl = nullptr;
  Effects Whole;
  VariableFacts Facts;
  /// Statement nodes by where they begin; several when one begins with another.
  llvm::DenseMap<unsigned, std::vector<const clang::Stmt *>> ByBegin;

  const clang::Expr *initialiser(const clang::VarDecl *V) const {
    return Facts.initialiser(V);
  }
  /// The parameter or array that a pointer variable goes back to, and where
  /// that lives.
  const clang::VarDecl *root(const clang::VarDecl *Pointer) const;
  Space space(const clang::VarDecl *Base) const;
};

class KernelView {
public:
  /// Why there is nothing to look at is the failure: no source, no
  /// instantiation.
  static Checked<KernelView> create(const CatalogueContext &Context,
                                    const KernelDiagnosis &Kernel);

  const CatalogueContext &context() const { return *Context; }
  const SourceModel &model() const { return Context->Model; }
  const KernelDiagnosis &diagnosis() const { return *Kernel; }
  const Function &function() const { return *F; }
  llvm::ArrayRef<Body> bodies() const { return Bodies; }
  const clang::ASTContext &ast() const { return model().device(); }

  /// The concrete node of \p B that is spelled where \p S is, and of its class.
  const clang::Stmt *concrete(const Body &B, const Statement &S) const;
  /// The statement (of the pattern) spelled where the concrete node \p S is.
  const Statement *statement(const clang::Stmt *S) const;

  std::optional<SourceRange> range(const clang::Stmt *S) const {
    return model().rangeOf(S);
  }
  llvm::StringRef text(const SourceRange &R) const { return model().text(R); }
  /// How an expression is written; a macro whose whole expansion it is, by its
  /// name.
  std::optional<std::string> spelling(const clang::Expr *E) const;
  unsigned line(const clang::Stmt *S) const;

  /// The spelled type of what the pointer or array \p V holds, unqualified:
  /// `T`, `float`. Empty when it cannot be spelled (`auto`).
  std::string spelledElement(const clang::VarDecl *V) const;
  /// The spelled type of the variable itself, unqualified.
  std::string spelledType(const clang::VarDecl *V) const;

  /// Stalls of these reasons and rooflines of this kernel with a line in \p R,
  /// largest weight first.
  std::vector<const Evidence *>
  evidenceIn(const SourceRange &R,
             llvm::ArrayRef<llvm::StringRef> Reasons) const;
  std::vector<const Evidence *>
  evidenceIf(llvm::function_ref<bool(const Evidence &)> Wanted) const;

  /// White space that the line of \p Offset begins with.
  std::string indentAt(FileId File, unsigned Offset) const;
  /// One level of indentation as this function uses it.
  const std::string &indentUnit() const { return Unit; }
  /// A name like \p Wanted that nothing in the function, in the macros that it
  /// expands, or among the unit's macros has, and that was not handed out
  /// before. Copies of a view hand out names of their own.
  std::string freshName(llvm::StringRef Wanted);

  /// Why CUDA's function or type \p Name, written into the kernel, might mean
  /// something else: the program has a declaration or macro of that name.
  std::optional<Failure> nameTaken(llvm::StringRef Name) const;

  const std::string &title() const { return F->Name; }

private:
  KernelView() = default;
  void collectNames();
  void collectMacroNames();
  void findUnit();
  const clang::VarDecl *patternOf(const clang::VarDecl *V) const;

  const CatalogueContext *Context = nullptr;
  const KernelDiagnosis *Kernel = nullptr;
  const Function *F = nullptr;
  std::vector<Body> Bodies;
  llvm::StringSet<> Names, Macros;
  std::string Unit;
};

/// The plain name of a stall reason, whatever a profiler puts around it.
llvm::StringRef plainReason(llvm::StringRef Reason);

/// Fills an edit's evidence and prediction from the items that call for it
/// (largest first; not empty).
void cite(Edit &E, llvm::ArrayRef<const Evidence *> Items);
std::vector<unsigned> idsOf(llvm::ArrayRef<const Evidence *> Items);
double weightOf(llvm::ArrayRef<const Evidence *> Items);

/// What a kernel gains when the part \p Weight of its time is sped up \p Gain
/// times (Amdahl).
double expectedSpeedup(double Weight, double Gain);

/// Text with some of its ranges replaced. \p Holes must lie in \p Whole and be
/// disjoint.
struct Hole {
  SourceRange Range;
  std::string Text;
};
std::string substitute(const SourceModel &Model, const SourceRange &Whole,
                       std::vector<Hole> Holes);

/// True when a line of \p Text is a preprocessor directive, which no edit may
/// move.
bool holdsDirective(llvm::StringRef Text);

/// Lines of a replacement text, indented as the code around it.
class Writer {
public:
  Writer(std::string Base, std::string Unit)
      : Base(std::move(Base)), Unit(std::move(Unit)) {}
  /// One line at the current level; may be empty.
  Writer &line(const llvm::Twine &Text);
  /// `Text {`, one level deeper after it.
  Writer &open(const llvm::Twine &Text);
  Writer &close(llvm::StringRef Text = "}");
  Writer &indent() {
    ++Level;
    return *this;
  }
  Writer &dedent() {
    --Level;
    return *this;
  }
  /// Code of the user's, its own indentation replaced by the current level. The
  /// first line's text begins right at the code.
  Writer &code(llvm::StringRef Text, llvm::StringRef OldIndent);
  /// Without the first line's indentation and the last newline.
  std::string take();

private:
  std::string Out, Base, Unit;
  unsigned Level = 0;
};

} // namespace optimas::recipes

#endif // OPTIMAS_LIB_TRANSFORM_CATALOGUE_KERNELVIEW_H
