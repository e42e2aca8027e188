//===- Run.cpp - Running a program in a view -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Evaluate/Run.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace llvm;

namespace optimas {

std::string findCollector(StringRef ToolDir) {
  for (StringRef Where : {"", "../lib", "../lib/optimas"}) {
    SmallString<256> Path(ToolDir);
    sys::path::append(Path, Where, "liboptimas_collector.so");
    if (!ToolDir.empty() && sys::fs::exists(Path))
      return canonicalPath(Path);
  }
  return "";
}

std::string endedBadly(const SubprocessResult &R, double TimeoutSeconds) {
  if (R.TimedOut)
    return formatv("did not end within {0:F0} s", TimeoutSeconds).str();
  if (R.Signal)
    return formatv("was killed by signal {0} ({1})", R.Signal, strsignal(R.Signal)).str();
  // A shell or a mount helper between us and the program reports a signal this way.
  if (R.ExitStatus > 128 && R.ExitStatus < 160)
    return formatv("was killed by signal {0} ({1})", R.ExitStatus - 128,
                   strsignal(R.ExitStatus - 128))
        .str();
  if (R.ExitStatus)
    return formatv("ended with exit status {0}", R.ExitStatus).str();
  return "";
}

Expected<std::vector<InputSet>> readInputs(StringRef Path) {
  std::vector<InputSet> Out;
  Expected<std::string> Text = readFile(Path, ExitCode::Usage);
  if (!Text)
    return Text.takeError();
  unsigned Number = 0;
  for (StringRef Line : split(*Text, '\n')) {
    ++Number;
    Line = Line.trim();
    if (Line.empty() || Line.starts_with("#"))
      continue;
    if (Line.contains('\0'))
      return makeError(ExitCode::Usage, "is not a text file",
                       Path + ":" + Twine(Number), "give one argument list a line");
    Expected<std::vector<std::string>> Words = splitCommand(Line);
    if (!Words) {
      consumeError(Words.takeError());
      return makeError(ExitCode::Usage, "has an unclosed quote",
                       Path + ":" + Twine(Number), "quote as a shell does");
    }
    InputSet S;
    S.Name = Line.str();
    S.Args = std::move(*Words);
    Out.push_back(std::move(S));
  }
  if (Out.empty())
    return makeError(ExitCode::Usage, "holds no argument list", Path,
                     "give one argument list a line; lines that start with # are comments");
  return Out;
}

static std::string inFolder(StringRef Folder, StringRef File) {
  SmallString<256> Path(File);
  if (!sys::path::is_absolute(Path)) {
    Path = Folder;
    sys::path::append(Path, File);
  }
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

void Runner::removeOutputs(const ScratchView &View, const ProgramRun &R) const {
  // A file left by an earlier run must not pass for this one's. Only copies are removed.
  for (const std::string &F : OutputFiles)
    if (std::string Path = inFolder(R.Directory, F); View.covers(Path))
      sys::fs::remove(View.outside(Path));
}

static std::vector<std::string> filesIn(StringRef Folder, StringRef Prefix) {
  std::vector<std::string> Out;
  std::error_code EC;
  for (sys::fs::directory_iterator It(Folder, EC), End; It != End && !EC; It.increment(EC))
    if (sys::path::filename(It->path()).starts_with(Prefix))
      Out.push_back(It->path());
  sort(Out);
  return Out;
}

/// Joins the traces of several processes of a run (only one of which may have launched
/// kernels in memory mode: between processes there is no order).
static void join(std::optional<MemoryTrace> &Into, MemoryTrace T) {
  if (!Into || (Into->Launches.empty() && !T.Launches.empty())) {
    Into = std::move(T);
    return;
  }
  if (!T.Launches.empty())
    Into->Uncovered.push_back("several processes of the program launch kernels");
}

static void join(std::optional<TimeTrace> &Into, TimeTrace T) {
  if (!Into) {
    Into = std::move(T);
    return;
  }
  Into->Kernels.insert(Into->Kernels.end(), T.Kernels.begin(), T.Kernels.end());
  Into->TotalKernelNs += T.TotalKernelNs;
  Into->Complete &= T.Complete;
  if (Into->Final.empty())
    Into->Final = std::move(T.Final);
}

Error Runner::readTraces(StringRef Folder, const ProgramRun &R, RunOutcome &Out) const {
  // A crashed program leaves `trace.<pid>.partial.<pid>`: it ends before its last line.
  std::vector<std::string> Files = filesIn(Folder, "trace.");
  Out.NoGpuUse = Files.empty();
  for (const std::string &F : Files) {
    Expected<std::string> Text = readFile(F, ExitCode::Internal);
    if (!Text)
      return Text.takeError();
    if (Text->empty())
      continue;
    if (R.Mode == RunMode::Memory) {
      Expected<MemoryTrace> T = parseMemoryTrace(*Text, F);
      if (!T)
        return T.takeError();
      T->Complete &= !StringRef(F).contains(".partial.");
      join(Out.Memory, std::move(*T));
    } else {
      Expected<TimeTrace> T = parseTimeTrace(*Text, F);
      if (!T)
        return T.takeError();
      T->Complete &= !StringRef(F).contains(".partial.");
      join(Out.Time, std::move(*T));
    }
  }
  if (R.Mode == RunMode::Memory ? !Out.Memory : !Out.Time)
    Out.TraceProblem = Files.empty()
                           ? "no process of the program loaded the collector (it calls no "
                             "CUDA function)"
                           : "the collector wrote an empty trace";
  return Error::success();
}

static std::string listOf(ArrayRef<std::string> Kernels) {
  return join(Kernels, "\n");
}

Expected<RunOutcome> Runner::run(const ScratchView &View, const ProgramRun &R) const {
  RunOutcome Out;
  SubprocessOptions O;
  O.Args = R.Args;
  O.Directory = R.Directory;
  O.TimeoutSeconds = R.TimeoutSeconds;
  O.MaxOutputBytes = size_t(64) << 20;
  removeOutputs(View, R);
  std::string Folder = View.file("traces"), DumpFile = View.file("dump.bin");
  bool Injected = R.Mode != RunMode::Plain && hasCollector();
  if (Injected) {
    sys::fs::remove_directories(Folder);
    if (std::error_code EC = sys::fs::create_directory(Folder))
      return makeError(ExitCode::Usage, "cannot be made: " + EC.message(), Folder,
                       "set TMPDIR to a folder with free space");
    O.Environment = {{"CUDA_INJECTION64_PATH", Collector},
                     {"OPTIMAS_COLLECT", R.Mode == RunMode::Memory ? "memory" : "time"},
                     {"OPTIMAS_COLLECT_OUTPUT", Folder + "/trace.%p"},
                     {"OPTIMAS_COLLECT_POISON", std::to_string(R.Poison)}};
    if (R.Mode == RunMode::Memory)
      O.Environment.push_back({"OPTIMAS_COLLECT_KERNELS", listOf(R.Kernels)});
    if (R.PermuteSeed)
      O.Environment.push_back({"OPTIMAS_COLLECT_PERMUTE", std::to_string(*R.PermuteSeed)});
    if (R.Dump)
      O.Environment.push_back({"OPTIMAS_COLLECT_DUMP",
                               formatv("{0}:{1}:{2}", R.Dump->first, R.Dump->second,
                                       DumpFile)
                                   .str()});
  }
  Expected<SubprocessResult> P = View.run(O);
  if (!P)
    return P.takeError();
  Out.Process = std::move(*P);
  for (const std::string &F : OutputFiles) {
    Expected<std::string> Bytes =
        readFile(View.outside(inFolder(R.Directory, F)), ExitCode::Internal);
    if (Bytes)
      Out.Files[F] = std::move(*Bytes);
    else
      consumeError(Bytes.takeError());
  }
  if (Injected)
    if (Error E = readTraces(Folder, R, Out))
      return std::move(E);
  if (R.Mode != RunMode::Plain && !Injected)
    Out.TraceProblem = "liboptimas_collector.so was not found";
  if (R.Dump) {
    Expected<std::string> Bytes = readFile(DumpFile, ExitCode::Internal);
    if (Bytes)
      Out.Dump = std::move(*Bytes);
    else
      consumeError(Bytes.takeError());
    sys::fs::remove(DumpFile);
  }
  return Out;
}

} // namespace optimas
