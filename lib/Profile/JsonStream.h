//===- JsonStream.h - Large JSON in pieces ----------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// llvm::json builds the whole document, some 4 KB an object: too much for a
/// profile of a million PCs. A JsonStream goes through a document from front to
/// back and hands out the text of one value at a time, for llvm::json to parse;
/// nothing else is kept.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_JSONSTREAM_H
#define OPTIMAS_LIB_PROFILE_JSONSTREAM_H

#include "ByteStream.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace optimas {

class JsonStream {
public:
  explicit JsonStream(ByteStream &From) : From(From) {}

  /// Goes through the object at the cursor: \p Member is called with each key and
  /// must consume the value behind it by one of these functions.
  llvm::Error object(llvm::function_ref<llvm::Error(llvm::StringRef Key)> Member);
  /// The same with the elements of an array.
  llvm::Error array(llvm::function_ref<llvm::Error()> Element);
  /// The text of the value at the cursor; what is inside is not checked. Valid
  /// until the next call.
  llvm::Expected<llvm::StringRef> value();
  /// Passes over the value at the cursor.
  llvm::Error skip();
  /// Fails unless nothing but blanks follows.
  llvm::Error end();

private:
  llvm::Error list(char Open, char Close, llvm::StringRef What,
                   llvm::function_ref<llvm::Error()> Each);
  llvm::Error passValue();
  llvm::Error passString();
  void skipBlanks();
  bool accept(char C);
  bool fill();
  /// The character at the cursor, '\0' at the end (which valid text has not).
  char peek() {
    return At < Chunk.size() || fill() ? Chunk[At] : '\0';
  }
  bool atEnd() { return At >= Chunk.size() && !fill(); }
  llvm::Error expected(llvm::StringRef What);

  ByteStream &From;
  llvm::StringRef Chunk;
  size_t At = 0;
  uint64_t Passed = 0; ///< bytes of earlier chunks
  std::string Failure; ///< of the source
  // A value that is being cut out: where it starts in Chunk, and what of it stood
  // in earlier ones.
  bool Cutting = false;
  size_t Start = 0;
  std::string Pending;
};

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_JSONSTREAM_H
