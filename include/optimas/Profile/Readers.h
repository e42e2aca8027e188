//===- Readers.h - Profiles from and to files -------------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_PROFILE_READERS_H
#define OPTIMAS_PROFILE_READERS_H

#include "optimas/Profile/Profile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace optimas {

/// Reads a profile, finding out by content what it is: our JSON, plain or
/// compressed with zstd, an Nsight
/// Compute CSV export (source page with cuda,sass; raw page; details page), an
/// `.ncu-rep` (through `ncu --import` when ncu is on PATH), a kernel summary of Nsight
/// Systems as CSV, its SQLite export, an `.nsys-rep` (through `nsys export`), a file of
/// CUPTI's PC sampling utility, a cubin (a profile with one module and nothing else). Exit code EvidenceUnusable on anything
/// else, with the reason and the command that exports the right page.
llvm::Expected<Profile> readProfile(llvm::StringRef Path);

/// The same on bytes; \p Name is used in messages. For tests and fuzzers; knows
/// every form but `.ncu-rep` and `.nsys-rep`.
llvm::Expected<Profile> parseProfile(llvm::StringRef Bytes,
                                     llvm::StringRef Name);

llvm::Expected<Profile> parseProfileJson(llvm::StringRef Bytes,
                                         llvm::StringRef Name);
llvm::Expected<Profile> parseNcuSourceCsv(llvm::StringRef Bytes,
                                          llvm::StringRef Name);
llvm::Expected<Profile> parseNcuRawCsv(llvm::StringRef Bytes,
                                       llvm::StringRef Name);

/// The kernel times of `nsys stats --report cuda_gpu_kern_sum --format csv`.
llvm::Expected<Profile> parseNsysCsv(llvm::StringRef Bytes,
                                     llvm::StringRef Name);

/// The kernel times, launch shapes and device of `nsys export --type sqlite`. Launches are
/// read one by one: memory is that of the kernels, whatever the file's size. Medians above
/// 1024 ns are within 1/1024. Fails, saying so, in a build without SQLite.
llvm::Expected<Profile> readNsysSqliteFile(llvm::StringRef Path);
llvm::Expected<Profile> parseNsysSqlite(llvm::StringRef Bytes,
                                        llvm::StringRef Name);

/// A file that CuptiUtilPutPcSampData() of libpcsamplingutil wrote: samples,
/// summed over its buffers, and their quality. Modules are known by CRC only.
/// Reading needs memory for the largest buffer, whatever the file's size.
llvm::Expected<Profile> readCuptiTraceFile(llvm::StringRef Path);
llvm::Expected<Profile> parseCuptiTrace(llvm::StringRef Bytes,
                                        llvm::StringRef Name);

/// The own JSON form, current version.
std::string toJson(const Profile &P);
void writeJson(llvm::raw_ostream &OS, const Profile &P);

/// JSON of more bytes than this is better compressed.
constexpr uint64_t LargeProfileBytes = uint64_t(8) << 20;
bool isLarge(const Profile &P);

/// Writes the own form beside \p Path and renames it; compressed with zstd when
/// the name ends in `.zst`. Nothing but the profile itself is held in memory.
llvm::Error writeProfileFile(llvm::StringRef Path, const Profile &P);

/// Joins profiles of one program: samples of one with the counters of another.
/// \p Conflicts receives a sentence for each disagreement (two durations that
/// differ by more than 10 %, two devices, two source hashes); the first profile
/// wins.
Profile mergeProfiles(llvm::ArrayRef<Profile> Profiles,
                      std::vector<std::string> &Conflicts);

/// Appends the states that \p From, another run on the same device, has, and adds up for
/// how long its clocks were lowered.
void addStates(DeviceInfo &To, const DeviceInfo &From);

/// Fills PcSample::Frames from the modules' line tables where a reader left
/// them empty. \p Notes receives a sentence per function without line
/// information.
void resolveFrames(Profile &P, std::vector<std::string> &Notes);

} // namespace optimas

#endif // OPTIMAS_PROFILE_READERS_H
