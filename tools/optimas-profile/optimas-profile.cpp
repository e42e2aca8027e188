//===- optimas-profile.cpp - Records a profile of a CUDA program -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// optimas-profile -o run.optimas.json -- ./app args
///
//===----------------------------------------------------------------------===//
#include "Ceilings.h"
#include "Commands.h"
#include "Passes.h"
#include "Preflight.h"
#include "Show.h"
#include "SweepRuns.h"
#include "optimas/Collector/Options.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Profile/Sweep.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Output.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <unistd.h>

using namespace llvm;
using namespace optimas;

static cl::opt<std::string> Output("o", cl::desc("Write the profile to FILE, compressed if "
                                                 "its name ends in .zst (default: "
                                                 "PROGRAM.optimas.json, with .zst if it is large); %p is the process id, %q{NAME} the "
                                                 "environment variable NAME"),
                                   cl::value_desc("FILE"), cl::cat(profileOptions()));
static cl::opt<unsigned> SamplingInterval(
    "sampling-interval",
    cl::desc("Sample every 2^N cycles, N from 5 to 31 (default: such that about two "
             "million samples are taken)"),
    cl::value_desc("N"), cl::init(0), cl::cat(profileOptions()));
static cl::opt<bool> Serialized(
    "serialized",
    cl::desc("Let one kernel run at a time while samples are taken, for programs whose "
             "kernels overlap; the run is slower"),
    cl::cat(profileOptions()));
static cl::opt<bool> Concurrent(
    "concurrent-kernels",
    cl::desc("Let kernels of several streams overlap while they are timed; CUPTI then adds to "
             "every block, so that kernels of many short blocks seem up to 10 % longer"),
    cl::cat(profileOptions()));
static cl::opt<std::string> PassCount(
    "passes",
    cl::desc("2: run the program twice, timing kernels first and sampling then; 1: both "
             "in one run, whose times may be longer; auto: 2. Only the first run's output "
             "is shown, and only a file on standard input is read twice"),
    cl::value_desc("1|2|auto"), cl::init("auto"), cl::cat(profileOptions()));
static cl::list<std::string> CounterSets(
    "counters",
    cl::desc("Run the program again and read hardware counters of the hot kernels; SET,…: "
             "roofline, memory, occupancy, all"),
    cl::value_desc("SET,..."), cl::CommaSeparated, cl::cat(profileOptions()));
static cl::opt<std::string> Replay(
    "replay-mode",
    cl::desc("How counters that need several passes are read. kernel: one run, in which CUPTI "
             "replays each launch and restores memory between, which adds to DRAM traffic and time; "
             "application: one run a pass, for programs that do the same in every run; auto (default): "
             "time and DRAM traffic in a run without replay, the rest by kernel replay in another"),
    cl::value_desc("auto|kernel|application"), cl::init("auto"), cl::cat(profileOptions()));
static cl::opt<unsigned> CounterLaunches(
    "launches", cl::desc("Count the first N launches of each hot kernel (default 5)"),
    cl::value_desc("N"), cl::init(5), cl::cat(profileOptions()));
static cl::opt<double> Hot(
    "hot", cl::desc("Count the kernels that cover this much of kernel time (default 80)"),
    cl::value_desc("PERCENT"), cl::init(80), cl::cat(profileOptions()));
static cl::opt<std::string> Sweep(
    "sweep",
    cl::desc("Run the program once for each combination of the values, {N} in its arguments being "
             "N's ({{N}} is {N} itself), and keep kernel times and counters of each in one "
             "profile; without samples, and with --counters=all unless given"),
    cl::value_desc("N=1,2;B=128,256"), cl::cat(profileOptions()));
static cl::opt<bool> Ceilings(
    "ceilings",
    cl::desc("Measure what the device can do at most (bandwidths and arithmetic), or take "
             "what was measured before for it and its driver; kept in the profile, or "
             "printed where no program is given"),
    cl::cat(profileOptions()));
static cl::opt<bool> FreshCeilings("fresh-ceilings",
                                   cl::desc("Measure them again"), cl::cat(profileOptions()));
static cl::opt<double> Timeout("timeout", cl::desc("End each run after so many seconds"),
                               cl::value_desc("SECONDS"), cl::init(0), cl::cat(profileOptions()));
static cl::opt<bool> IgnoreExitStatus(
    "ignore-exit-status", cl::desc("Keep the profile of a program that fails, is ended by a signal or by "
             "--timeout"),
    cl::cat(profileOptions()));
static cl::opt<std::string> CudaPath("cuda-path",
                                     cl::desc("The CUDA toolkit whose CUPTI is used"),
                                     cl::value_desc("DIR"), cl::cat(profileOptions()));
