//===- Validate.cpp - Comparing a candidate with the unedited program -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Validate.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace optimas {

static Mismatch textMismatch(const InputBaseline &B, const Twine &What,
                             std::string Expected, std::string Actual) {
  Mismatch M;
  M.Input = B.Input.Name;
  M.What = What.str();
  M.Baseline = std::move(Expected);
  M.Candidate = std::move(Actual);
  return M;
}

/// Exit status, output and files.
void Validator::compareOutput(const InputBaseline &B, const RunOutcome &R,
                              ValidationOutcome &Out) {
  std::vector<Mismatch> Found;
  std::string How = endedBadly(R.Process, O.RunTimeoutSeconds);
  if (R.Process.ExitStatus != B.ExitStatus || R.Process.TimedOut) {
    std::string Said = StringRef(R.Process.Error).trim().take_back(200).str();
    Found.push_back(textMismatch(B, R.Process.TimedOut ? "time limit" : "exit status",
                                 formatv("exit status {0}", B.ExitStatus),
                                 How + (Said.empty() ? "" : ": " + Said)));
  } else if (std::optional<TextDifference> D = B.Output.compare(R.Process.Output)) {
    Found.push_back(textMismatch(B, "stdout line " + Twine(D->Line), D->Expected, D->Actual));
  } else {
    for (const auto &[Name, Mask] : B.Files) {
      auto It = R.Files.find(Name);
      if (It == R.Files.end())
        Found.push_back(textMismatch(B, "file " + Name, "written", "not written"));
      else if (std::optional<TextDifference> D = Mask.compare(It->second))
        Found.push_back(textMismatch(B, "file " + Name + " line " + Twine(D->Line),
                                     D->Expected, D->Actual));
    }
  }
  if (!Found.empty())
    Out.OutputIdentical = false;
  Out.Mismatches.insert(Out.Mismatches.end(), Found.begin(), Found.end());
}

void Validator::compareTrace(const InputBaseline &B, const MemoryTrace &Expected,
                             const RunOutcome &R, ValidationOutcome &Out) {
  if (!R.Memory) {
    Out.MemoryIdentical = false;
    Out.Mismatches.push_back(
        textMismatch(B, "device memory", "hashed", R.TraceProblem));
    return;
  }
  if (!R.Memory->Uncovered.empty()) {
    Out.MemoryChecked = false;
    Out.MemoryWhyNot = "the collector does not cover " + join(R.Memory->Uncovered, ", ");
  }
  MemoryComparison C = compareMemory(Expected, *R.Memory, B.Input.Name);
  Out.LaunchesCompared += C.LaunchesCompared;
  Out.BytesHashed += C.BytesCompared;
  if (!C.Mismatches.empty())
    Out.MemoryIdentical = false;
  Out.Mismatches.insert(Out.Mismatches.end(), C.Mismatches.begin(), C.Mismatches.end());
}

/// Finds the byte: both sides dump the allocation after that launch.
void Validator::refine(const ProgramVersion &Candidate, const InputBaseline &B,
                       unsigned Poison, std::optional<uint64_t> Seed, Mismatch &M) {
  if (M.What != "device memory" || M.Allocation == 0)
    return;
  std::string Bytes[2];
  const ProgramVersion *Sides[] = {&Baseline, &Candidate};
  for (int S = 0; S < 2; ++S) {
    ProgramRun R = request(*Sides[S], B.Input, RunMode::Memory, Poison, Seed);
    R.Dump = {M.Launch, M.Allocation};
    Expected<RunOutcome> Outcome = Run.run(*Sides[S]->View, R);
    if (!Outcome) {
      consumeError(Outcome.takeError());
      return;
    }
    Bytes[S] = std::move(Outcome->Dump);
  }
  if (Bytes[0].empty() || Bytes[1].empty())
    return;
  refineMismatch(M, Bytes[0], Bytes[1]);
  // Equal bytes, and the hash goes beyond them (see the collector's Allocation::slack()).
  if (Bytes[0] == Bytes[1] && M.AllocationBytes % 256 != 0) {
    M.Offset = M.AllocationBytes;
    M.Baseline = "untouched";
    M.Candidate = "written past the end";
  }
}

Expected<bool> Validator::acceptedByCommand(const ProgramVersion &Candidate,
                                            const InputBaseline &B, const RunOutcome &R) {
  std::string Before = Candidate.View->file("baseline-output.txt");
  std::string After = Candidate.View->file("candidate-output.txt");
  if (Error E = writeFileAtomically(Before, B.Output.reference()))
    return std::move(E);
  if (Error E = writeFileAtomically(After, R.Process.Output))
    return std::move(E);
  SubprocessOptions S;
  S.Args = {"sh", "-c", O.Command};
  S.Directory = O.Directory;
  S.TimeoutSeconds = O.RunTimeoutSeconds;
  S.MergeError = true;
  S.Environment = {{"OPTIMAS_BASELINE_OUTPUT", Before},
                   {"OPTIMAS_CANDIDATE_OUTPUT", After},
                   {"OPTIMAS_INPUT", B.Input.Name}};
  Expected<SubprocessResult> Result = Candidate.View->run(S);
  if (!Result)
    return Result.takeError();
  return Result->ok();
}

