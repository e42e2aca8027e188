//===- FlatBuffer.h - Checked reading of FlatBuffers ------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// FlatBuffers' wire format without a schema compiler: a table starts with the
/// distance back to its vtable, which says where each field stands; strings and
/// vectors start with their length; a field that is not there has its default.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_FLATBUFFER_H
#define OPTIMAS_LIB_PROFILE_FLATBUFFER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"

namespace optimas {

/// What it reads outside the bytes is zero or empty, and damaged() then says so:
/// a reader checks once a record instead of once a field.
class FlatBuffer {
public:
  explicit FlatBuffer(llvm::StringRef Bytes)
      : Data(Bytes.data()), Size(Bytes.size()) {}

  struct Table {
    uint64_t At = 0, VTable = 0;
    unsigned VTableSize = 0;
  };
  /// Elements of a vector; At is the first.
  struct Vector {
    uint64_t At = 0;
    uint32_t Size = 0;
  };

  bool damaged() const { return Damaged; }
  void setDamaged() { Damaged = true; }

  template <typename T> T load(uint64_t At) {
    if (LLVM_UNLIKELY(At > Size || Size - At < sizeof(T))) {
      Damaged = true;
      return T();
    }
    return llvm::support::endian::read<T, llvm::endianness::little>(Data + At);
  }

  Table root() { return table(0); }
  /// The table to which the offset at \p At points.
  Table table(uint64_t At) {
    Table T;
    T.At = At + load<uint32_t>(At);
    T.VTable = T.At - int64_t(load<int32_t>(T.At));
    T.VTableSize = load<uint16_t>(T.VTable);
    // Its fields are read from all over it, so that one check is enough.
    if (T.VTableSize > Size - std::min<uint64_t>(T.VTable, Size)) {
      Damaged = true;
      T.VTableSize = 0;
    }
    return T;
  }

  /// Where field \p Number stands; 0 when the table does not have it.
  uint64_t field(const Table &T, unsigned Number) {
    unsigned Slot = 4 + 2 * Number;
    if (Slot + 2 > T.VTableSize)
      return 0;
    unsigned Distance = llvm::support::endian::read16le(Data + T.VTable + Slot);
    return Distance ? T.At + Distance : 0;
  }
  template <typename T> T scalar(const Table &From, unsigned Number) {
    uint64_t At = field(From, Number);
    return At ? load<T>(At) : T();
  }
  Vector vector(const Table &From, unsigned Number, unsigned ElementSize) {
    uint64_t At = field(From, Number);
    return At ? vectorAt(At, ElementSize) : Vector();
  }
  llvm::StringRef string(const Table &From, unsigned Number) {
    uint64_t At = field(From, Number);
    return At ? stringAt(At) : llvm::StringRef();
  }
  /// The string to which the offset at \p At points.
  llvm::StringRef stringAt(uint64_t At) {
    Vector V = vectorAt(At, 1);
    return V.Size ? llvm::StringRef(Data + V.At, V.Size) : llvm::StringRef();
  }
  const char *at(uint64_t At) const { return Data + At; }

private:
  Vector vectorAt(uint64_t At, unsigned ElementSize) {
    At += load<uint32_t>(At);
    Vector V{At + 4, load<uint32_t>(At)};
    if (LLVM_UNLIKELY(V.At > Size ||
                      uint64_t(V.Size) * ElementSize > Size - V.At)) {
      Damaged = true;
      V.Size = 0;
    }
    return V;
  }

  const char *Data;
  uint64_t Size;
  bool Damaged = false;
};

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_FLATBUFFER_H
