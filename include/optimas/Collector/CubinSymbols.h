//===- CubinSymbols.h - What the collector needs of a cubin -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_COLLECTOR_CUBINSYMBOLS_H
#define OPTIMAS_COLLECTOR_CUBINSYMBOLS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace optimas::collector {

/// A `__device__` variable in `.nv.global` or `.nv.global.init`.
struct DeviceVariable {
  std::string Symbol;
  uint64_t Bytes = 0;
};

/// The symbols of a loaded cubin. A `__constant__` variable is not listed: kernels
/// cannot write it.
struct CubinSymbols {
  unsigned Sm = 0;                    ///< 90 for sm_90
  bool LineInfo = false;              ///< has .debug_line
  std::vector<std::string> Functions; ///< mangled, kernels and device functions
  std::vector<DeviceVariable> Variables;
};

/// Reads the ELF64 image at \p Data. Every offset is checked: the bytes come from
/// another program. Returns false when it is not a whole CUDA ELF image.
bool readCubinSymbols(const void *Data, size_t Size, CubinSymbols &Result);

} // namespace optimas::collector

#endif // OPTIMAS_COLLECTOR_CUBINSYMBOLS_H
