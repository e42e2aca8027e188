//===- GuardLaunch.cpp - What may stand between <<< and >>> -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardImpl.h"
#include "GuardNames.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
namespace tok = clang::tok;

namespace optimas {

/// Operators that change something, or that end the configuration.
static bool isForbidden(tok::TokenKind Kind) {
  switch (Kind) {
  case tok::equal:
  case tok::plusequal:
  case tok::minusequal:
  case tok::starequal:
  case tok::slashequal:
  case tok::percentequal:
  case tok::ampequal:
  case tok::pipeequal:
  case tok::caretequal:
  case tok::lesslessequal:
  case tok::greatergreaterequal:
  case tok::plusplus:
  case tok::minusminus:
  case tok::semi:
  case tok::lesslessless:
  case tok::greatergreatergreater:
    return true;
  default:
    return tok::isStringLiteral(Kind);
  }
}

/// What may be followed by `(` in a configuration.
static bool isConfigCall(StringRef Name) {
  return StringSwitch<bool>(Name)
      .Cases({"dim3", "sizeof", "min", "max", "int", "unsigned", "long"}, true)
      .Cases({"size_t", "uint32_t", "uint64_t", "int64_t", "bool"}, true)
      .Default(false);
}

static bool isForbiddenWord(StringRef Name) {
  return StringSwitch<bool>(Name)
      .Cases({"new", "delete", "throw", "const_cast", "reinterpret_cast"}, true)
      .Cases({"dynamic_cast", "operator", "co_await", "co_yield", "typeid"}, true)
      .Default(!ruleAgainstWord(Name, /*Trusted=*/false).empty());
}

static MaybeHit checkConfigTokens(ArrayRef<GuardToken> T, ArrayRef<GuardToken> Old) {
  auto InOld = [&](const GuardToken &G) {
    return any_of(Old, [&](const GuardToken &O) { return O.Text == G.Text; });
  };
  for (size_t I = 0; I < T.size(); ++I) {
    if (isForbidden(T[I].Kind))
      return ruleHit("guard-launch-text",
                     "'" + T[I].Text + "' is refused between '<<<' and '>>>': "
                                       "arithmetic on existing names, constants, "
                                       "sizeof and dim3 are legal");
    if (T[I].Kind == tok::l_square && (I == 0 || !T[I - 1].isIdentifier()))
      return ruleHit("guard-launch-text", "a lambda is refused between '<<<' and '>>>'");
    if (!T[I].isIdentifier())
      continue;
    if (isForbiddenWord(T[I].Text) && !InOld(T[I]))
      return ruleHit("guard-launch-text",
                     "'" + T[I].Text + "' is refused between '<<<' and '>>>'");
    bool Called = I + 1 < T.size() && (T[I + 1].Kind == tok::l_paren ||
                                       T[I + 1].Kind == tok::l_brace);
    if (!Called || isConfigCall(T[I].Text) || InOld(T[I]))
      continue;
    StringRef Rule = StringRef(T[I].Text).starts_with("cuda") ? "guard-host-api"
                                                              : "guard-launch-text";
    return ruleHit(Rule, "the call of '" + T[I].Text +
                             "' is refused between '<<<' and '>>>': dim3, sizeof, min, "
                             "max and what the expression called before are legal");
  }
  return std::nullopt;
}

MaybeHit checkLaunch(const GuardContext &C, const ResolvedEdit &E) {
  LexedText OldText = lexSource(C.Model.text(E.Named));
  LexedText NewText = lexSource(E.Text);
  if (MaybeHit H = checkConfigTokens(NewText.Tokens, OldText.Tokens))
    return H;
  auto Old = splitAtCommas(OldText.Tokens), New = splitAtCommas(NewText.Tokens);
  if (Old.size() != New.size() || any_of(New, [](auto A) { return A.empty(); }))
    return ruleHit("guard-launch-arguments",
                   "the launch has " + Twine(Old.size()) +
                       " configuration arguments and the text " + Twine(New.size()) +
                       "; their number may not change");
  for (size_t I = 2; I < Old.size(); ++I)
    if (spelled(Old[I]) != spelled(New[I]))
      return ruleHit("guard-launch-arguments",
                     Twine(I == 2 ? "the dynamic shared memory" : "the stream") +
                         " of the launch may not change: '" + spelled(Old[I]) +
                         "' is now '" + spelled(New[I]) + "'");
  if (E.Function == NoId)
    return ruleHit("guard-launch-sites",
                   "the kernel that is launched at " + placeText(C.Model, E.Named) +
                       " is not known, so its other launches are not either",
                   /*CannotProve=*/true);
  return std::nullopt;
}

namespace {
/// Uses of a kernel that are no launches: its address, cudaLaunchKernel.
class AddressFinder : public clang::RecursiveASTVisitor<AddressFinder> {
public:
  AddressFinder(const SourceModel &Model, const Function &Kernel)
      : Model(Model), Kernel(Kernel) {}

  bool VisitDeclRefExpr(clang::DeclRefExpr *D) {
    const auto *F = dyn_cast<clang::FunctionDecl>(D->getDecl());
    if (!F || !F->hasAttr<clang::CUDAGlobalAttr>() ||
        F->getQualifiedNameAsString() != Kernel.Name)
      return true;
    auto R = Model.rangeOf(D, CudaMode::Host);
    if (R && none_of(Model.launchSites(), [&](const LaunchSite &L) {
          return L.Whole.contains(*R);
        }))
      Found = *R;
    return true;
  }

  const SourceModel &Model;
  const Function &Kernel;
  SourceRange Found;
};
} // namespace

MaybeHit checkEveryLaunch(const GuardContext &C, const ResolvedEdit &E,
                          ArrayRef<ResolvedEdit> All) {
  if (E.Kind != EditKind::LaunchSite || E.Function == NoId)
    return std::nullopt;
  const Function &Kernel = C.Model.function(E.Function);
  if (!C.Model.lostLaunches().empty())
    return ruleHit("guard-launch-sites",
                   "the launch at " + placeText(C.Model, C.Model.lostLaunches().front()) +
                       " is not understood by Clang, so not every launch of '" +
                       Kernel.Name + "' is known",
                   /*CannotProve=*/true);
  for (const LaunchSite *Site : C.Model.launchSitesOf(E.Function)) {
    bool Edited = any_of(All, [&](const ResolvedEdit &O) {
      return O.Kind == EditKind::LaunchSite && O.Site == Site;
    });
    if (!Edited)
      return ruleHit("guard-launch-sites",
                     "'" + Kernel.Name + "' is also launched at " +
                         placeText(C.Model, Site->Whole) +
                         (Site->InMacro ? ", in a macro" : "") +
                         "; a launch shape must change at every launch site");
  }
  AddressFinder Finder(C.Model, Kernel);
  clang::ASTContext &Host = C.Model.host();
  const clang::SourceManager &SM = Host.getSourceManager();
  for (clang::Decl *D : Host.getTranslationUnitDecl()->decls())
    if (D->getLocation().isValid() && !SM.isInSystemHeader(D->getLocation()))
      Finder.TraverseDecl(D);
  if (Finder.Found.File != NoId)
    return ruleHit("guard-launch-sites",
                   "'" + Kernel.Name + "' is used at " +
                       placeText(C.Model, Finder.Found) +
                       " other than by a launch, so launches may exist that are not "
                       "seen",
                   /*CannotProve=*/true);
  return std::nullopt;
}

} // namespace optimas
