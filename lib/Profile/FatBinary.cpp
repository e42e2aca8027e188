//===- FatBinary.cpp - The cubins inside a host object ----------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Profile/Cubin.h"
#include "optimas/Support/Error.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/DataExtractor.h"

using namespace llvm;

namespace optimas {

using ElfFile = object::ELFFile<object::ELF64LE>;

namespace {
/// The container's layout, as nvcc 13 writes it (docs/sass-encoding.md).
enum : uint64_t {
  FatMagic = 0xba55ed50,
  EntryElf = 2,
  FlagCompressed = 0x2000, ///< LZ4
  FlagCompressedZstd = 0x8000,
};
/// No cubin comes near this; a damaged size must not ask for all memory.
constexpr uint64_t MaxImage = uint64_t(1) << 30;

struct Found {
  std::vector<std::string> Images;
  unsigned Compressed = 0; ///< entries that could not be unpacked
};
} // namespace

static Error cutShort() {
  return createStringError("its fat binary is cut short");
}

static Error readEntry(StringRef Header, StringRef Payload, Found &Result) {
  DataExtractor Data(Header, /*IsLittleEndian=*/true, 8);
  uint64_t At = 16;
  uint32_t CompressedSize = Data.getU32(&At);
  At = 40;
  uint64_t Flags = Data.getU64(&At);
  At = 56;
  uint64_t FullSize = Data.getU64(&At);
  if (!(Flags & (FlagCompressed | FlagCompressedZstd))) {
    Result.Images.push_back(Payload.str());
    return Error::success();
  }
  if (!(Flags & FlagCompressedZstd) || !compression::zstd::isAvailable()) {
    ++Result.Compressed;
    return Error::success();
  }
  if (CompressedSize > Payload.size() || FullSize > MaxImage)
    return cutShort();
  SmallVector<uint8_t, 0> Image;
  if (Error E = compression::zstd::decompress(
          arrayRefFromStringRef(Payload.take_front(CompressedSize)), Image,
          FullSize))
    return E;
  Result.Images.push_back(toStringRef(Image).str());
  return Error::success();
}

static Error readContainer(StringRef Bytes, Found &Result) {
  // A section may hold several containers, each padded to eight bytes.
  while (Bytes.size() >= 16) {
    DataExtractor Data(Bytes, /*IsLittleEndian=*/true, 8);
    uint64_t At = 0;
    if (Data.getU32(&At) != FatMagic) {
      Bytes = Bytes.drop_front(8);
      continue;
    }
    Data.getU16(&At); // version
    uint64_t HeaderSize = Data.getU16(&At);
    uint64_t BodySize = Data.getU64(&At);
    if (HeaderSize < 16 || HeaderSize > Bytes.size() ||
        BodySize > Bytes.size() - HeaderSize)
      return cutShort();
    StringRef Body = Bytes.substr(HeaderSize, BodySize);
    while (Body.size() >= 64) {
      DataExtractor Entry(Body, /*IsLittleEndian=*/true, 8);
      uint64_t In = 0;
      uint16_t Kind = Entry.getU16(&In);
      Entry.getU16(&In); // version
      uint64_t EntryHeader = Entry.getU32(&In);
      uint64_t Size = Entry.getU64(&In);
      if (EntryHeader < 64 || EntryHeader > Body.size() ||
          Size > Body.size() - EntryHeader)
        return cutShort();
      if (Kind == EntryElf)
        if (Error E = readEntry(Body.take_front(EntryHeader),
                                Body.substr(EntryHeader, Size), Result))
          return E;
      Body = Body.drop_front(EntryHeader + Size);
    }
    Bytes = Bytes.drop_front(HeaderSize + BodySize);
  }
  return Error::success();
}

static Error readSections(StringRef Bytes, Found &Result) {
  auto Elf = ElfFile::create(Bytes);
  if (!Elf)
    return Elf.takeError();
  auto Sections = Elf->sections();
  if (!Sections)
    return Sections.takeError();
  for (const auto &S : *Sections) {
    auto Name = Elf->getSectionName(S);
    if (!Name)
      return Name.takeError();
    if (*Name != ".nv_fatbin" && *Name != "__nv_relfatbin")
      continue;
    auto Contents = Elf->getSectionContents(S);
    if (!Contents)
      return Contents.takeError();
    if (Error E = readContainer(toStringRef(*Contents), Result))
      return E;
  }
  return Error::success();
}

Expected<std::vector<std::string>> Cubin::extract(StringRef Bytes) {
  Found Result;
  Error E = Bytes.starts_with(ELF::ElfMagic) ? readSections(Bytes, Result)
                                             : readContainer(Bytes, Result);
  if (E)
    return makeError(ExitCode::EvidenceUnusable,
                     "no cubins can be read from this file: " +
                         toString(std::move(E)),
                     "", "Give the object or executable that nvcc wrote.");
  if (Result.Images.empty() && Result.Compressed)
    return makeError(
        ExitCode::EvidenceUnusable,
        Twine(Result.Compressed) +
            " cubins in this file are compressed with LZ4",
        "", "Build with nvcc -Xfatbin=-compress-mode=none, or -cubin.");
  return std::move(Result.Images);
}

} // namespace optimas
