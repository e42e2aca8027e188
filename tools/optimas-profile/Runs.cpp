//===- Runs.cpp - One run of the program under the collector -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Runs.h"
#include "Preflight.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace optimas {

/// The collector's error lines, without their time stamps.
static std::vector<std::string> errorsOf(StringRef Log) {
  std::vector<std::string> Errors;
  SmallVector<StringRef, 0> Lines;
  Log.split(Lines, '\n', -1, /*KeepEmpty=*/false);
  bool Following = false;
  for (StringRef Line : Lines) {
    bool Ours = Line.starts_with("optimas-collector[");
    auto [Before, After] = Line.split(": error: ");
    if (Ours && !After.empty())
      Errors.push_back(After.str());
    else if (!Ours && Following) // a message of several lines
      Errors.back() += "\n" + Line.str();
    Following = Ours ? !After.empty() : Following;
  }
  return Errors;
}

/// The collector's `counting`; empty where there is none.
static CountingReport countingOf(StringRef Bytes) {
  CountingReport Report;
  Expected<json::Value> Root = parseJson(Bytes);
  if (!Root) { // its profile was read: cannot be
    consumeError(Root.takeError());
    return Report;
  }
  const json::Object *Counting = nullptr;
  if (const json::Object *Fields = Root->getAsObject())
    Counting = Fields->getObject("counting");
  if (!Counting)
    return Report;
  if (const json::Array *Left = Counting->getArray("left"))
    for (const json::Value &Name : *Left)
      if (std::optional<StringRef> Text = Name.getAsString())
        Report.Left.push_back(Text->str());
  if (const json::Object *Launches = Counting->getObject("launches"))
    for (const auto &[Symbol, Count] : *Launches)
      if (std::optional<int64_t> N = Count.getAsInteger())
        Report.Launches[Symbol.str()] = uint64_t(*N);
  return Report;
}

/// \p Counted: the run's `counting` is wanted, and its profiles are small.
static Error collectProfiles(const std::string &Folder, bool Counted, Pass &P) {
  std::error_code EC;
  for (sys::fs::directory_iterator I(Folder, EC), E; I != E && !EC;
       I.increment(EC)) {
    StringRef Name = sys::path::filename(I->path());
    if (!Name.starts_with("profile."))
      continue;
    if (Name.contains(".partial.")) {
      P.LeftPartial = true;
      continue;
    }
    Expected<std::string> Bytes =
        readFile(I->path(), ExitCode::EvidenceUnusable);
    if (!Bytes)
      return Bytes.takeError();
    Expected<Profile> One = parseProfileJson(*Bytes, I->path());
    if (!One)
      return One.takeError();
    P.Profiles.push_back(std::move(*One));
    P.Reports.push_back(Counted ? countingOf(*Bytes) : CountingReport());
  }
  return Error::success();
}

static void appendLog(const ProfileOptions &O, StringRef Text) {
  if (O.Log.empty() || Text.empty())
    return;
  std::error_code EC;
  raw_fd_ostream File(O.Log, EC, sys::fs::CD_OpenAlways, sys::fs::FA_Write,
                      sys::fs::OF_Append);
  if (!EC)
    File << Text;
}

