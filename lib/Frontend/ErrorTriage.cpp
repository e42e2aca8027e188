//===- ErrorTriage.cpp - Which errors a kernel's AST survives -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// nvcc accepts more than Clang does, and a file may need headers that are not
/// installed here. An error is tolerated when no device function of an editable
/// file can have lost a part of its AST to it; anything that is not understood
/// counts as a loss.
///
//===----------------------------------------------------------------------===//
#include "Builder.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/DiagnosticLex.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Lex/Lexer.h"

using namespace clang;
using llvm::Error;
using llvm::StringRef;

namespace optimas {

/// Errors about what may be called and initialised where: nvcc's rules differ from
/// Clang's, and every statement stays in the AST.
static bool isMatterOfSpace(const RawDiagnostic &D) {
  switch (D.Id) {
  case diag::err_ovl_no_viable_function_in_call:
  case diag::err_ovl_no_viable_member_function_in_call:
    return D.CandidateInOtherSpace;
  case diag::err_ref_bad_target:
  case diag::err_ref_bad_target_global_initializer:
  case diag::err_shared_var_init:
  case diag::err_dynamic_var_init:
  case diag::err_capture_bad_target:
  case diag::err_cuda_device_exceptions:
  case diag::err_cuda_ovl_target:
    return true;
  default:
    return false;
  }
}

/// Finds what Clang put where it did not understand the source.
class DamageFinder : public ConstDynamicRecursiveASTVisitor {
public:
  bool Damaged = false;
  bool VisitRecoveryExpr(const RecoveryExpr *) override {
    Damaged = true;
    return false;
  }
  bool VisitDecl(const Decl *D) override {
    Damaged |= D->isInvalidDecl();
    return !Damaged;
  }
};

class ErrorTriage {
public:
  explicit ErrorTriage(SourceModelBuilder &B) : Model(B.Model) {}

  Error run() {
    const auto &U = *Model.Asts;
    collect(U.Device, CudaMode::Device);
    collect(U.Host, CudaMode::Host);
    if (!AnyError)
      return Error::success();
    if (Fatal)
      return fail(*Fatal);
    if (U.Device.Unit->TopLevel.empty())
      return fail(firstError(mainFile()), "nothing in the file was understood");
    // Nothing points at device code; still, all of it must be there.
    for (Function &F : Model.Functions) {
      F.Incomplete = damaged(F.Decl);
      if (F.Incomplete && isEditable(F) && !holdsMatterOfSpace(F))
        return fail(firstError(F.Definition.File),
                    "the errors leave `" + F.Name + "` incomplete");
    }
    for (FileId Id = 0; Id < Model.Files.size(); ++Id)
      if (Model.Files[Id].Editable)
        if (auto Line = lostDeviceCode(Id))
          return fail(firstError(Id), "the device code of line " +
                                          std::to_string(*Line) +
                                          " was not understood");
    for (ParseDiagnostic &D : Model.Diagnostics)
      D.Tolerated = D.IsError;
    return Error::success();
  }

private:
  bool isEditable(const Function &F) const {
    return Model.Files[F.Definition.File].Editable;
  }

  void collect(const PassUnit &Pass, CudaMode Mode) {
    SourceManager &SM = Pass.Unit->sources();
    for (const RawDiagnostic &D : Pass.Unit->Diagnostics) {
      ParseDiagnostic P;
      P.Mode = Mode;
      P.IsError = D.Level >= DiagnosticsEngine::Error;
      P.Message = D.Message;
      std::optional<std::pair<FileId, unsigned>> Place;
      if (D.Loc.isValid()) {
        SourceLocation Loc = SM.getExpansionLoc(D.Loc);
        auto [File, Offset] = SM.getDecomposedLoc(Loc);
        P.Line = SM.getLineNumber(File, Offset);
        if (FileId Id = Pass.Places->fileId(File); Id != NoId) {
          P.File = Model.Files[Id].Path;
          Place = std::make_pair(Id, Offset);
        } else {
          P.File = SM.getFilename(Loc).str();
        }
      }
      if (P.IsError) {
        AnyError = true;
        if (Place && isMatterOfSpace(D))
          MattersOfSpace.push_back(*Place);
        else if (!Fatal && Place && touchesDeviceCode(*Place))
          Fatal = Model.Diagnostics.size();
      }
      if (D.Id == diag::err_pp_file_not_found && !MissingHeader)
        MissingHeader = Model.Diagnostics.size();
      Model.Diagnostics.push_back(std::move(P));
    }
  }

  bool touchesDeviceCode(std::pair<FileId, unsigned> Place) const {
    if (!Model.Files[Place.first].Editable)
      return false;
    return llvm::any_of(Model.Functions, [&](const Function &F) {
      const auto *A = F.Decl->getAttr<CUDADeviceAttr>();
      bool Written = F.IsKernel || (A && !A->isImplicit());
      return Written && isIn(Place, F);
    });
  }