/// One run of the candidate against the baseline. False when it differs.
Expected<bool> Validator::compareOne(const ProgramVersion &Candidate,
                                     const InputBaseline &B, unsigned Poison, bool Permute,
                                     ValidationOutcome &Out) {
  const std::optional<MemoryTrace> &Expected =
      Permute ? B.Permuted : Poison == FirstPoison ? B.First : B.Second;
  std::optional<uint64_t> Seed;
  if (Permute)
    Seed = ShuffleSeed;
  ProgramRun Request = request(Candidate, B.Input, mode(), Poison, Seed);
  // A candidate that hangs must not take the whole budget.
  Request.TimeoutSeconds = std::min(O.RunTimeoutSeconds, 10 + 5 * B.Seconds);
  llvm::Expected<RunOutcome> R = Run.run(*Candidate.View, Request);
  if (!R)
    return R.takeError();
  Out.Ran = true;
  size_t Before = Out.Mismatches.size();
  if (O.Mode == ValidateMode::Command) {
    llvm::Expected<bool> Accepted = acceptedByCommand(Candidate, B, *R);
    if (!Accepted)
      return Accepted.takeError();
    if (!*Accepted || !endedBadly(R->Process, Request.TimeoutSeconds).empty()) {
      Out.AcceptedByCommand = false;
      Out.Mismatches.push_back(textMismatch(B, "output", "accepted",
                                            "refused by the validation command"));
      return false;
    }
    // Bytes are compared for the report only.
    ValidationOutcome Quiet = Out;
    compareOutput(B, *R, Quiet);
    Out.OutputIdentical &= Quiet.OutputIdentical;
    if (Expected) {
      compareTrace(B, *Expected, *R, Quiet);
      Out.MemoryIdentical &= Quiet.MemoryIdentical;
    }
    return true;
  }
  // Shuffled inputs have another output: only memory was kept of the baseline's.
  if (!Permute)
    compareOutput(B, *R, Out);
  if (Expected && Out.Mismatches.size() == Before)
    compareTrace(B, *Expected, *R, Out);
  if (Out.Mismatches.size() == Before)
    return true;
  refine(Candidate, B, Poison, Seed, Out.Mismatches[Before]);
  if (Permute)
    Out.Mismatches[Before].Input += " (shuffled copies)";
  return false;
}

static ValidationOutcome startOutcome(ValidateMode Mode, const std::string &WhyNot) {
  ValidationOutcome Out;
  Out.OutputIdentical = true;
  Out.MemoryIdentical = true;
  Out.MemoryChecked = WhyNot.empty();
  Out.MemoryWhyNot = WhyNot;
  Out.AcceptedByCommand = Mode == ValidateMode::Command;
  return Out;
}

static void noteMasks(const InputBaseline &B, ValidationOutcome &Out) {
  auto Add = [&](const OutputMask &M) {
    for (const std::string &T : M.masked())
      if (!is_contained(Out.Masked, T))
        Out.Masked.push_back(T);
  };
  Add(B.Output);
  for (const auto &[Name, Mask] : B.Files)
    Add(Mask);
}

Expected<ValidationOutcome> Validator::check(const ProgramVersion &Candidate) {
  ValidationOutcome Out = startOutcome(O.Mode, "only checked with one run");
  if (O.Mode == ValidateMode::None || Baselines.empty())
    return ValidationOutcome();
  Expected<bool> Same = compareOne(Candidate, Baselines[0], FirstPoison, false, Out);
  if (!Same)
    return Same.takeError();
  Out.Inputs = {Baselines[0].Input.Name};
  noteMasks(Baselines[0], Out);
  if (!Baselines[0].First)
    Out.MemoryIdentical = false;
  return Out;
}

Expected<ValidationOutcome> Validator::validate(const ProgramVersion &Candidate,
                                                const Deadline &Until) {
  if (O.Mode == ValidateMode::None)
    return ValidationOutcome();
  ValidationOutcome Out = startOutcome(O.Mode, MemoryWhyNot);
  bool All = true;
  for (const InputBaseline &B : Baselines) {
    if (!B.Usable)
      continue;
    if (Until.left() < 2 * B.Seconds) {
      Out.MemoryChecked = false;
      Out.MemoryWhyNot = "the time budget ended before `" + B.Input.Name + "`";
      break;
    }
    Out.Inputs.push_back(B.Input.Name);
    noteMasks(B, Out);
    All &= B.First && B.Second;
    for (unsigned Poison : {FirstPoison, SecondPoison}) {
      Expected<bool> Same = compareOne(Candidate, B, Poison, false, Out);
      if (!Same)
        return Same.takeError();
      if (!*Same)
        return Out;
    }
    if (!B.Permuted)
      continue;
    Expected<bool> Same = compareOne(Candidate, B, FirstPoison, true, Out);
    if (!Same)
      return Same.takeError();
    if (!*Same)
      return Out;
  }
  if (!All && Out.MemoryChecked) {
    Out.MemoryChecked = false;
    Out.MemoryWhyNot = "the collector left no whole trace of the unedited program";
  }
  Out.MemoryIdentical &= Out.MemoryChecked;
  return Out;
}

} // namespace optimas
