//===- KernelName.h - Names of kernels without LLVM -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_COLLECTOR_KERNELNAME_H
#define OPTIMAS_COLLECTOR_KERNELNAME_H

#include <string>
#include <vector>

namespace optimas::collector {

/// The qualified name of a function without template arguments, parameters and
/// return type; namespaces are kept and an anonymous one is
/// `(anonymous namespace)`, whatever hash nvcc put into its mangled name:
/// `_ZN2ns4copyIfEEvPKfPfi` → `ns::copy`. A symbol that is not mangled (extern "C")
/// is returned as it is.
std::string kernelBaseName(const std::string &Mangled);

/// Whether \p Mangled is one of \p Names, each a base name or a mangled symbol.
/// An empty list selects every kernel.
bool isSelected(const std::string &Mangled, const std::vector<std::string> &Names);

} // namespace optimas::collector

#endif // OPTIMAS_COLLECTOR_KERNELNAME_H
