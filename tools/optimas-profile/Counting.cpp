//===- Counting.cpp - The runs that count -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Counting.h"
#include "Runs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace optimas {

/// The symbols of the kernels that cover \p Percent of kernel time, longest
/// first.
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

/// Before it replays a launch CUPTI saves what the kernel may write. That waits
/// in the L2 cache and is written to memory while the kernel runs, and is
/// counted.
static bool isDisturbed(StringRef Metric) {
  return Metric.starts_with("dram__") ||
         Metric.starts_with("gpu__time_duration");
}

namespace {
/// The counters of one run.
struct Counted {
  Profile P;
  CountingReport Report;
};

class Counting {
public:
  Counting(const ProfileOptions &O, Profile &P, std::vector<std::string> Hot)
      : O(O), P(P), Hot(std::move(Hot)) {}
  void run();

private:
  Expected<Counted> count(StringRef Replay, ArrayRef<std::string> Metrics);
  /// One pass of \p Wanted, of which what did not fit is left; false: none was
  /// counted.
  bool onePass(std::vector<std::string> &Wanted);
  void replay(ArrayRef<std::string> Metrics);
  bool dropUnlike();
  void finish();
  void note(const Twine &Text);
  void keepNotes(const Profile &Run);
  void keepSource(Profile &Run, StringRef How);

  const ProfileOptions &O;
  Profile &P;
  const std::vector<std::string> Hot;
  std::vector<Counted> OnePass;
  std::optional<Counted> Replayed;
  bool Failed = false; ///< the run of kernel replay
};
} // namespace

void Counting::note(const Twine &Text) {
  std::string Note = Text.str();
  if (!is_contained(P.Quality.Notes, Note))
    P.Quality.Notes.push_back(std::move(Note));
}

void Counting::keepNotes(const Profile &Run) {
  for (const std::string &Note : Run.Quality.Notes)
    note(Note);
}

/// One source for each way of counting; a run a pass would be many.
void Counting::keepSource(Profile &Run, StringRef How) {
  for (Provenance &S : Run.Sources) {
    S.Tool += (", counters by " + How + " replay").str();
    P.Sources.push_back(S);
  }
}

Expected<Counted> Counting::count(StringRef Replay,
                                  ArrayRef<std::string> Metrics) {
  Expected<Pass> Run =
      runPass(O, /*Quiet=*/true,
              {{"OPTIMAS_COLLECT", "counters"},
               {"OPTIMAS_COLLECT_REPLAY", Replay.str()},
               {"OPTIMAS_COLLECT_KERNELS", llvm::join(Hot, "\n")},
               {"OPTIMAS_COLLECT_LAUNCHES", std::to_string(O.CounterLaunches)},
               {"OPTIMAS_COLLECT_METRICS", llvm::join(Metrics, "\n")}});
  if (!Run)
    return Run.takeError();
  if (Error E = judgeRun(O, *Run))
    return std::move(E);
  Counted C;
  C.P = busiest(*Run, &C.Report);
  if (C.P.Counters.empty() && !Run->Errors.empty())
    C.P.Quality.Notes.push_back("there are no counters: " +
                                Run->Errors.front());
  return std::move(C);
}

bool Counting::onePass(std::vector<std::string> &Wanted) {
  Expected<Counted> Run = count("application", Wanted);
  if (!Run) {
    note("no counters were read in one pass: " + toString(Run.takeError()));
    return false;
  }
  // Where each of what is left needs several passes, kernel replay reads it.
  if (Run->P.Counters.empty()) {
    if (OnePass.empty())
      note("no counters were read in one pass, so time and DRAM traffic are "
           "those of kernel "
           "replay" +
           (Run->P.Quality.Notes.empty()
                ? ""
                : ": " + Run->P.Quality.Notes.front()));
    return false;
  }
  StringSet<> Left;
  for (const std::string &Name : Run->Report.Left)
    Left.insert(Name);
  erase_if(Wanted, [&](const std::string &Line) {
    return !Left.contains(StringRef(Line).split(' ').first);
  });
  OnePass.push_back(std::move(*Run));
  return true;
}