Expected<Pass> runPass(const ProfileOptions &O, bool Quiet,
                       const Variables &Settings) {
  Expected<ScratchDir> Scratch = ScratchDir::create("optimas-profile");
  if (!Scratch)
    return Scratch.takeError();
  static const std::pair<std::string, std::string> Counters = {
      "OPTIMAS_COLLECT", "counters"};
  std::string Log = Scratch->file("log");
  LaunchOptions L;
  L.Args = O.Command;
  L.Quiet = Quiet;
  L.InputAgain = Quiet || O.RanBefore;
  L.TimeoutSeconds = O.TimeoutSeconds;
  L.Environment = {{"CUDA_INJECTION64_PATH", O.Collector},
                   {"OPTIMAS_COLLECT_OUTPUT", Scratch->file("profile.%p")},
                   {"OPTIMAS_COLLECT_LOG", Log},
                   {"OPTIMAS_CUPTI_PATH", O.Toolkit}};
  L.Environment.insert(L.Environment.end(), Settings.begin(), Settings.end());
  Expected<LaunchResult> Run = launchProgram(L);
  if (!Run)
    return Run.takeError();
  Pass P;
  P.Run = *Run;
  if (sys::fs::exists(Log)) {
    Expected<std::string> Text = readFile(Log, ExitCode::EvidenceUnusable);
    if (!Text)
      return Text.takeError();
    appendLog(O, *Text);
    P.Errors = errorsOf(*Text);
  }
  if (Error E =
          collectProfiles(Scratch->path(), is_contained(Settings, Counters), P))
    return std::move(E);
  return std::move(P);
}

Error judgeRun(const ProfileOptions &O, const Pass &P) {
  StringRef Program = O.Command.front();
  auto Unusable = [&](const Twine &What, const Twine &Remedy) {
    return makeError(ExitCode::EvidenceUnusable, What, Program, Remedy);
  };
  // What was recorded of a program that was ended is whole as far as it goes.
  bool Keep = O.IgnoreExitStatus && !P.Profiles.empty();
  if (P.Run.TimedOut && !Keep)
    return Unusable("did not end within " +
                        Twine(unsigned(std::ceil(O.TimeoutSeconds))) +
                        " s and was ended; no profile is written",
                    "give it less work or a longer --timeout, or keep what was "
                    "recorded with "
                    "--ignore-exit-status");
  if (P.Run.Signal && !Keep)
    return Unusable(
        "was ended by signal " + Twine(P.Run.Signal) + " (" +
            ::strsignal(P.Run.Signal) + "); no profile is written",
        "run it without optimas-profile first; if it fails only with it, "
        "see --log=FILE");
  if (P.Run.ExitStatus && !O.IgnoreExitStatus)
    return Unusable(
        "exited with status " + Twine(P.Run.ExitStatus) +
            "; no profile is written" +
            (P.Errors.empty() ? ""
                              : "; the collector says: " + P.Errors.front()),
        "make it succeed, or use --ignore-exit-status if this status is no "
        "failure");
  if (!P.Profiles.empty())
    return Error::success();
  if (!P.Errors.empty())
    return Unusable("was not profiled: " + P.Errors.front(),
                    "--check looks at everything that profiling needs");
  if (P.LeftPartial)
    return Unusable("ended without running its exit handlers (by a crash or "
                    "SIGKILL), so the profile was not finished",
                    "let it end with exit() or return from main");
  return Unusable(
      Twine("the program used no GPU") +
          (haveDriver() ? "" : "; this machine has no NVIDIA driver"),
      "profile a program that launches CUDA kernels itself, not a wrapper "
      "that starts it elsewhere");
}

static uint64_t weight(const Profile &P) {
  uint64_t Ns = 0;
  for (const KernelStats &K : P.Kernels)
    Ns += K.TotalNs;
  return Ns + P.Quality.TotalSamples + P.Counters.size();
}

Profile busiest(Pass &P, CountingReport *Report) {
  auto Best = std::max_element(
      P.Profiles.begin(), P.Profiles.end(),
      [](const Profile &A, const Profile &B) { return weight(A) < weight(B); });
  if (Report)
    *Report = P.Reports[size_t(Best - P.Profiles.begin())];
  Profile Chosen = std::move(*Best);
  if (P.Profiles.size() > 1)
    Chosen.Quality.Notes.push_back(
        std::to_string(P.Profiles.size()) +
        " processes used CUDA; the one with the most GPU work is "
        "in this profile");
  for (Provenance &S : Chosen.Sources) {
    S.ExitStatus = P.Run.ExitStatus;
    S.WallNs = P.Run.WallNs;
  }
  return Chosen;
}

} // namespace optimas
