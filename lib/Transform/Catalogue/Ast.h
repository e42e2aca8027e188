//===- Ast.h - What the transformations ask of a kernel's AST -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything here looks at concrete code: a plain function or one instantiation
// of a template, never the pattern, whose types and operators are not resolved.
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_TRANSFORM_CATALOGUE_AST_H
#define OPTIMAS_LIB_TRANSFORM_CATALOGUE_AST_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <optional>
#include <string>
#include <vector>

namespace optimas::recipes {

/// Visits \p S and its children in source order, parents first. A `threadIdx.x`
/// is one leaf. \p Visit returns false to leave out the children.
void walk(const clang::Stmt *S,
          llvm::function_ref<bool(const clang::Stmt *)> Visit);

/// Without parentheses, casts that the compiler added, and temporaries.
const clang::Expr *strip(const clang::Expr *E);
/// strip(), and casts that the user wrote.
const clang::Expr *stripCasts(const clang::Expr *E);

/// The variable that \p E names, seen through strip(); null for anything else.
const clang::VarDecl *variable(const clang::Expr *E);

/// `threadIdx.x` and its like.
struct IndexBuiltin {
  enum KindTy { ThreadIdx, BlockIdx, BlockDim, GridDim } Kind;
  unsigned Dim; ///< 0 for x
};
std::optional<IndexBuiltin> indexBuiltin(const clang::Expr *E);

/// The value of an integer constant expression.
std::optional<int64_t> constantValue(const clang::Expr *E,
                                     const clang::ASTContext &Context);

/// Equal trees: the same operators, literals, built-ins and variables. Both
/// must be of one AST.
bool sameExpr(const clang::Expr *A, const clang::Expr *B);

/// True when a value computed as \p E is never negative and not wrapped:
/// unsigned, or a non-negative constant.
bool nonNegative(const clang::Expr *E, const clang::ASTContext &Context);

/// True when \p E is `blockIdx.x * blockDim.x + threadIdx.x` in any order, seen
/// through variables that are initialised once and never written.
bool isGlobalThreadIndex(
    const clang::Expr *E,
    llvm::function_ref<const clang::Expr *(const clang::VarDecl *)>
        Initialiser);

/// Where memory lives, as far as the code shows.
enum class Space { Global, Shared, Local, Constant, Unknown };

/// One access to memory (not to a scalar local variable).
struct Access {
  enum KindTy { Load, Store, Update } Kind = Load;
  const clang::Expr *Node =
      nullptr; ///< `a[i]`, `*p`, or the whole call of a load intrinsic
  const clang::VarDecl *Base = nullptr; ///< the variable named: pointer or
                                        ///< array; null when there is none
  const clang::Expr *Index = nullptr;   ///< of a one-dimensional subscript
  bool Conditional = false; ///< not executed each time the scanned statement is
  bool Intrinsic = false;   ///< `__ldg(&a[i])`
  unsigned Dimensions = 0;  ///< subscripts
  clang::QualType Type;     ///< of the element
};

/// Something that a transformation may have to refuse.
struct Hazard {
  enum KindTy {
    Barrier,
    Atomic,
    Volatile,
    Asm,
    Call,
    Jump,
    Escape,
    Unsupported
  } Kind;
  const clang::Stmt *Node;
};

/// What a statement does.
struct Effects {
  std::vector<Access> Accesses;
  std::vector<Hazard> Hazards;
  llvm::SmallPtrSet<const clang::VarDecl *, 8> Written; ///< variables assigned
  llvm::SmallPtrSet<const clang::VarDecl *, 8> Declared;
  llvm::SmallPtrSet<const clang::VarDecl *, 8>
      Escaped; ///< address taken or bound to a reference
  /// Every mention of a variable, in source order.
  std::vector<const clang::DeclRefExpr *> Mentions;

  bool has(Hazard::KindTy K) const;
  const Hazard *firstHazard() const {
    return Hazards.empty() ? nullptr : &Hazards.front();
  }
  unsigned mentions(const clang::VarDecl *V) const;
  bool stores() const;
};

Effects effectsOf(const clang::Stmt *S);

/// The rule and the words for a hazard, for a Declined.
llvm::StringRef ruleFor(Hazard::KindTy K);
llvm::StringRef wordsFor(Hazard::KindTy K);

/// What a call does, as far as CUDA's own functions are known by name. A
/// function of the user's is always Unknown.
enum class CallKind { Math, Load, Barrier, Atomic, Unknown };
CallKind kindOf(const clang::CallExpr *C);
/// CUDA's own function, not one of the user's of that name.
bool isCudas(const clang::FunctionDecl *F);

} // namespace optimas::recipes

#endif // OPTIMAS_LIB_TRANSFORM_CATALOGUE_AST_H
