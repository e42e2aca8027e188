//===- Passes.cpp - The runs that make a profile -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Passes.h"
#include "Counting.h"
#include "Runs.h"
#include "optimas/Collector/Options.h"
#include "optimas/Profile/Cubin.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace llvm;

namespace optimas {

/// The collector's settings for one pass, beside those of every run.
static Variables samplingVariables(const ProfileOptions &O, StringRef Which,
                                   unsigned IntervalLog2) {
  return {{"OPTIMAS_COLLECT", "profile"},
          {"OPTIMAS_COLLECT_PASS", Which.str()},
          {"OPTIMAS_COLLECT_INTERVAL", std::to_string(IntervalLog2)},
          {"OPTIMAS_COLLECT_CONCURRENT", O.Concurrent ? "1" : "0"},
          {"OPTIMAS_COLLECT_SERIALIZED", O.Serialized ? "1" : "0"}};
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
  P.Sources.insert(P.Sources.begin(), Activity.Sources.begin(),
                   Activity.Sources.end());
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
    P.Quality.Notes.push_back("no PC was sampled in " +
                              std::to_string(Ns / 1000) +
                              " us of kernel time: give the program more work, "
                              "or sample more often with "
                              "--sampling-interval=9");
  if (!Launches)
    P.Quality.Notes.push_back(
        "no kernel activity was recorded: use --passes=2");
  return Error::success();
}

Expected<Profile> profileProgram(const ProfileOptions &O) {
  bool Two = O.Passes == 2 || !O.Sampling;
  Expected<Pass> First =
      runPass(O, /*Quiet=*/false,
              samplingVariables(O, Two ? "activity" : "both", O.IntervalLog2));
  if (!First)
    return First.takeError();
  if (Error E = judgeRun(O, *First))
    return std::move(E);
  Profile P = busiest(*First);
  if (Two && O.Sampling && !P.Kernels.empty()) {
    Expected<Pass> Second = runPass(
        O, /*Quiet=*/true,
        samplingVariables(O, "sampling",
                          O.IntervalLog2 ? O.IntervalLog2 : intervalFor(P)));
    if (!Second)
      return Second.takeError();
    if (Error E = judgeRun(O, *Second))
      return joinErrors(
          makeError(ExitCode::EvidenceUnusable,
                    "failed in the second run, which samples",
                    O.Command.front(),
                    "the first run, which times kernels, went well"),
          std::move(E));
    P = join(std::move(P), busiest(*Second));
  }
  if (Error E = judgeContent(O, P))
    return std::move(E);
  if (!O.Metrics.empty())
    addCounters(O, P);
  addSourceFiles(P);
  return std::move(P);
}

} // namespace optimas
