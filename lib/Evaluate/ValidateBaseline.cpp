//===- ValidateBaseline.cpp - What the unedited program does -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Validate.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace optimas {

std::vector<std::string> Validator::argv(const ProgramVersion &V,
                                         const InputSet &Input) const {
  std::vector<std::string> Out = {V.Program};
  const std::vector<std::string> &Args = Input.Default ? O.Args : Input.Args;
  Out.insert(Out.end(), Args.begin(), Args.end());
  return Out;
}

ProgramRun Validator::request(const ProgramVersion &V, const InputSet &Input, RunMode Mode,
                              unsigned Poison, std::optional<uint64_t> Seed) const {
  ProgramRun R;
  R.Mode = Mode;
  R.Args = argv(V, Input);
  R.Directory = O.Directory;
  R.Poison = Poison;
  R.Kernels = O.Kernels;
  R.PermuteSeed = Seed;
  R.TimeoutSeconds = O.RunTimeoutSeconds;
  return R;
}

double Validator::runSeconds() const {
  return Baselines.empty() ? 0 : Baselines.front().Seconds;
}

double Validator::validateSeconds() const {
  double Sum = 0;
  for (const InputBaseline &B : Baselines)
    if (B.Usable)
      Sum += B.Seconds * (B.Permuted ? 3 : 2);
  return Sum;
}

static Error unusable(const Twine &What, const InputBaseline &B, const Twine &Remedy) {
  return makeError(ExitCode::EvidenceUnusable, What,
                   B.Input.Default ? Twine("the unedited program")
                                   : "the unedited program, with `" + Twine(B.Input.Name) +
                                         "`",
                   Remedy);
}

static Error printsDifferently(const InputBaseline &B, StringRef Where,
                               const TextDifference &D) {
  return unusable(formatv("{0} differs from run to run at line {1}:\n  {2}\n  {3}", Where,
                          D.Line, D.Expected, D.Actual),
                  B, "name what is no result by --mask=REGEX, or compare with your own "
                     "program by --validate=command:CMD");
}

static Error memoryDiffers(const InputBaseline &B, const Mismatch &M) {
  return unusable(
      formatv("is nondeterministic: {0} differs between two runs after launch {1} of {2}, "
              "allocation {3} of {4} bytes, at byte {5}: {6} and {7}",
              M.What, M.Launch, M.Kernel, M.Allocation, M.AllocationBytes, M.Offset,
              M.Baseline, M.Candidate),
      B, "float atomics and races do this; results cannot be compared bit for bit: choose a "
         "tolerance of your own by --validate=command:CMD");
}

static const char *remedyFor(const SubprocessResult &R) {
  if (R.TimedOut)
    return "give it less work by --run, or raise --run-timeout";
  // The CUDA run time's own words (cudaGetErrorString).
  for (const std::string *Text : {&R.Error, &R.Output})
    for (StringRef No : {"no CUDA-capable device", "driver version is insufficient"})
      if (StringRef(*Text).contains(No))
        return "the program finds no GPU that it can use: see what nvidia-smi says, and "
               "CUDA_VISIBLE_DEVICES";
  return "check the command of --run, --run-dir and the program's arguments";
}

/// Takes in exit status, text and files of one baseline run.
Error Validator::learnRun(InputBaseline &B, const RunOutcome &R) {
  B.Seconds = std::max(B.Seconds, double(R.Process.WallNs) * 1e-9);
  if (std::string How = endedBadly(R.Process, O.RunTimeoutSeconds); !How.empty()) {
    StringRef Text = StringRef(R.Process.Error).trim();
    std::string Said = (Text.empty() ? StringRef(R.Process.Output).trim() : Text)
                           .take_back(400)
                           .str();
    B.Usable = false;
    return unusable(Twine(How) + (Said.empty() ? "" : ":\n  " + Said), B,
                    remedyFor(R.Process));
  }
  B.ExitStatus = R.Process.ExitStatus;
  std::optional<TextDifference> D = B.Output.learn(R.Process.Output);
  // The user's own comparison decides what may vary.
  if (O.Mode != ValidateMode::Bytes)
    return Error::success();
  if (D)
    return printsDifferently(B, "its output", *D);
  for (const auto &[Name, Bytes] : R.Files) {
    auto It = B.Files.find(Name);
    if (It == B.Files.end()) {
      Expected<OutputMask> Mask = OutputMask::create(O.Masks);
      if (!Mask)
        return Mask.takeError();
      It = B.Files.emplace(Name, std::move(*Mask)).first;
    }
    if (std::optional<TextDifference> D = It->second.learn(Bytes))
      return printsDifferently(B, "the file " + Name, *D);
  }
  return Error::success();
}

Expected<RunOutcome> Validator::runBaseline(const InputBaseline &B, RunMode Mode,
                                            unsigned Poison, std::optional<uint64_t> Seed) {
  return Run.run(*Baseline.View, request(Baseline, B.Input, Mode, Poison, Seed));
}

