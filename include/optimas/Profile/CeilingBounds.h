//===- CeilingBounds.h - What a device cannot exceed ------------*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_PROFILE_CEILINGBOUNDS_H
#define OPTIMAS_PROFILE_CEILINGBOUNDS_H

#include "optimas/Profile/Profile.h"
#include "llvm/ADT/StringRef.h"

namespace optimas {

/// A measured ceiling may be this much above its bound: clocks are rounded.
constexpr double CeilingTolerance = 1.05;

/// What the ceiling \p Name (`fp32`, `l2_read`, …) of \p D cannot exceed, in bytes/s or
/// operations/s: units × highest clock × what one of them does in a clock. Empty where the
/// rate of this compute capability is not known or \p D lacks its clock.
std::optional<double> ceilingBound(llvm::StringRef Name, const DeviceInfo &D);

/// Removes from D.Ceilings what exceeds CeilingTolerance × its bound: a mistake of the
/// measurement (a loop that the compiler left out, data from a nearer cache). Returns a
/// sentence on each.
std::vector<std::string> dropImpossibleCeilings(DeviceInfo &D);

} // namespace optimas

#endif // OPTIMAS_PROFILE_CEILINGBOUNDS_H
