//===- CuptiTrace.cpp - Files of CUPTI's PC sampling utility ----*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CuptiTrace.h"
#include "FlatBuffer.h"
#include "optimas/Profile/Readers.h"
#include "optimas/Support/Error.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using support::endian::read32le;
using support::endian::read64le;

namespace optimas {

ByteSource::~ByteSource() = default;

/// The header, a buffer's head, the FlatBuffer's root and its identifier.
bool isCuptiTrace(StringRef Head) {
  if (Head.size() >= CuptiTraceHeadSize)
    return Head.substr(44, 4) == "CUPS";
  // Cut short, or without a buffer.
  return Head.size() >= 8 && Head.starts_with(StringRef("\1\0\0\0", 4));
}

namespace {
constexpr size_t HeaderSize = 8, BufferHeadSize = 32;
/// The FlatBuffer's own limit, and more than CUPTI can write at once.
constexpr uint64_t MaxBufferSize = uint64_t(1) << 31;

class TraceReader {
public:
  TraceReader(ByteSource &Source, StringRef Name) : Source(Source), Name(Name) {}
  Expected<Profile> read();

private:
  Error readBuffer(StringRef Head, StringRef Bytes);
  void readSettings(FlatBuffer &B, const FlatBuffer::Table &Settings);
  void readRecord(FlatBuffer &B, const FlatBuffer::Table &Record);
  Error nameColumns();
  void addFunction(const SampleSum::Function &F);
  Profile finish();
  void note(const Twine &Text) { Result.Quality.Notes.push_back(Text.str()); }
  Error damaged(const Twine &What) {
    return makeError(ExitCode::EvidenceUnusable,
                     "damaged trace of CUPTI's PC sampling utility: " + What, Name,
                     "Record it again; a program that is killed leaves its "
                     "last buffer unfinished.");
  }
  std::string where() const {
    return ("buffer " + Twine(Buffer + 1) + " of " + Twine(Buffers)).str();
  }