/// What two runs with one poison say about memory. They must agree.
Error Validator::baselineMemory(InputBaseline &B, RunOutcome &First, RunOutcome &Again) {
  std::string Why;
  if (!First.Memory || !Again.Memory)
    Why = First.Memory ? Again.TraceProblem : First.TraceProblem;
  else if (!First.Memory->Complete || !Again.Memory->Complete)
    Why = "the collector's trace has no end";
  else if (!First.Memory->Uncovered.empty())
    Why = "the collector does not cover " + join(First.Memory->Uncovered, ", ");
  if (!Why.empty()) {
    MemoryWhyNot = Why;
    return Error::success();
  }
  for (const HashedLaunch &L : First.Memory->Launches)
    if (L.Status)
      return unusable(formatv("launch {0} of {1} fails with CUDA status {2}", L.Launch,
                              L.Label, L.Status),
                      B, "make the program run cleanly first (compute-sanitizer shows where "
                         "it fails)");
  MemoryComparison C = compareMemory(*First.Memory, *Again.Memory, B.Input.Name, 1);
  if (!C.Mismatches.empty() && O.Mode == ValidateMode::Bytes) {
    refine(Baseline, B, FirstPoison, std::nullopt, C.Mismatches[0]);
    return memoryDiffers(B, C.Mismatches[0]);
  }
  if (!C.Mismatches.empty())
    MemoryWhyNot = "the unedited program leaves other bytes in memory at every run";
  B.First = std::move(*First.Memory);
  return Error::success();
}

void Validator::preparePermuted(InputBaseline &B) {
  std::optional<MemoryTrace> Traces[2];
  for (std::optional<MemoryTrace> &T : Traces) {
    Expected<RunOutcome> R = runBaseline(B, RunMode::Memory, FirstPoison, ShuffleSeed);
    if (!R) {
      consumeError(R.takeError());
      return;
    }
    if (!endedBadly(R->Process, O.RunTimeoutSeconds).empty() || !R->Memory ||
        !R->Memory->Complete || R->Memory->Status) {
      Notes.push_back("the unedited program fails on shuffled inputs: they are left out");
      return;
    }
    T = std::move(*R->Memory);
  }
  if (compareMemory(*Traces[0], *Traces[1], B.Input.Name, 1).Mismatches.empty())
    B.Permuted = std::move(*Traces[0]);
  else
    Notes.push_back("the unedited program differs from itself on shuffled inputs: they are "
                    "left out");
}

Error Validator::prepareInput(InputBaseline &B) {
  Expected<OutputMask> Mask = OutputMask::create(O.Masks);
  if (!Mask)
    return Mask.takeError();
  B.Output = std::move(*Mask);
  Expected<RunOutcome> First = runBaseline(B, mode(), FirstPoison);
  if (!First)
    return First.takeError();
  if (Error E = learnRun(B, *First))
    return E;
  if (mode() == RunMode::Memory && First->NoGpuUse && B.Input.Default)
    return unusable("uses no GPU: no process of it calls CUDA", B,
                    "give the command that runs the kernels by --run");
  Expected<RunOutcome> Again = runBaseline(B, mode(), FirstPoison);
  if (!Again)
    return Again.takeError();
  if (Error E = learnRun(B, *Again))
    return E;
  if (mode() == RunMode::Memory)
    if (Error E = baselineMemory(B, *First, *Again))
      return E;
  Expected<RunOutcome> Other = runBaseline(B, mode(), SecondPoison);
  if (!Other)
    return Other.takeError();
  if (Error E = learnRun(B, *Other)) {
    if (exitCodeOf(E) != ExitCode::EvidenceUnusable)
      return E;
    consumeError(std::move(E));
    return unusable("its output depends on what uninitialized device memory holds", B,
                    "compute-sanitizer --tool initcheck names the reads");
  }
  if (B.First && Other->Memory && Other->Memory->Complete)
    B.Second = std::move(*Other->Memory);
  if (B.Input.Default && B.First && B.First->Launches.empty())
    return unusable("launches none of the edited kernels (" + join(O.Kernels, ", ") + ")", B,
                    "give arguments by --run with which they are launched");
  if (B.Input.Default && B.First && O.Permute && O.Mode == ValidateMode::Bytes)
    preparePermuted(B);
  return Error::success();
}

Error Validator::prepare(const ProgramVersion &Version, const Deadline &Until) {
  Baseline = Version;
  if (!Run.hasCollector())
    MemoryWhyNot = "liboptimas_collector.so was not found";
  std::vector<InputSet> All = O.Inputs;
  InputSet Default;
  Default.Name = "default";
  Default.Default = true;
  All.insert(All.begin(), Default);
  for (const InputSet &Input : All) {
    InputBaseline B;
    B.Input = Input;
    if (!Input.Default && Until.left() < 4 * runSeconds()) {
      Notes.push_back("the time budget ended before `" + Input.Name + "` was run");
      MemoryWhyNot = "the time budget ended before every input was run";
      break;
    }
    Error E = prepareInput(B);
    if (E && !Input.Default && !B.Usable) {
      // An argument list on which the program itself fails says nothing about edits.
      Notes.push_back("left out: " + StringRef(toString(std::move(E))).split('\n').first.str());
    } else if (E) {
      return E;
    }
    Baselines.push_back(std::move(B));
  }
  return Error::success();
}

} // namespace optimas
