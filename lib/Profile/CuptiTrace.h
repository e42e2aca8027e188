//===- CuptiTrace.h - Files of CUPTI's PC sampling utility ------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What CuptiUtilPutPcSampData() of libpcsamplingutil writes, version 1, learned
/// from files that it wrote (CUDA 13.0). All little-endian:
///
///   uint32 version, uint32 number of buffers, then each buffer:
///     uint64 records, uint64 reason names here, uint64 reasons selected,
///     uint64 bytes, and so many bytes of a FlatBuffer with the identifier CUPS:
///       root:   0 attributes (a union's table, whose field 5 is the settings),
///               3 total samples, 4 dropped samples, 6 PCs that remained,
///               8 vector of records, 9 samples of non-user kernels
///       settings: 0 log2 of the sampling interval, 7 vector of reason indices,
///               8 vector of reason names
///       record: 1 cubin CRC, 2 PC offset, 4 function name, 5 function index,
///               6 vector of (uint32 reason, uint32 samples), 7 correlation id
///
/// The field `hardwareBufferFull` of CUpti_PCSamplingData is not in the file.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_LIB_PROFILE_CUPTITRACE_H
#define OPTIMAS_LIB_PROFILE_CUPTITRACE_H

#include "SampleSum.h"
#include "optimas/Profile/Profile.h"

namespace optimas {

/// So many bytes tell whether a file is one.
constexpr size_t CuptiTraceHeadSize = 48;
bool isCuptiTrace(llvm::StringRef Head);

/// Bytes of a file or of memory, handed out in pieces.
class ByteSource {
public:
  virtual ~ByteSource();
  virtual uint64_t size() const = 0;
  /// \p Size bytes at \p Offset, which are inside; valid until the next call.
  virtual llvm::Expected<llvm::StringRef> read(uint64_t Offset, size_t Size) = 0;
};

/// Reads a trace buffer by buffer; memory is that of the largest buffer and of
/// the sums.
llvm::Expected<Profile> readCuptiTrace(ByteSource &Source, llvm::StringRef Name);

} // namespace optimas

#endif // OPTIMAS_LIB_PROFILE_CUPTITRACE_H
