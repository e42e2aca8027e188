//===- Readers.cpp - Profiles from files of any kind ------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Profile/Readers.h"
#include "ByteStream.h"
#include "CuptiTrace.h"
#include "JsonFields.h"
#include "NcuCsv.h"
#include "NsysCsv.h"
#include "NsysSqlite.h"
#include "optimas/Profile/Cubin.h"
#include "optimas/Support/Error.h"
#include "optimas/Support/Files.h"
#include "optimas/Support/Subprocess.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace optimas {

/// What an .ncu-rep starts with.
static const StringRef ReportMagic("NVR\0", 4);

static bool isSqlite(StringRef Head) {
  return Head.consume_front(SqliteMagic) && Head.starts_with(StringRef("\0", 1));
}

static Expected<Profile> profileOfCubin(StringRef Bytes, StringRef Name) {
  Expected<Cubin> C = Cubin::parse(Bytes, Name);
  if (!C)
    return C.takeError();
  Profile P;
  Provenance Source;
  Source.Kind = "cubin";
  Source.File = Name.str();
  P.Sources.push_back(std::move(Source));
  Module &M = P.Modules.emplace_back();
  M.Id = sha256(Bytes);
  M.Cubin = Bytes.str();
  M.Sm = C->sm();
  return P;
}

/// Two commands, as they would be typed where ncu is.
static std::string exportBoth(StringRef Report) {
  std::string File = quoteCommand({Report.str()});
  std::string Text;
  for (auto [Arguments, Page] :
       {std::make_pair(sourcePageArguments(), "source"),
        std::make_pair(rawPageArguments(), "raw")})
    Text += (Text.empty() ? "" : "\n  ") +
            ("LC_ALL=C ncu --import " + File + " ") + join(Arguments, " ") +
            " > run." + Page + ".csv";
  return Text;
}

static Error noNcu(StringRef Path) {
  return makeError(
      ExitCode::EvidenceUnusable,
      "an Nsight Compute report can only be read by ncu, which is not on "
      "PATH here",
      Path,
      "Where ncu is, run the two commands below and give both files with "
      "--profile:\n  " +
          exportBoth(Path));
}

static Expected<std::string> exportPage(StringRef Ncu, StringRef Report,
                                        ArrayRef<const char *> Arguments) {
  SubprocessOptions Options;
  Options.Args = {Ncu.str(), "--import", Report.str()};
  Options.Args.insert(Options.Args.end(), Arguments.begin(), Arguments.end());
  Options.Environment = {{"LC_ALL", "C"}};
  Options.MaxOutputBytes = size_t(4) << 30;
  Options.TimeoutSeconds = 600;
  Expected<SubprocessResult> Result = runSubprocess(Options);
  if (!Result)
    return Result.takeError();
  if (Result->ok() && !Result->Truncated)
    return std::move(Result->Output);
  std::string Why = Result->TimedOut ? "it did not end within ten minutes"
                    : Result->Truncated
                        ? "it printed more than 4 GiB"
                        : "exit status " + std::to_string(Result->ExitStatus);
  StringRef Said = StringRef(Result->Error).trim();
  if (Said.empty())
    Said = StringRef(Result->Output).trim().take_front(500);
  return makeError(
      ExitCode::EvidenceUnusable,
      "ncu could not export this report: " + Why + ": " + Said, Report,
      "Try it by hand; a report needs an ncu at least as new as the one "
      "that wrote it:\n  " +
          quoteCommand(Options.Args));
}

static Expected<Profile> readReport(StringRef Path) {
  ErrorOr<std::string> Ncu = sys::findProgramByName("ncu");
  if (!Ncu)
    return noNcu(Path);
  Expected<std::string> Source = exportPage(*Ncu, Path, sourcePageArguments());
  if (!Source)
    return Source.takeError();
  Expected<std::string> Raw = exportPage(*Ncu, Path, rawPageArguments());
  if (!Raw)
    return Raw.takeError();
  Expected<Profile> Samples = parseNcuSourceCsv(*Source, Path);
  Expected<Profile> Counters = parseNcuRawCsv(*Raw, Path);
  if (!Samples || !Counters)
    return joinErrors(Samples.takeError(), Counters.takeError());
  std::vector<std::string> Conflicts;
  Profile P = mergeProfiles({*Samples, *Counters}, Conflicts);
  for (std::string &Conflict : Conflicts)
    P.Quality.Notes.push_back(std::move(Conflict));
  for (Provenance &S : P.Sources)
    S.Kind = "ncu-rep";
  return P;
}

