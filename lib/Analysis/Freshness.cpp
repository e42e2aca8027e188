//===- Freshness.cpp - Is this the source that was profiled? ----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

namespace optimas {

/// The files that samples of the source's kernels lie in, and the main file.
static std::set<FileId> sampledFiles(AnalysisContext &C, const KernelTable &Table) {
  std::set<FileId> Files;
  for (FileId F = 0; F != C.Model.files().size(); ++F)
    if (C.Model.file(F).IsMain)
      Files.insert(F);
  for (const KernelData &D : Table.Data) {
    if (D.Function == NoId)
      continue;
    Files.insert(C.Model.function(D.Function).Definition.File);
    for (const FunctionSamples *S : D.Samples) {
      const FunctionCode &Code = C.code(*S);
      for (const PcSample &Pc : S->Pcs)
        for (const FrameRef &Frame : Code.framesAt(Pc.Offset))
          if (FileId File = C.Lines[C.Lines.of(Frame)].File; File != NoId)
            Files.insert(File);
    }
  }
  return Files;
}

/// Exporters change blanks (tabs, ends of lines); nothing else may differ.
static std::string withoutBlanks(llvm::StringRef Text) {
  std::string Out;
  for (char C : Text)
    if (!llvm::isSpace(C))
      Out += C;
  return Out;
}

static std::string cut(llvm::StringRef Text) {
  Text = Text.trim();
  return Text.size() <= 60 ? Text.str() : Text.take_front(57).str() + "...";
}

namespace {
struct Difference {
  unsigned Line;
  std::string Was, Is;
};
} // namespace

/// First line of \p File whose text the profile remembers differently.
static std::optional<Difference> firstDifference(AnalysisContext &C, FileId File) {
  const SourceFile &F = C.Model.file(File);
  std::optional<Difference> First;
  std::map<std::string, bool> Ours; // profile's file name → is it File
  for (auto &[Where, Text] : C.P.LineTexts) {
    auto [It, New] = Ours.try_emplace(Where.first);
    if (New) {
      std::optional<FileId> Found = C.Model.findFile(Where.first);
      It->second = Found && *Found == File;
    }
    if (!It->second || (First && First->Line <= Where.second))
      continue;
    if (withoutBlanks(Text) != withoutBlanks(F.line(Where.second)))
      First = Difference{Where.second, cut(Text), cut(F.line(Where.second))};
  }
  return First;
}

llvm::Error checkFresh(AnalysisContext &C, const KernelTable &Table,
                       std::vector<std::string> &Notes) {
  std::set<FileId> Sampled = sampledFiles(C, Table);
  const char *Remedy = "Profile the program again after building it from this source: "
                       "optimas-profile -o run.optimas.json -- ./app";
  std::set<FileId> Changed;
  bool Hashed = false;
  for (const SourceSnapshot &S : C.P.SourceFiles) {
    std::optional<FileId> File = C.Model.findFile(S.File);
    if (!File || S.Sha256.empty())
      continue;
    Hashed |= Sampled.count(*File) > 0;
    if (S.Sha256 != C.Model.file(*File).Sha256)
      Changed.insert(*File);
  }
  for (FileId File = 0; File != C.Model.files().size(); ++File) {
    bool Relevant = Sampled.count(File);
    if (!Relevant && !Changed.count(File))
      continue;
    const std::string &Path = C.Model.file(File).Path;
    std::optional<Difference> D = firstDifference(C, File);
    if (!D && !Changed.count(File))
      continue;
    if (!Relevant) {
      Notes.push_back(Path + " has changed since the profile was recorded; no sample "
                             "lies in it");
      continue;
    }
    if (D)
      return makeError(ExitCode::EvidenceUnusable,
                       "the profile is of another version of this file: line " +
                           llvm::Twine(D->Line) + " was `" + D->Was +
                           "` and is now `" + D->Is + "`",
                       Path + ":" + llvm::Twine(D->Line), Remedy);
    return makeError(ExitCode::EvidenceUnusable,
                     "the profile is of another version of this file (its SHA-256 "
                     "differs)",
                     Path, Remedy);
  }
  if (!Hashed && C.P.LineTexts.empty())
    Notes.push_back("the profile names no hash and no text of the source, so its age "
                    "could not be checked");
  return llvm::Error::success();
}

} // namespace optimas
