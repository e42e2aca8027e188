//===- ModelFiles.cpp - The files of a translation unit -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Builder.h"
#include "optimas/Support/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace llvm;

namespace optimas {

static std::string pathOf(const ParsedUnit &Unit, clang::FileID File) {
  SmallString<256> Path(Unit.sources().getFileEntryRefForID(File)->getName());
  if (!sys::path::is_absolute(Path)) {
    SmallString<256> Absolute(Unit.Directory);
    sys::path::append(Absolute, Path);
    Path = Absolute;
  }
  return canonicalPath(Path);
}

static bool isBelow(StringRef Path, StringRef Root) {
  return Path.consume_front(Root) &&
         (Root.ends_with("/") || Path.starts_with("/"));
}

void SourceModelBuilder::addFiles(PassUnit &Pass, StringRef MainPath,
                                  StringRef Root) {
  StringMap<FileId> Known;
  for (FileId I = 0; I < Model.Files.size(); ++I)
    Known[Model.Files[I].Path] = I;
  for (clang::FileID Clang : Pass.Unit->UserFiles) {
    std::string Path = pathOf(*Pass.Unit, Clang);
    auto [It, New] = Known.try_emplace(Path, Model.Files.size());
    if (New) {
      SourceFile F;
      F.Text = Pass.Unit->sources().getBufferData(Clang).str();
      F.Sha256 = sha256(F.Text);
      F.IsMain = Path == MainPath;
      F.Editable = isBelow(Path, Root);
      if (!F.Editable)
        F.WhyNotEditable = ("outside the project root " + Root).str();
      F.Path = std::move(Path);
      F.indexLines();
      Model.Files.push_back(std::move(F));
    }
    Pass.Places->mapFile(Clang, It->second);
  }
}

Error SourceModelBuilder::checkSameText() {
  const auto &U = *Model.Asts;
  for (clang::FileID Clang : U.Host.Unit->UserFiles) {
    const SourceFile &F = Model.Files[U.Host.Places->fileId(Clang)];
    if (U.Host.Unit->sources().getBufferData(Clang) != F.Text)
      return makeError(ExitCode::ParseFailed,
                       "the file changed while it was being read", F.Path,
                       "run again when nothing writes to it");
  }
  return Error::success();
}

namespace {
/// Offsets of a skipped branch.
using Branch = std::pair<unsigned, unsigned>;
} // namespace

/// The branches that \p Pass skipped in every entry of their file: the second entry
/// of a guarded header skips all of it, which makes nothing inactive.
static void collectInactive(const PassUnit &Pass,
                            std::map<FileId, std::vector<Branch>> &Out) {
  std::map<FileId, unsigned> Entries;
  for (clang::FileID Clang : Pass.Unit->UserFiles)
    ++Entries[Pass.Places->fileId(Clang)];
  std::map<std::pair<FileId, Branch>, unsigned> Count;
  for (const SkippedBranch &S : Pass.Unit->Skipped) {
    FileId Id = Pass.Places->fileId(S.File);
    if (Id != NoId)
      ++Count[{Id, {S.Begin, S.End}}];
  }
  for (const auto &[Key, N] : Count)
    if (N >= Entries[Key.first])
      Out[Key.first].push_back(Key.second);
}

void SourceModelBuilder::addInactive() {
  std::map<FileId, std::vector<Branch>> All;
  collectInactive(Model.Asts->Device, All);
  collectInactive(Model.Asts->Host, All);
  for (auto &[Id, Branches] : All) {
    llvm::sort(Branches);
    std::vector<Branch> Merged;
    for (const Branch &B : Branches) {
      if (!Merged.empty() && B.first < Merged.back().second)
        Merged.back().second = std::max(Merged.back().second, B.second);
      else
        Merged.push_back(B);
    }
    for (const Branch &B : Merged)
      Model.Files[Id].Inactive.push_back(
          Model.Asts->Device.Places->make(Id, B.first, B.second));
  }
}

} // namespace optimas