static cl::opt<bool> Check("check",
                           cl::desc("Say what profiling needs and what is missing here, in the\n"
                                    "program after -- too, which is not run; exit status 3 when\n"
                                    "something is missing, else 0"),
                           cl::cat(profileOptions()));
static cl::opt<std::string> Log("log", cl::desc("Append the collector's log to FILE"),
                                cl::value_desc("FILE"), cl::cat(profileOptions()));
static cl::opt<bool> Quiet("quiet", cl::desc("Print nothing but errors and warnings"),
                           cl::cat(profileOptions()));

static cl::list<std::string> Stray(cl::Positional, cl::desc("[FILE…]"), cl::cat(profileOptions()));

static Error usage(const Twine &What, const Twine &Remedy) {
  return makeError(ExitCode::Usage, What, "optimas-profile", Remedy);
}

/// Before the program runs: a folder that cannot be written would waste the run.
static Error checkOutput(StringRef Path) {
  SmallString<256> Folder(sys::path::parent_path(Path));
  if (Folder.empty())
    Folder = ".";
  if (sys::fs::is_directory(Path))
    return makeError(ExitCode::Usage, "is a folder", Path, "name a file with -o");
  if (::access(Folder.c_str(), W_OK) != 0)
    return makeError(ExitCode::Usage, "no file can be written there", Folder,
                     "choose another place with -o");
  return Error::success();
}

static Expected<unsigned> passes() {
  if (PassCount == "2" || PassCount == "auto")
    return 2;
  if (PassCount == "1")
    return 1;
  return usage("--passes=" + PassCount + " is not 1, 2 or auto", "see --help");
}

static Expected<ReplayMode> replayMode() {
  if (Replay.getNumOccurrences() && CounterSets.empty() && Sweep.empty())
    return usage("--replay-mode has no meaning without --counters", "name the counters, or leave it out");
  if (Replay == "auto")
    return ReplayMode::Auto;
  if (Replay == "kernel")
    return ReplayMode::Kernel;
  if (Replay == "application")
    return ReplayMode::Application;
  return usage("--replay-mode=" + Replay + " is not auto, kernel or application", "see --help");
}

/// `name unit` of every metric of the sets that the user named.
static Expected<std::vector<std::string>> metrics() {
  static const struct {
    const char *Set, *Name, *Unit;
  } All[] = {
#define OPTIMAS_METRIC(Set, Name, Unit) {Set, Name, Unit},
#include "optimas/Collector/Metrics.def"
  };
  std::vector<std::string> Result;
  std::vector<std::string> Sets(CounterSets.begin(), CounterSets.end());
  if (Sets.empty() && !Sweep.empty())
    Sets = {"all"};
  for (const std::string &Wanted : Sets) {
    bool Known = Wanted == "all";
    for (const auto &M : All)
      if (Wanted == "all" || Wanted == M.Set) {
        Known = true;
        std::string Line = std::string(M.Name) + " " + M.Unit;
        if (!is_contained(Result, Line))
          Result.push_back(Line);
      }
    if (!Known)
      return usage("--counters=" + Wanted + " is no set of counters",
                   "the sets are roofline, memory, occupancy and all");
  }
  return Result;
}

/// The runs of --sweep; none without it.
static Expected<std::vector<SweepRun>> sweepRuns(const std::vector<std::string> &Command) {
  if (Sweep.getNumOccurrences() == 0)
    return std::vector<SweepRun>();
  if (SamplingInterval || Serialized || PassCount != "auto")
    return usage("--sweep takes no samples, so --sampling-interval, --serialized and --passes have "
                 "no meaning",
                 "leave them out; sample one configuration without --sweep");
  Expected<std::vector<SweepParameter>> Parameters = parseSweep(Sweep);
  if (!Parameters)
    return Parameters.takeError();
  return planSweep(*Parameters, Command);
}

/// Where the profile goes; a large one is compressed where the user named no file.
static Error writeTo(std::string &Path, const Profile &P) {
  if (Output.empty() && !StringRef(Path).ends_with(".zst") && isLarge(P)) {
    sys::fs::remove(Path); // an earlier state of this sweep
    Path += ".zst";
  }
  return writeProfileFile(Path, P);
}

