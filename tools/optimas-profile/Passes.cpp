//===- Passes.cpp - The runs that make a profile -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Passes.h"
#include "Launch.h"
#include "Preflight.h"
#include "optimas/Collector/Options.h"
#include "optimas/Profile/Cubin.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstring>
#include <set>

using namespace llvm;

namespace optimas {

namespace {
/// One run and what it left.
struct Pass {
  LaunchResult Run;
  std::vector<Profile> Profiles; ///< one a process that used CUDA
  std::vector<std::string> Errors; ///< of the collector
  bool LeftPartial = false; ///< some process ended before it could write
};
} // namespace

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

static Error collectProfiles(const std::string &Folder, Pass &P) {
  std::error_code EC;
  for (sys::fs::directory_iterator I(Folder, EC), E; I != E && !EC; I.increment(EC)) {
    StringRef Name = sys::path::filename(I->path());
    if (!Name.starts_with("profile."))
      continue;
    if (Name.contains(".partial.")) {
      P.LeftPartial = true;
      continue;
    }
    Expected<std::string> Bytes = readFile(I->path(), ExitCode::EvidenceUnusable);
    if (!Bytes)
      return Bytes.takeError();
    Expected<Profile> One = parseProfileJson(*Bytes, I->path());
    if (!One)
      return One.takeError();
    P.Profiles.push_back(std::move(*One));
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

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The collector's settings for one pass, beside those of every run.
static Variables samplingVariables(const ProfileOptions &O, StringRef Which,
                                   unsigned IntervalLog2) {
  return {{"OPTIMAS_COLLECT", "profile"},
          {"OPTIMAS_COLLECT_PASS", Which.str()},
          {"OPTIMAS_COLLECT_INTERVAL", std::to_string(IntervalLog2)},
          {"OPTIMAS_COLLECT_SERIALIZED", O.Serialized ? "1" : "0"}};
}

static Expected<Pass> runPass(const ProfileOptions &O, bool Quiet,
                              const Variables &Settings) {
  Expected<ScratchDir> Scratch = ScratchDir::create("optimas-profile");
  if (!Scratch)
    return Scratch.takeError();
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
  if (Error E = collectProfiles(Scratch->path(), P))
    return std::move(E);
  return std::move(P);
}

/// The error for a run that cannot be used, if it cannot.
static Error judgeRun(const ProfileOptions &O, const Pass &P) {
  StringRef Program = O.Command.front();
  auto Unusable = [&](const Twine &What, const Twine &Remedy) {
    return makeError(ExitCode::EvidenceUnusable, What, Program, Remedy);
  };
  // What was recorded of a program that was ended is whole as far as it goes.
  bool Keep = O.IgnoreExitStatus && !P.Profiles.empty();
  if (P.Run.TimedOut && !Keep)
    return Unusable("did not end within " + Twine(unsigned(std::ceil(O.TimeoutSeconds))) +
                        " s and was ended; no profile is written",
                    "give it less work or a longer --timeout, or keep what was recorded with "
                    "--ignore-exit-status");
  if (P.Run.Signal && !Keep)
    return Unusable("was ended by signal " + Twine(P.Run.Signal) + " (" +
                        ::strsignal(P.Run.Signal) + "); no profile is written",
                    "run it without optimas-profile first; if it fails only with it, "
                    "see --log=FILE");
  if (P.Run.ExitStatus && !O.IgnoreExitStatus)
    return Unusable("exited with status " + Twine(P.Run.ExitStatus) +
                        "; no profile is written" +
                        (P.Errors.empty() ? "" : "; the collector says: " +
                                                     P.Errors.front()),
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
  return Unusable(Twine("the program used no GPU") +
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

/// The busiest process. A profile is of one program; several ranks or workers do
/// alike, and a sum of unlike ones would be of none.
static Profile busiest(std::vector<Profile> Profiles) {
  auto Best = std::max_element(
      Profiles.begin(), Profiles.end(),
      [](const Profile &A, const Profile &B) { return weight(A) < weight(B); });
  Profile P = std::move(*Best);
  if (Profiles.size() > 1)
    P.Quality.Notes.push_back(std::to_string(Profiles.size()) +
                              " processes used CUDA; the one with the most GPU work is "
                              "in this profile");
  return P;
}

static void setRun(Profile &P, const LaunchResult &Run) {
  for (Provenance &S : P.Sources) {
    S.ExitStatus = Run.ExitStatus;
    S.WallNs = Run.WallNs;
  }
}

/// GPU time decides the interval: two million samples tell a line's share to a
/// tenth of a percent, and are few enough for the buffers.
static unsigned intervalFor(const Profile &Activity) {
  double Seconds = 0;
  for (const KernelStats &K : Activity.Kernels)
    Seconds += double(K.TotalNs) * 1e-9;
  const DeviceInfo &D = Activity.Device;
  if (!D.Sms || !D.SmClockKHz)
    return 0;
  return collector::chooseInterval(D.Sms, D.SmClockKHz, Seconds);
}

/// Durations, launches and the device of one run; samples of the other.
static Profile join(Profile Activity, Profile Sampling) {
  Profile P = std::move(Sampling);
  P.Sources.insert(P.Sources.begin(), Activity.Sources.begin(), Activity.Sources.end());
  DeviceInfo Sampled = std::move(P.Device);
  P.Device = Activity.Device;
  addStates(P.Device, Sampled);
  P.Kernels = std::move(Activity.Kernels);
  std::vector<std::string> Notes = std::move(Activity.Quality.Notes);
  for (std::string &Note : P.Quality.Notes)
    if (!is_contained(Notes, Note))
      Notes.push_back(std::move(Note));
  P.Quality.Notes = std::move(Notes);
  for (Module &M : Activity.Modules)
    if (!P.module(M.Id))
      P.Modules.push_back(std::move(M));
  return P;
}

/// The symbols of the kernels that cover \p Percent of kernel time, longest first.
static std::vector<std::string> hotSymbols(const Profile &P, double Percent) {
  std::vector<const KernelStats *> Kernels;
  double Total = 0, Covered = 0;
  for (const KernelStats &K : P.Kernels) {
    Kernels.push_back(&K);
    Total += double(K.TotalNs);
  }
  llvm::sort(Kernels, [](const KernelStats *A, const KernelStats *B) {
    return std::tie(B->TotalNs, A->Symbol) < std::tie(A->TotalNs, B->Symbol);
  });
  std::vector<std::string> Hot;
  for (const KernelStats *K : Kernels) {
    if (Covered >= Total * Percent / 100)
      break;
    Covered += double(K->TotalNs);
    Hot.push_back(K->Symbol);
  }
  return Hot;
}

/// A run of its own: kernels are replayed, so neither times nor samples of it count.
/// What goes wrong in it is a note, since the profile is good without counters.
static void addCounters(const ProfileOptions &O, Profile &P) {
  std::vector<std::string> Hot = hotSymbols(P, O.HotPercent);
  auto Failed = [&](const Twine &Why) {
    P.Quality.Notes.push_back(("there are no counters: " + Why).str());
  };
  if (Hot.empty())
    return Failed("no kernel was timed");
  Expected<Pass> Run =
      runPass(O, /*Quiet=*/true,
              {{"OPTIMAS_COLLECT", "counters"},
               {"OPTIMAS_COLLECT_KERNELS", llvm::join(Hot, "\n")},
               {"OPTIMAS_COLLECT_LAUNCHES", std::to_string(O.CounterLaunches)},
               {"OPTIMAS_COLLECT_METRICS", llvm::join(O.Metrics, "\n")}});
  Error E = Run ? judgeRun(O, *Run) : Run.takeError();
  if (E)
    return Failed(toString(std::move(E)));
  Profile Counted = busiest(std::move(Run->Profiles));
  setRun(Counted, Run->Run);
  P.Counters = std::move(Counted.Counters);
  for (Provenance &S : Counted.Sources)
    P.Sources.push_back(std::move(S));
  for (std::string &Note : Counted.Quality.Notes)
    if (!is_contained(P.Quality.Notes, Note))
      P.Quality.Notes.push_back(std::move(Note));
  if (P.Counters.empty() && Run->Errors.size())
    Failed(Run->Errors.front());
}

/// Hashes of the sources as they are now, so that an older profile can be told.
static void addSourceFiles(Profile &P) {
  std::set<std::string> Names;
  for (const Module &M : P.Modules) {
    Expected<Cubin> C = Cubin::parse(M.Cubin, M.Id);
    if (!C) {
      P.Quality.Notes.push_back(toString(C.takeError()));
      continue;
    }
    for (const CubinFunction &F : C->functions())
      for (const LineRow &Row : F.Lines)
        Names.insert(Row.File.str());
  }
  for (const std::string &Name : Names) {
    SmallString<256> Path(Name);
    if (!sys::path::is_absolute(Path) && !P.Sources.empty())
      sys::path::make_absolute(P.Sources.front().Directory, Path);
    Expected<std::string> Text = readFile(Path, ExitCode::EvidenceUnusable);
    if (Text)
      P.SourceFiles.push_back({Name, sha256(*Text)});
    else
      consumeError(Text.takeError());
  }
}

static Error judgeContent(const ProfileOptions &O, Profile &P) {
  uint64_t Launches = 0, Ns = 0;
  for (const KernelStats &K : P.Kernels) {
    Launches += K.Launches;
    Ns += K.TotalNs;
  }
  if (!Launches && P.Functions.empty())
    return makeError(ExitCode::EvidenceUnusable,
                     "used CUDA and launched no kernel; no profile is written",
                     O.Command.front(),
                     "give it arguments with which it computes something");
  bool Explained = !O.Sampling || any_of(P.Quality.Notes, [](StringRef Note) {
    return Note.starts_with("PC sampling failed");
  });
  if (P.Functions.empty() && !Explained)
    P.Quality.Notes.push_back(
        "no PC was sampled in " + std::to_string(Ns / 1000) +
        " us of kernel time: give the program more work, or sample more often with "
        "--sampling-interval=9");
  if (!Launches)
    P.Quality.Notes.push_back("no kernel activity was recorded: use --passes=2");
  return Error::success();
}

Expected<Profile> profileProgram(const ProfileOptions &O) {
  bool Two = O.Passes == 2 || !O.Sampling;
  Expected<Pass> First = runPass(
      O, /*Quiet=*/false, samplingVariables(O, Two ? "activity" : "both", O.IntervalLog2));
  if (!First)
    return First.takeError();
  if (Error E = judgeRun(O, *First))
    return std::move(E);
  Profile P = busiest(std::move(First->Profiles));
  setRun(P, First->Run);
  if (Two && O.Sampling && !P.Kernels.empty()) {
    Expected<Pass> Second =
        runPass(O, /*Quiet=*/true,
                samplingVariables(O, "sampling",
                                  O.IntervalLog2 ? O.IntervalLog2 : intervalFor(P)));
    if (!Second)
      return Second.takeError();
    if (Error E = judgeRun(O, *Second))
      return joinErrors(makeError(ExitCode::EvidenceUnusable,
                                  "failed in the second run, which samples",
                                  O.Command.front(),
                                  "the first run, which times kernels, went well"),
                        std::move(E));
    Profile Sampling = busiest(std::move(Second->Profiles));
    setRun(Sampling, Second->Run);
    P = join(std::move(P), std::move(Sampling));
  }
  if (Error E = judgeContent(O, P))
    return std::move(E);
  if (!O.Metrics.empty())
    addCounters(O, P);
  addSourceFiles(P);
  return std::move(P);
}

} // namespace optimas