Expected<Profile> parseProfile(StringRef Bytes, StringRef Name) {
  if (Bytes.trim().empty())
    return makeError(
        ExitCode::EvidenceUnusable, "the file is empty", Name,
        "Record it again: optimas-profile -o run.optimas.json -- ./app");
  if (Bytes.starts_with(ELF::ElfMagic))
    return profileOfCubin(Bytes, Name);
  if (Bytes.starts_with(ReportMagic))
    return noNcu(Name);
  if (Bytes.ltrim().starts_with("{") || isZstd(Bytes))
    return parseProfileJson(Bytes, Name);
  if (isSqlite(Bytes))
    return parseNsysSqlite(Bytes, Name);
  if (isCuptiTrace(Bytes.take_front(CuptiTraceHeadSize)))
    return parseCuptiTrace(Bytes, Name);
  switch (recognizeNcuPage(Bytes).Page) {
  case NcuPage::Source:
    return parseNcuSourceCsv(Bytes, Name);
  case NcuPage::Raw:
  case NcuPage::Details:
  case NcuPage::Summary:
    return parseNcuRawCsv(Bytes, Name);
  case NcuPage::None:
    break;
  }
  size_t Start = 0;
  if (recognizeNsysSummary(Bytes, Start))
    return parseNsysCsv(Bytes, Name);
  return makeError(ExitCode::EvidenceUnusable,
                   "not a profile: neither optimas-profile's JSON, nor a "
                   "source, raw or details page of Nsight Compute, nor an .ncu-rep, nor a "
                   "kernel summary or SQLite export of Nsight Systems, nor a trace of CUPTI's "
                   "PC sampling utility, nor a cubin",
                   Name,
                   "Record one: optimas-profile -o run.optimas.json -- ./app");
}

/// Up to so many bytes of a file; nothing when it cannot be read.
static std::string startOf(StringRef Path, size_t Size) {
  std::string Head(Size, '\0');
  // Opening a pipe that nobody writes would wait forever.
  if (!sys::fs::is_regular_file(Path))
    return "";
  Expected<sys::fs::file_t> File = sys::fs::openNativeFileForRead(Path);
  if (!File) {
    consumeError(File.takeError());
    return "";
  }
  sys::fs::file_status Status;
  Expected<size_t> Got = 0;
  // Reading from a pipe would take it from who reads it next.
  if (!sys::fs::status(*File, Status) &&
      Status.type() == sys::fs::file_type::regular_file)
    Got = sys::fs::readNativeFileSlice(
        *File, MutableArrayRef<char>(Head.data(), Size), 0);
  sys::fs::closeFile(*File);
  Head.resize(Got ? *Got : 0);
  consumeError(Got.takeError());
  return Head;
}

static Expected<Profile> readJsonFile(StringRef Path, bool IsCompressed) {
  Expected<std::unique_ptr<ByteStream>> Stream = streamOfFile(Path);
  if (!Stream)
    return makeError(ExitCode::EvidenceUnusable,
                     "cannot be read: " + toString(Stream.takeError()), Path,
                     "Check the path and its permissions.");
  if (IsCompressed)
    *Stream = decompressed(std::move(*Stream));
  return readProfileJson(**Stream, Path);
}

Expected<Profile> readProfile(StringRef Path) {
  // Reports and traces can be large, and are not read as a whole here.
  std::string Head = startOf(Path, CuptiTraceHeadSize);
  if (StringRef(Head).starts_with(ReportMagic))
    return readReport(Path);
  if (isNsysReport(Path) && sys::fs::is_regular_file(Path))
    return readNsysReport(Path);
  if (isSqlite(Head))
    return readNsysSqliteFile(Path);
  if (isCuptiTrace(Head))
    return readCuptiTraceFile(Path);
  if (isZstd(Head) || StringRef(Head).ltrim().starts_with("{"))
    return readJsonFile(Path, isZstd(Head));
  Expected<std::string> Bytes = readFile(Path, ExitCode::EvidenceUnusable);
  if (!Bytes)
    return Bytes.takeError();
  return parseProfile(*Bytes, Path);
}

} // namespace optimas