static Error profile(const char *Argv0, std::vector<std::string> Command) {
  Expected<std::vector<SweepRun>> Runs = sweepRuns(Command);
  if (!Runs)
    return Runs.takeError();
  ProfileOptions O;
  O.Command = Runs->empty() ? std::move(Command) : Runs->front().Command;
  Expected<unsigned> Passes = passes();
  if (!Passes)
    return Passes.takeError();
  O.Passes = *Passes;
  if (SamplingInterval && (SamplingInterval < 5 || SamplingInterval > 31))
    return usage("--sampling-interval=" + Twine(SamplingInterval) + " is out of range",
                 "it is log2 of cycles, from 5 to 31");
  O.IntervalLog2 = SamplingInterval;
  O.Serialized = Serialized;
  O.Concurrent = Concurrent;
  O.TimeoutSeconds = Timeout;
  O.IgnoreExitStatus = IgnoreExitStatus;
  O.Toolkit = findToolkit(CudaPath);
  O.Log = Log;
  Expected<std::vector<std::string>> Metrics = metrics();
  if (!Metrics)
    return Metrics.takeError();
  O.Metrics = std::move(*Metrics);
  Expected<ReplayMode> Mode = replayMode();
  if (!Mode)
    return Mode.takeError();
  O.Replay = *Mode;
  O.CounterLaunches = CounterLaunches;
  O.HotPercent = Hot;
  if (!CounterLaunches || !(Hot > 0 && Hot <= 100))
    return usage("--launches begins at 1, --hot is more than 0 and at most 100",
                 "see --help");
  std::string Path = collector::expandPath(
      Output, ::getpid(), [](const char *Name) -> const char * { return ::getenv(Name); });
  if (Path.empty())
    Path = (sys::path::filename(O.Command.front()) + ".optimas.json").str();
  if (Error E = checkOutput(Path))
    return E;
  Expected<std::string> Collector = findCollector(Argv0);
  if (!Collector)
    return Collector.takeError();
  O.Collector = std::move(*Collector);
  if (!haveDriver() && isCudaProgram(O.Command.front()))
    return makeError(ExitCode::EvidenceUnusable,
                     "this machine has no NVIDIA driver (libcuda.so.1 cannot be "
                     "loaded), so the program was not run",
                     O.Command.front(),
                     "profile on a machine with a GPU and copy the profile here; "
                     "optimas-profile --check lists what is needed");
  Expected<Profile> P =
      Runs->empty() ? profileProgram(O)
                    : profileSweep(O, *Runs, Quiet,
                                   [&](const Profile &Q) { return writeTo(Path, Q); });
  if (!P)
    return P.takeError();
  if (Ceilings || FreshCeilings)
    addCeilings(FreshCeilings, *P);
  if (Error E = writeTo(Path, *P))
    return E;
  for (const std::string &Note : P->Quality.Notes)
    errs() << "warning: " << Note << "\n";
  if (!Quiet) {
    errs() << "optimas-profile: wrote " << Path << ": " << summaryLine(*P) << "\n";
    if (!P->Sources.empty())
      errs() << "optimas-profile: the program exited with status "
             << P->Sources.front().ExitStatus << "\n";
  }
  return Error::success();
}

int main(int Argc, char **Argv) {
  if (Error E = openStandardStreams())
    return int(reportError(errs(), std::move(E)));
  // Everything after `--` is the program's, whatever it looks like.
  int Own = Argc;
  for (int I = 1; I < Argc && Own == Argc; ++I)
    if (StringRef(Argv[I]) == "--")
      Own = I;
  std::vector<std::string> Command(Argv + std::min(Own + 1, Argc), Argv + Argc);
  cl::HideUnrelatedOptions(profileOptions());
  cl::SetVersionPrinter(
      [](raw_ostream &OS) { OS << "optimas-profile " OPTIMAS_VERSION "\n"; });
  if (!cl::ParseCommandLineOptions(
          Own, Argv,
          "Records kernel times and PC samples of a CUDA program.\n\n"
          "  optimas-profile [options] -- program arguments\n"
          "  optimas-profile --sweep='N=1,2,4;B=128,256' -- program {N} {B}\n"
          "  optimas-profile --show run.optimas.json\n"
          "  optimas-profile --diff before.optimas.json after.optimas.json\n"
          "  optimas-profile --export=csv|speedscope run.optimas.json\n\n"
          "Exit status: 0 the profile was written (a warning says what it lacks), 1 usage, "
          "3 no usable\nprofile, 8 internal.\n",
          &errs()))
    return int(ExitCode::Usage);
  Error E = Error::success();
  if (isFileCommand())
    E = joinErrors(std::move(E), runFileCommand(Stray, Output));
  else if (Check)
    return int(checkSetup(outs(), Argv[0], findToolkit(CudaPath), Command));
  else if (Command.empty() && Stray.empty() && (Ceilings || FreshCeilings))
    E = joinErrors(std::move(E), printCeilings(outs(), FreshCeilings));
  else if (!Stray.empty())
    E = joinErrors(std::move(E), usage("'" + Stray.front() + "' stands before --",
                                       "optimas-profile -o FILE -- program arguments"));
  else if (Command.empty())
    E = joinErrors(std::move(E), usage("no program to profile",
                                       "optimas-profile -o FILE -- program arguments"));
  else
    E = joinErrors(std::move(E), profile(Argv[0], std::move(Command)));
  E = joinErrors(std::move(E), finishOutput());
  return E ? int(reportError(errs(), std::move(E))) : 0;
}
