//===- Load.cpp - Profiles to look at -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Load.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace optimas {

Expected<Profile> loadProfiles(ArrayRef<std::string> Paths) {
  std::vector<Profile> Parts;
  for (const std::string &Path : Paths) {
    Expected<Profile> P = readProfile(Path);
    if (!P)
      return P.takeError();
    Parts.push_back(std::move(*P));
  }
  std::vector<std::string> Notes;
  Profile All = mergeProfiles(Parts, Notes);
  resolveFrames(All, Notes);
  for (std::string &Note : Notes)
    All.Quality.Notes.push_back(std::move(Note));
  return All;
}

uint64_t samplesOf(const PcSample &Pc) {
  uint64_t N = 0;
  for (const StallCount &S : Pc.Stalls)
    N += S.Samples;
  return N;
}

std::vector<LineWeight> linesOf(const FunctionSamples &F) {
  bool HaveLatency =
      any_of(F.Pcs, [](const PcSample &Pc) { return Pc.latencySamples() != 0; });
  std::map<std::pair<StringRef, unsigned>, LineWeight> Lines;
  for (const PcSample &Pc : F.Pcs) {
    SourceFrame Frame = Pc.Frames.empty() ? SourceFrame() : Pc.Frames.front();
    LineWeight &W = Lines[{Pc.Frames.empty() ? "" : StringRef(Pc.Frames.front().File),
                           Frame.Line}];
    W.File = Frame.File;
    W.Line = Frame.Line;
    for (const StallCount &S : Pc.Stalls) {
      bool IsStall = S.Reason != "selected" && S.Reason != "not_selected";
      uint64_t N = HaveLatency ? S.LatencySamples : IsStall ? S.Samples : 0;
      if (!N)
        continue;
      W.Samples += N;
      W.Reasons[S.Reason] += N;
    }
  }
  std::vector<LineWeight> Sorted;
  for (auto &[Key, W] : Lines)
    if (W.Samples)
      Sorted.push_back(std::move(W));
  llvm::stable_sort(Sorted, [](const LineWeight &A, const LineWeight &B) {
    return A.Samples > B.Samples;
  });
  return Sorted;
}

std::vector<std::string> SourceTexts::read(StringRef File) {
  auto Was =
      find_if(P.SourceFiles, [&](const SourceSnapshot &S) { return S.File == File; });
  if (Was == P.SourceFiles.end() || Was->Sha256.empty())
    return {};
  SmallString<256> Path(File);
  if (!sys::path::is_absolute(Path) && !P.Sources.empty())
    sys::path::make_absolute(P.Sources.front().Directory, Path);
  bool Exists = false;
  for (StringRef Place : {StringRef(Path), sys::path::filename(File)}) {
    Expected<std::string> Text = readFile(Place, ExitCode::EvidenceUnusable);
    if (!Text) {
      consumeError(Text.takeError());
      continue;
    }
    Exists = true;
    if (sha256(*Text) != Was->Sha256)
      continue;
    std::vector<std::string> Lines;
    for (StringRef Row : split(*Text, '\n'))
      Lines.push_back(Row.trim().str());
    return Lines;
  }
  if (Exists)
    Changed.push_back(File.str());
  return {};
}

std::string SourceTexts::line(StringRef File, unsigned Line) {
  if (auto At = P.LineTexts.find({File.str(), Line}); At != P.LineTexts.end())
    return StringRef(At->second).trim().str();
  auto [Slot, IsNew] = Files.try_emplace(File);
  if (IsNew)
    Slot->second = read(File);
  return Line && Line <= Slot->second.size() ? Slot->second[Line - 1] : "";
}

std::string counted(uint64_t N, StringRef What) {
  return (Twine(N) + " " + What + (N == 1 ? "" : "s")).str();
}

std::string duration(double Ns) {
  const char *Unit = "ns";
  for (const char *Next : {"us", "ms", "s"}) {
    if (Ns < 999.95)
      break;
    Ns /= 1000;
    Unit = Next;
  }
  int Digits = Ns < 9.9995 ? 3 : Ns < 99.995 ? 2 : 1;
  if (StringRef(Unit) == "ns")
    Digits = 0;
  std::string Text;
  raw_string_ostream OS(Text);
  OS << format("%.*f %s", Digits, Ns, Unit);
  return Text;
}

std::string fitted(StringRef Text, size_t Width) {
  if (Text.size() <= Width)
    return Text.str();
  Text = Text.take_front(Width ? Width - 1 : 0);
  // Not within a character of several bytes.
  while (!Text.empty() && (uint8_t(Text.back()) & 0xc0) == 0x80)
    Text = Text.drop_back();
  if (!Text.empty() && uint8_t(Text.back()) >= 0xc0)
    Text = Text.drop_back();
  return Text.rtrim().str() + "…";
}

} // namespace optimas
