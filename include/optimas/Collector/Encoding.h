//===- Encoding.h - SHA-256 and base64 without LLVM -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_COLLECTOR_ENCODING_H
#define OPTIMAS_COLLECTOR_ENCODING_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace optimas::collector {

/// Lower-case hexadecimal SHA-256 (FIPS 180-4) of \p Size bytes at \p Data.
std::string sha256Hex(const void *Data, size_t Size);

/// Standard base64 (RFC 4648) with padding.
std::string base64(const void *Data, size_t Size);

/// \p Value as 16 lower-case hexadecimal digits.
std::string hex16(uint64_t Value);

} // namespace optimas::collector

#endif // OPTIMAS_COLLECTOR_ENCODING_H