  /// A missing brace is reported where the function ends: just behind it counts.
  static bool isIn(std::pair<FileId, unsigned> Place, const Function &F) {
    return F.Definition.File == Place.first && F.Definition.Begin <= Place.second &&
           Place.second <= F.Definition.End;
  }

  bool holdsMatterOfSpace(const Function &F) const {
    return llvm::any_of(MattersOfSpace, [&](std::pair<FileId, unsigned> Place) {
      return isIn(Place, F);
    });
  }

  static bool damaged(const FunctionDecl *F) {
    DamageFinder Finder;
    Finder.TraverseDecl(const_cast<FunctionDecl *>(F));
    return Finder.Damaged;
  }

  /// The line of a `__global__` or `__device__` that stands in active code of
  /// \p Id and in no declaration that Clang kept.
  std::optional<unsigned> lostDeviceCode(FileId Id) const;

  FileId mainFile() const { return &Model.mainFile() - Model.Files.data(); }

  size_t firstError(FileId Id) const {
    for (size_t I = 0; I < Model.Diagnostics.size(); ++I)
      if (Model.Diagnostics[I].IsError &&
          Model.Diagnostics[I].File == Model.Files[Id].Path)
        return I;
    for (size_t I = 0; I < Model.Diagnostics.size(); ++I)
      if (Model.Diagnostics[I].IsError)
        return I;
    return 0;
  }

  Error fail(size_t Index, const llvm::Twine &Consequence = "") const {
    const ParseDiagnostic &D = Model.Diagnostics[Index];
    std::string What = D.Message;
    if (std::string C = Consequence.str(); !C.empty())
      What += " (" + C + ")";
    std::string Where = D.File;
    if (D.Line)
      Where += ":" + std::to_string(D.Line);
    std::string Remedy =
        "correct the source, or pass the options that the build uses";
    if (MissingHeader) {
      const ParseDiagnostic &H = Model.Diagnostics[*MissingHeader];
      Remedy = "install or generate the missing header first: " + H.Message +
               " (" + H.File + ":" + std::to_string(H.Line) + ")";
    }
    return makeError(ExitCode::ParseFailed, What, Where, Remedy);
  }

  SourceModel &Model;
  bool AnyError = false;
  std::optional<size_t> Fatal, MissingHeader;
  std::vector<std::pair<FileId, unsigned>> MattersOfSpace;
};

/// Every range of \p Unit's declarations that carry a CUDA attribute.
static void attributedRanges(const PassUnit &Pass, std::vector<SourceRange> &Out) {
  class Finder : public ConstDynamicRecursiveASTVisitor {
  public:
    Finder(const Spelling &Places, std::vector<SourceRange> &Out)
        : Places(Places), Out(Out) {}
    bool VisitDecl(const Decl *D) override {
      if (!D->hasAttr<CUDAGlobalAttr>() && !D->hasAttr<CUDADeviceAttr>() &&
          !D->hasAttr<CUDASharedAttr>() && !D->hasAttr<CUDAConstantAttr>())
        return true;
      for (const Attr *A : D->attrs())
        if (auto R = Places.expanded(A->getRange().getBegin(),
                                     A->getRange().getEnd()))
          Out.push_back(*R);
      return true;
    }

  private:
    const Spelling &Places;
    std::vector<SourceRange> &Out;
  };
  Finder F(*Pass.Places, Out);
  for (const Decl *D : Pass.Unit->TopLevel)
    F.TraverseDecl(D);
}

std::optional<unsigned> ErrorTriage::lostDeviceCode(FileId Id) const {
  std::vector<SourceRange> Kept;
  attributedRanges(Model.Asts->Device, Kept);
  const SourceFile &File = Model.Files[Id];
  for (const Function &F : Model.Functions) {
    Kept.push_back(F.Definition);
    Kept.insert(Kept.end(), F.Redeclarations.begin(), F.Redeclarations.end());
  }
  Kept.insert(Kept.end(), File.Inactive.begin(), File.Inactive.end());
  Lexer Raw(SourceLocation(), Model.Asts->Device.Places->LangOpts,
            File.Text.data(), File.Text.data(), File.Text.data() + File.Text.size());
  Token Tok;
  bool InDirective = false;
  for (;;) {
    bool AtEnd = Raw.LexFromRawLexer(Tok);
    if (Tok.isAtStartOfLine())
      InDirective = Tok.is(tok::hash);
    if (Tok.is(tok::raw_identifier) && !InDirective) {
      StringRef Name = Tok.getRawIdentifier();
      unsigned Begin = Name.data() - File.Text.data();
      SourceRange R;
      R.File = Id;
      R.Begin = Begin;
      R.End = Begin + Name.size();
      if ((Name == "__global__" || Name == "__device__") &&
          llvm::none_of(Kept, [&](const SourceRange &K) { return K.contains(R); }))
        return File.lineOf(Begin);
    }
    if (AtEnd)
      return std::nullopt;
  }
}

Error SourceModelBuilder::triageErrors() { return ErrorTriage(*this).run(); }

} // namespace optimas