void Counting::replay(ArrayRef<std::string> Metrics) {
  if (interruptedBy()) // it ended the run in one pass, and would end this one
    return;
  Expected<Counted> Run = count("kernel", Metrics);
  if (Run) {
    Replayed = std::move(*Run);
    return;
  }
  Failed = true;
  note((OnePass.empty() ? "there are no counters: "
                        : "counters of several passes are missing: ") +
       toString(Run.takeError()));
}

/// Drops what was counted in one pass of kernels that were not launched equally
/// often in all runs; true if any was.
bool Counting::dropUnlike() {
  StringMap<uint64_t> First;
  StringSet<> Unlike;
  auto Compare = [&](const Counted &C) {
    for (const std::string &Symbol : Hot) {
      auto At = C.Report.Launches.find(Symbol);
      uint64_t Launches = At == C.Report.Launches.end() ? 0 : At->second;
      auto [Known, New] = First.try_emplace(Symbol, Launches);
      if (Known->second == Launches || !Unlike.insert(Symbol).second)
        continue;
      note(Symbol + " was launched " + Twine(Known->second) +
           " times in one run that counts and " + Twine(Launches) +
           " times in another, so its counters are those of kernel replay: "
           "make the program do the "
           "same in each run, or use --replay-mode=kernel");
    }
  };
  for (const Counted &C : OnePass)
    Compare(C);
  if (Replayed)
    Compare(*Replayed);
  for (Counted &C : OnePass)
    erase_if(C.P.Counters,
             [&](const CounterValue &V) { return Unlike.contains(V.Symbol); });
  return !Unlike.empty();
}

void Counting::finish() {
  // One pass over kernel replay; in the order of the metrics for each kernel.
  std::map<std::pair<StringRef, StringRef>, const CounterValue *> Values;
  std::vector<const Counted *> Runs;
  if (Replayed)
    Runs.push_back(&*Replayed);
  for (const Counted &C : OnePass)
    Runs.push_back(&C);
  for (const Counted *C : Runs)
    for (const CounterValue &V : C->P.Counters)
      Values[{V.Symbol, V.Name}] = &V;
  for (const std::string &Symbol : Hot)
    for (const std::string &Line : O.Metrics)
      if (auto At = Values.find({Symbol, StringRef(Line).split(' ').first});
          At != Values.end())
        P.Counters.push_back(*At->second);
  for (size_t I = 0; I < OnePass.size(); ++I) {
    keepNotes(OnePass[I].P);
    if (!I)
      keepSource(OnePass[I].P, "application");
  }
  if (Replayed) {
    keepNotes(Replayed->P);
    keepSource(Replayed->P, "kernel");
  }
}

void Counting::run() {
  std::vector<std::string> Left = O.Metrics;
  if (O.Replay == ReplayMode::Auto) {
    std::vector<std::string> Disturbed;
    copy_if(O.Metrics, std::back_inserter(Disturbed), isDisturbed);
    if (!Disturbed.empty())
      onePass(Disturbed);
    replay(O.Metrics);
    dropUnlike();
    return finish();
  }
  // Each run reads at least one of them, so this ends.
  while (O.Replay == ReplayMode::Application && !Left.empty() && onePass(Left))
    continue;
  if (!Left.empty())
    replay(Left);
  // What was dropped is read by kernel replay, unless all was.
  if (dropUnlike() && !Failed && Left.size() != O.Metrics.size())
    replay(O.Metrics);
  finish();
}

void addCounters(const ProfileOptions &O, Profile &P) {
  std::vector<std::string> Hot = hotSymbols(P, O.HotPercent);
  if (Hot.empty()) {
    P.Quality.Notes.push_back("there are no counters: no kernel was timed");
    return;
  }
  Counting(O, P, std::move(Hot)).run();
}

} // namespace optimas
