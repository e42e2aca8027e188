//===- Ceilings.h - What the device can do at most -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_TOOLS_PROFILE_CEILINGS_H
#define OPTIMAS_TOOLS_PROFILE_CEILINGS_H

#include "optimas/Profile/Profile.h"
#include "optimas/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace optimas {

/// Bandwidths in bytes/s and arithmetic in operations/s of device 0, by name
/// (`dram_copy`, `l2_read`, `shared_read`, `fp32`, `tensor_fp16`, …), as measured by the
/// program of ceilings/, which is part of this one.
struct DeviceCeilings {
  std::string Device, Driver, Uuid;
  std::map<std::string, double> Values;
  /// What was measured and is more than such a device can do, a sentence each; not in
  /// Values.
  std::vector<std::string> Discarded;
  bool Cached = false; ///< from an earlier measurement
  std::string File;    ///< the cache's file, empty when it could not be written
};

/// Measures them, or reads `$XDG_CACHE_HOME/optimas/ceilings-UUID-DRIVER.json` (else
/// below ~/.cache) unless \p Fresh.
llvm::Expected<DeviceCeilings> deviceCeilings(bool Fresh);

/// Puts them into a profile of the same device; what goes wrong becomes a note.
void addCeilings(bool Fresh, Profile &P);

/// `--ceilings` without a program: measures and prints; an error names what was discarded.
llvm::Error printCeilings(llvm::raw_ostream &OS, bool Fresh);

} // namespace optimas

#endif // OPTIMAS_TOOLS_PROFILE_CEILINGS_H
