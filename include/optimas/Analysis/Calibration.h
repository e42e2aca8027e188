//===- Calibration.h - What estimates were worth, measured ------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A file of measurements beside the estimates that were made before them, version 1:
///   {"optimas_calibration": 1, "measurements": [{"device": "NVIDIA H200",
///     "transformations": "optimas-load-batching", "source": "topk.cu", "kernel": "topkHits",
///     "edit": "load batching by 4", "estimate": 1.87, "measured": 1.69}]}
/// Entries are sorted; one of the same device, source, kernel and edit replaces the one
/// before, so that measuring again counts once. Estimates are those before any correction.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_ANALYSIS_CALIBRATION_H
#define OPTIMAS_ANALYSIS_CALIBRATION_H

#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace optimas {

/// One measurement of one edit of one kernel.
struct CalibrationEntry {
  std::string Device;          ///< its name, as in the profile
  std::string Transformations; ///< transformationsOf() the edits
  std::string Source;          ///< file name without folders
  std::string Kernel;          ///< base name
  std::string Edit;            ///< the proposal's title
  double Estimate = 0;         ///< speedup, uncalibrated
  double Measured = 0;         ///< speedup
};

class Calibration {
public:
  /// Fewer measurements than this correct nothing.
  static constexpr unsigned Enough = 3;

  /// Reads \p File; a file that does not exist yet is an empty calibration. Fails on what
  /// is not one (Usage), with the place.
  static llvm::Expected<Calibration> load(llvm::StringRef File);
  static llvm::Expected<Calibration> parse(llvm::StringRef Text, llvm::StringRef Name);

  /// Takes the place of an earlier measurement of the same. One that is not above zero and
  /// finite is left out.
  void add(CalibrationEntry E);

  struct Ratio {
    double Median = 1; ///< of measured / estimate
    unsigned Count = 0;
  };
  /// Of these transformations together on that device; nullopt below Enough.
  std::optional<Ratio> ratio(llvm::StringRef Device, llvm::StringRef Transformations) const;

  size_t size() const { return Entries.size(); }
  std::string text() const;

private:
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::map<Key, CalibrationEntry> Entries; ///< by device, transformations, source, kernel, edit
};

} // namespace optimas

#endif // OPTIMAS_ANALYSIS_CALIBRATION_H