  ByteSource &Source;
  StringRef Name;
  Profile Result;
  SampleSum Sum;
  uint32_t Buffers = 0, Buffer = 0;
  uint64_t Records = 0, Remaining = 0;
  uint64_t LastLaunch = 0;
  DenseSet<uint64_t> Launches; ///< correlation ids, in serialized mode
  std::map<uint32_t, std::string> ReasonNames;
  bool NamesDiffer = false, IntervalsDiffer = false;
  /// By column: the stall's name, and whether nothing was issued.
  std::vector<std::pair<std::string, bool>> ColumnNames;
};
} // namespace

void TraceReader::readSettings(FlatBuffer &B, const FlatBuffer::Table &Settings) {
  unsigned Interval = B.scalar<uint32_t>(Settings, 0);
  unsigned &Known = Result.Quality.SamplingIntervalLog2;
  IntervalsDiffer |= Interval && Known && Interval != Known;
  if (Interval)
    Known = Interval;
  FlatBuffer::Vector Indices = B.vector(Settings, 7, 4),
                     Names = B.vector(Settings, 8, 4);
  if (Indices.Size != Names.Size || Names.Size > SampleSum::MaxReasons)
    return B.setDamaged();
  for (uint32_t I = 0; I < Names.Size; ++I) {
    StringRef Text = B.stringAt(Names.At + 4 * I);
    auto [At, IsNew] =
        ReasonNames.try_emplace(B.load<uint32_t>(Indices.At + 4 * I), Text.str());
    NamesDiffer |= At->second != Text;
  }
}

void TraceReader::readRecord(FlatBuffer &B, const FlatBuffer::Table &Record) {
  uint64_t Offset = B.scalar<uint64_t>(Record, 2);
  StringRef Function = B.string(Record, 4);
  FlatBuffer::Vector Stalls = B.vector(Record, 6, 8);
  if (B.damaged() || Offset >= SampleSum::MaxOffset ||
      Stalls.Size > SampleSum::MaxReasons)
    return B.setDamaged();
  uint64_t Launch = B.scalar<uint32_t>(Record, 7);
  if (Launch != LastLaunch)
    Launches.insert(LastLaunch = Launch);
  const char *First = B.at(Stalls.At);
  for (uint32_t I = 0; I < Stalls.Size; ++I) {
    uint32_t Reason = read32le(First + 8 * I);
    if (Reason >= SampleSum::MaxReasons)
      return B.setDamaged();
    Sum.column(Reason);
  }
  uint64_t *Row = Sum.row(Sum.function(B.scalar<uint64_t>(Record, 1),
                                       B.scalar<uint32_t>(Record, 5), Function),
                          Offset);
  for (uint32_t I = 0; I < Stalls.Size; ++I)
    Row[Sum.column(read32le(First + 8 * I))] += read32le(First + 8 * I + 4);
}

Error TraceReader::readBuffer(StringRef Head, StringRef Bytes) {
  if (Bytes.substr(4, 4) != "CUPS")
    return damaged(where() + " is not a FlatBuffer with CUPTI's identifier");
  FlatBuffer B(Bytes);
  FlatBuffer::Table Root = B.root();
  if (uint64_t At = B.field(Root, 0)) {
    FlatBuffer::Table Attributes = B.table(At);
    if (uint64_t Settings = B.field(Attributes, 5))
      readSettings(B, B.table(Settings));
  }
  ProfileQuality &Q = Result.Quality;
  Q.TotalSamples += B.scalar<uint64_t>(Root, 3);
  Q.DroppedSamples += B.scalar<uint64_t>(Root, 4);
  Remaining = B.scalar<uint64_t>(Root, 6);
  Q.NonUserSamples += B.scalar<uint64_t>(Root, 9);
  FlatBuffer::Vector List = B.vector(Root, 8, 4);
  if (!B.damaged() && List.Size != read64le(Head.data()))
    return damaged(where() + " has " + Twine(List.Size) + " records, its head says " +
                   Twine(read64le(Head.data())));
  for (uint32_t I = 0; I < List.Size && !B.damaged(); ++I)
    readRecord(B, B.table(List.At + 4 * uint64_t(I)));
  if (B.damaged())
    return damaged(where() + " points outside itself or has impossible values");
  Records += List.Size;
  return Error::success();
}

/// What the collector makes of the same names.
Error TraceReader::nameColumns() {
  for (uint32_t Reason : Sum.reasons()) {
    auto At = ReasonNames.find(Reason);
    if (At == ReasonNames.end())
      return makeError(ExitCode::EvidenceUnusable,
                       "this trace does not name stall reason " + Twine(Reason), Name,
                       "Set pPcSamplingStallReasons in at least one call of "
                       "CuptiUtilPutPcSampData (NVIDIA's pc_sampling_continuous does "
                       "it by itself).");
    StringRef Text = At->second;
    // Two of them could become one where a profile, which is UTF-8, is written.
    if (!json::isUTF8(Text))
      return damaged("the name of stall reason " + Twine(Reason) + " is not text");
    bool IsStall = Text.consume_front("smsp__pcsamp_warps_issue_stalled_");
    bool NotIssued = Text.consume_back("_not_issued");
    ColumnNames.emplace_back(IsStall ? Text.str() : "", NotIssued);
  }
  return Error::success();
}

void TraceReader::addFunction(const SampleSum::Function &F) {
  FunctionSamples &Out = Result.Functions.emplace_back();
  Out.Symbol = F.Name;
  if (F.Crc)
    Out.ModuleId = CuptiCrcPrefix.str() + utohexstr(F.Crc, /*LowerCase=*/true);
  for (size_t Row = 0; Row < F.Offsets.size(); ++Row) {
    std::map<StringRef, StallCount> Stalls;
    for (size_t Column = 0; Column < ColumnNames.size(); ++Column) {
      const auto &[Reason, NotIssued] = ColumnNames[Column];
      uint64_t Count =
          Column < F.Stride ? F.Counts[Row * F.Stride + Column] : 0;
      if (Reason.empty() || Count == 0)
        continue;
      StallCount &S = Stalls[Reason];
      S.Reason = Reason;
      (NotIssued ? S.LatencySamples : S.Samples) += Count;
    }
    PcSample &Pc = Out.Pcs.emplace_back();
    Pc.Offset = F.Offsets[Row];
    for (auto &[Reason, S] : Stalls) {
      // Where only the second of the two was selected.
      S.Samples = std::max(S.Samples, S.LatencySamples);
      Pc.Stalls.push_back(std::move(S));
    }
  }
  llvm::sort(Out.Pcs, [](const PcSample &A, const PcSample &B) {
    return A.Offset < B.Offset;
  });
}

Profile TraceReader::finish() {
  for (const SampleSum::Function &F : Sum.functions())
    addFunction(F);
  llvm::sort(Result.Functions,
             [](const FunctionSamples &A, const FunctionSamples &B) {
               return std::tie(A.Symbol, A.ModuleId) < std::tie(B.Symbol, B.ModuleId);
             });
  if (NamesDiffer)
    note("two buffers name a stall reason differently: the first name is used");
  if (IntervalsDiffer)
    note("the sampling interval differs between buffers");
  if (Remaining)
    note(Twine(Remaining) + " PCs had not been collected when the last buffer "
                            "was written: their samples are missing");
  Provenance P;
  P.Kind = "cupti-pcsampling-util";
  P.Tool = (Twine("CUPTI PC sampling utility, ") + Twine(Buffers) + " buffers, " +
            Twine(Records) + " records" +
            (Launches.empty() ? Twine("")
                              : ", " + Twine(Launches.size()) + " launches"))
               .str();
  P.File = Name.str();
  Result.Sources.push_back(std::move(P));
  return std::move(Result);
}

Expected<Profile> TraceReader::read() {
  if (Source.size() < HeaderSize)
    return damaged("it ends in its header");
  Expected<StringRef> Header = Source.read(0, HeaderSize);
  if (!Header)
    return Header.takeError();
  uint32_t Version = read32le(Header->data());
  if (Version != 1)
    return makeError(ExitCode::EvidenceUnusable,
                     "version " + Twine(Version) +
                         " of CUPTI's PC sampling utility format; this program "
                         "reads version 1",
                     Name, "Record it with the utility of CUDA 13.0 or earlier.");
  Buffers = read32le(Header->data() + 4);
  if (Buffers == 0)
    return damaged("it has no buffers: nothing was sampled");
  uint64_t At = HeaderSize;
  for (; Buffer < Buffers; ++Buffer) {
    char Head[BufferHeadSize];
    if (Source.size() - At < BufferHeadSize)
      return damaged("it ends before " + where());
    Expected<StringRef> Bytes = Source.read(At, BufferHeadSize);
    if (!Bytes)
      return Bytes.takeError();
    std::copy_n(Bytes->data(), BufferHeadSize, Head);
    At += BufferHeadSize;
    uint64_t Size = read64le(Head + 24);
    if (Size > Source.size() - At)
      return damaged("it ends in " + where());
    if (Size > MaxBufferSize)
      return damaged(where() + " is larger than a FlatBuffer can be");
    Bytes = Source.read(At, size_t(Size));
    if (!Bytes)
      return Bytes.takeError();
    if (Error E = readBuffer(StringRef(Head, BufferHeadSize), *Bytes))
      return std::move(E);
    At += Size;
  }
  if (At != Source.size())
    return damaged(Twine(Source.size() - At) + " bytes follow its last buffer");
  if (Error E = nameColumns())
    return std::move(E);
  for (const SampleSum::Function &F : Sum.functions())
    if (!json::isUTF8(F.Name))
      return damaged("the name of a function is not text");
  return finish();
}

Expected<Profile> readCuptiTrace(ByteSource &Source, StringRef Name) {
  return TraceReader(Source, Name).read();
}

namespace {
class MemorySource final : public ByteSource {
public:
  explicit MemorySource(StringRef Bytes) : Bytes(Bytes) {}
  uint64_t size() const override { return Bytes.size(); }
  Expected<StringRef> read(uint64_t Offset, size_t Size) override {
    return Bytes.substr(Offset, Size);
  }

private:
  StringRef Bytes;
};

/// Read rather than mapped: what is mapped counts as memory, and a file that
/// shrinks meanwhile would end the program.
class FileSource final : public ByteSource {
public:
  FileSource(sys::fs::file_t File, uint64_t Size, StringRef Name)
      : File(File), Size(Size), Name(Name) {}
  ~FileSource() override { sys::fs::closeFile(File); }
  uint64_t size() const override { return Size; }
  Expected<StringRef> read(uint64_t Offset, size_t Want) override {
    if (Buffer.size() < Want)
      Buffer.resize_for_overwrite(Want);
    for (size_t Have = 0; Have < Want;) {
      Expected<size_t> N = sys::fs::readNativeFileSlice(
          File, MutableArrayRef<char>(Buffer.data() + Have, Want - Have),
          Offset + Have);
      if (!N || *N == 0)
        return makeError(ExitCode::EvidenceUnusable,
                         "cannot be read" + (N ? Twine(": it became shorter")
                                               : ": " + toString(N.takeError())),
                         Name, "Read it when nothing writes to it.");
      Have += *N;
    }
    return StringRef(Buffer.data(), Want);
  }

private:
  sys::fs::file_t File;
  uint64_t Size;
  StringRef Name;
  SmallVector<char, 0> Buffer;
};
} // namespace

Expected<Profile> parseCuptiTrace(StringRef Bytes, StringRef Name) {
  MemorySource Source(Bytes);
  return readCuptiTrace(Source, Name);
}

Expected<Profile> readCuptiTraceFile(StringRef Path) {
  auto Fail = [&](const Twine &Why) {
    return makeError(ExitCode::EvidenceUnusable, "cannot be read: " + Why, Path,
                     "Check the path and its permissions.");
  };
  Expected<sys::fs::file_t> File = sys::fs::openNativeFileForRead(Path);
  if (!File)
    return Fail(toString(File.takeError()));
  sys::fs::file_status Status;
  std::error_code EC = sys::fs::status(*File, Status);
  FileSource Source(*File, EC ? 0 : Status.getSize(), Path);
  if (EC)
    return Fail(EC.message());
  return readCuptiTrace(Source, Path);
}

} // namespace optimas
