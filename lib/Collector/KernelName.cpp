//===- KernelName.cpp - Names of kernels without LLVM -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "optimas/Collector/KernelName.h"
#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <string_view>

namespace optimas::collector {

static constexpr std::string_view Anonymous = "(anonymous namespace)";

/// Copies \p Name without what stands in template brackets and ends at the
/// parameter list. `operator<` and its kin cannot name a kernel, so every bracket
/// is a template's.
static std::string stripArguments(std::string_view Name) {
  std::string Result;
  unsigned Depth = 0;
  for (size_t I = 0; I < Name.size(); ++I) {
    if (Name.compare(I, Anonymous.size(), Anonymous) == 0) {
      if (!Depth)
        Result += Anonymous;
      I += Anonymous.size() - 1;
    } else if (Name[I] == '<') {
      ++Depth;
    } else if (Name[I] == '>') {
      Depth -= Depth != 0;
    } else if (!Depth) {
      if (Name[I] == '(')
        break;
      Result += Name[I];
    }
  }
  return Result;
}

std::string kernelBaseName(const std::string &Mangled) {
  if (Mangled.compare(0, 2, "_Z") != 0)
    return Mangled;
  int Status = 0;
  char *Demangled = abi::__cxa_demangle(Mangled.c_str(), nullptr, nullptr, &Status);
  if (!Demangled)
    return Mangled;
  std::string Name = stripArguments(Demangled);
  std::free(Demangled);
  // A template's return type stands before its name: cut at the last blank that
  // is not the one in "(anonymous namespace)".
  size_t Begin = 0;
  for (size_t I = 0; I < Name.size(); ++I) {
    if (Name.compare(I, Anonymous.size(), Anonymous) == 0)
      I += Anonymous.size() - 1;
    else if (Name[I] == ' ')
      Begin = I + 1;
  }
  return Name.substr(Begin);
}

bool isSelected(const std::string &Mangled, const std::vector<std::string> &Names) {
  if (Names.empty())
    return true;
  auto Has = [&](const std::string &Name) {
    return std::find(Names.begin(), Names.end(), Name) != Names.end();
  };
  return Has(Mangled) || Has(kernelBaseName(Mangled));
}

} // namespace optimas::collector
