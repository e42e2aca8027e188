//===- ByteStream.h - Files in chunks, decompressed -------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_BYTESTREAM_H
#define OPTIMAS_LIB_PROFILE_BYTESTREAM_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace optimas {

/// Bytes from front to back, in chunks.
class ByteStream {
public:
  virtual ~ByteStream();
  /// The next chunk, valid until the next call; empty at the end.
  virtual llvm::Expected<llvm::StringRef> next() = 0;
};

/// Whole memory in chunks: \p Bytes in pieces of \p ChunkSize; they must outlive the stream.
std::unique_ptr<ByteStream> streamOf(llvm::StringRef Bytes,
                                     size_t ChunkSize = size_t(-1));

llvm::Expected<std::unique_ptr<ByteStream>> streamOfFile(llvm::StringRef Path);

/// Whether \p Head starts as a zstd frame does.
bool isZstd(llvm::StringRef Head);

/// What is compressed in \p From, one zstd frame or several.
std::unique_ptr<ByteStream> decompressed(std::unique_ptr<ByteStream> From);

/// Compresses into another stream, with a checksum. finish() must be called.
class ZstdStream final : public llvm::raw_ostream {
public:
  explicit ZstdStream(llvm::raw_ostream &To);
  ~ZstdStream() override;
  /// Ends the frame. Fails when zstd did.
  llvm::Error finish();

private:
  void write_impl(const char *Data, size_t Size) override;
  uint64_t current_pos() const override { return Position; }
  void compress(llvm::StringRef Bytes, bool End);

  struct State;
  std::unique_ptr<State> S;
  llvm::raw_ostream &To;
  uint64_t Position = 0;
  std::string Failure;
};

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_BYTESTREAM_H
