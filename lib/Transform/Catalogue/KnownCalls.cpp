//===- KnownCalls.cpp - Calls whose effects are known ---------------------===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Ast.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace optimas::recipes {

static bool inSystemHeader(const FunctionDecl *F) {
  const SourceManager &SM = F->getASTContext().getSourceManager();
  SourceLocation Loc = F->getLocation();
  if (Loc.isInvalid())
    return false;
  Loc = SM.getFileLoc(Loc);
  // What stands in for nvcc's own declarations is no system header to Clang.
  return SM.isInSystemHeader(Loc) ||
         SM.getFilename(Loc).ends_with("optimas_cuda_compat.h");
}

/// A name says nothing: the user may have a `round` or an `__ldcs` of their
/// own. CUDA's are declared in a system header or by Clang itself, and have no
/// body anywhere else.
bool isCudas(const FunctionDecl *F) {
  const FunctionDecl *Definition = nullptr;
  if (F->hasBody(Definition))
    return inSystemHeader(Definition);
  return F->getBuiltinID() != 0 || llvm::any_of(F->redecls(), inSystemHeader);
}

static bool isLoadIntrinsic(llvm::StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases({"__ldg", "__ldcs", "__ldca", "__ldcg", "__ldlu"}, true)
      .Default(false);
}

/// Math functions that neither touch memory nor speak to other threads.
static bool isPureMathFunction(llvm::StringRef Name) {
  Name.consume_front("__builtin_");
  Name.consume_front("__nv_");
  if (Name.starts_with("__")) // __fmaf_rn, __fdividef, __float2int_rz, …
    return llvm::StringSwitch<bool>(Name)
        .Cases({"__fmaf_rn", "__fma_rn", "__fadd_rn", "__fmul_rn", "__dadd_rn",
                "__dmul_rn"},
               true)
        .Cases({"__fdividef", "__expf", "__logf", "__sinf", "__cosf", "__powf"},
               true)
        .Cases({"__popc", "__popcll", "__clz", "__clzll", "__ffs", "__ffsll",
                "__brev"},
               true)
        .Cases({"__float_as_int", "__int_as_float", "__float_as_uint",
                "__uint_as_float"},
               true)
        .Default(false);
  llvm::StringRef Base = Name;
  if (Base.size() > 3)
    Base.consume_back("f");
  return llvm::StringSwitch<bool>(Base)
      .Cases({"sqrt", "rsqrt", "cbrt", "exp", "exp2", "exp10", "expm1"}, true)
      .Cases({"log", "log2", "log10", "log1p", "pow", "hypot"}, true)
      .Cases({"sin", "cos", "tan", "asin", "acos", "atan", "atan2"}, true)
      .Cases({"sinh", "cosh", "tanh", "erf", "erfc", "tgamma"}, true)
      .Cases({"fma", "fmax", "fmin", "fmod", "fdim", "copysign"}, true)
      .Cases({"fab", "fabs", "abs", "llabs", "floor", "ceil", "round", "trunc",
              "rint"},
             true)
      .Cases({"min", "max", "umin", "umax", "isnan", "isinf", "isfinite"}, true)
      .Default(false);
}

/// Values in, a value out. An overloaded operator on class types may take
/// references to anything.
static bool takesOnlyNumbers(const FunctionDecl *F) {
  return !isa<CXXMethodDecl>(F) &&
         llvm::all_of(F->parameters(), [](const ParmVarDecl *P) {
           QualType T = P->getType().getNonReferenceType();
           return T->isArithmeticType() &&
                  (!P->getType()->isReferenceType() || T.isConstQualified());
         });
}

CallKind kindOf(const CallExpr *C) {
  const FunctionDecl *F = C->getDirectCallee();
  if (!F || !isCudas(F))
    return CallKind::Unknown;
  std::string Name = F->getNameAsString();
  llvm::StringRef N = Name;
  if (isLoadIntrinsic(N) && C->getNumArgs() == 1)
    return CallKind::Load;
  if (isPureMathFunction(N) && takesOnlyNumbers(F))
    return CallKind::Math;
  if (N.starts_with("__sync") || N.starts_with("__shfl") ||
      N.starts_with("__ballot") || N.starts_with("__any") ||
      N.starts_with("__all") || N.starts_with("__threadfence") ||
      N.starts_with("__activemask") || N.starts_with("__reduce") ||
      N.starts_with("__match") || N.starts_with("__nvvm_barrier"))
    return CallKind::Barrier;
  if (N.starts_with("atomic") || N.starts_with("__atomic") ||
      N.starts_with("__nv_atomic"))
    return CallKind::Atomic;
  return CallKind::Unknown;
}

} // namespace optimas::recipes
