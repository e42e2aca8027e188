//===- Trace.h - Reading and comparing the collector's traces -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The injected collector writes JSON lines: in memory mode a hash of every live
/// device allocation after each launch of the kernels asked for, in time mode the
/// durations of every kernel and a hash of each allocation's last content. Reading
/// and comparing them is pure: text in, findings out.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_TRACE_H
#define OPTIMAS_EVALUATE_TRACE_H

#include "optimas/Evaluate/Evaluation.h"
#include <map>

namespace optimas {

/// `void ns::copy<float>(float const*, float*, int)`, mangled or not → `ns::copy<float>`:
/// the same before and after an edit that changes the parameter list.
std::string kernelLabel(llvm::StringRef Symbol);
/// The label without template arguments: `ns::copy`.
std::string kernelBase(llvm::StringRef Symbol);

struct AllocationHash {
  uint64_t Index = 0; ///< 1-based, in order of allocation
  uint64_t Bytes = 0;
  std::string Hash;   ///< hexadecimal
};

struct GlobalHash {
  std::string Symbol;
  uint64_t Bytes = 0;
  std::string Hash;
};

/// The state of the device's memory after one launch.
struct HashedLaunch {
  uint64_t Launch = 0; ///< 1-based number among the hashed launches
  std::string Kernel;  ///< mangled
  std::string Label;   ///< kernelLabel(Kernel)
  Dim3 Grid{1, 1, 1}, Block{1, 1, 1};
  int64_t Status = 0; ///< CUDA's status after synchronizing, 0 is success
  std::vector<AllocationHash> Allocations;
  std::vector<GlobalHash> Globals;
};

struct MemoryTrace {
  unsigned Poison = 0;
  std::string Device, Driver;
  std::vector<HashedLaunch> Launches;
  uint64_t BytesHashed = 0;
  int64_t Status = 0;
  /// The last line was there: the program got to its end.
  bool Complete = false;
  /// Memory or launches that the collector could not see, one sentence each.
  std::vector<std::string> Uncovered;
  /// Hashes of the modules (cubins) that were loaded, when the collector names them.
  std::vector<std::string> Modules;
};

struct KernelTimes {
  std::string Kernel, Label;
  std::vector<uint64_t> Ns; ///< in launch order
  uint64_t total() const;
};

struct TimeTrace {
  std::string Device, Driver;
  std::vector<KernelTimes> Kernels;
  uint64_t TotalKernelNs = 0;
  std::vector<AllocationHash> Final;
  uint64_t CopyNs = 0, MemsetNs = 0; ///< other GPU activity
  uint64_t Streams = 0;      ///< distinct streams that ran a kernel
  uint64_t Dropped = 0;      ///< activity records that were lost
  uint64_t FailedLaunches = 0;
  int64_t Status = 0;
  bool Complete = false;
  std::vector<std::string> Uncovered;
  std::vector<std::string> Modules;
};

/// Reads a memory-mode trace. EvidenceUnusable with the line's number when a line is
/// not what it should be; an empty or cut trace is no error but not Complete.
llvm::Expected<MemoryTrace> parseMemoryTrace(llvm::StringRef Text,
                                             llvm::StringRef Name);
/// The same for time mode.
llvm::Expected<TimeTrace> parseTimeTrace(llvm::StringRef Text, llvm::StringRef Name);

/// What two memory traces disagree on.
struct MemoryComparison {
  uint64_t LaunchesCompared = 0, BytesCompared = 0;
  std::vector<Mismatch> Mismatches; ///< in launch order, at most the number asked for
};

/// Compares launch by launch: number, kernel, status, and every allocation's and
/// global's size and hash. Grid and block may differ (an edit may change them).
/// A trace that is not complete is a mismatch of its own.
MemoryComparison compareMemory(const MemoryTrace &Baseline,
                               const MemoryTrace &Candidate, llvm::StringRef Input,
                               size_t MaxMismatches = 4);

/// Fills offset and both values of \p M from the allocation's bytes on both sides: the
/// first difference, widened to the 4-byte word that holds it. False when the bytes
/// are equal (the difference did not repeat).
bool refineMismatch(Mismatch &M, llvm::StringRef Baseline, llvm::StringRef Candidate);

/// Allocations whose last content is the same in all \p Runs (at least two): what a
/// timed candidate must reproduce. Index → hash.
std::map<uint64_t, AllocationHash> stableFinals(llvm::ArrayRef<TimeTrace> Runs);
/// The first allocation of \p Candidate that differs from \p Stable.
std::optional<Mismatch> compareFinals(const std::map<uint64_t, AllocationHash> &Stable,
                                      const TimeTrace &Candidate,
                                      llvm::StringRef Input);


/// What a timed candidate did otherwise than the baseline: another number of launches
/// of a kernel, another number of streams, a failed launch, an unfinished run.
std::optional<Mismatch> compareActivity(const TimeTrace &Baseline,
                                        const TimeTrace &Candidate,
                                        llvm::StringRef Input);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_TRACE_H
