//===- JsonFields.h - Structs from JSON objects -----------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_JSONFIELDS_H
#define OPTIMAS_LIB_PROFILE_JSONFIELDS_H

#include "optimas/Profile/Profile.h"
#include "llvm/Support/JSON.h"
#include <climits>

namespace optimas {

/// The fields of one object. Absent ones keep what they had; the first that has
/// another type or range than its field is remembered with its path.
class Fields {
public:
  Fields(const llvm::json::Value &V, llvm::json::Path P)
      : O(V.getAsObject()), P(P) {
    if (!O)
      fail(P, "expected object");
  }

  bool ok() const { return Ok; }

  template <typename T> void get(llvm::StringLiteral Key, T &Out) {
    if (const llvm::json::Value *V = O ? O->get(Key) : nullptr)
      read(*V, Out, P.field(Key));
  }

private:
  template <typename T>
  std::enable_if_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>>
  read(const llvm::json::Value &V, T &Out, llvm::json::Path At) {
    std::optional<uint64_t> N = V.getAsUINT64();
    if (!N || *N > std::numeric_limits<T>::max())
      return fail(At, "expected non-negative integer in range");
    Out = T(*N);
  }
  void read(const llvm::json::Value &V, int &Out, llvm::json::Path At) {
    std::optional<int64_t> N = V.getAsInteger();
    if (!N || *N < INT_MIN || *N > INT_MAX)
      return fail(At, "expected integer in range");
    Out = int(*N);
  }
  void read(const llvm::json::Value &V, std::string &Out, llvm::json::Path At) {
    Ok &= fromJSON(V, Out, At);
  }
  void read(const llvm::json::Value &V, double &Out, llvm::json::Path At) {
    Ok &= fromJSON(V, Out, At);
  }
  void read(const llvm::json::Value &V, bool &Out, llvm::json::Path At) {
    Ok &= fromJSON(V, Out, At);
  }
  void read(const llvm::json::Value &V, std::map<std::string, double> &Out,
            llvm::json::Path At) {
    Ok &= fromJSON(V, Out, At);
  }
  void read(const llvm::json::Value &V, std::map<std::string, std::string> &Out,
            llvm::json::Path At) {
    Ok &= fromJSON(V, Out, At);
  }
  void read(const llvm::json::Value &V, Dim3 &Out, llvm::json::Path At) {
    const llvm::json::Array *A = V.getAsArray();
    if (!A || A->size() != Out.size())
      return fail(At, "expected array of three integers");
    for (unsigned I = 0; I < Out.size(); ++I)
      read((*A)[I], Out[I], At.index(I));
  }
  void read(const llvm::json::Value &V, std::vector<StallCount> &Out,
            llvm::json::Path At);
  /// Strings, and structs with a map(Fields &, T &).
  template <typename T>
  void read(const llvm::json::Value &V, std::vector<T> &Out,
            llvm::json::Path At) {
    const llvm::json::Array *A = V.getAsArray();
    if (!A)
      return fail(At, "expected array");
    Out.resize(A->size());
    for (unsigned I = 0; I < A->size(); ++I)
      readElement((*A)[I], Out[I], At.index(I));
  }
  void readElement(const llvm::json::Value &V, std::string &Out,
                   llvm::json::Path At) {
    read(V, Out, At);
  }
  template <typename T>
  void readElement(const llvm::json::Value &V, T &Out, llvm::json::Path At);

  void fail(llvm::json::Path At, llvm::StringLiteral Message) {
    if (Ok)
      At.report(Message);
    Ok = false;
  }

  const llvm::json::Object *O;
  llvm::json::Path P;
  bool Ok = true;
};

template <typename T>
void Fields::readElement(const llvm::json::Value &V, T &Out,
                         llvm::json::Path At) {
  Fields F(V, At);
  map(F, Out);
  Ok &= F.ok();
}

class ByteStream;

/// The own JSON form, front to back: memory is that of the profile and of its
/// largest value.
llvm::Expected<Profile> readProfileJson(ByteStream &Bytes, llvm::StringRef Name);

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_JSONFIELDS_H
