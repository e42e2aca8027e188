//===- ByteStream.cpp - Files in chunks, decompressed -----------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ByteStream.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include <zstd.h>

using namespace llvm;

namespace optimas {

/// Profiles shrink to a tenth; a text that repeats itself far more fills the memory with
/// what a few kilobytes hold. This much may always come out.
static constexpr uint64_t MostExpansion = 100, FreeBytes = uint64_t(4) << 20;

ByteStream::~ByteStream() = default;

namespace {
class MemoryStream final : public ByteStream {
public:
  MemoryStream(StringRef Rest, size_t ChunkSize)
      : Rest(Rest), ChunkSize(ChunkSize) {}
  Expected<StringRef> next() override {
    StringRef Chunk = Rest.take_front(ChunkSize);
    Rest = Rest.drop_front(Chunk.size());
    return Chunk;
  }

private:
  StringRef Rest;
  size_t ChunkSize;
};

class FileStream final : public ByteStream {
public:
  explicit FileStream(sys::fs::file_t File) : File(File) {
    Buffer.resize_for_overwrite(size_t(1) << 18);
  }
  ~FileStream() override { sys::fs::closeFile(File); }
  Expected<StringRef> next() override {
    Expected<size_t> Size = sys::fs::readNativeFile(File, Buffer);
    if (!Size)
      return Size.takeError();
    return StringRef(Buffer.data(), *Size);
  }

private:
  sys::fs::file_t File;
  SmallVector<char, 0> Buffer;
};

class DecompressedStream final : public ByteStream {
public:
  explicit DecompressedStream(std::unique_ptr<ByteStream> From)
      : From(std::move(From)), Context(ZSTD_createDStream()) {
    Buffer.resize_for_overwrite(ZSTD_DStreamOutSize());
  }
  ~DecompressedStream() override { ZSTD_freeDStream(Context); }
  Expected<StringRef> next() override;

private:
  std::unique_ptr<ByteStream> From;
  ZSTD_DStream *Context;
  SmallVector<char, 0> Buffer;
  StringRef Input;
  bool InFrame = false, More = false; ///< More: zstd holds decoded bytes
  uint64_t Read = 0, Written = 0;     ///< compressed bytes used, bytes that they gave
};
} // namespace

Expected<StringRef> DecompressedStream::next() {
  while (true) {
    if (Input.empty() && !More) {
      Expected<StringRef> Chunk = From->next();
      if (!Chunk)
        return Chunk.takeError();
      if (Chunk->empty()) {
        if (InFrame)
          return createStringError("the compressed data is cut short");
        return StringRef();
      }
      Input = *Chunk;
    }
    ZSTD_inBuffer In = {Input.data(), Input.size(), 0};
    ZSTD_outBuffer Out = {Buffer.data(), Buffer.size(), 0};
    size_t Rest = ZSTD_decompressStream(Context, &Out, &In);
    if (ZSTD_isError(Rest))
      return createStringError("the compressed data is damaged: " +
                               Twine(ZSTD_getErrorName(Rest)));
    Input = Input.drop_front(In.pos);
    Read += In.pos;
    Written += Out.pos;
    if (Written > FreeBytes && Written - FreeBytes > MostExpansion * Read)
      return createStringError("the compressed data expands to more than " +
                               Twine(MostExpansion) + " times its size, as no profile does");
    InFrame = Rest != 0;
    More = Out.pos == Out.size;
    if (Out.pos)
      return StringRef(Buffer.data(), Out.pos);
  }
}

std::unique_ptr<ByteStream> streamOf(StringRef Bytes, size_t ChunkSize) {
  return std::make_unique<MemoryStream>(Bytes, ChunkSize);
}

Expected<std::unique_ptr<ByteStream>> streamOfFile(StringRef Path) {
  Expected<sys::fs::file_t> File = sys::fs::openNativeFileForRead(Path);
  if (!File)
    return File.takeError();
  return std::make_unique<FileStream>(*File);
}

bool isZstd(StringRef Head) { return Head.starts_with("\x28\xb5\x2f\xfd"); }

std::unique_ptr<ByteStream> decompressed(std::unique_ptr<ByteStream> From) {
  return std::make_unique<DecompressedStream>(std::move(From));
}

struct ZstdStream::State {
  ZSTD_CCtx *Context = ZSTD_createCCtx();
  SmallVector<char, 0> Buffer;
  ~State() { ZSTD_freeCCtx(Context); }
};

ZstdStream::ZstdStream(raw_ostream &To) : S(std::make_unique<State>()), To(To) {
  S->Buffer.resize_for_overwrite(ZSTD_CStreamOutSize());
  ZSTD_CCtx_setParameter(S->Context, ZSTD_c_checksumFlag, 1);
  SetBufferSize(size_t(1) << 16);
}

ZstdStream::~ZstdStream() { flush(); }

void ZstdStream::compress(StringRef Bytes, bool End) {
  ZSTD_inBuffer In = {Bytes.data(), Bytes.size(), 0};
  for (size_t Rest = 1; Failure.empty() && (In.pos < In.size || (End && Rest));) {
    ZSTD_outBuffer Out = {S->Buffer.data(), S->Buffer.size(), 0};
    Rest = ZSTD_compressStream2(S->Context, &Out, &In,
                                End ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(Rest))
      Failure = ZSTD_getErrorName(Rest);
    To.write(S->Buffer.data(), Out.pos);
  }
}

void ZstdStream::write_impl(const char *Data, size_t Size) {
  Position += Size;
  compress(StringRef(Data, Size), /*End=*/false);
}

Error ZstdStream::finish() {
  flush();
  compress("", /*End=*/true);
  return Failure.empty() ? Error::success()
                         : createStringError("zstd: " + Failure);
}

} // namespace optimas
