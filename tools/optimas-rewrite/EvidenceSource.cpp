//===- EvidenceSource.cpp - Where the profile of a run comes from -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "EvidenceSource.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

/// \p Taken: by this run, into a scratch folder whose name says nothing.
static Expected<LoadedProfile> join(ArrayRef<std::string> Paths, bool Taken = false) {
  std::vector<Profile> Parts;
  for (const std::string &Path : Paths) {
    Expected<Profile> P = readProfile(Path);
    if (!P)
      return P.takeError();
    // A profile does not hold its own name.
    for (Provenance &S : P->Sources)
      if (S.File.empty() && !Taken)
        S.File = Path;
    Parts.push_back(std::move(*P));
  }
  LoadedProfile Out;
  Out.P = mergeProfiles(Parts, Out.Notes);
  resolveFrames(Out.P, Out.Notes);
  return Out;
}

namespace {
/// One run of optimas-profile.
struct ProfilerRun {
  std::vector<std::string> Command;
  std::string Directory;
  unsigned SamplingIntervalLog2 = 0; ///< 0: by its own rule
  double RunTimeoutSeconds = 0;
};
} // namespace

static Expected<LoadedProfile> collect(const Settings &S, StringRef ToolDir,
                                       const ProfilerRun &Run) {
  Expected<ScratchDir> Scratch = ScratchDir::create("optimas-profile");
  if (!Scratch)
    return Scratch.takeError();
  std::string File = Scratch->file("run.optimas.json");
  SmallString<256> Profiler(ToolDir);
  sys::path::append(Profiler, "optimas-profile");
  SubprocessOptions O;
  O.Args = {Profiler.str().str(), "-o", File};
  if (!S.Collector.empty())
    O.Args.push_back("--collector=" + S.Collector);
  if (Run.SamplingIntervalLog2)
    O.Args.push_back("--sampling-interval=" + std::to_string(Run.SamplingIntervalLog2));
  O.Args.push_back("--");
  O.Args.insert(O.Args.end(), Run.Command.begin(), Run.Command.end());
  O.Directory = Run.Directory;
  // Profiling runs the program twice, slowed by the sampling.
  O.TimeoutSeconds = 4 * Run.RunTimeoutSeconds;
  Expected<SubprocessResult> R = runSubprocess(O);
  if (!R)
    return R.takeError();
  if (R->TimedOut)
    return makeError(ExitCode::EvidenceUnusable,
                     formatv("profiling did not end within {0} s", O.TimeoutSeconds).str(),
                     S.Run, "give the program less work or raise --run-timeout");
  if (!sys::fs::exists(File)) {
    StringRef Said = StringRef(R->Error).rtrim();
    return makeError(ExitCode::EvidenceUnusable,
                     "the run gave no profile: " + Said.substr(Said.size() > 2000 ? Said.size() - 2000 : 0),
                     S.Run,
                     "run 'optimas-profile --check' to see what is missing, or give a "
                     "recorded profile with --profile");
  }
  Expected<LoadedProfile> Out = join({File}, /*Taken=*/true);
  if (Out && !R->ok())
    Out->Notes.push_back(
        formatv("the profiled program ended with status {0}", R->ExitStatus).str());
  return Out;
}

static Expected<LoadedProfile> collectOriginal(const Settings &S, StringRef BuildDir,
                                               StringRef ToolDir) {
  Expected<std::vector<std::string>> Command = splitCommand(S.Run);
  if (!Command)
    return Command.takeError();
  return collect(S, ToolDir,
                 {std::move(*Command), !S.RunDir.empty() ? S.RunDir : BuildDir.str(), 0,
                  S.RunTimeout});
}

Expected<Profile> profileAgain(const Settings &S, StringRef ToolDir,
                               const ReprofileRequest &Request) {
  ProfilerRun Run{Request.ViewPrefix, Request.Directory, Request.SamplingIntervalLog2,
                  Request.TimeoutSeconds};
  Run.Command.insert(Run.Command.end(), Request.Args.begin(), Request.Args.end());
  Expected<LoadedProfile> Loaded = collect(S, ToolDir, Run);
  if (!Loaded)
    return Loaded.takeError();
  return std::move(Loaded->P);
}

/// Profiles lying in the build folder that were recorded of \p Source as it is now.
static std::vector<std::string> discover(StringRef BuildDir, StringRef Source,
                                         std::vector<std::string> &Stale) {
  std::vector<std::string> Found;
  Expected<std::string> Text = readFile(Source, ExitCode::ParseFailed);
  if (!Text) {
    consumeError(Text.takeError());
    return Found;
  }
  std::string Hash = sha256(*Text);
  std::error_code EC;
  for (sys::fs::directory_iterator I(BuildDir, EC), End; I != End && !EC; I.increment(EC)) {
    StringRef Name = I->path();
    if (!Name.ends_with(".optimas.json") && !Name.ends_with(".optimas.json.zst"))
      continue;
    Expected<Profile> P = readProfile(I->path());
    if (!P) {
      consumeError(P.takeError());
      continue;
    }
    bool Same = any_of(P->SourceFiles, [&](const SourceSnapshot &F) { return F.Sha256 == Hash; });
    bool Named = any_of(P->SourceFiles, [&](const SourceSnapshot &F) {
      return sys::path::filename(F.File) == sys::path::filename(Source);
    });
    if (Same)
      Found.push_back(I->path());
    else if (Named)
      Stale.push_back(I->path());
  }
  llvm::sort(Found);
  llvm::sort(Stale);
  return Found;
}

Expected<LoadedProfile> loadEvidence(const Settings &S, StringRef Source,
                                     StringRef BuildDir, StringRef ToolDir) {
  if (!S.Profiles.empty())
    return join(S.Profiles);
  if (!S.Run.empty())
    return collectOriginal(S, BuildDir, ToolDir);
  std::vector<std::string> Stale;
  if (!BuildDir.empty()) {
    std::vector<std::string> Found = discover(BuildDir, Source, Stale);
    if (!Found.empty())
      return join(Found);
  }
  std::string Dir = BuildDir.empty() ? "." : BuildDir.rtrim('/').str();
  std::string Stem = sys::path::stem(Source).str();
  std::string What = "no profile was given and none was found";
  if (!Stale.empty())
    What += " (" + Stale.front() + " is of another version of this source)";
  return makeError(
      ExitCode::EvidenceUnusable, What, Source,
      formatv("make one with these two commands:\n"
              "    optimas-profile -o {0}/{1}.optimas.json -- ./your-program its-arguments\n"
              "    optimas-rewrite {2} -p {0}",
              Dir, Stem, Source)
          .str());
}

} // namespace optimas
