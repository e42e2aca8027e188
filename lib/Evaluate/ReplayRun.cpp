//===- ReplayRun.cpp - Is it the recorded run that is asked for? -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TreeCopy.h"
#include "optimas/Evaluate/Replay.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace optimas {

/// The build's and the project's folder by name, the inner one first.
static std::string withoutFolders(StringRef Text, const Subject &S,
                                  const EvaluationOptions &O) {
  std::string BuildDir = O.BuildDir.empty() ? "" : canonicalPath(O.BuildDir);
  std::string Out = Text.str();
  for (auto [From, To] : {std::pair<StringRef, StringRef>{BuildDir, "<build>"},
                          {S.ProjectRoot, "<root>"}})
    if (!From.empty() && From != "/")
      Out = replacePath(Out, From, To);
  return Out;
}

RunAsked runAsked(const Subject &S, const EvaluationOptions &O,
                  ArrayRef<std::string> RunArgs, ArrayRef<InputSet> Inputs) {
  RunAsked Out;
  auto Clean = [&](ArrayRef<std::string> Words) {
    std::vector<std::string> List;
    for (const std::string &W : Words)
      List.push_back(withoutFolders(W, S, O));
    return List;
  };
  if (!RunArgs.empty()) {
    Out.Program = sys::path::filename(RunArgs[0]).str();
    Out.Args = Clean(RunArgs.drop_front());
  }
  for (const InputSet &I : Inputs)
    Out.Inputs.push_back(Clean(I.Args));
  Out.OutputFiles = Clean(O.OutputFiles);
  Out.Masks = O.Masks;
  Out.Profiled = S.Device;
  return Out;
}

static Error another(StringRef File, const Twine &What, const Twine &Remedy) {
  return makeError(ExitCode::EvidenceUnusable, "is the recording of another run: " + What,
                   File, Remedy + ", or record this run with --record on a machine with a GPU");
}

static std::string shown(ArrayRef<std::string> Words) {
  return Words.empty() ? "no arguments" : "`" + quoteCommand(Words) + "`";
}

/// `NVIDIA H200, driver 580` and `H200` are one card.
static std::string cardName(StringRef Machine) {
  StringRef Name = Machine.split(", driver").first.trim();
  Name.consume_front_insensitive("NVIDIA ");
  return Name.lower();
}

/// The argument lists that the recorded result was validated with, where a recording does
/// not say what was asked for: names are the lines of --inputs.
static std::optional<std::vector<std::vector<std::string>>>
validatedInputs(const Recording &R) {
  if (!R.Final)
    return std::nullopt;
  std::vector<std::vector<std::string>> Out;
  for (const std::string &Name : R.Final->Validation.Inputs) {
    Expected<std::vector<std::string>> Words = splitCommand(Name);
    if (Words)
      Out.push_back(std::move(*Words));
    else
      consumeError(Words.takeError());
  }
  return Out;
}

static Error checkInputs(ArrayRef<std::vector<std::string>> Recorded, const RunAsked &Asked,
                         StringRef File) {
  for (const std::vector<std::string> &I : Asked.Inputs)
    if (!is_contained(Recorded, I))
      return another(File, "nothing was validated with the input " + shown(I),
                     "leave that line out of --inputs");
  return Error::success();
}

static Error checkDevice(StringRef Recorded, const RunAsked &Asked, StringRef File) {
  if (Recorded.empty() || Asked.Profiled.empty() ||
      cardName(Recorded) == cardName(Asked.Profiled))
    return Error::success();
  return another(File,
                 "it was measured on " + Recorded + ", and the profile is of " + Asked.Profiled,
                 "give the profile of the recorded card");
}

/// With the fields of newer recordings.
static Error checkAgainst(const RunAsked &Ran, const RunAsked &Asked, StringRef File) {
  if (!Asked.Program.empty() && Ran.Program != Asked.Program)
    return another(File, "`" + Ran.Program + "` was run, not `" + Asked.Program + "`",
                   "name that program by --run");
  if (!Asked.Program.empty() && Ran.Args != Asked.Args)
    return another(File,
                   "the program was run with " + shown(Ran.Args) + ", not with " +
                       shown(Asked.Args),
                   "give those to --run");
  if (Error E = checkInputs(Ran.Inputs, Asked, File))
    return E;
  for (const std::string &F : Asked.OutputFiles)
    if (!is_contained(Ran.OutputFiles, F))
      return another(File, "the program's file `" + F + "` was not compared",
                     "leave out that --output-file");
  for (const std::string &M : Ran.Masks)
    if (!is_contained(Asked.Masks, M))
      return another(File, "text that matches `" + M + "` was not compared",
                     "allow that with --mask");
  // A profile of one card may lead to edits that are measured on another.
  if (!Ran.Profiled.empty() && cardName(Ran.Profiled) == cardName(Asked.Profiled))
    return Error::success();
  return checkDevice(Ran.Device, Asked, File);
}

Expected<std::vector<std::string>> checkRun(const Recording &R, const RunAsked &Asked,
                                            StringRef File) {
  if (R.Ran) {
    if (Error E = checkAgainst(*R.Ran, Asked, File))
      return std::move(E);
    return std::vector<std::string>();
  }
  // An older recording says less; what it says must agree.
  std::vector<std::string> Unknown;
  if (!Asked.Program.empty())
    Unknown.push_back("its arguments with those of --run");
  auto Validated = validatedInputs(R);
  if (Validated) {
    if (Error E = checkInputs(*Validated, Asked, File))
      return std::move(E);
  } else if (!Asked.Inputs.empty()) {
    Unknown.push_back("its inputs with those of --inputs");
  }
  if (!Asked.OutputFiles.empty())
    Unknown.push_back("the files that were compared with --output-file");
  if (Error E = checkDevice(R.Machine, Asked, File))
    return std::move(E);
  if (Unknown.empty())
    return Unknown;
  return std::vector<std::string>{"the recording is older than the field that says what was "
                                  "run; not compared: " +
                                  join(Unknown, "; ")};
}

} // namespace optimas
