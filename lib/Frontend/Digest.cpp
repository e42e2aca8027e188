//===- Digest.cpp - What a unit says outside the holes -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DigestWriter.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace optimas {

int Holes::holding(const SourceRange &R) const {
  for (size_t I = 0; I < Ranges.size(); ++I)
    if (Ranges[I].contains(R))
      return I;
  return -1;
}

bool Holes::holds(FileId File, unsigned Offset) const {
  return llvm::any_of(Ranges, [&](const SourceRange &H) {
    return H.File == File && H.Begin <= Offset && Offset < H.End;
  });
}

bool Holes::touch(const SourceRange &R) const {
  return llvm::any_of(Ranges, [&](const SourceRange &H) {
    return H.File == R.File && H.Begin <= R.End && R.Begin <= H.End;
  });
}

namespace {

/// Collects the lines of one digest; with Full, the text itself in place of a hash.
class DigestBuilder {
public:
  DigestBuilder(const SourceModel &Model, ArrayRef<SourceRange> Ranges, bool Full)
      : Model(Model), TheHoles(Ranges), Full(Full) {}

  void addPass(const PassUnit &Pass, StringRef Mode);
  void addInactive();
  std::vector<std::string> Lines;

private:
  void add(const Twine &Name, StringRef Text) {
    auto Hash = xxh3_128bits(arrayRefFromStringRef(Text));
    Lines.push_back((Name + ": " +
                     (Full ? Text.str() : utohexstr(Hash.high64, true, 16) +
                                              utohexstr(Hash.low64, true, 16)))
                        .str());
  }
  StringRef name(FileId Id) const { return sys::path::filename(Model.file(Id).Path); }

  const SourceModel &Model;
  Holes TheHoles;
  bool Full;
};

} // namespace

static std::string describe(const clang::Decl *D) {
  std::string Out = D->getDeclKindName();
  if (const auto *U = dyn_cast<clang::UsingDirectiveDecl>(D))
    return Out + " " + U->getNominatedNamespace()->getQualifiedNameAsString();
  if (const auto *N = dyn_cast<clang::NamedDecl>(D))
    Out += " " + N->getQualifiedNameAsString();
  return Out;
}

void DigestBuilder::addPass(const PassUnit &Pass, StringRef Mode) {
  std::map<FileId, std::string> Includes;
  for (const IncludeDirective &I : Pass.Unit->Includes)
    if (FileId Id = Pass.Places->fileId(I.From); Id != NoId && Model.file(Id).Editable)
      Includes[Id] += I.Spelled + "\n";
  for (const auto &[Id, Text] : Includes)
    add(Mode + " " + name(Id) + " includes", Text);

  SmallString<4096> Text;
  raw_svector_ostream OS(Text);
  DigestWriter Writer(Pass, TheHoles, OS);
  for (const clang::Decl *D : Pass.Unit->TopLevel) {
    auto Place = Pass.Places->offset(D->getLocation());
    if (!Place || !Model.file(Place->first).Editable)
      continue;
    Text.clear();
    Writer.topLevel(D);
    add(Mode + " " + name(Place->first) + " " + describe(D), Text);
  }
}

void DigestBuilder::addInactive() {
  for (FileId Id = 0; Id < Model.files().size(); ++Id) {
    if (!Model.file(Id).Editable)
      continue;
    for (const SourceRange &R : Model.file(Id).Inactive)
      if (!TheHoles.touch(R))
        add(name(Id) + " inactive code", Model.text(R));
  }
}

std::vector<std::string> SourceModel::digest(ArrayRef<SourceRange> Ranges,
                                             bool Full) const {
  DigestBuilder B(*this, Ranges, Full);
  B.addPass(Asts->Device, "device");
  B.addPass(Asts->Host, "host");
  B.addInactive();
  return std::move(B.Lines);
}

std::vector<std::string> structuralDigest(const SourceModel &Model,
                                          ArrayRef<SourceRange> Holes) {
  return Model.digest(Holes, /*Full=*/false);
}

std::vector<std::string> structuralText(const SourceModel &Model,
                                        ArrayRef<SourceRange> Holes) {
  return Model.digest(Holes, /*Full=*/true);
}

} // namespace optimas
