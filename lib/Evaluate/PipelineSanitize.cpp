//===- PipelineSanitize.cpp - compute-sanitizer on what is to be accepted -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The hashes hold an allocation and the bytes up to the next multiple of 256. Accesses
/// farther away, reads out of bounds and races in shared memory are compute-sanitizer's
/// to find. It comes with the toolkit, but not with every installation, and is slow: it
/// gets the input that runs shortest.
///
//===----------------------------------------------------------------------===//
#include "PipelineImpl.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace optimas {

static constexpr int FoundStatus = 97; // no program's own

static std::string findSanitizer(StringRef CudaPath) {
  ErrorOr<std::string> Path = sys::findProgramByName(
      "compute-sanitizer", {(CudaPath + "/bin").str(),
                            (CudaPath + "/compute-sanitizer").str()});
  if (!Path)
    Path = sys::findProgramByName("compute-sanitizer");
  return Path ? *Path : "";
}

/// `========= Invalid __global__ write of size 4 bytes` → the words.
static std::string firstFinding(StringRef Log) {
  for (StringRef Line : split(Log, '\n')) {
    if (!Line.consume_front("========="))
      continue;
    Line = Line.trim();
    if (!Line.empty() && !Line.contains("COMPUTE-SANITIZER"))
      return Line.str();
  }
  return "an error";
}

/// The finding of one of its tools, empty when there is none or it did not end in time.
Expected<std::string> Pipeline::sanitize(const Version &V, StringRef Tool,
                                         const InputSet &Input) {
  SubprocessOptions R;
  R.Args = {Sanitizer, "--tool", Tool.str(), "--error-exitcode",
            std::to_string(FoundStatus)};
  std::vector<std::string> Program = Check->argv(program(V), Input);
  R.Args.insert(R.Args.end(), Program.begin(), Program.end());
  R.Directory = Layout.RunDir;
  R.MergeError = true;
  R.MaxOutputBytes = 1 << 20;
  R.TimeoutSeconds = std::clamp(Until.left() / 10, 2.0, 60.0);
  Expected<SubprocessResult> Out = V.View->run(R);
  if (!Out)
    return Out.takeError();
  if (Out->TimedOut)
    Result.Notes.push_back(formatv("compute-sanitizer {0} did not end within {1:F0} s", Tool,
                                   R.TimeoutSeconds));
  return Out->ExitStatus == FoundStatus ? firstFinding(Out->Output) : std::string();
}

/// What the sanitizer finds in \p V and not in the unedited program.
Expected<std::string> Pipeline::newFinding(const Version &V) {
  const InputBaseline *Shortest = nullptr;
  for (const InputBaseline &B : Check->inputs())
    if (B.Usable && (!Shortest || B.Seconds < Shortest->Seconds))
      Shortest = &B;
  for (StringRef Tool : {"memcheck", "racecheck", "initcheck"}) {
    if (Until.left() < 10)
      break;
    Expected<std::string> Found = sanitize(V, Tool, Shortest->Input);
    if (!Found || Found->empty()) {
      if (!Found)
        return Found;
      continue;
    }
    Expected<std::string> Before = sanitize(Baseline, Tool, Shortest->Input);
    if (!Before)
      return Before;
    if (Before->empty())
      return formatv("compute-sanitizer {0}, input `{1}`: {2}", Tool, Shortest->Input.Name,
                     *Found)
          .str();
    Result.Notes.push_back(formatv("compute-sanitizer {0} finds errors in the unedited "
                                   "program, too: {1}",
                                   Tool, *Before));
  }
  return std::string();
}

/// False when a member of \p M was struck.
Expected<bool> Pipeline::sanitized(const Members &M) {
  Sanitizer = findSanitizer(S.CudaPath);
  if (Sanitizer.empty()) {
    Result.Notes.push_back("compute-sanitizer is not installed: reads out of bounds and "
                           "races in shared memory are seen by their results only");
    return true;
  }
  Say("running compute-sanitizer");
  Expected<std::string> Together = newFinding(versionOf(M));
  if (!Together)
    return Together.takeError();
  if (Together->empty())
    return true;
  auto Strike = [&](size_t I, const std::string &Why) {
    Outcomes[I].Verdict = VerdictKind::WrongResult;
    Outcomes[I].Why = Why;
    Standings[I].Alive = false;
  };
  bool Struck = false;
  for (size_t I : M) {
    Expected<std::string> Own = M.size() == 1 ? *Together : newFinding(*Versions[I]);
    if (!Own)
      return Own.takeError();
    if (!Own->empty())
      Strike(I, *Own);
    Struck |= !Own->empty();
  }
  if (!Struck)
    Strike(M.back(), *Together);
  return false;
}

} // namespace optimas
